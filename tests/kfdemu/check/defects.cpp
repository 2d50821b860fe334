// A program with the defects that its arguments name, for tests of `kfdemu run --check` from a user's view.
#include <cstdio>
#include <functional>
#include <map>

#include "hsa/kernel.hpp"

using namespace hsa_test;

namespace {

class Program {
  public:
    /// The kernel uses a register before its load has arrived.
    void late() { launch("late.O0", "late"); }
    /// 12 bytes past the end of 100.
    void outside() { launch("bounds.O0", "read_word", 28); }
    void inside() { launch("bounds.O0", "read_word", 9); }

  private:
    template <class... More>
    void launch(const std::string& code_object, const char* name, More... more) {
        Executable code{machine_.gpu(), "../check/" + code_object};
        Memory in{machine_.gpu().coarse, sizeof...(more) == 0 ? 4096 : 100, machine_.agents()};
        Memory out{machine_.cpu().fine, 4096, machine_.agents()};
        Queue queue{machine_.gpu()};
        run(machine_, queue, code.kernel(name), line(sizeof...(more) == 0 ? 64 : 1), in.data(), out.data(), more...);
    }

    Machine machine_;
};

}  // namespace

int main(int argc, char** argv) {
    const std::map<std::string, std::function<void(Program&)>> defects = {
        {"late", &Program::late},
        {"outside", &Program::outside},
        {"inside", &Program::inside},
    };
    Program program;
    for (int n = 1; n < argc; ++n) {
        std::printf("%s\n", argv[n]);
        defects.at(argv[n])(program);
    }
    std::puts("done");
}
