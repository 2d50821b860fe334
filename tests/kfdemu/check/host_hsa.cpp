// `fence`: the host accesses memory while a kernel or a copy that uses it is in flight.
#include <fcntl.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>

#include "tests/kfdemu/check/packets.hpp"

using namespace packets_test;

namespace {

bool userfaults_of_the_kernel() {
    const long fd = syscall(SYS_userfaultfd, O_CLOEXEC);
    if (fd >= 0) close(static_cast<int>(fd));
    return fd >= 0;
}

/// The device watches the host's memory if `fence` is on from the start, by userfaultfd.
bool can_watch() {
    const char* from_the_start = std::getenv("HSA_USERPTR_FOR_PAGED_MEM");
    return from_the_start != nullptr && userfaults_of_the_kernel();
}

volatile std::uint32_t seen;

[[gnu::noinline]] void use_result(const std::uint32_t* word) { seen = *word; }
[[gnu::noinline]] void change_input(std::uint32_t* word) { *word = 1; }

void expect(const test_support::Control& control, const char* what, const char* function) {
    const auto found = control.findings();
    INFO(joined(found));
    REQUIRE(found.size() == (what == nullptr ? 0 : 1));
    if (what == nullptr) return;
    CHECK(has(found[0], what));
    CHECK(has(found[0], function));
}

/// An access of the host, right after the doorbell or when the signal has told of the end.
template <class Submit, class Access>
void early_and_late(const test_support::Control& control, const char* what, const char* function, Submit&& submit,
                    Access&& access) {
    const auto once = [&](bool early) {
        const Signal done;
        submit(done);
        if (early) access();
        REQUIRE(done.completed());
        if (!early) access();
    };
    for (const bool early : {true, false, true}) {
        control->forget_findings();
        once(early);
        // A thread that is preempted comes too late to be early.
        for (int n = 0; n < 50 && early && control->findings() == 0; ++n) once(early);
        expect(control, early ? what : nullptr, function);
    }
}

}  // namespace

TEST_CASE("a host that reads a kernel's result too early is reported", "[check][host]") {
    NEEDS_CONTROL(control);
    if (!can_watch()) SKIP_BECAUSE("the host's accesses are not watched here");
    REQUIRE(control->check(KFDEMU_CHECK_FENCE) == 0);
    Work work;
    Queue queue{work.machine.gpu()};
    for (const bool barrier_bit : {false, true}) {
        const Memory to = work.fill(work.data.data(), 5u);
        early_and_late(
            control, "check fence: the host reads memory that a kernel writes, before it has completed", "use_result",
            [&](const Signal& done) { queue.submit(work.packet("fill", to, barrier_bit, done)); },
            [&] { use_result(work.data.as<std::uint32_t>() + 7); });
    }
    control->check(0);
}

TEST_CASE("so is one that reads a result of which no page was there", "[check][host]") {
    NEEDS_CONTROL(control);
    if (!can_watch()) SKIP_BECAUSE("the host's accesses are not watched here");
    REQUIRE(control->check(KFDEMU_CHECK_FENCE) == 0);
    Work work;
    Queue queue{work.machine.gpu()};
    std::vector<Memory> used;
    std::vector<Memory> fresh;
    early_and_late(
        control, "the host reads memory that a kernel writes", "use_result",
        [&](const Signal& done) {
            fresh.push_back(work.memory());
            used.push_back(work.fill(fresh.back().data(), 5u));
            queue.submit(work.packet("fill", used.back(), false, done));
        },
        [&] { use_result(fresh.back().as<std::uint32_t>()); });
    control->check(0);
}

TEST_CASE("so is one that changes what a kernel reads", "[check][host]") {
    NEEDS_CONTROL(control);
    if (!can_watch()) SKIP_BECAUSE("the host's accesses are not watched here");
    REQUIRE(control->check(KFDEMU_CHECK_FENCE) == 0);
    Work work;
    Queue queue{work.machine.gpu()};
    const Memory from = arguments(work.machine, work.code.kernel("double_all"), work.data.data(), work.result.data());
    early_and_late(
        control, "check fence: the host writes memory that a kernel reads, before it has completed", "change_input",
        [&](const Signal& done) { queue.submit(work.packet("double_all", from, false, done)); },
        [&] { change_input(work.data.as<std::uint32_t>() + 3); });
    control->check(0);
}

TEST_CASE("so is one that reads what a copy writes", "[check][host]") {
    NEEDS_CONTROL(control);
    if (!can_watch()) SKIP_BECAUSE("the host's accesses are not watched here");
    REQUIRE(control->check(KFDEMU_CHECK_FENCE) == 0);
    const Machine machine;
    constexpr std::size_t kBytes = 1 << 20;
    const Memory from{machine.gpu().coarse, kBytes, machine.agents()},
        to{machine.cpu().coarse, kBytes, machine.agents()};
    early_and_late(
        control, "check fence: the host reads memory that a DMA engine writes, before it has completed", "use_result",
        [&](const Signal& done) {
            HSA_CHECK(hsa_amd_memory_async_copy(to.data(), machine.cpu().agent, from.data(), machine.gpu().agent,
                                                kBytes, 0, nullptr, done));
        },
        [&] { use_result(to.as<std::uint32_t>() + 5); });
    control->check(0);
}

TEST_CASE("a host may access other memory, and prepare what a barrier holds back", "[check][host]") {
    NEEDS_CONTROL(control);
    if (!can_watch()) SKIP_BECAUSE("the host's accesses are not watched here");
    REQUIRE(control->check(KFDEMU_CHECK_FENCE) == 0);
    control->forget_findings();
    Work work;
    Queue queue{work.machine.gpu()};
    const Memory from = arguments(work.machine, work.code.kernel("double_all"), work.data.data(), work.result.data());
    const Signal gate, done;
    queue.submit(barrier_and({gate}));
    queue.submit(work.packet("double_all", from, true, done));
    std::this_thread::sleep_for(20ms);  // until the device has seen the doorbell
    change_input(work.data.as<std::uint32_t>() + 3);
    use_result(work.result.as<std::uint32_t>() + 3);
    gate.store(0);
    change_input(work.data.as<std::uint32_t>() + 64);  // beyond the kernel's
    REQUIRE(done.completed());
    expect(control, nullptr, "");
    control->check(0);
}

TEST_CASE("so it may when the barrier's signal is stored before the device looks", "[check][host]") {
    NEEDS_CONTROL(control);
    if (!can_watch()) SKIP_BECAUSE("the host's accesses are not watched here");
    REQUIRE(control->check(KFDEMU_CHECK_FENCE) == 0);
    control->forget_findings();
    Work work;
    Queue queue{work.machine.gpu()};
    const Memory from = arguments(work.machine, work.code.kernel("double_all"), work.data.data(), work.result.data());
    for (int n = 0; n < 20; ++n) {
        const Signal gate, done;
        queue.submit(barrier_and({gate}));
        queue.submit(work.packet("double_all", from, true, done));
        change_input(work.data.as<std::uint32_t>() + 3);
        gate.store(0);
        REQUIRE(done.completed());
    }
    expect(control, nullptr, "");
    control->check(0);
}

TEST_CASE("a copy that waits for the host's signal is no finding", "[check][host]") {
    NEEDS_CONTROL(control);
    if (!can_watch()) SKIP_BECAUSE("the host's accesses are not watched here");
    REQUIRE(control->check(KFDEMU_CHECK_FENCE) == 0);
    control->forget_findings();
    const Machine machine;
    const Memory from{machine.cpu().coarse, 4096, machine.agents()};
    Memory to{machine.gpu().coarse, 4096, machine.agents()};
    for (int n = 0; n < 20; ++n) {
        const Signal gate, done;
        const hsa_signal_t before = gate;
        HSA_CHECK(hsa_amd_memory_async_copy(to.data(), machine.gpu().agent, from.data(), machine.cpu().agent, 4096, 1,
                                            &before, done));
        change_input(from.as<std::uint32_t>() + 3);
        gate.store(0);
        REQUIRE(done.completed());
    }
    expect(control, nullptr, "");
    control->check(0);
}

namespace {

const std::uint32_t* read_before_fork = nullptr;  // by a thread that fork() waits for

void read_in_another_thread() {
    if (read_before_fork != nullptr) std::thread{[] { use_result(read_before_fork); }}.join();
}

}  // namespace

TEST_CASE("fork() may wait for a thread that accesses memory", "[check][host]") {
    NEEDS_CONTROL(control);
    if (!can_watch()) SKIP_BECAUSE("the host's accesses are not watched here");
    static const int registered = pthread_atfork(read_in_another_thread, nullptr, nullptr);
    REQUIRE(registered == 0);
    REQUIRE(control->check(KFDEMU_CHECK_FENCE) == 0);
    Work work;
    Queue queue{work.machine.gpu()};
    const Memory to = work.fill(work.data.data(), 5u);
    for (int n = 0; n < 20; ++n) {
        const Signal done;
        queue.submit(work.packet("fill", to, false, done));
        REQUIRE(done.completed());
        read_before_fork = work.data.as<std::uint32_t>();
        const pid_t child = fork();
        read_before_fork = nullptr;
        if (child == 0) _exit(0);
        REQUIRE(child > 0);
        int status = 0;
        REQUIRE(waitpid(child, &status, 0) == child);
        CHECK(status == 0);
    }
    control->check(0);
}

TEST_CASE("a load of a doorbell changes nothing", "[check][host]") {
    NEEDS_CONTROL(control);
    if (!can_watch()) SKIP_BECAUSE("the host's accesses are not watched here");
    REQUIRE(control->check(KFDEMU_CHECK_FENCE) == 0);
    Work work;
    Queue queue{work.machine.gpu()};
    const Memory to = work.fill(work.data.data(), 5u);
    struct AmdSignal {  // amd_hsa_signal.h
        std::int64_t kind;
        const volatile std::uint64_t* hardware_doorbell;
    };
    const auto* doorbell = reinterpret_cast<const AmdSignal*>(queue.get()->doorbell_signal.handle)->hardware_doorbell;
    seen = static_cast<std::uint32_t>(*doorbell);
    early_and_late(
        control, "the host reads memory that a kernel writes", "use_result",
        [&](const Signal& done) { queue.submit(work.packet("fill", to, false, done)); },
        [&] { use_result(work.data.as<std::uint32_t>() + 7); });
    control->check(0);
}

TEST_CASE("a host and a kernel that talk through a flag are no finding", "[check][host]") {
    NEEDS_CONTROL(control);
    if (!can_watch()) SKIP_BECAUSE("the host's accesses are not watched here");
    REQUIRE(control->check(KFDEMU_CHECK_FENCE) == 0);
    control->forget_findings();
    Work work;
    const Memory flag{work.machine.cpu().fine, 4096, work.machine.agents()};
    *flag.as<std::uint32_t>() = 0;
    const Memory late = arguments(work.machine, work.code.kernel("fill_later"), work.data.data(), 9u, flag.data());
    Queue queue{work.machine.gpu()};
    const Signal done;
    queue.submit(work.packet("fill_later", late, false, done));
    change_input(work.data.as<std::uint32_t>() + 3);  // before the flag
    __atomic_store_n(flag.as<std::uint32_t>(), 1, __ATOMIC_RELEASE);
    REQUIRE(done.completed());
    expect(control, nullptr, "");
    control->check(0);
}
