// Kernels on kfdemu and on PoCL in one run, in turn; every sample's result is the other side's, bit for bit.
#include "tests/kfdemu/speed/pocl.hpp"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <fstream>
#include <iterator>
#include <stdexcept>

#include "tests/kfdemu/dispatch/machine.hpp"

namespace {

using dispatch_test::CodeObject;
using dispatch_test::Machine;
using dispatch_test::Shape;
using speed::Pocl;
using Grid = std::vector<std::uint32_t>;

struct Options {
    unsigned threads = 1, samples = 21, warm_ups = 3;
    std::string kernels = "gfx90a";  ///< what they are compiled for
    std::vector<std::string> only;
};

/// A kernel's time on each side, in seconds.
struct Times {
    std::vector<double> one_worker, workers, pocl;
};
double at(std::vector<double> samples, double fraction) {
    std::sort(samples.begin(), samples.end());
    return samples[static_cast<std::size_t>(fraction * static_cast<double>(samples.size() - 1))];
}

/// The two devices with a kernel's output on each.
class Sides {
  public:
    explicit Sides(const Options& options) : options_{options}, pocl_{options.threads} {
        std::ifstream file{SPEED_KERNELS};
        pocl_.build({std::istreambuf_iterator<char>{file}, {}}, "-cl-std=CL2.0 -I " SPEED_ROOT);
        code_ = gpu_.load_file(KFDEMU_TEST_KERNELS "/kernels." + options.kernels + ".hsaco");
        for (std::size_t n = 0; n < kInputs; ++n)
            emulated_in_[n] = static_cast<float>(n * 2654435761u >> 8 & 1023) - 512;
        std::memcpy(native_in_, emulated_in_, kInputs * sizeof(float));
    }

    const std::string& pocl_name() const { return pocl_.name(); }

    /// `work` of `unit` in one launch; the goal is kfdemu's rate over PoCL's, or 0.
    template <class... Arguments>
    void compare(const char* kernel, double goal, double work, const char* unit, const Grid& grid, const Grid& group,
                 Arguments... arguments) {
        if (!options_.only.empty() &&
            std::find(options_.only.begin(), options_.only.end(), kernel) == options_.only.end())
            return;
        const auto emulated = [&](unsigned threads) {
            Shape shape{.grid = grid, .group = group};
            shape.threads = threads;
            const auto outcome =
                std::apply([&](auto... a) { return code_.try_launch(kernel, shape, emulated_out_, a...); },
                           std::tuple_cat(on(emulated_in_, arguments)...));
            if (outcome.state != kfdemu::Dispatch::State::Finished)
                throw std::runtime_error{fmt::format("{}: {}", kernel, kfdemu::describe(outcome.fault))};
        };
        const auto native = [&] {
            const std::vector<std::size_t> all{grid.begin(), grid.end()}, each{group.begin(), group.end()};
            std::apply([&](auto... a) { pocl_.run(kernel, all, each, native_out_, a...); },
                       std::tuple_cat(on(native_in_, arguments)...));
        };
        std::size_t items = 1;
        for (const std::uint32_t n : grid) items *= n;
        Times times;
        for (unsigned sample = 0; sample < options_.warm_ups + options_.samples; ++sample) {
            const bool counts = sample >= options_.warm_ups;
            const auto timed = [&](std::vector<double>& into, auto&& action) {
                using Clock = std::chrono::steady_clock;
                const auto start = Clock::now();
                action();
                if (counts) into.push_back(std::chrono::duration<double>(Clock::now() - start).count());
            };
            std::memset(emulated_out_, 0, items * sizeof(float));
            std::memset(native_out_, 0, items * sizeof(float));
            // A B B A.
            const bool turned = sample % 2 != 0;
            if (turned) timed(times.pocl, native);
            if (options_.threads > 1) timed(times.one_worker, [&] { emulated(1); });
            timed(times.workers, [&] { emulated(options_.threads); });
            if (!turned) timed(times.pocl, native);
            for (std::size_t n = 0; n < items; ++n) {
                if (emulated_out_[n] == native_out_[n]) continue;
                throw std::runtime_error{
                    fmt::format("{}: item {}: kfdemu {:#x}, PoCL {:#x}", kernel, n, emulated_out_[n], native_out_[n])};
            }
        }
        print(kernel, goal, work, unit, times);
    }

    static constexpr struct In {
    } in{};

  private:
    static constexpr std::size_t kInputs = 1 << 24, kOutputs = 1 << 24;

    template <class T>
    static std::tuple<T> on(float*, T value) {
        return {value};
    }
    static std::tuple<float*> on(float* input, In) { return {input}; }

    void print(const char* kernel, double goal, double work, const char* unit, const Times& times) const {
        const double ours = at(times.workers, 0.5), theirs = at(times.pocl, 0.5);
        fmt::print("{:<14} kfdemu {:8.3f} {} (p5 {:.3f}, p95 {:.3f}), PoCL {:8.3f}; kfdemu / PoCL {:.2f}", kernel,
                   work / ours, unit, work / at(times.workers, 0.95), work / at(times.workers, 0.05), work / theirs,
                   theirs / ours);
        if (goal != 0) fmt::print(" (goal {})", goal);
        if (!times.one_worker.empty())
            fmt::print("; {} workers / one {:.2f} (goal 1.8)", options_.threads, at(times.one_worker, 0.5) / ours);
        fmt::print("\n");
        std::fflush(stdout);
    }

    Options options_;
    Pocl pocl_;
    Machine gpu_{options_.kernels == "gfx90a" ? dispatch_test::Target::gfx90a : dispatch_test::Target::gfx1030};
    CodeObject code_;
    float* emulated_in_ = gpu_.allocate<float>(kInputs);
    float* native_in_ = static_cast<float*>(pocl_.allocate(kInputs * sizeof(float)));
    std::uint32_t* emulated_out_ = gpu_.allocate<std::uint32_t>(kOutputs);
    std::uint32_t* native_out_ = static_cast<std::uint32_t*>(pocl_.allocate(kOutputs * sizeof(std::uint32_t)));
};

void run(const Options& options) {
    Sides sides{options};
    fmt::print("kernels for {}; {}, threads: {}; medians of {}, in turn\n", options.kernels, sides.pocl_name(),
               options.threads, options.samples);
    constexpr auto in = Sides::in;
    constexpr double giga = 1e9;
    constexpr std::uint32_t items = 1 << 14, rounds = 2000, straight_items = 1 << 20;
    sides.compare("loop", 0.8, 4.0 * rounds * items / giga, "G lane-ops/s", {items}, {256}, 0.999f, 0.5f, rounds);
    sides.compare("straight_line", 0.2, 256.0 * straight_items / giga, "G lane-ops/s", {straight_items}, {256}, 0.999f,
                  0.5f);
    sides.compare("matmul", 0, 2.0 * 512 * 512 * 512 / giga, "GFLOP/s", {512, 512}, {16, 16}, in, in, 512u);
    sides.compare("sha256", 0, (1 << 18) / 1e6, "M blocks/s", {1 << 18}, {256});
    sides.compare("mandelbrot", 0, 512 * 512 / 1e6, "M points/s", {512, 512}, {16, 16}, 512u, 256u);
    sides.compare("copy", 0, 2.0 * (1 << 24) * sizeof(float) / giga, "GB/s", {1 << 24}, {256}, in);
}

}  // namespace

int main(int argc, char** argv) {
    Options options;
    CLI::App app{"How fast kernels run on kfdemu, beside PoCL, which compiles them for the host's CPU."};
    app.add_option("--threads", options.threads, "of each side")->capture_default_str()->check(CLI::Range(1, 64));
    app.add_option("--samples", options.samples, "of each kernel")->capture_default_str()->check(CLI::Range(1, 1000));
    app.add_option("--compiled-for", options.kernels, "gfx1030: in waves of 32 lanes; gfx1030w64: of 64")
        ->capture_default_str()
        ->check(CLI::IsMember({"gfx90a", "gfx1030", "gfx1030w64"}));
    app.add_option("kernels", options.only, "loop, straight_line, matmul, sha256, mandelbrot, copy; default: all");
    CLI11_PARSE(app, argc, argv);
    try {
        run(options);
        return 0;
    } catch (const std::exception& error) {
        fmt::print(stderr, "kfdemu_speed: {}\n", error.what());
        return 1;
    }
}
