// DeviceGlobal: a variable of a loaded Executable, read and written by name.
//
//     DeviceGlobal counter = executable.global("counter");
//     counter.write(stream, 0);                 // in the stream's order, before the kernels that follow
//     kernel.launch(stream, {.grid = n, .workgroup = 256}, data, n);
//     int counted = counter.read<int>(stream);  // waits for the kernel
//
// The forms with a stream are ordered in it. Those without are not ordered with any stream: synchronise first. Thread
// safety: const functions from any thread. Memory ordering: Stream's. Keeps alive: its Executable. Throws:
// InvalidArgument if the size of the type does not match, if the range is not within the variable, and for writing a
// constant; what Stream::copy_async and Stream::synchronize throw. Source: hsa.h, hsa_executable_symbol_info_t,
// VARIABLE_*.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <type_traits>

#include "hsadrv/agent.hpp"
#include "hsadrv/deadline.hpp"
#include "hsadrv/stream.hpp"
#include "hsadrv/symbol.hpp"

namespace hsadrv {

namespace detail {
struct ExecutableState;
}

class DeviceGlobal {
  public:
    DeviceGlobal(std::shared_ptr<detail::ExecutableState> executable, Symbol symbol, bool read_only) noexcept;

    const std::string& name() const noexcept { return symbol_.name; }
    std::size_t size_bytes() const noexcept { return symbol_.size_bytes; }
    Symbol::Scope scope() const noexcept { return symbol_.scope; }
    /// In a read-only section. Kernels may have its value as an immediate operand, so it cannot be changed.
    bool read_only() const noexcept { return read_only_; }
    AgentRef agent() const noexcept;

    /// Its address on the agent, for use in kernels and copies.
    void* address() const noexcept { return reinterpret_cast<void*>(symbol_.address); }

    /// Its value after the work submitted so far; waits for it.
    template <class T>
    T read(Stream& stream, Deadline deadline = {}) const {
        check_whole<T>();
        T value;
        read_bytes(stream, std::as_writable_bytes(std::span(&value, 1)), 0, deadline);
        return value;
    }
    /// Writes it in the stream's order; `value` is copied before the call returns.
    template <class T>
    void write(Stream& stream, const T& value, Deadline deadline = {}) const {
        check_whole<T>();
        write_bytes(stream, std::as_bytes(std::span(&value, 1)), 0, deadline);
    }

    /// Reads or writes it immediately; complete on return.
    template <class T>
    T read(Deadline deadline = {}) const {
        check_whole<T>();
        T value;
        read_bytes(std::as_writable_bytes(std::span(&value, 1)), 0, deadline);
        return value;
    }
    template <class T>
    void write(const T& value, Deadline deadline = {}) const {
        check_whole<T>();
        write_bytes(std::as_bytes(std::span(&value, 1)), 0, deadline);
    }

    /// The same for a range of its bytes.
    void read_bytes(Stream& stream, std::span<std::byte> to, std::size_t offset_bytes = 0,
                    Deadline deadline = {}) const;
    void write_bytes(Stream& stream, std::span<const std::byte> from, std::size_t offset_bytes = 0,
                     Deadline deadline = {}) const;
    void read_bytes(std::span<std::byte> to, std::size_t offset_bytes = 0, Deadline deadline = {}) const;
    void write_bytes(std::span<const std::byte> from, std::size_t offset_bytes = 0, Deadline deadline = {}) const;

  private:
    template <class T>
    void check_whole() const {
        static_assert(std::is_trivially_copyable_v<T>, "device memory holds plain bytes");
        if (sizeof(T) != symbol_.size_bytes) [[unlikely]]
            refuse_size(sizeof(T));
    }
    std::byte* at(std::size_t offset_bytes, std::size_t size_bytes, const char* call) const;
    void check_writable() const;
    void check_stream(const Stream& stream) const;
    [[noreturn]] void refuse_size(std::size_t given_bytes) const;
    std::string label() const;

    std::shared_ptr<detail::ExecutableState> executable_;
    Symbol symbol_;
    bool read_only_;
};

}  // namespace hsadrv
