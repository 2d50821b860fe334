// What a program loads that uses no GPU until then: runs a kernel with a missing wait.
#include "tests/kfdemu/hsa/kernel.hpp"

extern "C" [[gnu::visibility("default")]] void run_late() {
    using namespace hsa_test;
    Machine machine;
    Executable code{machine.gpu(), "../check/late.O0"};
    Memory in{machine.cpu().fine, 4096, machine.agents()}, out{machine.cpu().fine, 4096, machine.agents()};
    Queue queue{machine.gpu()};
    run(machine, queue, code.kernel("late"), line(64), in.data(), out.data());
}
