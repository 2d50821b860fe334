// Code objects for the tests: compiled at build time, and with bytes changed.
//
//     Bytes file = test_code_object("launch.gfx90a.v5.O2.hsaco");
//     patch<std::uint16_t>(file, offsetof(Elf64_Ehdr, e_machine), EM_X86_64);
//     GuardedBytes guarded(file.size());
//     read_code_object(guarded.put(file));  // a byte read too far faults
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "hsadrv/file_bytes.hpp"
#include "hsadrv/metadata.hpp"
#include "tests/support/test_file.hpp"

namespace test_support {

using Bytes = std::vector<std::byte>;

inline Bytes test_code_object(const std::string& name) { return hsadrv::read_file(test_file(name)); }

inline Bytes bytes_of(const std::string& text) {
    const auto bytes = std::as_bytes(std::span(text));
    return {bytes.begin(), bytes.end()};
}

template <class T>
T peek(std::span<const std::byte> file, std::size_t offset) {
    if (offset + sizeof(T) > file.size()) throw std::out_of_range("peek");
    T value;
    std::memcpy(&value, file.data() + offset, sizeof value);
    return value;
}

template <class T>
void patch(std::span<std::byte> file, std::size_t offset, T value) {
    if (offset + sizeof(T) > file.size()) throw std::out_of_range("patch");
    std::memcpy(file.data() + offset, &value, sizeof value);
}

/// As metadata describes an argument of a kernel.
inline hsadrv::ArgumentMetadata argument(hsadrv::ValueKind kind, std::uint32_t offset, std::uint32_t size,
                                         const char* type = "", const char* name = "") {
    hsadrv::ArgumentMetadata result;
    result.kind = kind;
    result.kind_text = std::string(to_string(kind));
    result.offset_bytes = offset;
    result.size_bytes = size;
    result.type_name = type;
    result.name = name;
    return result;
}

/// Memory that ends at an unreadable page, for libraries without sanitizers.
class GuardedBytes {
  public:
    explicit GuardedBytes(std::size_t max_size) {
        const std::size_t page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
        room_ = (max_size + page - 1) / page * page;
        mapped_ = room_ + page;
        void* const memory = mmap(nullptr, mapped_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (memory == MAP_FAILED) throw std::runtime_error("mmap");
        base_ = static_cast<std::byte*>(memory);
        mprotect(base_ + room_, page, PROT_NONE);
    }
    GuardedBytes(const GuardedBytes&) = delete;
    GuardedBytes& operator=(const GuardedBytes&) = delete;
    ~GuardedBytes() { munmap(base_, mapped_); }

    /// A copy that ends at the guard.
    std::span<const std::byte> put(std::span<const std::byte> bytes) {
        std::byte* const start = base_ + room_ - bytes.size();
        if (!bytes.empty()) std::memcpy(start, bytes.data(), bytes.size());
        return {start, bytes.size()};
    }

  private:
    std::byte* base_ = nullptr;
    std::size_t room_ = 0, mapped_ = 0;
};

/// The message of the exception of type E that `work` throws; empty if it throws none.
template <class E, class Work>
std::string message_of(Work&& work) {
    try {
        work();
    } catch (const E& error) {
        return error.what();
    }
    return {};
}

}  // namespace test_support
