// Errors of a queue: typed and sticky; waiters wake, other queues continue, and rebuild() makes the queue usable again.
#include <atomic>
#include <cerrno>
#include <cstring>
#include <functional>
#include <stdexcept>
#include <thread>
#include <vector>

#include "hsadrv/queue/queue_state.hpp"
#include "tests/hsadrv/device.hpp"
#include "tests/support/test_file.hpp"
#include "tools/kfdemu/kfdemu.h"

using namespace hsadrv;
using namespace device_test;
using test_support::Contains;

namespace {

constexpr auto aperture = static_cast<hsa_status_t>(HSA_STATUS_ERROR_MEMORY_APERTURE_VIOLATION);
constexpr auto illegal_instruction = static_cast<hsa_status_t>(HSA_STATUS_ERROR_ILLEGAL_INSTRUCTION);

struct Fixture : Device {
    Executable code = Executable::load(gpu, test_support::test_file("faults.hsaco"));
    Allocation memory = Allocation::from_pool(host_pool(HostMemory::kernarg), 64 * 1024);

    std::byte* bytes(std::size_t offset) const { return static_cast<std::byte*>(memory.data()) + offset; }
    std::uint32_t* words() const { return static_cast<std::uint32_t*>(memory.data()); }

    /// A packet of one work-item; its arguments are at `offset` of the memory, whose first 4 KiB are for results.
    template <class... Arguments>
    KernelDispatch dispatch(const char* name, SignalRef done, std::size_t offset, Arguments... arguments) const {
        const Kernel kernel = code.kernel(name);
        std::size_t at = offset;
        [[maybe_unused]] const auto store = [&](auto value) {
            at = (at + sizeof value - 1) / sizeof value * sizeof value;
            std::memcpy(bytes(at), &value, sizeof value);
            at += sizeof value;
        };
        (store(arguments), ...);
        return {.kernel_object = kernel.kernel_object(),
                .grid = 1,
                .workgroup = 1,
                .private_segment_bytes = kernel.metadata().private_segment_fixed_bytes,
                .group_segment_bytes = kernel.metadata().group_segment_fixed_bytes,
                .kernarg = bytes(offset),
                .completion = done.native()};
    }
};

/// The queue reports the packet's defect, as a sticky error; a waiter wakes; another queue of the GPU
/// continues; and after rebuild() the same object works again.
void check_refused(const Fixture& f, const Packet& bad, const Signal& done, hsa_status_t expected) {
    std::atomic<int> told{0};
    Queue queue = Queue::create(f.gpu, {.packets = 64, .on_error = [&] { ++told; }});
    const Queue other = Queue::create(f.gpu, {.packets = 64});
    const QueueRef ref = queue;
    const Signal after = Signal::create(1);
    // At once: the queue may have failed before a second call.
    const Packet both[] = {bad, barrier_and({}, after.native(), {.barrier = true})};
    const std::uint64_t index = ref.submit(both);

    hsa_status_t seen = HSA_STATUS_SUCCESS;
    try {
        ref.wait(after, Condition::less, 1, patience);
    } catch (const QueueError& error) {
        seen = error.status();
        CHECK_THAT(error.what(), Contains(f.gpu.label()) && Contains(status_name(expected)) &&
                                     Contains("packet " + std::to_string(index)));
    }
    CHECK(status_name(seen) == status_name(expected));
    CHECK(ref.failed());
    CHECK(ref.failure().load() != 0);
    CHECK(ref.read_index() <= index);
    CHECK(done.load() == 1);
    CHECK_THROWS_AS(ref.throw_if_failed(), QueueError);
    CHECK_THROWS_AS(ref.submit(barrier_and({})), QueueError);
    CHECK_THROWS_AS(ref.try_submit(barrier_and({})), QueueError);
    CHECK_THROWS_AS(ref.wait(after, Condition::less, 1, patience), QueueError);

    const Signal alive = Signal::create(1);
    other.ref().submit(barrier_and({}, alive.native()));
    CHECK(other.ref().wait(alive, Condition::less, 1, patience) == 0);

    queue.rebuild();
    CHECK_FALSE(ref.failed());
    CHECK(ref.failure().load() == 0);
    CHECK(ref.write_index() == 0);
    const Signal again = Signal::create(1);
    ref.submit(kernel_dispatch(f.dispatch("append", again, 32 * 1024, f.words(), 1u)));
    CHECK(ref.wait(again, Condition::less, 1, patience) == 0);
    CHECK(told == 1);
}

}  // namespace

TEST_CASE("a malformed packet stops its queue with the status of its defect", "[queue][error]") {
    NEEDS_DEVICE();
    const Fixture f;
    const Signal done = Signal::create(1);
    const KernelDispatch good = f.dispatch("append", done, 8192, f.words(), 1u);
    using Native = hsa_kernel_dispatch_packet_t;
    struct Row {
        const char* what;
        std::function<void(Native&)> spoil;
        hsa_status_t expected;
    };
    const auto type = [](Native& p, unsigned number) { p.header = static_cast<std::uint16_t>(number); };
    const auto vendor = [](Native& p, std::uint8_t format) {
        hsa_amd_barrier_value_packet_t packet{};
        packet.header.AmdFormat = format;
        packet.completion_signal = p.completion_signal;
        std::memcpy(&p, &packet, sizeof p);
    };
    const Row rows[] = {
        {"dimensions 0", [](Native& p) { p.setup = 0; }, HSA_STATUS_ERROR_INCOMPATIBLE_ARGUMENTS},
        {"dimensions 4", [](Native& p) { p.setup = 4; }, HSA_STATUS_ERROR_INCOMPATIBLE_ARGUMENTS},
        {"work-group 0", [](Native& p) { p.workgroup_size_x = 0; }, HSA_STATUS_ERROR_INCOMPATIBLE_ARGUMENTS},
        {"grid 0", [](Native& p) { p.grid_size_x = 0; }, HSA_STATUS_ERROR_INCOMPATIBLE_ARGUMENTS},
        {"grid smaller than the work-group", [](Native& p) { p.workgroup_size_x = 2; },
         HSA_STATUS_ERROR_INCOMPATIBLE_ARGUMENTS},
        {"work-group 1025", [](Native& p) { p.workgroup_size_x = 1025, p.grid_size_x = 2050; },
         HSA_STATUS_ERROR_INVALID_ARGUMENT},
        {"LDS one byte over",
         [&](Native& p) { p.group_segment_size = static_cast<std::uint32_t>(f.gpu.group_segment_max_bytes() + 1); },
         HSA_STATUS_ERROR_INVALID_ALLOCATION},
        {"kernel object null", [](Native& p) { p.kernel_object = 0; }, HSA_STATUS_ERROR_INVALID_CODE_OBJECT},
        {"kernel object of zeros",
         [&](Native& p) { p.kernel_object = reinterpret_cast<std::uint64_t>(f.bytes(16 * 1024)); },
         HSA_STATUS_ERROR_INVALID_CODE_OBJECT},
        {"reserved packet type", [&](Native& p) { type(p, 6); }, HSA_STATUS_ERROR_INVALID_PACKET_FORMAT},
        {"unknown vendor packet", [&](Native& p) { vendor(p, 99); }, HSA_STATUS_ERROR_INVALID_PACKET_FORMAT},
    };
    std::memset(f.bytes(16 * 1024), 0, 4096);
    for (const Row& row : rows) {
        CAPTURE(row.what);
        auto native = kernel_dispatch(good).as<Native>();
        row.spoil(native);
        check_refused(f, Packet::from(native), done, row.expected);
    }
}

TEST_CASE("a failing wave stops its queue with the status of its failure", "[queue][error][defect]") {
    NEEDS_DEVICE();
    const Fixture f;
    const Signal done = Signal::create(1);
    check_refused(f, kernel_dispatch(f.dispatch("illegal", done, 8192)), done, illegal_instruction);
    check_refused(f, kernel_dispatch(f.dispatch("trap", done, 8192)), done, HSA_STATUS_ERROR_EXCEPTION);
    check_refused(f, kernel_dispatch(f.dispatch("store_at", done, 8192, std::uint64_t{0x0100'0000'0000'0000}, 1u)),
                  done, aperture);
}

TEST_CASE("an error during the creation of a queue is reported as its error", "[queue][error]") {
    NEEDS_DEVICE();
    const Fixture f;
    const Queue made = Queue::create(f.gpu, {.packets = 64}), other = Queue::create(f.gpu, {.packets = 64});
    for (const Queue* reported : {&made, &other}) {
        detail::QueueState state;
        state.agent = f.gpu;
        state.failure = Signal::create(0);
        state.report(reported->ref().native(), HSA_STATUS_ERROR_INVALID_PACKET_FORMAT);
        CHECK_FALSE(state.failed);
        state.attach(made.ref().native());
        CHECK(state.failed == (reported == &made));
    }
}

// Scalar loads need 4-byte alignment ("Vega" ISA manual, SMEM), the packet processor none; the library uses 64.
TEST_CASE("arguments at a multiple of four bytes arrive", "[queue]") {
    NEEDS_DEVICE();
    const Fixture f;
    const Queue queue = Queue::create(f.gpu, {.packets = 64});
    for (const std::size_t off : {4u, 8u, 20u, 60u}) {
        CAPTURE(off);
        f.words()[0] = 5;
        const Signal done = Signal::create(1);
        KernelDispatch dispatch = f.dispatch("append", done, 8192, f.words(), 2u);
        std::memmove(f.bytes(8192 + off), f.bytes(8192), 16);
        dispatch.kernarg = f.bytes(8192 + off);
        queue.ref().submit(kernel_dispatch(dispatch));
        CHECK(queue.ref().wait(done, Condition::less, 1, patience) == 0);
        CHECK(f.words()[0] == 17);
    }
}

// ---- memory faults: the process has lost the GPU afterwards, so each runs in a separate process

namespace {
/// The waiter throws the fault with its address, and the GPU is lost.
void check_faults(const Fixture& f, KernelDispatch dispatch, const Signal& done, std::uint64_t address) {
    Queue queue = Queue::create(f.gpu, {.packets = 64});
    const Queue other = Queue::create(f.gpu, {.packets = 64});
    queue.ref().submit(kernel_dispatch(dispatch));
    std::uint64_t seen = 1;
    try {
        queue.ref().wait(done, Condition::less, 1, patience);
    } catch (const MemoryFault& fault) {
        seen = fault.address();
        CHECK_THAT(fault.what(), Contains(f.gpu.label()) && Contains("page"));
    }
    CHECK(seen / 4096 == address / 4096);
    CHECK_THROWS_AS(queue.ref().throw_if_failed(), MemoryFault);
    CHECK_THROWS_AS(queue.ref().submit(barrier_and({})), MemoryFault);
    CHECK_THROWS_AS(other.ref().wait(done, Condition::less, 1, patience), MemoryFault);  // its kernel may be the cause
    CHECK_THROWS_AS(queue.rebuild(), DeviceLost);
    CHECK_THROWS_AS(Queue::create(f.gpu, {.packets = 64}), DeviceLost);
}
}  // namespace

TEST_CASE("null loads, null stores and kernels without arguments are memory faults for the waiter",
          "[queue][error][fault]") {
    NEEDS_DEVICE();
    check_child("child: a queue's null store");
    check_child("child: a queue's null load");
    check_child("child: a queue's null kernarg");
}

TEST_CASE("child: a queue's null store", "[.child][defect]") {
    const Fixture f;
    const Signal done = Signal::create(1);
    check_faults(f, f.dispatch("store_at", done, 8192, std::uint64_t{0}, 1u), done, 0);
}
TEST_CASE("child: a queue's null load", "[.child][defect]") {
    const Fixture f;
    const Signal done = Signal::create(1);
    check_faults(f, f.dispatch("load_at", done, 8192, std::uint64_t{0}, f.words()), done, 0);
}
TEST_CASE("child: a queue's null kernarg", "[.child][defect]") {
    const Fixture f;
    const Signal done = Signal::create(1);
    KernelDispatch dispatch = f.dispatch("append", done, 8192, f.words(), 1u);
    dispatch.kernarg = nullptr;
    check_faults(f, dispatch, done, 0);
}

// ---- scratch

TEST_CASE("scratch grows when a kernel needs it", "[queue]") {
    NEEDS_DEVICE();
    const Fixture f;
    const Queue queue = Queue::create(f.gpu, {.packets = 64});
    const Signal done = Signal::create(1);
    queue.ref().submit(kernel_dispatch(f.dispatch("scratch", done, 8192, f.words(), 7u)));
    CHECK(queue.ref().wait(done, Condition::less, 1, patience) == 0);
    CHECK(f.words()[0] == 4096u * 7 + 4095u * 4096 / 2);
}

TEST_CASE("exhausted scratch is an error of the requesting queue", "[queue][error]") {
    NEEDS_DEVICE();
    const kfdemu_control* emulator = kfdemu_find_control();
    if (!emulator) SKIP_BECAUSE("only kfdemu can inject failures");
    const Fixture f;
    const Signal done = Signal::create(1);
    emulator->fail(KFDEMU_SCRATCH, 1, KFDEMU_ALL, ENOMEM);
    {
        const Queue probe = Queue::create(f.gpu, {.packets = 64});
        const Signal over = Signal::create(1);
        probe.ref().submit(kernel_dispatch(f.dispatch("scratch", over, 8192, f.words(), 7u)));
        const SignalTerm either[] = {{over}, {probe.ref().failure(), Condition::not_equal, 0}};
        const bool ran = wait_any(either, patience) == 0;
        if (ran) emulator->reset();
        if (ran) SKIP_BECAUSE("this runtime allocates scratch memory without a request");
    }
    check_refused(f, kernel_dispatch(f.dispatch("scratch", done, 8192, f.words(), 7u)), done,
                  HSA_STATUS_ERROR_OUT_OF_RESOURCES);
    emulator->reset();
}

// ---- endless work, owners destroyed early

TEST_CASE("an endless kernel: the wait ends at its deadline with the queue's state, and destruction returns",
          "[queue][deadline]") {
    NEEDS_DEVICE();
    const Fixture f;
    f.words()[0] = 0;
    const Signal done = Signal::create(1);
    {
        Queue queue = Queue::create(f.gpu, {.packets = 64});
        queue.ref().submit(kernel_dispatch(f.dispatch("endless", done, 8192, f.words())));
        CHECK_THROWS_AS(queue.ref().wait(done, Condition::less, 1, 30ms), Timeout);
        CHECK_THROWS_WITH(queue.ref().wait(done, Condition::less, 1, 30ms),
                          Contains("30 ms") && Contains("the value is 1") && Contains("write index 1"));
        queue.rebuild();  // ends the kernel
        const Signal again = Signal::create(1);
        queue.ref().submit(kernel_dispatch(f.dispatch("append", again, 12288, f.words() + 1, 1u)));
        CHECK(queue.ref().wait(again, Condition::less, 1, patience) == 0);
        queue.ref().submit(kernel_dispatch(f.dispatch("endless", done, 8192, f.words())));
    }
    CHECK(done.load() == 1);
    f.words()[0] = 1;
}

TEST_CASE("waiters and reservers wake when their queue fails", "[queue][error]") {
    NEEDS_DEVICE();
    const Fixture f;
    const std::uint32_t size = f.gpu.queue_min_packets();
    const Queue queue = Queue::create(f.gpu, {.packets = size});
    const QueueRef ref = queue;
    const Signal shut = Signal::create(1), never = Signal::create(1);
    const hsa_signal_t gate = shut.native();
    ref.submit(barrier_and({&gate, 1}));
    auto bad = barrier_and({}).as<hsa_barrier_and_packet_t>();
    bad.header = 6;
    ref.submit(Packet::from(bad));
    while (ref.try_submit(barrier_and({}))) {
    }
    std::atomic<int> woken{0};
    std::vector<std::thread> threads;
    const auto expect_error = [&](auto&& call) {
        threads.emplace_back([&, call] {
            try {
                call();
            } catch (const QueueError&) {
                ++woken;
            } catch (const std::exception&) {
            }
        });
    };
    for (int i = 0; i < 3; ++i) {
        expect_error([&] { ref.wait(never, Condition::less, 1, patience); });
        expect_error([&] {
            for (;;) ref.submit(barrier_and({}), patience);  // a slot may be freed before the bad packet is read
        });
        expect_error([&] {
            const SignalTerm terms[] = {{never}, {ref.failure(), Condition::not_equal, 0}};
            if (wait_any(terms, patience) == 1) ref.throw_if_failed();
        });
    }
    std::this_thread::sleep_for(30ms);
    CHECK(woken == 0);
    shut.store(0);
    for (std::thread& thread : threads) thread.join();
    CHECK(woken == 9);
}

TEST_CASE("a queue is destroyed in its own error callback", "[queue][error]") {
    NEEDS_DEVICE();
    const Device device;
    for (int round = 0; round < 5; ++round) {
        Queue queue;
        std::atomic<bool> submitted{false}, over{false};
        queue = Queue::create(device.gpu, {.packets = 64, .on_error = [&] {
                                               while (!submitted) std::this_thread::yield();
                                               queue = Queue();
                                               over = true;
                                           }});
        auto bad = barrier_and({}).as<hsa_barrier_and_packet_t>();
        bad.header = 6;
        queue.ref().submit(Packet::from(bad));
        submitted = true;
        while (!over) std::this_thread::sleep_for(1ms);
        CHECK_FALSE(queue);
        device.driver.callbacks().drain(patience);  // the queue is destroyed by now
    }
    CHECK_NOTHROW(Queue::create(device.gpu));
}

TEST_CASE("an exception of an error callback is contained, and reported with the error", "[queue][error]") {
    NEEDS_DEVICE();
    const Device device;
    const Queue queue =
        Queue::create(device.gpu, {.packets = 64, .on_error = [] { throw std::runtime_error("from the callback"); }});
    auto bad = barrier_and({}).as<hsa_barrier_and_packet_t>();
    bad.header = 6;
    queue.ref().submit(Packet::from(bad));
    const Signal never = Signal::create(1);
    CHECK_THROWS_AS(queue.ref().wait(never, Condition::less, 1, patience), QueueError);
    // The waiter may wake before the callback has thrown.
    std::string text;
    CHECK(eventually([&] {
        try {
            queue.ref().throw_if_failed();
        } catch (const QueueError& error) {
            text = error.what();
        }
        return text.find("its error callback threw: from the callback") != std::string::npos;
    }));
    CHECK_THAT(text, Contains("its error callback threw: from the callback"));
}
