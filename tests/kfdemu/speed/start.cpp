// What translation costs a kernel that ends before it is hot: the first launch of ten waves, with code that kfdemu has
// not seen before, planned for translation and not, in turn.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/kfdemu/dispatch/machine.hpp"

namespace {

using dispatch_test::Machine;
using dispatch_test::Shape;
using Samples = std::vector<double>;

constexpr unsigned kSamples = 101;
constexpr std::uint32_t kItems = 640;

/// Microseconds of a launch, of a code object that is loaded for it.
template <class... Arguments>
double first_launch(Machine& gpu, const char* kernel, Arguments... arguments) {
    const auto code = gpu.load_file(KFDEMU_TEST_KERNELS "/kernels.gfx90a.hsaco");
    const Shape shape{.grid = {kItems}, .group = {64}};
    const auto start = std::chrono::steady_clock::now();
    const auto outcome = code.try_launch(kernel, shape, arguments...);
    const auto end = std::chrono::steady_clock::now();
    if (outcome.state != kfdemu::Dispatch::State::Finished)
        throw std::runtime_error{fmt::format("{}: {}", kernel, kfdemu::describe(outcome.fault))};
    return std::chrono::duration<double, std::micro>(end - start).count();
}

/// A GPU whose code is translated when it is hot, or never.
class Gpu {
  public:
    explicit Gpu(const char* translated) {
        setenv("KFDEMU_TEST_JIT", translated, 1);
        machine_ = std::make_unique<Machine>(dispatch_test::Target::gfx90a);
        out_ = machine_->allocate<float>(kItems);
        in_ = machine_->allocate<float>(kItems);
    }
    double run(const std::string& kernel) {
        if (kernel == "loop") return first_launch(*machine_, "loop", out_, 0.999f, 0.5f, 4u);
        if (kernel == "straight_line") return first_launch(*machine_, "straight_line", out_, 0.999f, 0.5f);
        if (kernel == "sha256") return first_launch(*machine_, "sha256", out_);
        return first_launch(*machine_, "copy", out_, in_);
    }
    bool same(const Gpu& other) const { return std::memcmp(out_, other.out_, kItems * sizeof(float)) == 0; }

  private:
    std::unique_ptr<Machine> machine_;
    float *out_ = nullptr, *in_ = nullptr;
};

double median(Samples samples) {
    std::nth_element(samples.begin(), samples.begin() + kSamples / 2, samples.end());
    return samples[kSamples / 2];
}

void compare(Gpu& hot, Gpu& never, const char* kernel) {
    Samples planned, interpreted;
    for (unsigned n = 0; n < kSamples; ++n) {
        const bool turned = n % 2 != 0;
        if (turned) interpreted.push_back(never.run(kernel));
        planned.push_back(hot.run(kernel));
        if (!turned) interpreted.push_back(never.run(kernel));
        if (!hot.same(never)) throw std::runtime_error{fmt::format("{}: the results differ", kernel)};
    }
    fmt::print("{:<14} {:7.1f} us, without translation {:7.1f} us: {:.2f}\n", kernel, median(planned),
               median(interpreted), median(planned) / median(interpreted));
}

}  // namespace

int main() {
    try {
        fmt::print("The first launch of {} waves; medians of {}, in turn\n", kItems / 64, kSamples);
        Gpu hot("hot"), never("never");
        for (const char* kernel : {"loop", "straight_line", "sha256", "copy"}) compare(hot, never, kernel);
        return 0;
    } catch (const std::exception& error) {
        fmt::print(stderr, "kfdemu_start: {}\n", error.what());
        return 1;
    }
}
