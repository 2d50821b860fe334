#include "devicearray/npy.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>

#include "devicearray/copy_strided.hpp"
#include "hsadrv/error.hpp"
#include "hsadrv/file_bytes.hpp"

namespace hsadrv {
namespace {

// As much as there is memory for.
constexpr std::size_t kMostBytes = SIZE_MAX / 2;

std::size_t required_end(const NpyHeader& header, std::size_t file_bytes, std::string_view name) {
    const auto bytes = static_cast<std::size_t>(header.layout.size_bytes());
    if (bytes > file_bytes - header.data_offset) {
        throw InvalidArgument(
            "npy " + std::string(name) + ": cut short: " + header.layout.shape().to_string() + " of " +
            header.dtype.name() + " needs " + std::to_string(bytes) + " bytes from byte " +
            std::to_string(header.data_offset) + " on; the file has " + std::to_string(file_bytes));
    }
    return header.data_offset + bytes;
}

/// The elements one after the other in C order.
std::vector<std::byte> packed(const HostView& array) {
    const Layout in_order = Layout::contiguous(array.layout.shape(), array.layout.itemsize());
    std::vector<std::byte> bytes(static_cast<std::size_t>(in_order.size_bytes()));
    copy_strided(StridedCopy::between(in_order, array.layout), bytes.data(), array.data);
    return bytes;
}

/// What is to be written: the header, and the elements where they are or packed.
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
            elements = {static_cast<const std::byte*>(array.data),
                        static_cast<std::size_t>(array.layout.size_bytes())};
        } else {
            own = packed(array);
            elements = own;
        }
    }
};

/// A new file beside the one to replace; gone again unless it was completed.
class Replacement {
  public:
    explicit Replacement(const std::filesystem::path& path) : path_(path) {
        // Not mkstemp: its file would have other permissions than one that is simply made.
        for (int n = 0; n < 1000 && fd_ < 0; ++n) {
            own_ = path.string() + ".part" + std::to_string(n);
            fd_ = ::open(own_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
            if (fd_ < 0 && errno != EEXIST) break;
        }
        if (fd_ < 0) refuse("cannot be created");
    }
    Replacement(const Replacement&) = delete;
    Replacement& operator=(const Replacement&) = delete;
    ~Replacement() {
        if (fd_ >= 0) ::close(fd_);
        if (!complete_) ::unlink(own_.c_str());  // reached only where there is one of ours
    }

    void write(const void* data, std::size_t bytes) {
        const auto* from = static_cast<const char*>(data);
        while (bytes > 0) {
            const ssize_t done = ::write(fd_, from, bytes);
            if (done < 0 && errno == EINTR) continue;
            if (done < 0) refuse("write");
            from += done;
            bytes -= static_cast<std::size_t>(done);
        }
    }

    void complete() {
        const int closed = ::close(fd_);
        fd_ = -1;
        if (closed != 0) refuse("close");
        if (::rename(own_.c_str(), path_.c_str()) != 0) refuse("rename");
        complete_ = true;
    }

  private:
    [[noreturn]] void refuse(const char* call) const {
        throw Error("save_npy('" + path_.string() + "'): " + call + ": " + std::strerror(errno));
    }

    std::filesystem::path path_;
    std::string own_;
    int fd_ = -1;
    bool complete_ = false;
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
    // Files of NumPy before 1.14, and of others, need not have their data where it can be used.
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

NpyArray load_npy(const std::filesystem::path& path) {
    return NpyArray(read_file(path, kMostBytes), "'" + path.string() + "'");
}

void save_npy(const std::filesystem::path& path, const HostView& array) {
    const Content content(array, 0);
    Replacement file(path);
    file.write(content.header.data(), content.header.size());
    file.write(content.elements.data(), content.elements.size());
    file.complete();
}

}  // namespace hsadrv
