#include "devicearray/npy.hpp"

#include <cstdint>
#include <cstring>

#include "devicearray/copy_strided.hpp"
#include "devicearray/replacement.hpp"
#include "hsadrv/error.hpp"
#include "hsadrv/file_bytes.hpp"

namespace hsadrv {
namespace {

// Limited only by available memory.
constexpr std::size_t most_file_bytes = SIZE_MAX / 2;

std::size_t required_end(const NpyHeader& header, std::size_t file_bytes, std::string_view name) {
    const auto bytes = static_cast<std::size_t>(header.layout.size_bytes());
    if (bytes > file_bytes - header.data_offset) {
        throw InvalidArgument("npy " + std::string(name) + ": truncated: " + header.layout.shape().to_string() +
                              " of " + header.dtype.name() + " needs " + std::to_string(bytes) + " bytes from byte " +
                              std::to_string(header.data_offset) + "; the file has " + std::to_string(file_bytes));
    }
    return header.data_offset + bytes;
}

/// The elements, contiguous in C order.
std::vector<std::byte> packed(const HostView& array) {
    const Layout in_order = Layout::contiguous(array.layout.shape(), array.layout.itemsize());
    std::vector<std::byte> bytes(static_cast<std::size_t>(in_order.size_bytes()));
    copy_strided(StridedCopy::between(in_order, array.layout), bytes.data(), array.data);
    return bytes;
}

/// The bytes to write: the header, and the elements in place or packed.
struct Content {
    std::string header;
    std::vector<std::byte> own{};
    std::span<const std::byte> elements{};

    Content(const HostView& array, int version)
        : header(npy_header(array.dtype, array.layout.shape(), array.layout.resolved(Order::A), version)) {
        if (static_cast<std::int64_t>(array.dtype.itemsize()) != array.layout.itemsize()) {
            throw InvalidArgument("write_npy: elements of " + array.dtype.name() + " have " +
                                  std::to_string(array.dtype.itemsize()) + " B, the layout's " +
                                  std::to_string(array.layout.itemsize()) + " B");
        }
        if (array.layout.is_contiguous()) {
            elements = {static_cast<const std::byte*>(array.data), static_cast<std::size_t>(array.layout.size_bytes())};
        } else {
            own = packed(array);
            elements = own;
        }
    }
};

}  // namespace

HostView view_npy(std::span<const std::byte> file, std::string_view name) {
    const NpyHeader header = read_npy_header(file, name);
    required_end(header, file.size(), name);
    return {file.data() + header.data_offset, header.dtype, header.layout};
}

NpyArray::NpyArray(std::vector<std::byte> file, std::string_view name)
    : file_(std::move(file)), header_(read_npy_header(file_, name)) {
    const std::size_t end = required_end(header_, file_.size(), name);
    file_.resize(end);
    // Files of NumPy before 1.14, and of other writers, may have misaligned data.
    const auto address = reinterpret_cast<std::uintptr_t>(file_.data() + header_.data_offset);
    if (address % header_.dtype.alignment() != 0) {
        file_.erase(file_.begin(), file_.begin() + static_cast<std::ptrdiff_t>(header_.data_offset));
        header_.data_offset = 0;
    }
}

std::vector<std::byte> write_npy(const HostView& array, int version) {
    const Content content(array, version);
    std::vector<std::byte> file(content.header.size() + content.elements.size());
    std::memcpy(file.data(), content.header.data(), content.header.size());
    if (!content.elements.empty())
        std::memcpy(file.data() + content.header.size(), content.elements.data(), content.elements.size());
    return file;
}

NpyArray load_npy(const FilePath& path) {
    return NpyArray(read_file(path, most_file_bytes), "'" + path.string() + "'");
}

void save_npy(const FilePath& path, const HostView& array) {
    const Content content(array, 0);
    detail::Replacement file("save_npy", path);
    file.write(content.header.data(), content.header.size());
    file.write(content.elements.data(), content.elements.size());
    file.complete();
}

}  // namespace hsadrv
