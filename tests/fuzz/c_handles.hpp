// For fuzzing the C interface: handles of all kinds, and what each result is checked for.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "hsadrv/c/handle_table.hpp"
#include "hsadrv/hsadrv.h"
#include "tests/fuzz/fuzz.hpp"

namespace c_fuzz {

constexpr std::size_t buffer_bytes = 64 << 10, pool_bytes = 2 * buffer_bytes;
constexpr unsigned most_steps = 60;
constexpr std::uint64_t second_ns = 1'000'000'000;

/// What outlives every input. Leaked on purpose: the runtime is not shut down from a static destructor.
struct World {
    hsadrv_driver driver = nullptr;
    hsadrv_device gpu = nullptr;
    hsadrv_executable code = nullptr;
    hsadrv_kernel scale_add = nullptr;
    std::byte* pool = nullptr;  // pinned memory of pool_bytes bytes, for a resource
    std::vector<std::byte> from = std::vector<std::byte>(buffer_bytes), to = from;
    std::size_t handles = 0;

    World() {
        setenv("KFDEMU", "on,gpu=" FUZZ_TARGET ",workers=1", 1);
        hsadrv_memory pinned = nullptr;
        void* address = nullptr;
        const bool made = hsadrv_driver_create(&driver) == HSADRV_SUCCESS &&
                          hsadrv_driver_device(driver, 0, &gpu) == HSADRV_SUCCESS &&
                          hsadrv_executable_load_file(gpu, TEST_KERNEL_DIR "/stream.hsaco", &code) == HSADRV_SUCCESS &&
                          hsadrv_executable_kernel(code, "scale_add", &scale_add) == HSADRV_SUCCESS &&
                          hsadrv_memory_create(gpu, HSADRV_MEMORY_HOST, pool_bytes, &pinned) == HSADRV_SUCCESS &&
                          hsadrv_memory_address(pinned, &address) == HSADRV_SUCCESS;
        if (!made) fuzz::broken(hsadrv_last_error_message());
        pool = static_cast<std::byte*>(address);
        handles = hsadrv::c::HandleTable::process().size();
    }
};

inline World& world() {
    static auto* const made = new World;
    return *made;
}

inline int host_function(void* user) { return static_cast<std::atomic<int>*>(user)->fetch_add(1) % 16 == 15; }
inline void release(void*) {}
/// The same memory for all; none if it is too small.
inline void* allocate(std::size_t size_bytes, std::size_t alignment, hsadrv_stream, void*) {
    void* first = world().pool;
    std::size_t room = pool_bytes;
    return std::align(alignment, size_bytes, first, room);
}
inline void deallocate(void*, std::size_t, std::size_t, void*) {}
inline void completion(hsadrv_result, const char* message, void*) {
    if (!message) fuzz::broken("a completion without a message");
}

/// A structure with memory after it, for every struct_size that is read.
template <class T>
struct WithRoom {
    T known{};
    std::byte more[4096]{};
};

/// The handles of one input, by the order of their making.
class Handles {
  protected:
    explicit Handles(fuzz::Input& in) : in_(in) {}

    template <class Handle>
    void add(Handle handle) {
        if (handle) handles_.push_back(handle);
    }
    /// A live or destroyed handle of any kind, or any number.
    void* any() {
        const unsigned choice = in_.below(24);
        if (choice == 0) return nullptr;
        if (choice == 1) return reinterpret_cast<void*>(in_.take<std::uintptr_t>());
        return handles_[in_.take<std::uint8_t>() % handles_.size()];
    }
    /// Mostly one of that kind, the latest or another.
    template <class Handle>
    Handle some(hsadrv::c::HandleKind kind) {
        void* const first = any();
        const auto& table = hsadrv::c::HandleTable::process();
        if (in_.below(8) == 0) return static_cast<Handle>(first);
        for (std::size_t i = handles_.size(); i-- > 0;) {
            if (table.kind_of(handles_[i]) == kind && (table.find(handles_[i], kind) || in_.below(4) == 0))
                return static_cast<Handle>(handles_[i]);
        }
        return static_cast<Handle>(first);
    }
    hsadrv_device device() { return some<hsadrv_device>(hsadrv::c::HandleKind::device); }
    hsadrv_memory memory() { return some<hsadrv_memory>(hsadrv::c::HandleKind::memory); }
    hsadrv_stream stream() { return some<hsadrv_stream>(hsadrv::c::HandleKind::stream); }
    hsadrv_event event() { return some<hsadrv_event>(hsadrv::c::HandleKind::event); }
    hsadrv_kernel kernel() { return some<hsadrv_kernel>(hsadrv::c::HandleKind::kernel); }
    hsadrv_graph graph() { return some<hsadrv_graph>(hsadrv::c::HandleKind::graph); }
    hsadrv_signal signal() { return some<hsadrv_signal>(hsadrv::c::HandleKind::signal); }
    hsadrv_driver driver() { return some<hsadrv_driver>(hsadrv::c::HandleKind::driver); }
    hsadrv_graph_builder builder() { return some<hsadrv_graph_builder>(hsadrv::c::HandleKind::graph_builder); }
    std::uint64_t timeout() { return in_.below(8) == 0 ? 0 : second_ns; }
    std::size_t size() {
        const unsigned choice = in_.below(8);
        return choice == 0 ? 0 : choice == 1 ? SIZE_MAX - in_.take<std::uint8_t>() : in_.take<std::uint16_t>();
    }

    void saw(hsadrv_result result) {
        if (result == HSADRV_SUCCESS) return;
        if (result < 0 || result > HSADRV_ERROR_NO_COMPILER) fuzz::broken("a result that is none");
        if (result == HSADRV_ERROR_UNKNOWN) fuzz::broken(hsadrv_last_error_message());
        if (result == HSADRV_ERROR_MEMORY_FAULT || result == HSADRV_ERROR_DEVICE_LOST)
            fuzz::broken(hsadrv_last_error_message());
        if (hsadrv_last_error() != result) fuzz::broken("the last error is another one");
        if (!*hsadrv_last_error_message()) fuzz::broken("an error without a message");
    }
    template <class Handle>
    void made(hsadrv_result result, Handle handle) {
        saw(result);
        if ((result == HSADRV_SUCCESS) != (handle != nullptr))
            fuzz::broken("a handle without success, or none with it");
        add(handle);
    }

    /// The same for a call that sets `handle`.
    template <class Call, class Handle>
    void made_by(Call&& call, const Handle& handle) {
        const hsadrv_result result = call();
        made(result, handle);
    }

    /// An address, and the memory that it is of; null: it is of a buffer.
    struct Place {
        void* address = nullptr;
        hsadrv_memory memory = nullptr;
    };
    /// `size_bytes` is cut to a buffer's size, and to that of managed memory.
    Place place(std::vector<std::byte>& buffer, std::size_t& size_bytes) {
        if (in_.below(2)) {
            size_bytes = size_bytes > buffer.size() ? buffer.size() : size_bytes;
            return {buffer.data()};
        }
        Place found{nullptr, memory()};
        saw(hsadrv_memory_address(found.memory, &found.address));
        std::size_t room = 0;  // the end of managed memory, which is pageable, cannot be checked
        if (std::find(managed_.begin(), managed_.end(), found.memory) != managed_.end() &&
            hsadrv_memory_size(found.memory, &room) == HSADRV_SUCCESS)
            size_bytes = std::min(size_bytes, room);
        return found;
    }
    /// What was enqueued uses it: the memory may be destroyed from now on.
    void hold(hsadrv_stream on, const Place& place) {
        if (place.memory) saw(hsadrv_stream_hold(on, place.memory));
    }
    /// A list of devices, and how many to read.
    struct Devices {
        hsadrv_device list[3]{};
        std::size_t count = 1;
        const hsadrv_device* data = list;
    };
    Devices devices() {
        Devices some;
        for (hsadrv_device& one : some.list) one = device();
        if (in_.below(8) == 0) some.count = in_.below(4);
        if (in_.below(16) == 0) some.count = SIZE_MAX - in_.below(4);
        return some;
    }
    const hsadrv_device* list_of(const Devices& devices) { return in_.below(16) ? devices.list : nullptr; }

    fuzz::Input& in_;
    std::vector<void*> handles_;
    std::vector<hsadrv_memory> managed_;
};

/// Bytes that mean any calls.
inline std::vector<fuzz::Bytes> random_seeds(unsigned count, std::size_t size) {
    std::vector<fuzz::Bytes> made;
    for (unsigned seed = 1; seed <= count; ++seed) {
        std::mt19937 random{seed};
        fuzz::Bytes bytes(size);
        for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(random());
        made.push_back(bytes);
    }
    return made;
}

}  // namespace c_fuzz
