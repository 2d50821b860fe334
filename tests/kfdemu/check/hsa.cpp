// Checks switched on through kfdemu.h, of kernels that the HSA runtime loaded: their functions and lines are named.
#include "control/control.hpp"
#include "hsa/kernel.hpp"

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
