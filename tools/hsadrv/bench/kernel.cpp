// hsadrv bench kernel: what kernels reach that do little but one thing.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "hsadrv/copy.hpp"
#include "hsadrv/error.hpp"
#include "tools/hsadrv/bench/declare.hpp"
#include "tools/hsadrv/bench/kernel_code.hpp"
#include "tools/hsadrv/bench/kernel_list.hpp"
#include "tools/hsadrv/bench/kernels/bench_kernels.hpp"
#include "tools/hsadrv/bench/report_text.hpp"
#include "tools/hsadrv/bench/run.hpp"
#include "tools/hsadrv/bench/sizes.hpp"

namespace hsadrv_bench {
namespace {

using namespace hsadrv;
namespace exit_status = hsadrv_tool::exit_status;

constexpr double enough_ns = 2e6;  // long enough to hide the overhead of a kernel's begin and end
constexpr std::uint32_t first_grid = kernel_workgroup, most_grids = 64;

/// The sum of the ends of the chains of work-item `id`, as kernels/bench_kernels.cpp adds them up.
double chains_sum(std::uint32_t id) {
    double sum = 0;
    for (std::uint32_t chain = 0; chain < kernel_fma_chains; ++chain)
        sum += kernel_fma_start(id, chain) + kernel_fma_steps;
    return sum;
}

std::uint32_t lds_sum(std::uint32_t id) {
    std::uint32_t sum = 0, at = id % kernel_workgroup;
    for (std::uint32_t step = 0; step < kernel_lds_steps; ++step) {
        sum += at * (1 + 3 + 5 + 7);
        at = (at + kernel_workgroup) % kernel_lds_elements;
    }
    return sum;
}

/// The grid that fills the GPU, memory, and a profiling stream.
class Kernels {
  public:
    Kernels(BenchRun& run, const KernelOptions& options)
        : run_(run),
          options_(options),
          code_(load_kernels(run.gpu(), options.code_object)),
          stream_(run.gpu(), {.name = "hsadrv bench", .drain = std::chrono::seconds(1), .profile = true}),
          fill_(run.gpu().compute_units() * run.gpu().max_waves_per_cu() * run.gpu().wavefront_size() /
                kernel_workgroup * kernel_workgroup),
          bytes_(parse_sizes(options.size).front() / 16 * 16) {
        if (bytes_ == 0)
            throw tools::Failure(exit_status::usage, fmt::format("--size {}: 16 bytes at least", options.size));
    }

    Case make_case(const KernelFacts& facts) {
        const Kernel kernel = kernel_of(code_, facts.symbol, options_.code_object);
        const std::string title = fmt::format("kernel {}", facts.symbol);
        Case made;
        made.row.group = facts.kind == KernelKind::memory ? "global memory" : facts.name;
        made.row.name = facts.name;
        made.row.work = facts.work;
        std::uint32_t grid = fill_;
        if (facts.kind == KernelKind::memory) {
            make_arrays(title);
            made.row.work_per_sample = facts.work_each * static_cast<double>(bytes_);
        } else {
            grid = enough_of(kernel, facts, title);
            made.row.work_per_sample = facts.work_each * grid;
        }
        made.sample = [this, kernel, &facts, grid, title] {
            return timed(title, [&] { launch(kernel, facts, grid); });
        };
        made.verify = [this, &facts, sample = made.sample, grid] { return verify(facts, sample, grid); };
        return made;
    }

  private:
    /// Enough work-items that the kernel runs for enough_ns. One wave takes far less time, so such a grid fills a GPU.
    std::uint32_t enough_of(const Kernel& kernel, const KernelFacts& facts, const std::string& title) {
        for (std::uint32_t grid = first_grid;; grid *= 2) {
            make_out(grid);
            run_.check_stop();
            const double ns = timed(title, [&] { launch(kernel, facts, grid); });
            if (ns >= enough_ns || grid > most_grids * fill_ / 2) return grid;
        }
    }

    void make_out(std::uint32_t grid) {
        if (out_.size_bytes() < std::size_t{8} * grid)
            out_ = Allocation::from_pool(device_pool(run_.gpu()), std::size_t{8} * grid);
    }

    void make_arrays(const std::string& title) {
        make_out(fill_);
        if (a_) return;
        require_pool(device_pool(run_.gpu()), 3 * bytes_,
                     fmt::format("{} with three arrays of {}", title, size_text(bytes_)));
        require_host(3 * bytes_, fmt::format("verifying {} with arrays of {}", title, size_text(bytes_)));
        a_ = Allocation::from_pool(device_pool(run_.gpu()), bytes_);
        b_ = Allocation::from_pool(device_pool(run_.gpu()), bytes_);
        c_ = Allocation::from_pool(device_pool(run_.gpu()), bytes_);
        host_.resize(bytes_ / 4);
        for (std::size_t i = 0; i < host_.size(); ++i) host_[i] = float_at(i);
        for (const Allocation* array : {&b_, &c_})
            copy(stream_, array->data(), host_.data(), bytes_, options_.timeout());
    }

    // Small whole numbers: sums and products of them are exact.
    static float float_at(std::size_t i) { return static_cast<float>(i % 1021); }

    void launch(const Kernel& kernel, const KernelFacts& facts, std::uint32_t grid) {
        const LaunchConfig config{.grid = grid, .workgroup = kernel_workgroup};
        const std::uint64_t count = bytes_ / 16;
        const std::string_view word = facts.word;
        if (word == "fp64")
            kernel.launch(stream_, config, out_.data(), 1.0, 1.0);
        else if (facts.kind == KernelKind::arithmetic)
            kernel.launch(stream_, config, out_.data(), 1.0f, 1.0f);
        else if (facts.kind == KernelKind::lds)
            kernel.launch(stream_, config, out_.data(), kernel_workgroup);
        else if (word == "read")
            kernel.launch(stream_, config, out_.data(), b_.data(), count);
        else if (word == "write")
            kernel.launch(stream_, config, a_.data(), 7u, count);
        else if (word == "copy")
            kernel.launch(stream_, config, a_.data(), b_.data(), count);
        else
            kernel.launch(stream_, config, a_.data(), b_.data(), c_.data(), 3.0f, count);
    }

    /// By the GPU's clock, or the host's if the GPU reports no times.
    template <class Launch>
    double timed(const std::string& title, Launch&& launch) try {
        stream_.take_profile(options_.timeout());
        const double host_ns = time_ns([&] {
            launch();
            stream_.synchronize(options_.timeout());
        });
        for (const ProfileRecord& record : stream_.take_profile(options_.timeout()).records)
            if (record.kind == ProfileRecord::Kind::kernel && record.end > record.begin)
                return static_cast<double>(record.duration().count());
        return host_ns;
    } catch (const Timeout& error) {
        throw tools::Failure(exit_status::runtime, fmt::format("{}: not complete after {} s, the device hangs: {}",
                                                               title, options_.timeout_seconds, error.what()));
    }

    /// Runs the kernel again, into memory that holds other data.
    std::optional<Mismatch> verify(const KernelFacts& facts, const std::function<double()>& sample,
                                   std::uint32_t grid) {
        const std::string_view word = facts.word;
        const bool to_array = facts.kind == KernelKind::memory && word != "read";
        const Allocation& written = to_array ? a_ : out_;
        hsadrv::fill(stream_, written.as<std::uint8_t>(), std::uint8_t{0xa5}, written.size_bytes(), options_.timeout());
        sample();
        if (word == "fp64") return elements<double>(out_, grid, chains_sum);
        if (word == "fp16")
            return elements<float>(out_, grid, [](std::uint32_t id) { return float(2 * chains_sum(id)); });
        if (word == "fp32") return elements<float>(out_, grid, [](std::uint32_t id) { return float(chains_sum(id)); });
        if (word == "lds") {
            std::vector<std::uint32_t> sums(kernel_workgroup);
            for (std::uint32_t id = 0; id < kernel_workgroup; ++id) sums[id] = lds_sum(id);
            return elements<std::uint32_t>(out_, grid, [&](std::uint32_t id) { return sums[id % kernel_workgroup]; });
        }
        if (word == "read") return verify_read(grid);
        const std::size_t count = bytes_ / 4;
        if (word == "write")
            return elements<std::uint32_t>(
                a_, count, [](std::size_t i) { return i % 4 == 3 ? static_cast<std::uint32_t>(i / 4) : 7u; });
        if (word == "copy") return elements<float>(a_, count, float_at);
        return elements<float>(a_, count, [](std::size_t i) { return 4 * float_at(i); });
    }

    /// Each work-item sums the words of every grid-th group of 16 bytes.
    std::optional<Mismatch> verify_read(std::uint32_t grid) {
        std::vector<std::uint32_t> sums(grid);
        for (std::size_t i = 0; i < host_.size(); ++i) sums[i / 4 % grid] += std::bit_cast<std::uint32_t>(host_[i]);
        return elements<std::uint32_t>(out_, grid, [&](std::size_t id) { return sums[id]; });
    }

    template <class T, class Wanted>
    std::optional<Mismatch> elements(const Allocation& memory, std::size_t count, Wanted&& wanted) {
        std::vector<T> got(count);
        copy(stream_, got.data(), memory.data(), count * sizeof(T), options_.timeout());
        for (std::size_t i = 0; i < count; ++i)
            if (const T should = static_cast<T>(wanted(static_cast<std::uint32_t>(i)));
                std::memcmp(&got[i], &should, sizeof(T)) != 0)
                return Mismatch{fmt::format("element {} of {}", i, count), fmt::format("{}", got[i]),
                                fmt::format("{}", should)};
        return std::nullopt;
    }

    BenchRun& run_;
    const KernelOptions& options_;
    Executable code_;
    std::vector<float> host_;
    Allocation out_, a_, b_, c_;
    Stream stream_;
    std::uint32_t fill_;
    std::size_t bytes_;
};

bool wanted(const KernelOptions& options, const KernelFacts& facts) {
    return options.kernels.empty() ||
           std::find(options.kernels.begin(), options.kernels.end(), facts.word) != options.kernels.end();
}

int run_kernel(const KernelOptions& options, hsadrv_tool::Session& session) {
    check(options);
    BenchRun run(session, options, "kernel");
    Kernels kernels(run, options);
    run.report().notes.push_back(
        fmt::format("By the GPU's own clock, from a kernel's begin to its end. A fused multiply-add is two "
                    "operations. Global memory: arrays of {}; "
                    "bytes as programmed: read 1, write 1, copy 2, triad (a = b + s c) 3 times the array.",
                    size_text(parse_sizes(options.size).front())));
    std::vector<std::vector<Case>> groups;
    std::size_t rows = 0;
    for (const KernelFacts& facts : kernel_list()) {
        if (!wanted(options, facts)) continue;
        run.say(fmt::format("kernel: {}: how large a grid", facts.name));
        run.check_stop();
        Case one = kernels.make_case(facts);
        if (groups.empty() || groups.back().front().row.group != one.row.group) groups.emplace_back();
        groups.back().push_back(std::move(one));
        ++rows;
    }
    run.expect_rows(rows);
    for (const std::vector<Case>& group : groups) run.measure_group(group);
    return run.finish();
}

}  // namespace

hsadrv_tool::Run declare_kernel(tools::CommandSyntax& command) { return declare_as(command, run_kernel); }

}  // namespace hsadrv_bench
