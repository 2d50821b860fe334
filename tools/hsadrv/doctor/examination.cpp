#include "tools/hsadrv/doctor/examination.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdlib>
#include <functional>
#include <thread>
#include <vector>

#include "hsadrv/code/offload_bundle.hpp"
#include "hsadrv/context.hpp"
#include "hsadrv/copy.hpp"
#include "hsadrv/error.hpp"
#include "hsadrv/executable.hpp"
#include "hsadrv/launch/loadable_version.hpp"
#include "hsadrv/optional_api.hpp"
#include "hsadrv/queue.hpp"
#include "tools/hsadrv/doctor/probe.hpp"

namespace hsadrv_tool::doctor {

// The bundle, as tools/embed_kernels.py writes it; empty where there was no compiler for kernels.
extern const unsigned char examination_bundle[];
extern const unsigned long examination_bundle_size;

namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

double ms(Clock::duration time) { return std::chrono::duration<double, std::milli>(time).count(); }

std::span<const std::byte> bundle() { return std::as_bytes(std::span(examination_bundle, examination_bundle_size)); }

class Examination {
  public:
    Examination(hsadrv::AgentRef gpu, std::chrono::seconds limit)
        : gpu_(gpu), label_(gpu.label()), patience_(std::chrono::duration_cast<std::chrono::milliseconds>(limit) / 4) {}

    void run() {
        step(ok("code-objects", "code objects", ""), [this](Row& row) { try_code_objects(row); });
        step(ok("memory", "memory", "")
                 .advise("see which processes use the GPU's memory; the kernel log may say more",
                         {"sudo fuser -v /dev/kfd", look_at_log}),
             [this](Row& row) { try_memory(row); });
        step(ok("queue", "queue", "")
                 .advise("the kernel log says why a queue is refused: other processes may have them all; "
                         "after a hang or a reset, reboot",
                         {"sudo fuser -v /dev/kfd", look_at_log}),
             [this](Row& row) { try_queue(row); });
        step(ok("interrupts", "interrupts", ""), [this](Row& row) { try_interrupts(row); });
        step(ok("copy", "copies", "")
                 .advise("if HSA_ENABLE_SDMA=0 helps, the DMA engines hang: update kernel and "
                         "linux-firmware; else the kernel log says more",
                         {"HSA_ENABLE_SDMA=0 hsadrv doctor", look_at_log}),
             [this](Row& row) { try_copies(row); });
        step(ok("dispatch", "kernel", "")
                 .advise("the GPU hangs in kernels: the kernel log says so; reboot, and update kernel and "
                         "linux-firmware",
                         {look_at_log}),
             [this](Row& row) { try_dispatch(row); });
    }

  private:
    /// `row`: includes the remedy for a failure or a hang.
    void step(Row row, const std::function<void(Row&)>& what) {
        row.title = fmt::format("{}: {}", label_, row.title);
        if (row.remedy.empty()) row.advise("the kernel log may say why; after a hang, reboot", {look_at_log});
        if (!cause_.empty()) {
            say({{"row", as_json(skipped(row.id, row.title, "of the fault above: " + cause_))}});
            return;
        }
        say({{"begun", as_json(row)}});
        try {
            what(row);
        } catch (const std::exception& error) {
            row.verdict = Verdict::fault;
            row.found = error.what();
        }
        if (row.verdict == Verdict::fault)
            cause_ = row.title;
        else
            row.advise("");
        say({{"row", as_json(row)}});
    }

    /// Announces the current action, for the report of a hang.
    static void doing(const char* what) { say({{"doing", what}}); }

    // ---- code

    void try_code_objects(Row& row) {
        if (bundle().empty()) {
            row = skipped(row.id, row.title, "this command was built without a compiler for kernels (clang and lld)");
            return;
        }
        std::vector<hsadrv::TargetId> targets;
        for (const hsadrv::Isa& isa : gpu_.isas()) targets.push_back(hsadrv::TargetId::parse(isa.name));
        std::vector<std::byte> bytes;
        try {
            const auto found = hsadrv::extract_code_object(bundle(), targets);
            bytes.assign(found.begin(), found.end());
        } catch (const hsadrv::InvalidCodeObject&) {
            row = skipped(row.id, row.title, fmt::format("this command brings no code for {}", targets.front().name()));
            return;
        }
        const auto versions = hsadrv::loadable_versions(gpu_, bytes, hsadrv::read_code_object(bytes));
        if (versions.empty()) {
            row.verdict = Verdict::fault;
            row.found = "the runtime loads none of V3 to V6";
            row.advise("install a runtime that supports this GPU");
            return;
        }
        row.found = fmt::format("V{} load; target {}", fmt::join(versions, ", V"), targets.front().name());
        if (versions.back() < 6)
            row.found += fmt::format(" (compile with -mcode-object-version={})", std::min(versions.back(), 5u));
        has_code_ = true;
    }

    // ---- memory and queues

    void try_memory(Row& row) {
        const hsadrv::MemPool pool = hsadrv::device_pool(gpu_);
        const auto device = hsadrv::Allocation::from_pool(pool, bytes);
        const auto host = hsadrv::Allocation::from_pool(hsadrv::host_pool(), bytes);
        row.found = fmt::format("{:.1f} GiB; allocates on the device and for it",
                                static_cast<double>(pool.size_bytes()) / (1u << 30));
    }

    /// Polls: interrupts are checked later.
    bool comes_to_zero(const hsadrv::Signal& signal, const hsadrv::Queue& queue) const {
        for (const auto until = Clock::now() + patience_; Clock::now() < until; std::this_thread::sleep_for(200us)) {
            if (signal.load() == 0) return true;
            queue.ref().throw_if_failed();
        }
        return false;
    }

    void try_queue(Row& row) {
        const auto queue = hsadrv::Queue::create(gpu_);
        const auto done = hsadrv::Signal::create(1);
        const auto begin = Clock::now();
        queue.ref().submit(hsadrv::barrier_and({}, done.native()));
        if (!comes_to_zero(done, queue)) {
            row.verdict = Verdict::fault;
            row.found = fmt::format(
                "created, and a barrier packet was not processed within {} ms (read index {}, write index "
                "{})",
                patience_.count(), queue.ref().read_index(), queue.ref().write_index());
            row.advise("the GPU hangs, or its scheduler does: the kernel log says so; reboot", {look_at_log});
            return;
        }
        row.found = fmt::format("created; a barrier packet was processed after {:.2f} ms", ms(Clock::now() - begin));
    }

    // ---- interrupts

    /// Waits blocked for a packet that is delayed, while a second thread polls for the value. Returns how much later
    /// the blocked wait returned.
    Clock::duration lateness(const hsadrv::Queue& queue, Clock::duration most) const {
        const auto gate = hsadrv::Signal::create(1), done = hsadrv::Signal::create(1);
        const hsa_signal_t dependency[] = {gate.native()};
        Clock::time_point there = Clock::time_point::max();
        queue.ref().submit(hsadrv::barrier_and(dependency, done.native()));
        std::thread opener([&] {
            std::this_thread::sleep_for(50ms);  // the wait below is asleep by then
            gate.store(0);
            for (const auto until = Clock::now() + most; done.load() != 0 && Clock::now() < until;)
                std::this_thread::sleep_for(100us);
            there = Clock::now();
        });
        done.try_wait(hsadrv::Condition::equal, 0, most);
        const auto returned = Clock::now();
        opener.join();
        return returned - std::min(there, returned);
    }

    void try_interrupts(Row& row) {
        if (const char* value = std::getenv("HSA_ENABLE_INTERRUPT"); value && std::string_view(value) == "0") {
            row.verdict = Verdict::note;
            row.found = "not used: HSA_ENABLE_INTERRUPT=0 lets waits poll";
            return;
        }
        const auto queue = hsadrv::Queue::create(gpu_);
        const auto most = std::min<Clock::duration>(patience_, 2s);
        constexpr int trials = 3;
        int late = 0;
        Clock::duration worst{};
        for (int i = 0; i < trials; ++i) {
            const auto by = lateness(queue, most);
            worst = std::max(worst, by);
            late += by > most / 4;
        }
        if (late == 0) {
            row.found =
                fmt::format("arrive: a blocked wait returned {:.1f} ms after the value at the latest", ms(worst));
            return;
        }
        row.verdict = Verdict::fault;
        row.found =
            fmt::format("do not arrive: {} of {} blocked waits slept on, up to {:.0f} ms after the value was there",
                        late, trials, ms(worst));
        row.advise(
            "see that the GPU's interrupt is enabled and not blocked by the IOMMU (kernel option iommu=pt); "
            "until then, let "
            "waits poll",
            {"export HSA_ENABLE_INTERRUPT=0", "grep amdgpu /proc/interrupts", look_at_log});
    }

    // ---- copies

    static std::uint32_t pattern(std::size_t i, std::uint32_t seed) {
        return static_cast<std::uint32_t>(i) * 2654435761u + seed;
    }

    /// The number of wrong words, and the first of them.
    std::string compare(std::span<const std::uint32_t> words,
                        const std::function<std::uint32_t(std::size_t)>& wanted) const {
        std::size_t wrong = 0, first = 0;
        for (std::size_t i = 0; i < words.size(); ++i)
            if (words[i] != wanted(i) && wrong++ == 0) first = i;
        if (wrong == 0) return "";
        return fmt::format("{} of {} words are wrong, the first at byte {}: {:#010x} instead of {:#010x}", wrong,
                           words.size(), first * 4, words[first], wanted(first));
    }

    void judge_copy(Row& row, const char* which, const std::string& wrong) const {
        if (wrong.empty() || row.verdict == Verdict::fault) return;
        row.verdict = Verdict::fault;
        row.found = fmt::format("{}: {}", which, wrong);
        row.advise(
            "if HSA_ENABLE_SDMA=0 makes it right, the DMA engines or their firmware are the cause: update "
            "kernel and "
            "linux-firmware; else suspect the card, its slot and the IOMMU (kernel option iommu=pt)",
            {"HSA_ENABLE_SDMA=0 hsadrv doctor", look_at_log});
    }

    void try_copies(Row& row) {
        const hsadrv::Context context(gpu_);
        const auto device = context.allocate(bytes), second = context.allocate(bytes);
        const auto pinned = context.allocate_host(bytes);
        hsadrv::Stream stream = context.stream({.drain = 100ms});
        const std::span host(pinned.as<std::uint32_t>(), words);
        doing("a fill and a copy to the host");
        // Device to host first: the fill provides the data, so no copy to the device is needed.
        hsadrv::fill(stream, device.as<std::uint32_t>(), 0x600df00du, words, patience_);
        hsadrv::copy(stream, host.data(), device.data(), bytes, patience_);
        judge_copy(row, "from the GPU to the host", compare(host, [](std::size_t) { return 0x600df00du; }));
        doing("a copy to the GPU and back");
        for (std::size_t i = 0; i < words; ++i) host[i] = pattern(i, 1);
        hsadrv::copy(stream, device.data(), host.data(), bytes, patience_);
        std::fill(host.begin(), host.end(), 0u);
        hsadrv::copy(stream, host.data(), device.data(), bytes, patience_);
        judge_copy(row, "from the host to the GPU", compare(host, [](std::size_t i) { return pattern(i, 1); }));
        doing("a copy within the GPU, and one to pageable memory");
        hsadrv::copy(stream, second.data(), device.data(), bytes, patience_);
        std::vector<std::uint32_t> pageable(words);
        hsadrv::copy(stream, pageable.data(), second.data(), bytes, patience_);
        judge_copy(row, "within the GPU, and to pageable memory",
                   compare(pageable, [](std::size_t i) { return pattern(i, 1); }));
        if (row.verdict == Verdict::fault) return;
        row.found = fmt::format(
            "{} KiB each to the GPU, within it, to pinned and to pageable memory: every byte is right", bytes >> 10);
    }

    // ---- kernels

    void try_dispatch(Row& row) {
        if (!has_code_) {
            row = skipped(row.id, row.title, "there is no code for it here; its queue has processed a barrier packet");
            return;
        }
        const hsadrv::Context context(gpu_);
        const auto from = context.allocate_host(bytes), to = context.allocate_host(bytes);
        doing("loading code, which the runtime does with a kernel of its own");
        const auto code = hsadrv::Executable::load(gpu_, bundle(), "the doctor's kernel");
        const auto kernel = code.kernel("doctor_examination");
        // Destroyed first: a hang in it would block the destruction of code and memory.
        hsadrv::Stream stream = context.stream({.drain = 100ms});
        for (std::size_t i = 0; i < words; ++i) from.as<std::uint32_t>()[i] = pattern(i, 7);
        doing("waiting for a kernel");
        const auto begin = Clock::now();
        kernel.launch(stream, {.grid = words, .workgroup = workgroup, .deadline = patience_}, from, to,
                      static_cast<std::uint32_t>(words));
        stream.synchronize(patience_);
        const auto wanted = [](std::size_t i) {
            const std::size_t group = i / workgroup, other = group * workgroup + (workgroup - 1 - i % workgroup);
            return pattern(other, 7) * 2654435761u + static_cast<std::uint32_t>(i);
        };
        if (const std::string wrong = compare({to.as<std::uint32_t>(), words}, wanted); !wrong.empty()) {
            row.verdict = Verdict::fault;
            row.found = "computes wrongly: " + wrong;
            row.advise(
                "with HSA_OVERRIDE_GFX_VERSION set, unset it; else suspect the card: heat, power, "
                "overclocking",
                {look_at_log});
            return;
        }
        row.found =
            fmt::format("{} work-items computed what they should, in {:.2f} ms", words, ms(Clock::now() - begin));
    }

    static constexpr std::size_t bytes = 1u << 18,
                                 words = bytes / 4;  // the runtime uses engines only above 32 KiB
    static constexpr std::uint32_t workgroup = 256;

    hsadrv::AgentRef gpu_;
    std::string label_;
    std::chrono::milliseconds patience_;
    std::string cause_;  ///< title of the fault above
    bool has_code_ = false;
};

}  // namespace

void examine(hsadrv::AgentRef gpu, std::chrono::seconds limit) { Examination(gpu, limit).run(); }

}  // namespace hsadrv_tool::doctor
