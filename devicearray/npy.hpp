// NumPy's .npy files, read and written: versions 1 to 3, C and Fortran order, records.
//
//     NpyArray image = load_npy("image.npy");
//     auto d_image = to_device(image.view(), stream);
//     save_npy("result.npy", host_view(result, {480, 640}));
//
// Output is byte for byte what NumPy writes; layouts that are not contiguous are written in C order. As with ml_dtypes,
// bfloat16 and 8-bit floats are written as '<V2' and '|V1' (raw bytes) and read back as such: view them as bfloat16
// again. Bytes after the array are ignored, as in NumPy.
//
// Thread safety: functions without state; NpyArray is a value. Owns: NpyArray owns its bytes. Throws: InvalidArgument
// for a file that is not .npy, is truncated, or has unsupported elements, with the file's name, the problem and the
// byte offset; Error if the system fails to read or write. Source: numpy.lib.format, "NPY format".
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "devicearray/dtype.hpp"
#include "devicearray/host_view.hpp"
#include "devicearray/layout.hpp"
#include "hsadrv/file_path.hpp"

namespace hsadrv {

/// The description before a file's data.
struct NpyHeader {
    DType dtype;
    Layout layout;  ///< contiguous, in C or F order
    int version = 1;
    std::size_t data_offset = 0;  ///< offset of the elements
};

/// `name` stands for the file in messages. `file` need not contain the elements yet.
NpyHeader read_npy_header(std::span<const std::byte> file, std::string_view name = "bytes");

/// The elements of a file in memory. Borrows: the bytes. Elements may be misaligned, depending on where the file was
/// placed.
HostView view_npy(std::span<const std::byte> file, std::string_view name = "bytes");

/// The bytes before the data. Version 0: the lowest that can hold it. Order::A means C. Throws for types that NumPy
/// cannot describe, and for a header that is too long for version 1 or has names that the encoding of versions 1 and 2
/// cannot hold.
std::string npy_header(const DType& dtype, const Dims& shape, Order order = Order::C, int version = 0);

/// A whole file as bytes.
std::vector<std::byte> write_npy(const HostView& array, int version = 0);

/// An array loaded from a file, with its memory, which is aligned for the elements.
class NpyArray {
  public:
    /// Takes ownership of a whole file's bytes.
    explicit NpyArray(std::vector<std::byte> file, std::string_view name = "bytes");

    NpyArray(const NpyArray&) = default;
    NpyArray& operator=(const NpyArray&) = default;
    /// Leaves an empty array of shape (0,).
    NpyArray(NpyArray&& other) noexcept : file_(std::move(other.file_)), header_(other.header_) { other.forget(); }
    NpyArray& operator=(NpyArray&& other) noexcept {
        NpyArray taken(std::move(other));
        file_.swap(taken.file_);
        header_ = taken.header_;
        return *this;
    }

    const DType& dtype() const { return header_.dtype; }
    const Layout& layout() const { return header_.layout; }
    int version() const { return header_.version; }
    HostView view() const { return {file_.data() + header_.data_offset, dtype(), layout()}; }
    MutableHostView view() { return {file_.data() + header_.data_offset, dtype(), layout()}; }

  private:
    void forget() noexcept {
        file_.clear();
        header_.layout = Layout::contiguous({0}, header_.layout.itemsize());
        header_.data_offset = 0;
    }

    std::vector<std::byte> file_;
    NpyHeader header_;
};

NpyArray load_npy(const FilePath& path);

/// Replaces the file atomically; if anything fails, the old file remains. Like NumPy's save it follows symbolic links
/// and keeps an existing file's mode; a pipe or a device is written to directly.
void save_npy(const FilePath& path, const HostView& array);

}  // namespace hsadrv
