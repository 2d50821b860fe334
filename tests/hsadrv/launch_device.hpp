// Fixtures of the code objects' device tests: the device, launch.cl's code objects for it, memory for both sides.
#pragma once

#include <filesystem>
#include <new>
#include <span>
#include <string>

#include "hsadrv/executable.hpp"
#include "hsadrv/memory.hpp"
#include "tests/hsadrv/code_objects.hpp"
#include "tests/support/device.hpp"

namespace test_support {

/// launch.cl for this GPU: `variant` is "v5.O2".
inline std::string launch_file(hsadrv::AgentRef gpu, const std::string& variant) {
    return test_file("launch." + gpu.name() + "." + variant + ".hsaco");
}

/// Why there is no code object for this GPU; empty if there is one.
inline std::string not_built_for(hsadrv::AgentRef gpu) {
    if (std::filesystem::exists(launch_file(gpu, "v5.O2"))) return {};
    return "the tests' kernels were not compiled for " + gpu.name();
}

/// Pinned host memory, zeroed, that the GPU reads and writes in place.
template <class T>
class Shared {
  public:
    Shared(hsadrv::Context& gpu, std::size_t count, T value = {})
        : memory_(gpu.allocate_host(count * sizeof(T))), values_(static_cast<T*>(memory_.data()), count) {
        std::uninitialized_fill(values_.begin(), values_.end(), value);
    }
    T* data() const { return values_.data(); }
    T& operator[](std::size_t i) const { return values_[i]; }
    std::size_t size() const { return values_.size(); }

  private:
    hsadrv::Allocation memory_;
    std::span<T> values_;
};

/// launch.cl's structure.
struct Triple {
    int a;
    float b;
    double c;
};

}  // namespace test_support

#define NEEDS_LAUNCH_KERNELS(gpu)                                                               \
    do {                                                                                        \
        if (const auto why = test_support::not_built_for(gpu); !why.empty()) SKIP_BECAUSE(why); \
    } while (false)
