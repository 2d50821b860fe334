#include "resources/private_vram.hpp"

#include <signal.h>

#include "base/log.hpp"
#include "resources/memory.hpp"

namespace kfdemu {
namespace {

const Memory* watched = nullptr;
struct sigaction before;

/// Logs the access if it is to VRAM. The instruction then faults again with the previous disposition.
void on_fault(int signal, siginfo_t* info, void*) {
    const auto va = reinterpret_cast<std::uint64_t>(info->si_addr);
    if (const auto found = watched->find_vram(va))
        log(LogLevel::error,
            "the host accessed {:#x}, which is private VRAM of gpu{} ({} B at {:#x}): copy it with the GPU "
            "instead",
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
