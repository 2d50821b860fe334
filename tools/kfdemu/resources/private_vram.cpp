#include "resources/private_vram.hpp"

#include <signal.h>

#include "base/log.hpp"
#include "resources/memory.hpp"

namespace kfdemu {
namespace {

const Memory* watched = nullptr;
struct sigaction before;

/// Says what was touched, if it is ours; then the instruction is run again, with the former disposition.
void on_fault(int signal, siginfo_t* info, void*) {
    const auto va = reinterpret_cast<std::uint64_t>(info->si_addr);
    if (const auto found = watched->find_vram(va))
        log(LogLevel::error,
            "the host touched {:#x}, which is VRAM of gpu{} that the host cannot see ({} B at {:#x}): copy "
            "it instead",
            va, found->gpu, found->size_bytes, found->va);
    sigaction(signal, &before, nullptr);
}

}  // namespace

void PrivateVram::watch(const Memory& memory) {
    if (watched) return;
    watched = &memory;
    struct sigaction action{};
    action.sa_sigaction = on_fault;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    sigemptyset(&action.sa_mask);
    sigaction(SIGSEGV, &action, &before);
}

}  // namespace kfdemu
