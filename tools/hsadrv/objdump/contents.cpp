#include "tools/hsadrv/objdump/contents.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <string_view>

#include "hsadrv/code/compressed_bundle.hpp"
#include "hsadrv/code/fat_binary.hpp"
#include "hsadrv/code/offload_binary.hpp"
#include "hsadrv/code/offload_bundle.hpp"
#include "hsadrv/error.hpp"

namespace hsadrv_tool::objdump {
namespace {

bool begins_with(std::span<const std::byte> bytes, std::string_view magic) {
    return bytes.size() >= magic.size() && std::memcmp(bytes.data(), magic.data(), magic.size()) == 0;
}

bool is_bitcode(std::span<const std::byte> bytes) {
    return begins_with(bytes, "BC\xc0\xde") || begins_with(bytes, "\xde\xc0\x17\x0b");
}

bool is_bundle(std::span<const std::byte> bytes) {
    return hsadrv::is_offload_bundle(bytes) || hsadrv::is_compressed_offload_bundle(bytes) ||
           hsadrv::is_offload_binary(bytes);
}

class Reader {
  public:
    Reader(Contents& contents) : contents_(contents) {}

    void read(std::span<const std::byte> file) {
        if (hsadrv::is_host_elf(file)) return read_host(file);
        if (is_bundle(file)) return read_bundle(file, "", 0);
        if (begins_with(file, "!<arch>\n"))
            throw hsadrv::InvalidCodeObject("a static library: take the objects out of it first, with ar x");
        add_entry({}, "", file);
    }

  private:
    void read_host(std::span<const std::byte> file) {
        contents_.host = hsadrv::host_elf_text(file);
        for (const hsadrv::EmbeddedCode& code : hsadrv::find_embedded_code(file))
            read_bundle(code.bytes, code.section, code.offset_bytes);
        if (contents_.bundles.empty())
            throw hsadrv::InvalidCodeObject(contents_.host +
                                            ", and no code for GPUs in it: no section .hip_fatbin or .llvm.offloading");
    }

    void read_bundle(std::span<const std::byte> bytes, std::string_view section, std::uint64_t offset) {
        Bundle bundle;
        bundle.section = section;
        bundle.offset_bytes = offset;
        bundle.size_bytes = bytes.size();
        bundle.kind = hsadrv::is_offload_binary(bytes) ? Bundle::Kind::offload_binary : Bundle::Kind::plain;
        if (hsadrv::is_compressed_offload_bundle(bytes)) bytes = unpacked(bytes, bundle);
        contents_.bundles.push_back(std::move(bundle));
        if (hsadrv::is_offload_binary(bytes)) return add_images(bytes);
        for (const hsadrv::BundleEntry& entry : hsadrv::parse_offload_bundle(bytes))
            add(std::string(entry.id), entry.bytes, entry.id.find("amdgcn-") != entry.id.npos);
    }

    std::span<const std::byte> unpacked(std::span<const std::byte> bytes, Bundle& bundle) {
        const hsadrv::CompressedBundleHeader header = hsadrv::read_compressed_bundle_header(bytes);
        bundle.kind = Bundle::Kind::compressed;
        bundle.compression = header.method == hsadrv::Compression::zstd ? "zstd" : "zlib";
        bundle.unpacked_bytes = header.unpacked_bytes;
        return contents_.storage.emplace_back(hsadrv::decompress_offload_bundle(bytes));
    }

    void add_images(std::span<const std::byte> bytes) {
        for (const hsadrv::OffloadImage& image : hsadrv::parse_offload_binaries(bytes))
            add(fmt::format("{}--{}", image.triple, image.arch), image.bytes, image.triple.starts_with("amdgcn"));
    }

    void add(std::string id, std::span<const std::byte> bytes, bool for_amd) {
        if (for_amd)
            add_entry(contents_.bundles.size() - 1, std::move(id), bytes);
        else
            contents_.bundles.back().others.push_back(std::move(id));
    }

    void add_entry(std::optional<std::size_t> bundle, std::string id, std::span<const std::byte> bytes) {
        Entry entry{bundle, std::move(id), bytes, {}, ""};
        try {
            if (is_bitcode(bytes))
                throw hsadrv::InvalidCodeObject(
                    "LLVM bitcode, not linked yet: the device code of -c -fgpu-rdc and its like");
            entry.code = hsadrv::read_code_object(bytes);
        } catch (const hsadrv::InvalidCodeObject& error) {
            // The file itself has no other entry that could be shown.
            if (!bundle) throw;
            entry.error = error.what();
        }
        contents_.entries.push_back(std::move(entry));
    }

    Contents& contents_;
};

}  // namespace

std::optional<hsadrv::TargetId> Entry::target() const {
    if (code) return code->target;
    try {
        return hsadrv::TargetId::parse(id);
    } catch (const hsadrv::InvalidArgument&) {
        return {};
    }
}

Contents read_contents(std::string name, Bytes bytes) {
    Contents contents;
    contents.name = std::move(name);
    contents.size_bytes = bytes.size();
    try {
        Reader(contents).read(contents.storage.emplace_back(std::move(bytes)));
    } catch (const hsadrv::InvalidCodeObject& error) {
        contents.error = error.what();
    }
    return contents;
}

Contents unreadable(std::string name, std::string error) {
    Contents contents;
    contents.name = std::move(name);
    contents.error = std::move(error);
    return contents;
}

std::string kind_text(const Bundle& bundle) {
    if (bundle.kind == Bundle::Kind::offload_binary) return "offload binary";
    return bundle.compression.empty() ? "plain bundle" : "bundle compressed by " + bundle.compression;
}

}  // namespace hsadrv_tool::objdump
