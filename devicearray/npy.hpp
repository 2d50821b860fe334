// NumPy's .npy files, read and written: versions 1 to 3, C and Fortran order, records.
//
//     NpyArray image = load_npy("image.npy");
//     auto d_image = to_device(image.view(), stream);
//     save_npy("result.npy", host_view(result, {480, 640}));
//
// What is written is, byte for byte, what NumPy writes; any layout can be, one that is not contiguous as C order.
// Of bfloat16 the file says '<V2' (two raw bytes), as ml_dtypes has it, and it is read as such: view it as
// bfloat16 again. Bytes behind the array are left alone, as NumPy does.
//
// Thread safety: functions without state; NpyArray is a value. Owns: NpyArray its bytes. Throws:
// InvalidArgument for a file that is no .npy, is cut short, or has elements that no array here can have, with
// the file's name, what is wrong and at which byte; Error where the system refuses to read or write.
// Source: numpy.lib.format, "NPY format".
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

/// What a file says before its data.
struct NpyHeader {
    DType dtype;
    Layout layout;  ///< contiguous, in C or F order
    int version = 1;
    std::size_t data_offset = 0;  ///< where the elements begin
};

/// `name` stands for the file in messages. The elements need not be there yet.
NpyHeader read_npy_header(std::span<const std::byte> file, std::string_view name = "bytes");

/// The elements in a file that is in memory. Borrows: the bytes. They may lie at any address: what the element
/// type wants as alignment holds only if the file was placed so.
HostView view_npy(std::span<const std::byte> file, std::string_view name = "bytes");

/// The bytes before the data. Version 0: the lowest that can hold it. `order` A is C. Throws for types that
/// NumPy cannot describe, and for a header that is too long for version 1 or has names that versions 1 and 2
/// cannot spell.
std::string npy_header(const DType& dtype, const Dims& shape, Order order = Order::C, int version = 0);

/// A whole file as bytes.
std::vector<std::byte> write_npy(const HostView& array, int version = 0);

/// An array that was read, with its memory, which is aligned for the elements.
class NpyArray {
  public:
    /// Takes the bytes of a whole file over.
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

/// Replaces the file as a whole, or leaves what was there where anything fails. As NumPy's save it follows symbolic
/// links and keeps the mode of a file that is there; a pipe or a device is written to as it is.
void save_npy(const FilePath& path, const HostView& array);

}  // namespace hsadrv
