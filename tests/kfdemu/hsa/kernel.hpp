// Code objects, the kernels in them, and launching one.
//
//     hsa_test::Executable code{machine.gpu(), "work"};      // kernels/work.cl, compiled for this GPU
//     hsa_test::run(machine, queue, code.kernel("fill"), {.grid = {1024}}, out.data(), 42);
//
// Arguments are packed in order, each at its own alignment.
#pragma once

#include <algorithm>
#include <array>
#include <string>
#include <type_traits>
#include <vector>

#include "tests/kfdemu/hsa/machine.hpp"
#include "tests/kfdemu/hsa/queue.hpp"

namespace hsa_test {

struct Kernel {
    std::uint64_t object = 0;
    std::uint32_t kernarg_bytes = 0, group_bytes = 0, private_bytes = 0;
};

/// kernels/NAME.cl as the build compiled it, loaded for one GPU and frozen.
class Executable {
  public:
    Executable(const Gpu& gpu, const std::string& name);
    /// A code object in memory, which must outlive it.
    Executable(const Gpu& gpu, const std::vector<std::byte>& code_object);
    ~Executable();
    Executable(const Executable&) = delete;
    Executable& operator=(const Executable&) = delete;

    Kernel kernel(const std::string& name) const;

  private:
    void load();

    hsa_agent_t agent_;
    hsa_code_object_reader_t reader_{};
    hsa_executable_t executable_{};
};

using Extent = std::array<std::uint32_t, 3>;

struct Shape {
    Extent grid{1, 1, 1};
    std::array<std::uint16_t, 3> workgroup{1, 1, 1};
    std::uint32_t group_bytes = 0;    ///< LDS in addition to the kernel's own
    std::uint32_t private_bytes = 0;  ///< scratch per work-item, if more than the kernel's
    bool barrier_bit = false;
};

/// One dimension: so many work-items, in work-groups of 64 or less.
inline Shape line(std::uint32_t workitems, std::uint32_t workgroup = 64) {
    return {.grid = {workitems, 1, 1}, .workgroup = {static_cast<std::uint16_t>(std::min(workitems, workgroup)), 1, 1}};
}

hsa_kernel_dispatch_packet_t kernel_packet(const Kernel& kernel, const Shape& shape, const Memory& arguments,
                                           hsa_signal_t completion = kNoSignal);

Memory place_arguments(const Machine& machine, const Kernel& kernel, const std::vector<std::byte>& bytes);

/// The kernel's arguments in separate memory; must outlive the kernel's execution.
template <class... Arguments>
Memory arguments(const Machine& machine, const Kernel& kernel, Arguments... values) {
    std::vector<std::byte> bytes(((sizeof values + alignof(Arguments)) + ... + 0));
    std::size_t end = 0;
    [[maybe_unused]] const auto append = [&](const auto& value) {
        using Value = std::decay_t<decltype(value)>;
        static_assert(std::is_trivially_copyable_v<Value>);
        const std::size_t at = (end + alignof(Value) - 1) / alignof(Value) * alignof(Value);
        std::memcpy(&bytes[at], &value, sizeof value);
        end = at + sizeof value;
    };
    (append(values), ...);
    bytes.resize(end);
    return place_arguments(machine, kernel, bytes);
}

/// Launches and waits; throws std::runtime_error if the kernel does not complete in time.
void run_with(Queue& queue, const Kernel& kernel, const Shape& shape, const Memory& arguments);

template <class... Arguments>
void run(const Machine& machine, Queue& queue, const Kernel& kernel, const Shape& shape, Arguments... values) {
    run_with(queue, kernel, shape, arguments(machine, kernel, values...));
}

/// A kernel in flight: its arguments and completion signal.
struct Launch {
    Memory arguments;
    Signal done;

    bool completed(Duration timeout = kDeadline) const { return done.completed(timeout); }
};

template <class... Arguments>
Launch launch(const Machine& machine, Queue& queue, const Kernel& kernel, const Shape& shape, Arguments... values) {
    Launch launched{arguments(machine, kernel, values...), Signal{}};
    queue.submit(kernel_packet(kernel, shape, launched.arguments, launched.done));
    return launched;
}

}  // namespace hsa_test
