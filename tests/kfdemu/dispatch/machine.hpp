// A GPU without any HSA: memory, code objects and dispatches, for tests of the executor.
//
//     Machine gpu{Target::gfx90a};
//     auto numbers = gpu.allocate<int>(1024);
//     gpu.load("memory", "O2").launch("fill", {.grid = {1024}, .group = {64}}, numbers, 7);
#pragma once

#include <array>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "tests/support/catch.hpp"
#include "tools/kfdemu/base/address_space.hpp"
#include "tools/kfdemu/dispatch/dispatch.hpp"

#ifndef KFDEMU_TEST_KERNELS
#define KFDEMU_TEST_KERNELS "this program has no folder of kernels"
#endif

namespace dispatch_test {

using kfdemu::isa::Target;

inline constexpr const char* kLevels[] = {"O0", "O2", "O3"};
/// The targets that the build compiles the kernels for.
std::vector<Target> targets();

struct Shape {
    std::vector<std::uint32_t> grid, group;
    std::uint32_t lds_bytes = 0;    ///< after the kernel's own
    std::uint32_t stack_bytes = 0;  ///< at least so much private segment
    unsigned threads = 1;           ///< that run work-groups
    std::uint64_t quantum = 100'000;
    unsigned limit_seconds = 0;  ///< aborts longer runs
};

struct Outcome {
    kfdemu::Dispatch::State state{};
    kfdemu::KernelFault fault;
};

class Machine;

/// A code object in the machine's memory. Borrows: the machine.
class CodeObject {
  public:
    std::uint64_t symbol(const std::string& name) const;
    /// The executable segment, which a test may change.
    std::span<std::uint32_t> text() const { return text_; }
    kfdemu::KernelDispatchPacket packet(const std::string& kernel, const Shape& shape) const;

    template <class... Arguments>
    Outcome try_launch(const std::string& kernel, const Shape& shape, Arguments... arguments) const;
    /// The same, and it has to finish.
    template <class... Arguments>
    void launch(const std::string& kernel, const Shape& shape, Arguments... arguments) const;

    Machine& machine() const { return *machine_; }

  private:
    friend class Machine;
    Machine* machine_ = nullptr;
    unsigned version_ = 5;
    std::span<std::uint32_t> text_;
    std::vector<std::pair<std::string, std::uint64_t>> symbols_;
};

class Machine {
  public:
    explicit Machine(Target target, std::uint32_t scratch_lane_bytes = 8192, std::uint32_t scratch_waves = 64,
                     kfdemu::isa::Level level = kfdemu::isa::best_level());
    ~Machine();
    Machine(const Machine&) = delete;
    Machine& operator=(const Machine&) = delete;

#ifdef KFDEMU_TEST_KERNELS
    /// A file of the program's own folder of kernels.
    CodeObject load(const std::string& source, const std::string& level) {
        return load_built(KFDEMU_TEST_KERNELS, source, level);
    }
#endif
    CodeObject load_built(const std::string& folder, const std::string& source, const std::string& level);
    CodeObject load_file(const std::string& path);
    /// Zeroed memory, mapped for the GPU with an unmapped page after it; its end is the end of the mapping.
    std::byte* allocate_bytes(std::size_t bytes, std::uint32_t access = kfdemu::kRead | kfdemu::kWrite);
    template <class T>
    T* allocate(std::size_t count, std::uint32_t access = kfdemu::kRead | kfdemu::kWrite) {
        return reinterpret_cast<T*>(allocate_bytes(count * sizeof(T), access));
    }
    template <class T>
    T* copy(const std::vector<T>& values, std::uint32_t access = kfdemu::kRead | kfdemu::kWrite) {
        T* p = allocate<T>(values.size(), access);
        std::memcpy(static_cast<void*>(p), values.data(), values.size() * sizeof(T));
        return p;
    }

    kfdemu::Dispatch::Setup setup(const kfdemu::KernelDispatchPacket& packet);
    std::shared_ptr<kfdemu::Dispatch> start(const kfdemu::KernelDispatchPacket& packet);
    Outcome run(const kfdemu::KernelDispatchPacket& packet, const Shape& shape);

    Target target() const { return gpu.target; }
    /// Of a wave, as compilers make them unless they are told otherwise.
    unsigned lanes() const;

    kfdemu::AddressSpace space;
    kfdemu::CodeCache code;
    kfdemu::GpuFacts gpu;
    kfdemu::QueueFacts queue;
    std::shared_ptr<kfdemu::ScratchSlots> slots;
    kfdemu::check::Session session;                 ///< what kernels are checked for
    kfdemu::count::KernelCounts* counts = nullptr;  ///< what they execute is added to; null: not counted

  private:
    struct Mapping {
        void* base;
        std::size_t bytes;
    };
    void* reserve(std::size_t bytes);
    std::vector<Mapping> mappings_;
};

/// Calls test(machine, code object) for every target and optimisation level that the source was compiled for,
/// and for one of them with the executors of each x86 level that this CPU has.
template <class Test>
void on_each(const std::string& source, Test&& test) {
    using kfdemu::isa::Level;
    for (Target target : targets())
        for (const char* level : kLevels) {
            INFO(source << " for " << kfdemu::isa::name(target) << " at -" << level);
            Machine gpu{target};
            test(gpu, gpu.load(source, level));
        }
    for (Level x86 : {Level::V2, Level::V3, Level::V4}) {
        if (!kfdemu::isa::supported(x86) || x86 == kfdemu::isa::best_level()) continue;
        INFO(source << " at -O2, executed for x86-64-v" << static_cast<int>(x86) + 2);
        Machine gpu{targets().back(), 8192, 64, x86};
        test(gpu, gpu.load(source, "O2"));
    }
}

/// The same numbers in every run.
class Numbers {
  public:
    explicit Numbers(std::uint64_t seed) : state_{seed * 2 + 1} {}
    std::uint64_t next() {
        state_ = state_ * 6364136223846793005u + 1442695040888963407u;
        return state_ ^ state_ >> 29;
    }
    template <class T>
    std::vector<T> vector(std::size_t count) {
        std::vector<T> values(count);
        for (T& v : values) v = static_cast<T>(next() >> 13);
        return values;
    }
    std::vector<float> floats(std::size_t count) {
        std::vector<float> values(count);
        for (float& v : values) v = static_cast<float>(static_cast<std::int32_t>(next() >> 32)) / 65536.0f;
        return values;
    }

  private:
    std::uint64_t state_;
};

/// Runs a dispatch to its end on so many threads.
Outcome run_to_end(const std::shared_ptr<kfdemu::Dispatch>& dispatch, unsigned threads, std::uint64_t quantum,
                   unsigned limit_seconds = 0);

/// The hidden arguments of code object V5 that kernels without device libraries read, after the explicit
/// ones.
/// Those of V4 begin with the global offset, and are zeros.
void append_hidden_arguments(std::vector<std::byte>& kernarg, const kfdemu::KernelDispatchPacket& packet,
                             unsigned version = 5);
inline void require_finished(const Outcome& outcome, const std::string& kernel) {
    INFO(kernel << ": " << kfdemu::describe(outcome.fault));
    REQUIRE(outcome.state == kfdemu::Dispatch::State::Finished);
}

template <class... Arguments>
Outcome CodeObject::try_launch(const std::string& kernel, const Shape& shape, Arguments... arguments) const {
    kfdemu::KernelDispatchPacket p = packet(kernel, shape);
    std::vector<std::byte> kernarg;
    [[maybe_unused]] const auto append = [&](const auto& argument) {
        while (kernarg.size() % alignof(std::decay_t<decltype(argument)>) != 0) kernarg.push_back(std::byte{});
        const auto* bytes = reinterpret_cast<const std::byte*>(&argument);
        kernarg.insert(kernarg.end(), bytes, bytes + sizeof argument);
    };
    (append(arguments), ...);
    append_hidden_arguments(kernarg, p, version_);
    p.kernarg_address = reinterpret_cast<std::uint64_t>(machine_->copy(kernarg));
    return machine_->run(p, shape);
}

template <class... Arguments>
void CodeObject::launch(const std::string& kernel, const Shape& shape, Arguments... arguments) const {
    require_finished(try_launch(kernel, shape, arguments...), kernel);
}

}  // namespace dispatch_test
