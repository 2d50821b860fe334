// What checks cost: the six kernels of ../speed unchecked and checked, in turn, in one run; prints the ratios.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <stdexcept>

#include "tests/kfdemu/check/checked.hpp"

namespace {

using namespace check_test;

constexpr unsigned kWarmUps = 2, kSamples = 11;
constexpr std::size_t kElements = 1 << 22;
constexpr const char* kModes[] = {"", "memory", "wait", "lds-race", "race", "fence", "init", "all"};

double median(std::vector<double> samples) {
    std::sort(samples.begin(), samples.end());
    return samples[samples.size() / 2];
}

class Costs {
  public:
    Costs() : gpu_{Target::gfx90a, Check::wait}, code_{gpu_.machine.load_file(KFDEMU_SPEED_KERNELS)} {
        gpu_.announce(in_, kElements * sizeof(float));
        gpu_.announce(out_, kElements * sizeof(float));
        gpu_.machine.session.fresh_memory = true;
    }

    template <class... Arguments>
    void measure(const char* kernel, const Shape& shape, Arguments... arguments) {
        std::vector<double> times[std::size(kModes)];
        for (unsigned sample = 0; sample < kWarmUps + kSamples; ++sample)
            for (unsigned n = 0; n < std::size(kModes); ++n) {
                // In order, then in the opposite order.
                const unsigned mode = sample % 2 == 0 ? n : static_cast<unsigned>(std::size(kModes)) - 1 - n;
                gpu_.machine.session.checks = {};
                if (*kModes[mode] != 0) add(gpu_.machine.session.checks, kModes[mode]);
                const auto start = std::chrono::steady_clock::now();
                const Outcome outcome = code_.try_launch(kernel, shape, arguments...);
                const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
                if (outcome.state != kfdemu::Dispatch::State::Finished)
                    throw std::runtime_error{kfdemu::describe(outcome.fault)};
                if (sample >= kWarmUps) times[mode].push_back(took.count());
            }
        if (gpu_.report.distinct() != 0) throw std::runtime_error{gpu_.text()};
        fmt::print("{:<14} unchecked {:7.1f} ms", kernel, median(times[0]) * 1000);
        for (unsigned mode = 1; mode < std::size(kModes); ++mode)
            fmt::print(", {} {:.2f} x", kModes[mode], median(times[mode]) / median(times[0]));
        fmt::print("\n");
    }

    const float* in() const { return in_; }
    float* out() const { return out_; }

  private:
    Checked gpu_;
    CodeObject code_;
    float* in_ = gpu_.machine.allocate<float>(kElements);
    float* out_ = gpu_.machine.allocate<float>(kElements);
};

}  // namespace

int main() {
    Costs costs;
    fmt::print("gfx90a, one thread, medians of {}, in turn\n", kSamples);
    costs.measure("loop", {.grid = {1 << 12}, .group = {256}}, costs.out(), 0.999f, 0.5f, 2000u);
    costs.measure("straight_line", {.grid = {1 << 16}, .group = {256}}, costs.out(), 0.999f, 0.5f);
    costs.measure("matmul", {.grid = {128, 128}, .group = {16, 16}}, costs.in(), costs.in(), costs.out(), 128u);
    costs.measure("sha256", {.grid = {1 << 14}, .group = {256}}, costs.out());
    costs.measure("mandelbrot", {.grid = {256, 256}, .group = {16, 16}}, costs.out(), 256u, 256u);
    costs.measure("copy", {.grid = {1 << 22}, .group = {256}}, costs.out(), costs.in());
}
