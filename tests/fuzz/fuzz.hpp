// A fuzz target: a function of bytes that must return for any input, and seeds for mutations.
//
//     int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
//         fuzz::Input in{data, size};
//         ...
//         return 0;
//     }
//     std::vector<fuzz::Bytes> fuzz::seeds() { return {fuzz::Output{}.put<std::uint32_t>(7).bytes}; }
//
// Linked with driver.cpp a target is a test: a fixed number of inputs from a fixed seed. Linked with libFuzzer
// (-Dfuzz=true) it searches by coverage without a limit.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace fuzz {

using Bytes = std::vector<std::uint8_t>;

/// Inputs worth starting from, made in code. Defined by each target.
std::vector<Bytes> seeds();

/// Prints the reason, and aborts: the target found a violation.
[[noreturn]] void broken(const char* what);

/// Consumes an input from the front; zeroes follow its end.
class Input {
  public:
    Input(const std::uint8_t* data, std::size_t size) : data_{data}, left_{size} {}

    bool empty() const { return left_ == 0; }
    std::size_t left() const { return left_; }
    void take_bytes(void* to, std::size_t count) {
        const std::size_t given = std::min(count, left_);
        if (given) std::memcpy(to, data_, given);
        std::memset(static_cast<std::uint8_t*>(to) + given, 0, count - given);
        data_ += given;
        left_ -= given;
    }
    template <class T>
    T take() {
        static_assert(std::is_trivially_copyable_v<T>);
        std::array<std::uint8_t, sizeof(T)> bytes;
        take_bytes(bytes.data(), bytes.size());
        T value;
        std::memcpy(static_cast<void*>(&value), bytes.data(), sizeof value);
        return value;
    }
    /// 0 to limit - 1.
    unsigned below(unsigned limit) { return take<std::uint8_t>() % limit; }

  private:
    const std::uint8_t* data_;
    std::size_t left_;
};

/// Builds a seed in Input's format.
struct Output {
    Bytes bytes{};

    template <class T>
    Output& put(const T& value) {
        static_assert(std::is_trivially_copyable_v<T>);
        const auto* from = reinterpret_cast<const std::uint8_t*>(&value);
        bytes.insert(bytes.end(), from, from + sizeof value);
        return *this;
    }
};

}  // namespace fuzz
