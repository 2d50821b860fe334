// Checks switched on through kfdemu.h, of kernels that the HSA runtime loaded: their functions and lines are named.
#include "control/control.hpp"
#include "hsa/kernel.hpp"

// Debian's header looks for its neighbours in a folder inc/, which is not installed, unless this is defined.
#define AMD_INTERNAL_BUILD
#include <hsa/hsa_api_trace.h>

#include "boundary/hsa_table.hpp"

using namespace hsa_test;

namespace {

std::string finding(const test_support::Control& control, std::uint64_t index) {
    std::string text(control->finding(index, nullptr, 0), 0);
    control->finding(index, text.data(), text.size() + 1);
    return text;
}

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
        const std::string text = finding(control, 0);
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

TEST_CASE("unknown checks and findings are refused", "[check][hsa]") {
    NEEDS_CONTROL(control);
    control->forget_findings();
    char text[4] = "abc";
    CHECK(control->check(0x8000) == EINVAL);
    CHECK(control->finding(0, text, sizeof text) == 0);
    CHECK(std::string{text} == "abc");
}

TEST_CASE("the functions that the allocation tool wraps are where it looks for them", "[check][allocations]") {
    using namespace kfdemu::hsa;
    CHECK(offsetof(HsaApiTable, core_) == offsetof(Table, core));
    CHECK(offsetof(HsaApiTable, amd_ext_) == offsetof(Table, amd));
    CHECK(offsetof(CoreApiTable, hsa_memory_allocate_fn) == kMemoryAllocate);
    CHECK(offsetof(CoreApiTable, hsa_memory_free_fn) == kMemoryFree);
    CHECK(offsetof(AmdExtTable, hsa_amd_memory_pool_allocate_fn) == kPoolAllocate);
    CHECK(offsetof(AmdExtTable, hsa_amd_memory_pool_free_fn) == kPoolFree);
    CHECK(kOutOfResources == HSA_STATUS_ERROR_OUT_OF_RESOURCES);
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
        const std::string outside = finding(control, 0), after = finding(control, 1);
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
        const std::string lds = finding(control, 0), memory = finding(control, 1);
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
    for (std::uint64_t n = 0; n < control->findings(); ++n) WARN(finding(control, n));
}
