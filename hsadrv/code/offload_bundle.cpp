#include "hsadrv/code/offload_bundle.hpp"

#include <cstdint>
#include <cstring>
#include <optional>
#include <string>

#include "hsadrv/code/compressed_bundle.hpp"
#include "hsadrv/code/file_range.hpp"
#include "hsadrv/error.hpp"

namespace hsadrv {
namespace {

constexpr std::string_view plain_magic = "__CLANG_OFFLOAD_BUNDLE__";
constexpr std::size_t entry_header_bytes = 3 * sizeof(std::uint64_t);
constexpr std::size_t max_id_bytes = 4096;

bool starts_with(std::span<const std::byte> file, std::string_view magic) {
    return file.size() >= magic.size() && std::memcmp(file.data(), magic.data(), magic.size()) == 0;
}

/// Reads forward, never past the end.
class Reader {
  public:
    Reader(std::span<const std::byte> file, std::size_t offset) : file_(file), offset_(offset) {}

    std::uint64_t u64(const std::string& what) {
        std::uint64_t value = 0;
        std::memcpy(&value, take(sizeof value, what).data(), sizeof value);
        return value;  // little endian, as the hosts of ROCm are
    }

    std::span<const std::byte> take(std::uint64_t size, const std::string& what) {
        if (size > file_.size() - offset_) {
            throw InvalidCodeObject("offload bundle: truncated in " + what + ": " + std::to_string(size) +
                                    " bytes wanted at offset " + std::to_string(offset_) + ", the file has " +
                                    std::to_string(file_.size()));
        }
        const auto bytes = file_.subspan(offset_, size);
        offset_ += size;
        return bytes;
    }

    std::size_t left() const { return file_.size() - offset_; }

  private:
    std::span<const std::byte> file_;
    std::size_t offset_;
};

BundleEntry read_entry(Reader& reader, std::span<const std::byte> file, std::uint64_t index) {
    const std::string which = "entry " + std::to_string(index);
    const std::uint64_t offset = reader.u64(which);
    const std::uint64_t size = reader.u64(which);
    const std::uint64_t id_size = reader.u64(which);
    if (id_size > max_id_bytes) {
        throw InvalidCodeObject("offload bundle: " + which + ": an id of " + std::to_string(id_size) + " bytes");
    }
    const auto id = reader.take(id_size, which + "'s id");
    return {{reinterpret_cast<const char*>(id.data()), id.size()},
            file_range(file, offset, size, "offload bundle", which)};
}

bool is_host(std::string_view id) { return id.find("amdgcn-") == std::string_view::npos; }

int stated_features(const TargetId& target) {
    return (target.sramecc != TargetFeature::any) + (target.xnack != TargetFeature::any);
}

/// The target of an entry; std::nullopt for host code and for unreadable ids, which must not hide readable entries.
std::optional<TargetId> device_target(const BundleEntry& entry) {
    if (is_host(entry.id)) return std::nullopt;
    return TargetId::try_parse(entry.id);
}

std::string names(std::span<const BundleEntry> entries) {
    std::string text;
    for (const BundleEntry& entry : entries) {
        if (is_host(entry.id)) continue;
        const std::optional<TargetId> target = device_target(entry);
        text += (text.empty() ? "" : ", ") + (target ? target->name() : "'" + std::string(entry.id) + "'");
    }
    return text.empty() ? "no device code" : "code for " + text;
}

}  // namespace

bool is_offload_bundle(std::span<const std::byte> file) { return starts_with(file, plain_magic); }

std::vector<BundleEntry> parse_offload_bundle(std::span<const std::byte> file) {
    if (!is_offload_bundle(file))
        throw InvalidCodeObject("offload bundle: the magic __CLANG_OFFLOAD_BUNDLE__ is missing");
    Reader reader(file, plain_magic.size());
    const std::uint64_t count = reader.u64("the number of entries");
    if (count > reader.left() / entry_header_bytes) {
        throw InvalidCodeObject("offload bundle: " + std::to_string(count) + " entries cannot be in a file of " +
                                std::to_string(file.size()) + " bytes; is it truncated?");
    }
    std::vector<BundleEntry> entries;
    entries.reserve(count);
    for (std::uint64_t i = 0; i < count; ++i) entries.push_back(read_entry(reader, file, i));
    return entries;
}

std::span<const std::byte> select_code_object(std::span<const std::byte> file, std::span<const TargetId> agent) {
    if (is_compressed_offload_bundle(file))
        throw InvalidCodeObject("offload bundle: compressed (CCOB), which is to be unpacked first");
    if (!is_offload_bundle(file)) return file;

    const std::vector<BundleEntry> entries = parse_offload_bundle(file);
    const BundleEntry* best = nullptr;
    int best_features = -1;
    for (const BundleEntry& entry : entries) {
        const std::optional<TargetId> target = device_target(entry);
        if (!target || mismatch(*target, agent) || stated_features(*target) <= best_features) continue;
        best = &entry;
        best_features = stated_features(*target);
    }
    if (best) return best->bytes;
    const std::string wanted = agent.empty() ? "an unknown target" : agent.front().name();
    throw InvalidCodeObject("offload bundle: holds " + names(entries) + ", this agent is " + wanted +
                            (agent.empty() ? "" : ": compile with -mcpu=" + agent.front().processor + " too"));
}

std::vector<std::byte> extract_code_object(std::span<const std::byte> file, std::span<const TargetId> agent) {
    std::vector<std::byte> unpacked;
    if (is_compressed_offload_bundle(file)) {
        file = unpacked = decompress_offload_bundle(file);
        if (!is_offload_bundle(file))
            throw InvalidCodeObject("compressed offload bundle: what is inside is no offload bundle");
    }
    const auto code = select_code_object(file, agent);
    return {code.begin(), code.end()};
}

}  // namespace hsadrv
