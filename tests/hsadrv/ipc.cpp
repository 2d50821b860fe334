// Memory and signals that processes share: handles, attaching, and what is refused.
#include "hsadrv/ipc.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <future>
#include <sstream>

#include "hsadrv/allocator.hpp"
#include "tests/hsadrv/places.hpp"

using namespace hsadrv;
using namespace device_test;
using test_support::Contains;

namespace {

constexpr std::size_t ipc_bytes = 100'000;

/// What the other process is given, through its environment.
struct Given {
    IpcMemoryHandle memory = {};
    IpcSignalHandle go = {}, done = {};
};

std::string text_of(const Given& given) {
    std::ostringstream out;
    for (std::size_t i = 0; i < sizeof given; i += 4) {
        std::uint32_t word = 0;
        std::memcpy(&word, reinterpret_cast<const char*>(&given) + i, 4);
        out << word << ' ';
    }
    return out.str();
}

Given given() {
    Given given;
    std::istringstream in{std::getenv("HSADRV_TEST_GIVEN")};
    for (std::size_t i = 0; i < sizeof given; i += 4) {
        std::uint32_t word = 0;
        in >> word;
        std::memcpy(reinterpret_cast<char*>(&given) + i, &word, 4);
    }
    return given;
}

void run_other(const char* test_case, const Given& given) {
    const ChildResult child = run_test_in_child(test_case, "HSADRV_TEST_GIVEN", text_of(given).c_str());
    INFO(child.output);
    CHECK(child.status == 0);
    CHECK(child.output.find("No test cases matched") == std::string::npos);
}

struct Sharing : Copying {
    Allocation gpu_memory(std::size_t bytes) const { return Allocation::from_pool(device_pool(gpu), bytes); }
    void put(void* data, const Bytes& bytes) { hsadrv::copy(stream, data, bytes.data(), bytes.size(), patience); }
    Bytes get(const void* data) {
        Bytes bytes(ipc_bytes);
        hsadrv::copy(stream, bytes.data(), data, ipc_bytes, patience);
        return bytes;
    }
    /// Another process finds `random_bytes(ipc_bytes, 1)` there, and leaves `random_bytes(ipc_bytes, 2)`.
    void check_shared(void* data) {
        put(data, random_bytes(ipc_bytes, 1));
        run_other("child: reads and writes the other's memory", {.memory = ipc_handle(data, ipc_bytes)});
        CHECK(get(data) == random_bytes(ipc_bytes, 2));
    }
};

}  // namespace

TEST_CASE("child: reads and writes the other's memory", "[.child]") {
    Sharing f;
    const IpcMemory memory = IpcMemory::attach(given().memory, f.gpu);
    REQUIRE(memory.size_bytes() == ipc_bytes);
    const PointerInfo info = pointer_info(memory.data());
    CHECK(info.bytes_after(memory.data()) >= ipc_bytes);
    CHECK(f.get(memory.data()) == random_bytes(ipc_bytes, 1));
    f.put(memory.data(), random_bytes(ipc_bytes, 2));
}

TEST_CASE("another process reads and writes an allocation", "[ipc]") {
    NEEDS_DEVICE();
    Sharing f;
    const Allocation small = f.gpu_memory(ipc_bytes), large = f.gpu_memory(6 << 20);
    f.check_shared(small.data());
    f.check_shared(large.data());
    f.check_shared(large.as<std::byte>() + (3 << 20) + 256);
}

TEST_CASE("a block of an allocator is shared with the allocation that it was cut from", "[ipc]") {
    NEEDS_DEVICE();
    Sharing f;
    Allocator allocator(device_pool(f.gpu));
    const Block first = allocator.allocate(ipc_bytes, f.stream), block = allocator.allocate(ipc_bytes, f.stream);
    const IpcMemoryHandle handle = ipc_handle(block.data(), ipc_bytes);
    CHECK(handle.offset_bytes > 0);
    CHECK(handle.allocation_bytes >= handle.offset_bytes + ipc_bytes);
    f.check_shared(block.data());
}

TEST_CASE("child: attaches twice and keeps one for work in flight", "[.child]") {
    Sharing f;
    auto memory = std::make_shared<IpcMemory>(IpcMemory::attach(given().memory, f.gpu));
    const IpcMemory again = IpcMemory::attach(given().memory, f.gpu);
    CHECK(again.data() != memory->data());
    const Bytes wanted = random_bytes(ipc_bytes, 1);
    const Place pinned(f, Kind::pinned, ipc_bytes);
    {
        const test_support::Gate gate(f.stream);
        f.stream.copy_async(pinned.data, memory->data(), ipc_bytes);
        f.stream.keep_alive(std::move(memory));
    }
    f.stream.synchronize(patience);
    CHECK(std::equal(wanted.begin(), wanted.end(), pinned.data));
    CHECK(f.get(again.data()) == wanted);
    CHECK_THROWS_WITH(ipc_handle(again.data(), ipc_bytes), Contains("export it where it was allocated"));
}

TEST_CASE("memory is attached twice, and stays attached for work in flight", "[ipc]") {
    NEEDS_DEVICE();
    Sharing f;
    const Allocation memory = f.gpu_memory(ipc_bytes);
    f.put(memory.data(), random_bytes(ipc_bytes, 1));
    run_other("child: attaches twice and keeps one for work in flight",
              {.memory = ipc_handle(memory.data(), ipc_bytes)});
}

TEST_CASE("child: waits for one signal and completes another", "[.child]") {
    Sharing f;
    const Given from = given();
    const IpcMemory memory = IpcMemory::attach(from.memory, f.gpu);
    const Signal go = attach_ipc_signal(from.go), done = attach_ipc_signal(from.done);
    CHECK(go.load() == 3);
    done.ref().subtract(1);  // "attached"
    f.stream.wait(go, Condition::equal, 0);
    f.stream.fill_async(memory.as<std::uint8_t>(), std::uint8_t{9}, ipc_bytes);
    f.stream.decrement(done);
    f.stream.synchronize(patience);
    CHECK(go.wait(Condition::equal, 0, patience) == 0);
}

TEST_CASE("processes order their work by signals", "[ipc]") {
    NEEDS_DEVICE();
    Sharing f;
    const Allocation memory = f.gpu_memory(ipc_bytes);
    const Signal go = ipc_signal(3), done = ipc_signal(2);
    const Given given{ipc_handle(memory.data(), ipc_bytes), ipc_handle(go), ipc_handle(done)};
    std::thread other([&] { run_other("child: waits for one signal and completes another", given); });
    CHECK(done.wait(Condition::equal, 1, patience) == 1);
    f.put(memory.data(), random_bytes(ipc_bytes, 1));
    go.store(0);
    CHECK(done.wait(Condition::equal, 0, patience) == 0);
    CHECK(f.get(memory.data()) == Bytes(ipc_bytes, 9));
    other.join();
}

TEST_CASE("child: shares memory and a signal until it is killed", "[.child]") {
    Sharing f;
    const IpcMemory theirs = IpcMemory::attach(given().memory, f.gpu);
    const Signal go = attach_ipc_signal(given().go), done = attach_ipc_signal(given().done);
    const Allocation memory = f.gpu_memory(ipc_bytes);
    const Signal signal = ipc_signal(1);
    f.put(memory.data(), random_bytes(ipc_bytes, 1));
    const Given mine{ipc_handle(memory.data(), ipc_bytes), ipc_handle(signal), {}};
    hsadrv::copy(f.stream, theirs.data(), &mine, sizeof mine, patience);
    done.store(0);
    CHECK(go.wait(Condition::equal, 0, patience) == 0);
    ::raise(SIGKILL);
}

TEST_CASE("memory stays attached and waits end at their deadlines when the exporter is killed", "[ipc]") {
    NEEDS_DEVICE();
    Sharing f;
    const Allocation mailbox = f.gpu_memory(ipc_bytes);
    const Signal go = ipc_signal(1), done = ipc_signal(1);
    const Given given{ipc_handle(mailbox.data(), ipc_bytes), ipc_handle(go), ipc_handle(done)};
    const auto exporter = [&] {
        return run_test_in_child("child: shares memory and a signal until it is killed", "HSADRV_TEST_GIVEN",
                                 text_of(given).c_str());
    };
    std::future<ChildResult> ended = std::async(std::launch::async, exporter);
    if (!done.try_wait(Condition::equal, 0, patience)) FAIL(ended.get().output);
    Given theirs;
    hsadrv::copy(f.stream, &theirs, mailbox.data(), sizeof theirs, patience);
    auto memory = std::make_shared<IpcMemory>(IpcMemory::attach(theirs.memory, f.gpu));
    const Signal signal = attach_ipc_signal(theirs.go);
    const Place pinned(f, Kind::pinned, ipc_bytes);
    {
        const test_support::Gate gate(f.stream);
        f.stream.copy_async(pinned.data, memory->data(), ipc_bytes);
        f.stream.keep_alive(std::move(memory));
        go.store(0);
        CHECK(ended.get().status != 0);
        CHECK_FALSE(f.stream.query());
    }
    const Bytes wanted = random_bytes(ipc_bytes, 1);
    CHECK(std::equal(wanted.begin(), wanted.end(), pinned.data));
    CHECK_THROWS_AS(signal.wait(Condition::equal, 0, 200ms), Timeout);
    CHECK(signal.load() == 1);
    CHECK_THROWS_AS(IpcMemory::attach(theirs.memory, f.gpu), InvalidArgument);
    CHECK_THROWS_AS(attach_ipc_signal(theirs.go), InvalidArgument);
}

TEST_CASE("child: attaches what was freed", "[.child]") {
    Sharing f;
    // Refused, or not answered.
    CHECK_THROWS_WITH(IpcMemory::attach(given().memory, f.gpu, 5s), Contains("must still have the memory"));
}

TEST_CASE("a handle of freed memory is refused", "[ipc]") {
    NEEDS_DEVICE();
    Sharing f;
    const IpcMemoryHandle stale = [&] { return ipc_handle(f.gpu_memory(6 << 20).data(), ipc_bytes); }();
    run_other("child: attaches what was freed", {.memory = stale});
}

TEST_CASE("memory that cannot be shared is refused with a remedy", "[ipc]") {
    NEEDS_DEVICE();
    Sharing f;
    const Place pinned(f, Kind::pinned, ipc_bytes), pageable(f, Kind::pageable, ipc_bytes),
        registered(f, Kind::registered, ipc_bytes);
    for (const Place* place : {&pinned, &pageable, &registered})
        CHECK_THROWS_WITH(ipc_handle(place->data, ipc_bytes), Contains("shm_open"));
    CHECK_THROWS_AS(ipc_handle(nullptr, ipc_bytes), InvalidArgument);
    const Allocation memory = f.gpu_memory(ipc_bytes);
    CHECK_THROWS_WITH(ipc_handle(memory.data(), 6 << 20), Contains("B from there"));
    CHECK_THROWS_AS(ipc_handle(memory.data(), 0), InvalidArgument);
}

TEST_CASE("damaged handles are refused", "[ipc]") {
    NEEDS_DEVICE();
    Sharing f;
    const Allocation memory = f.gpu_memory(ipc_bytes);
    const IpcMemoryHandle good = ipc_handle(memory.data(), ipc_bytes);
    CHECK_THROWS_WITH(IpcMemory::attach(good, std::span<const AgentRef>()), Contains("no GPU"));
    CHECK_THROWS_AS(IpcMemory::attach(good, AgentRef(hsa_agent_t{1})), InvalidArgument);
    CHECK_THROWS_WITH(IpcMemory::attach(good, f.driver.cpus().front()), Contains("is not a GPU"));
    for (std::size_t i = 0; i < sizeof good; ++i) {
        IpcMemoryHandle bad = good;
        reinterpret_cast<unsigned char*>(&bad)[i] ^= 1;
        CHECK_THROWS_WITH(IpcMemory::attach(bad, f.gpu), Contains("damaged"));
    }
    CHECK_THROWS_WITH(IpcMemory::attach({}, f.gpu), Contains("damaged"));
    CHECK_THROWS_WITH(attach_ipc_signal({}), Contains("damaged"));
    const Signal ordinary = Signal::create(1);
    CHECK_THROWS_WITH(ipc_handle(ordinary), Contains("ipc_signal"));
    CHECK_THROWS_AS(ipc_handle(SignalRef()), InvalidArgument);
}

TEST_CASE("a forked child is refused", "[ipc]") {
    NEEDS_DEVICE();
    Sharing f;
    const Allocation memory = f.gpu_memory(ipc_bytes);
    const IpcMemoryHandle handle = ipc_handle(memory.data(), ipc_bytes);
    const pid_t child = ::fork();
    if (child == 0) {
        int refused = 0;
        const auto refuses = [&](const std::function<void()>& call) {
            try {
                call();
            } catch (const ForkedChild&) {
                ++refused;
            }
        };
        refuses([&] { ipc_handle(memory.data(), ipc_bytes); });
        refuses([&] { IpcMemory::attach(handle, f.gpu); });
        refuses([&] { ipc_signal(1); });
        refuses([&] { attach_ipc_signal({}); });
        ::_exit(refused);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    REQUIRE(WIFEXITED(status));
    CHECK(WEXITSTATUS(status) == 4);
}
