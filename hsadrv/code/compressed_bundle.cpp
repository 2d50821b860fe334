#include "hsadrv/code/compressed_bundle.hpp"

#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <string_view>

#include "hsadrv/base/text.hpp"
#include "hsadrv/code/md5.hpp"
#include "hsadrv/error.hpp"

namespace hsadrv {
namespace {

constexpr std::string_view compressed_magic = "CCOB";

// How much a packed byte can stand for at most. zlib: RFC 1951 codes 258 bytes in two bits. zstd: RFC 8878
// repeats one byte over a block of 128 KiB in four bytes.
constexpr std::uint64_t zlib_max_ratio = 258 * 4, zstd_max_ratio = 128 * 1024 / 4;

[[noreturn]] void refuse_compressed(const std::string& why) {
    throw InvalidCodeObject("compressed offload bundle: " + why);
}

using detail::number;

const char* name_of(Compression method) { return method == Compression::zstd ? "zstd" : "zlib"; }

/// Reads the header's fields forward.
class Fields {
  public:
    explicit Fields(std::span<const std::byte> file) : file_(file), offset_(compressed_magic.size()) {}

    template <class T>
    T take(const char* what) {
        T value;
        if (sizeof value > file_.size() - offset_) {
            refuse_compressed("truncated in " + std::string(what) + " at offset " + number(offset_) +
                              ", the file has " + number(file_.size()) + " bytes");
        }
        std::memcpy(&value, file_.data() + offset_, sizeof value);  // little endian, as the hosts of ROCm are
        offset_ += sizeof value;
        return value;
    }

    std::uint64_t size(const char* what, bool wide) {
        return wide ? take<std::uint64_t>(what) : take<std::uint32_t>(what);
    }

    std::size_t offset() const { return offset_; }

  private:
    std::span<const std::byte> file_;
    std::size_t offset_;
};

void check_file_size(const CompressedBundleHeader& header, std::size_t file_bytes) {
    if (header.file_bytes > file_bytes) {
        refuse_compressed("its header says " + number(header.file_bytes) + " bytes, the file has " +
                          number(file_bytes) + "; is it truncated?");
    }
    if (header.file_bytes < header.header_bytes) {
        refuse_compressed("its header says " + number(header.file_bytes) + " bytes in all, the header alone has " +
                          number(header.header_bytes));
    }
    if (header.file_bytes < file_bytes) {
        refuse_compressed(number(file_bytes - header.file_bytes) + " bytes follow its end at offset " +
                          number(header.file_bytes) + ": give one bundle at a time");
    }
}

void check_unpacked_size(const CompressedBundleHeader& header, std::size_t max_bytes) {
    if (header.unpacked_bytes > max_bytes) {
        refuse_compressed(number(header.unpacked_bytes) + " bytes unpacked are more than the limit of " +
                          number(max_bytes));
    }
    const std::uint64_t packed = header.file_bytes - header.header_bytes;
    const std::uint64_t ratio = header.method == Compression::zstd ? zstd_max_ratio : zlib_max_ratio;
    if (header.unpacked_bytes / ratio > packed) {
        refuse_compressed("its header says " + number(header.unpacked_bytes) + " bytes unpacked, more than " +
                          number(packed) + " bytes of " + name_of(header.method) + " can hold");
    }
}

std::uint64_t unpack_zstd(std::span<const std::byte> packed, std::span<std::byte> to) {
    const std::size_t done = ZSTD_decompress(to.data(), to.size(), packed.data(), packed.size());
    if (ZSTD_isError(done)) refuse_compressed(std::string("zstd: ") + ZSTD_getErrorName(done));
    return done;
}

std::uint64_t unpack_zlib(std::span<const std::byte> packed, std::span<std::byte> to) {
    uLongf done = to.size();
    uLong used = packed.size();
    const int status =
        uncompress2(reinterpret_cast<Bytef*>(to.data()), &done, reinterpret_cast<const Bytef*>(packed.data()), &used);
    if (status != Z_OK) {
        refuse_compressed(std::string("zlib: ") +
                          (status == Z_BUF_ERROR ? "more data than the header says, or truncated" : zError(status)));
    }
    if (used != packed.size()) refuse_compressed("zlib: " + number(packed.size() - used) + " bytes after its end");
    return done;
}

/// How many bytes of zlib's data there are in front of something else. What they stand for is thrown away.
std::uint64_t zlib_bytes(std::span<const std::byte> packed) {
    z_stream stream{};
    if (inflateInit(&stream) != Z_OK) refuse_compressed("zlib: out of memory");
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(packed.data()));
    std::vector<Bytef> room(64 * 1024);
    int status = Z_OK;
    std::size_t left = packed.size();
    while (status == Z_OK && stream.total_out <= max_bundle_bytes) {
        if (stream.avail_in == 0) {
            stream.avail_in = static_cast<uInt>(std::min<std::size_t>(left, 1 << 30));
            left -= stream.avail_in;
        }
        stream.next_out = room.data();
        stream.avail_out = static_cast<uInt>(room.size());
        status = inflate(&stream, Z_NO_FLUSH);
    }
    const std::uint64_t rest = stream.avail_in + left;
    inflateEnd(&stream);
    if (status != Z_STREAM_END) refuse_compressed("zlib: its end is not found: truncated or damaged");
    return packed.size() - rest;
}

std::uint64_t packed_bytes(std::span<const std::byte> packed, Compression method) {
    if (method == Compression::zlib) return zlib_bytes(packed);
    const std::size_t bytes = ZSTD_findFrameCompressedSize(packed.data(), packed.size());
    if (ZSTD_isError(bytes)) refuse_compressed(std::string("zstd: ") + ZSTD_getErrorName(bytes));
    return bytes;
}

/// What the header says, its sizes not checked.
CompressedBundleHeader read_fields(std::span<const std::byte> file) {
    if (!is_compressed_offload_bundle(file)) refuse_compressed("the magic CCOB is missing");
    Fields fields(file);
    CompressedBundleHeader header;
    header.version = fields.take<std::uint16_t>("the version");
    if (header.version < 1 || header.version > 3) {
        refuse_compressed("version " + number(header.version) + " at offset 4, known are 1 to 3: write it with " +
                          "COMPRESSED_BUNDLE_FORMAT_VERSION=3, or not compressed");
    }
    const auto method = fields.take<std::uint16_t>("the method");
    if (method > static_cast<std::uint16_t>(Compression::zstd))
        refuse_compressed("compression method " + number(method) + " at offset 6, known are 0 (zlib) and 1 (zstd)");
    header.method = static_cast<Compression>(method);
    const bool wide = header.version == 3;
    header.file_bytes = header.version == 1 ? file.size() : fields.size("the file's size", wide);
    header.unpacked_bytes = fields.size("the size when unpacked", wide);
    header.hash = fields.take<std::uint64_t>("the hash");
    header.header_bytes = fields.offset();
    return header;
}

}  // namespace

bool is_compressed_offload_bundle(std::span<const std::byte> file) {
    return file.size() >= compressed_magic.size() &&
           std::memcmp(file.data(), compressed_magic.data(), compressed_magic.size()) == 0;
}

CompressedBundleHeader read_compressed_bundle_header(std::span<const std::byte> file, std::size_t max_bytes) {
    const CompressedBundleHeader header = read_fields(file);
    check_file_size(header, file.size());
    check_unpacked_size(header, max_bytes);
    return header;
}

std::uint64_t compressed_bundle_extent(std::span<const std::byte> bytes) {
    CompressedBundleHeader header = read_fields(bytes);
    if (header.version == 1) {
        const auto packed = bytes.subspan(header.header_bytes);
        header.file_bytes = header.header_bytes + packed_bytes(packed, header.method);
    }
    // Bytes after its end are no error here.
    check_file_size(header, std::min<std::uint64_t>(header.file_bytes, bytes.size()));
    return header.file_bytes;
}

std::vector<std::byte> decompress_offload_bundle(std::span<const std::byte> file, std::size_t max_bytes) {
    const CompressedBundleHeader header = read_compressed_bundle_header(file, max_bytes);
    const auto packed = file.subspan(header.header_bytes);
    std::vector<std::byte> bundle(header.unpacked_bytes);
    const std::uint64_t done =
        header.method == Compression::zstd ? unpack_zstd(packed, bundle) : unpack_zlib(packed, bundle);
    if (done != bundle.size()) {
        refuse_compressed("its header says " + number(header.unpacked_bytes) + " bytes unpacked, " +
                          name_of(header.method) + " gives " + number(done));
    }
    if (const std::uint64_t hash = md5_low64(bundle); hash != header.hash) {
        refuse_compressed("damaged: the hash of what is inside is " + detail::hex(hash, 16) + ", its header says " +
                          detail::hex(header.hash, 16));
    }
    return bundle;
}

}  // namespace hsadrv
