// Checks switched on through kfdemu.h, of kernels that the HSA runtime loaded: their functions and lines are named.
#include <algorithm>
#include <fstream>
#include <iterator>
#include <memory>

#include "tests/kfdemu/control/control.hpp"
#include "tests/kfdemu/hsa/kernel.hpp"

// Debian's header looks for its neighbours in a folder inc/, which is not installed, unless this is defined.
#define AMD_INTERNAL_BUILD
#include <hsa/hsa_api_trace.h>

#include "tools/kfdemu/boundary/hsa_table.hpp"

using namespace hsa_test;

namespace {

void run_late(const char* level, const char* kernel) {
    Machine machine;
    Executable code{machine.gpu(), std::string{"../check/late."} + level};
    Memory in{machine.cpu().fine, 4096, machine.agents()}, out{machine.cpu().fine, 4096, machine.agents()};
    Queue queue{machine.gpu()};
    run(machine, queue, code.kernel(kernel), line(64), in.data(), out.data());
}

}  // namespace

TEST_CASE("a missing wait is found with the function and the line of its source", "[check][hsa]") {
    NEEDS_CONTROL(control);
    for (const char* level : {"O0", "O3"}) {
        control->forget_findings();
        REQUIRE(control->check(KFDEMU_CHECK_WAIT) == 0);
        run_late(level, "late");
        REQUIRE(control->findings() == 1);
        const std::string text = control.finding(0);
        INFO(level << ": " << text);
        CHECK(text.find("check wait: ") == 0);
        CHECK(text.find("is missing") != std::string::npos);
#ifdef HAS_LINES
        CHECK(text.find("late.cpp:") != std::string::npos);
        CHECK(text.find(" in load_late") != std::string::npos);
#else
        CHECK(text.find("late") != std::string::npos);
#endif
    }
}

TEST_CASE("its mended twin, and kernels that start after check(0), are silent", "[check][hsa]") {
    NEEDS_CONTROL(control);
    control->forget_findings();
    for (const char* level : {"O0", "O3"}) {
        REQUIRE(control->check(KFDEMU_CHECK_WAIT) == 0);
        run_late(level, "in_time");
        REQUIRE(control->check(0) == 0);
        run_late(level, "late");
        CHECK(control->findings() == 0);
    }
}

TEST_CASE("a suppressed finding is counted, and reported again after reset", "[check][hsa]") {
    NEEDS_CONTROL(control);
    control->forget_findings();
    CHECK(control->suppress("late") == EINVAL);
    CHECK(control->suppress("wait:*late*") == 0);
    REQUIRE(control->check(KFDEMU_CHECK_WAIT) == 0);
    run_late("O0", "late");
    CHECK(control->findings() == 0);
    CHECK(control->suppressed() == 1);
    control->reset();
    control->forget_findings();
    REQUIRE(control->check(KFDEMU_CHECK_WAIT) == 0);
    run_late("O0", "late");
    CHECK(control->findings() == 1);
    CHECK(control->suppressed() == 0);
    control->forget_findings();
}

TEST_CASE("unknown checks and findings are refused", "[check][hsa]") {
    NEEDS_CONTROL(control);
    control->forget_findings();
    char text[4] = "abc";
    CHECK(control->check(0x8000) == EINVAL);
    CHECK(control->finding(0, text, sizeof text) == 0);
    CHECK(std::string{text} == "abc");
}

TEST_CASE("the functions that the tool wraps are where it looks for them", "[check][allocations]") {
    using namespace kfdemu::hsa;
    CHECK(offsetof(HsaApiTable, core_) == offsetof(Table, core));
    CHECK(offsetof(HsaApiTable, amd_ext_) == offsetof(Table, amd));
    CHECK(offsetof(CoreApiTable, hsa_agent_get_info_fn) == kAgentGetInfo);
    CHECK(offsetof(CoreApiTable, hsa_memory_allocate_fn) == kMemoryAllocate);
    CHECK(offsetof(CoreApiTable, hsa_memory_free_fn) == kMemoryFree);
    CHECK(offsetof(AmdExtTable, hsa_amd_memory_pool_allocate_fn) == kPoolAllocate);
    CHECK(offsetof(AmdExtTable, hsa_amd_memory_pool_free_fn) == kPoolFree);
    CHECK(offsetof(CoreApiTable, hsa_queue_create_fn) == kQueueCreate);
    CHECK(offsetof(CoreApiTable, hsa_soft_queue_create_fn) == kSoftQueueCreate);
    CHECK(offsetof(CoreApiTable, hsa_queue_destroy_fn) == kQueueDestroy);
    CHECK(offsetof(CoreApiTable, hsa_signal_create_fn) == kSignalCreate);
    CHECK(offsetof(CoreApiTable, hsa_signal_destroy_fn) == kSignalDestroy);
    CHECK(offsetof(CoreApiTable, hsa_signal_wait_relaxed_fn) == kSignalWaitRelaxed);
    CHECK(offsetof(CoreApiTable, hsa_signal_wait_scacquire_fn) == kSignalWaitAcquire);
    CHECK(offsetof(AmdExtTable, hsa_amd_signal_wait_any_fn) == kSignalWaitAny);
    CHECK(HSA_WAIT_STATE_BLOCKED == kWaitBlocked);
    CHECK(offsetof(CoreApiTable, hsa_executable_create_fn) == kExecutableCreate);
    CHECK(offsetof(CoreApiTable, hsa_executable_create_alt_fn) == kExecutableCreateAlt);
    CHECK(offsetof(CoreApiTable, hsa_executable_freeze_fn) == kExecutableFreeze);
    CHECK(offsetof(CoreApiTable, hsa_executable_destroy_fn) == kExecutableDestroy);
    CHECK(offsetof(CoreApiTable, hsa_code_object_reader_create_from_file_fn) == kReaderFromFile);
    CHECK(offsetof(CoreApiTable, hsa_code_object_reader_create_from_memory_fn) == kReaderFromMemory);
    CHECK(offsetof(CoreApiTable, hsa_code_object_reader_destroy_fn) == kReaderDestroy);
    const auto later = [](Later function) { return offset_in(sizeof(AmdExtTable), function); };
    CHECK(offsetof(AmdExtTable, hsa_amd_signal_create_fn) == later(Later::amd_signal_create));
    CHECK(offsetof(AmdExtTable, hsa_amd_ipc_signal_attach_fn) == later(Later::ipc_signal_attach));
    CHECK(offsetof(AmdExtTable, hsa_amd_queue_intercept_create_fn) == later(Later::queue_intercept_create));
    CHECK(offsetof(AmdExtTable, hsa_amd_register_deallocation_callback_fn) ==
          later(Later::register_deallocation_callback));
    CHECK(offsetof(AmdExtTable, hsa_amd_deregister_deallocation_callback_fn) ==
          later(Later::deregister_deallocation_callback));
    CHECK(kInvalidAllocation == HSA_STATUS_ERROR_INVALID_ALLOCATION);
    CHECK(offsetof(AmdExtTable, hsa_amd_memory_lock_fn) == later(Later::memory_lock));
    CHECK(offsetof(AmdExtTable, hsa_amd_memory_lock_to_pool_fn) == later(Later::memory_lock_to_pool));
    CHECK(offsetof(AmdExtTable, hsa_amd_memory_unlock_fn) == later(Later::memory_unlock));
    CHECK(offsetof(AmdExtTable, hsa_amd_ipc_memory_create_fn) == later(Later::ipc_memory_create));
    CHECK(offsetof(AmdExtTable, hsa_amd_ipc_memory_attach_fn) == later(Later::ipc_memory_attach));
    CHECK(offsetof(AmdExtTable, hsa_amd_ipc_memory_detach_fn) == later(Later::ipc_memory_detach));
    CHECK(offsetof(AmdExtTable, hsa_amd_interop_map_buffer_fn) == later(Later::interop_map_buffer));
    CHECK(offsetof(AmdExtTable, hsa_amd_interop_unmap_buffer_fn) == later(Later::interop_unmap_buffer));
    CHECK(offsetof(AmdExtTable, hsa_amd_pointer_info_fn) == later(Later::pointer_info));
    CHECK(offset_in(416, Later::amd_signal_create) == kNowhere);
    CHECK(offset_in(560, Later::amd_signal_create) == 280);
    CHECK(kOutOfResources == HSA_STATUS_ERROR_OUT_OF_RESOURCES);
}

TEST_CASE("a second free is refused and reported, and leaves what is allocated there", "[check][allocations]") {
    NEEDS_CONTROL(control);
    if (std::getenv("HSA_TOOLS_LIB") == nullptr) SKIP_BECAUSE("only with KFDEMU=check=memory");
    control->forget_findings();
    Machine machine;
    const std::uint64_t before = control.counters().buffers;
    void *memory = nullptr, *other = nullptr;
    REQUIRE(hsa_amd_memory_pool_allocate(machine.gpu().coarse, 4096, 0, &memory) == HSA_STATUS_SUCCESS);
    REQUIRE(hsa_amd_memory_pool_free(memory) == HSA_STATUS_SUCCESS);
    CHECK(hsa_amd_memory_pool_free(memory) == HSA_STATUS_ERROR_INVALID_ALLOCATION);
    HSA_CHECK(hsa_amd_memory_pool_allocate(machine.gpu().coarse, 4096, 0, &other));
    CHECK(control.counters().buffers == before + 1);
    HSA_CHECK(hsa_amd_memory_pool_free(other));
    CHECK(control->findings() == 1);
    const std::string text = control.finding(0);
    CHECK(text.find("check memory: memory is freed that is freed already\n") == 0);
    CHECK(text.find("at offset 0 of 4096 bytes allocated at 0x") != std::string::npos);
    std::vector<std::unique_ptr<Memory>> others;
    for (int n = 0; n < 50; ++n)
        others.push_back(std::make_unique<Memory>(machine.gpu().coarse, 4 << 20, machine.agents()));
    for (const auto& each : others) CHECK(hsa_amd_memory_fill(each->data(), 7, 1024) == HSA_STATUS_SUCCESS);
    control->forget_findings();
}

TEST_CASE("memory with a deallocation callback is freed at once", "[check][allocations]") {
    NEEDS_CONTROL(control);
    Machine machine;
    void* memory = nullptr;
    int called = 0;
    REQUIRE(hsa_amd_memory_pool_allocate(machine.gpu().coarse, 4096, 0, &memory) == HSA_STATUS_SUCCESS);
    REQUIRE(hsa_amd_register_deallocation_callback(
                memory, [](void*, void* count) { ++*static_cast<int*>(count); }, &called) == HSA_STATUS_SUCCESS);
    REQUIRE(hsa_amd_memory_pool_free(memory) == HSA_STATUS_SUCCESS);
    CHECK(called == 1);
}

TEST_CASE("what is kept after a free is limited, and given back at shut-down", "[check][allocations]") {
    NEEDS_CONTROL(control);
    Machine machine;
    const auto mappings = [] {
        std::ifstream maps("/proc/self/maps");
        return std::count(std::istreambuf_iterator<char>(maps), {}, '\n');
    };
    const auto before = mappings();
    for (int n = 0; n < 5000; ++n) Memory{machine.gpu().coarse, 4096, machine.agents()};
    CHECK(mappings() - before < 3000);
    for (int cycle = 0; cycle < 30; ++cycle) {
        Machine again;
        for (int n = 0; n < 4; ++n) Memory{again.gpu().coarse, 16 << 20, again.agents()};
    }
    CHECK(mappings() - before < 3000);
}

TEST_CASE("exact sizes and freed memory are known", "[check][allocations]") {
    NEEDS_CONTROL(control);
    const char* tools = std::getenv("HSA_TOOLS_LIB");
    if (tools == nullptr) SKIP_BECAUSE("only with KFDEMU=check=memory");
    for (const char* level : {"O0", "O3"}) {
        control->forget_findings();
        Machine machine;
        Executable code{machine.gpu(), std::string{"../check/bounds."} + level};
        Memory out{machine.cpu().fine, 4096, machine.agents()};
        Queue queue{machine.gpu()};
        const Kernel kernel = code.kernel("read_word");
        const void* freed = nullptr;
        {
            Memory in{machine.gpu().coarse, 100, machine.agents()};
            run(machine, queue, kernel, line(1), in.data(), out.data(), 9);
            CHECK(control->findings() == 0);
            run(machine, queue, kernel, line(1), in.data(), out.data(), 28);
            CHECK(control->findings() == 1);
            freed = in.data();
        }
        run(machine, queue, kernel, line(1), freed, out.data(), 9);
        REQUIRE(control->findings() == 2);
        const std::string outside = control.finding(0), after = control.finding(1);
        INFO(level << ": " << outside << after);
        CHECK(outside.find("12 bytes past the end of 100 bytes allocated at 0x") != std::string::npos);
        CHECK(after.find("at offset 36 of 100 bytes allocated at 0x") != std::string::npos);
        CHECK(after.find(", freed)") != std::string::npos);
#ifdef HAS_LINES
        for (const std::string& text : {outside, after})
            CHECK(text.find("bounds.cpp:4 in read_word") != std::string::npos);
#endif
        control->forget_findings();
    }
}

TEST_CASE("a kernel that writes code is reported, one that reads it is not", "[check][allocations]") {
    NEEDS_CONTROL(control);
    if (std::getenv("HSA_TOOLS_LIB") == nullptr) SKIP_BECAUSE("only with KFDEMU=check=memory");
    control->forget_findings();
    Machine machine;
    Memory out{machine.cpu().fine, 4096, machine.agents()};
    Queue queue{machine.gpu()};
    {
        Executable code{machine.gpu(), "../check/bounds.O0"};
        // Of a kernel that is not executed. Its descriptor says where its code is.
        const std::uint64_t other = code.kernel("read_lds").object;
        std::int64_t entry = 0;
        std::memcpy(&entry, reinterpret_cast<const char*>(other) + 16, sizeof entry);
        const std::uint64_t code_at = other + static_cast<std::uint64_t>(entry);
        run(machine, queue, code.kernel("read_word"), line(1), code_at, out.data(), 0);
        CHECK(control->findings() == 0);
        run(machine, queue, code.kernel("write_word"), line(1), code_at, out.data(), 0);
        REQUIRE(control->findings() == 1);
        const std::string text = control.finding(0);
        INFO(text);
        CHECK(text.find("4 bytes of code are written") != std::string::npos);
        CHECK(text.find("in the code of a loaded code object") != std::string::npos);
        control->forget_findings();
    }
    Memory in{machine.gpu().coarse, 4096, machine.agents()};
    Executable code{machine.gpu(), "../check/bounds.O0"};
    run(machine, queue, code.kernel("write_word"), line(1), in.data(), out.data(), 9);
    CHECK(control->findings() == 0);
}

TEST_CASE("locked host memory has its exact size until it is unlocked", "[check][allocations]") {
    NEEDS_CONTROL(control);
    if (std::getenv("HSA_TOOLS_LIB") == nullptr) SKIP_BECAUSE("only with KFDEMU=check=memory");
    control->forget_findings();
    Machine machine;
    Executable code{machine.gpu(), "../check/bounds.O0"};
    Memory out{machine.cpu().fine, 4096, machine.agents()};
    Queue queue{machine.gpu()};
    const Kernel kernel = code.kernel("read_word");
    alignas(4096) static unsigned words[1024];
    void* locked = nullptr;
    hsa_agent_t gpu = machine.gpu().agent;
    HSA_CHECK(hsa_amd_memory_lock(words, 100, &gpu, 1, &locked));
    run(machine, queue, kernel, line(1), locked, out.data(), 24);
    CHECK(control->findings() == 0);
    run(machine, queue, kernel, line(1), locked, out.data(), 25);
    REQUIRE(control->findings() == 1);
    CHECK(control.finding(0).find("just past the end of 100 bytes allocated at") != std::string::npos);
    control->forget_findings();
    HSA_CHECK(hsa_amd_memory_unlock(words));
    HSA_CHECK(hsa_amd_memory_lock(words, 4096, &gpu, 1, &locked));
    run(machine, queue, kernel, line(1), locked, out.data(), 25);
    CHECK(control->findings() == 0);
    HSA_CHECK(hsa_amd_memory_unlock(words));
}

TEST_CASE("freed memory is freed when the runtime is asked about it", "[check][allocations]") {
    NEEDS_CONTROL(control);
    if (std::getenv("HSA_TOOLS_LIB") == nullptr) SKIP_BECAUSE("only with KFDEMU=check=memory");
    Machine machine;
    const auto type = [](const void* address) {
        hsa_amd_pointer_info_t info{};
        info.size = sizeof info;
        HSA_CHECK(hsa_amd_pointer_info(address, &info, nullptr, nullptr, nullptr));
        return info.type;
    };
    const std::uint64_t before = control.counters().buffers;
    const void* freed = nullptr;
    {
        Memory memory{machine.gpu().coarse, 100, machine.agents()};
        freed = memory.data();
        CHECK(type(freed) == HSA_EXT_POINTER_TYPE_HSA);
        CHECK(control.counters().buffers == before + 1);
    }
    CHECK(type(freed) == HSA_EXT_POINTER_TYPE_UNKNOWN);
    {
        Memory memory{machine.gpu().coarse, 100, machine.agents()};
    }
    CHECK(control.counters().buffers == before);
}

TEST_CASE("freed memory that is kept is freed when the runtime shuts down", "[check][allocations]") {
    NEEDS_CONTROL(control);
    if (std::getenv("HSA_TOOLS_LIB") == nullptr) SKIP_BECAUSE("only with KFDEMU=check=memory");
    std::vector<std::uint64_t> buffers;
    for (int round = 0; round < 3; ++round) {
        {
            Machine machine;
            for (int n = 0; n < 3; ++n) Memory{machine.gpu().coarse, 4096, machine.agents()};
        }
        buffers.push_back(control.counters().buffers);
    }
    CHECK(buffers[1] == buffers[0]);
    CHECK(buffers[2] == buffers[0]);
}

TEST_CASE("LDS and new device memory that nothing wrote are found with their lines", "[check][init]") {
    NEEDS_CONTROL(control);
    if (std::getenv("HSA_TOOLS_LIB") == nullptr) SKIP_BECAUSE("only with KFDEMU=check=init");
    for (const char* level : {"O0", "O3"}) {
        control->forget_findings();
        Machine machine;
        Executable code{machine.gpu(), std::string{"../check/unwritten."} + level};
        Memory in{machine.gpu().coarse, 400, machine.agents()}, out{machine.cpu().fine, 4096, machine.agents()};
        Queue queue{machine.gpu()};
        run(machine, queue, code.kernel("lds_sum"), line(64), in.data(), out.data());
        run(machine, queue, code.kernel("memory_sum"), line(64), in.data(), out.data());
        REQUIRE(control->findings() == 2);
        const std::string lds = control.finding(0), memory = control.finding(1);
        INFO(level << ": " << lds << memory);
        CHECK(lds.find("check init: what is stored was computed from LDS at offset 128, which nothing wrote") == 0);
        CHECK(memory.find("at offset 0 of 400 bytes allocated at 0x") != std::string::npos);
#ifdef HAS_LINES
        CHECK(lds.find("unwritten.cpp:20 in lds_sum") != std::string::npos);
        CHECK(memory.find("in memory_sum") != std::string::npos);
#endif
        control->forget_findings();
    }
}

TEST_CASE("device memory that was copied or filled is defined", "[check][init]") {
    NEEDS_CONTROL(control);
    if (std::getenv("HSA_TOOLS_LIB") == nullptr) SKIP_BECAUSE("only with KFDEMU=check=init");
    control->forget_findings();
    Machine machine;
    Executable code{machine.gpu(), "../check/unwritten.O3"};
    Memory from{machine.cpu().fine, 4096, machine.agents()}, out{machine.cpu().fine, 4096, machine.agents()};
    Memory copied{machine.gpu().coarse, 4096, machine.agents()}, filled{machine.gpu().coarse, 4096, machine.agents()};
    REQUIRE(hsa_memory_copy(copied.data(), from.data(), 4096) == HSA_STATUS_SUCCESS);
    REQUIRE(hsa_amd_memory_fill(filled.data(), 7, 1024) == HSA_STATUS_SUCCESS);
    Queue queue{machine.gpu()};
    for (void* in : {copied.data(), filled.data()})
        for (const char* kernel : {"memory_sum", "memory_index", "memory_add"})
            run(machine, queue, code.kernel(kernel), line(64), in, out.data());
    CHECK(control->findings() == 0);
    for (std::uint64_t n = 0; n < control->findings(); ++n) WARN(control.finding(n));
}
