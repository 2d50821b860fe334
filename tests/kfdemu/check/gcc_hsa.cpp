// `init` and code that GCC compiled.
#include "tests/kfdemu/control/control.hpp"
#include "tests/kfdemu/hsa/kernel.hpp"

using namespace hsa_test;

TEST_CASE("what GCC's functions save to their stack need not be written", "[check][init]") {
    NEEDS_CONTROL(control);
    struct Case {
        const char *source, *kernel;
        bool reported;
    };
    for (const Case& each : {Case{"gcc_stack", "to_stack", false},
                             {"gcc_stack", "to_memory", true},
                             {"clang_stack", "to_stack", true},
                             {"clang_stack", "to_memory", true}}) {
        control->forget_findings();
        REQUIRE(control->check(KFDEMU_CHECK_INIT) == 0);
        Machine machine;
        Executable code{machine.gpu(), std::string{"../check/"} + each.source};
        Memory in{machine.cpu().fine, 4096, machine.agents()}, out{machine.cpu().fine, 4096, machine.agents()};
        Queue queue{machine.gpu()};
        run(machine, queue, code.kernel(each.kernel), line(64), in.data(), out.data());
        INFO(each.source << " " << each.kernel);
        REQUIRE(control->findings() == (each.reported ? 1 : 0));
        if (each.reported)
            CHECK(control.finding(0).find("check init: what is stored is v22, which nothing wrote") == 0);
    }
    control->check(0);
}
