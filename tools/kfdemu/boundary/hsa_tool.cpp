// What libkfdemu-tool.so calls, which ROCR loads (HSA_TOOLS_LIB) into a process of `kfdemu run`, under --check, or if
// packets are torn: wraps waits, and calls that create and destroy what checks and torn packets are about.
//
// Other tools chain: each calls what it found in the table.
#include "tools/kfdemu/boundary/hsa_tool.hpp"

#include <algorithm>

#include "tools/kfdemu/base/behaviour.hpp"
#include "tools/kfdemu/boundary/hsa_code.hpp"
#include "tools/kfdemu/boundary/hsa_mappings.hpp"
#include "tools/kfdemu/boundary/hsa_memory.hpp"
#include "tools/kfdemu/boundary/hsa_objects.hpp"
#include "tools/kfdemu/boundary/hsa_queues.hpp"
#include "tools/kfdemu/boundary/hsa_waits.hpp"
#include "tools/kfdemu/kfd/device.hpp"

static bool allocations_wrapped = false;  // by the runtime's lock

bool kfdemu::wants_allocations(const Checks& checks) {
    constexpr Check kOfMemory[] = {Check::memory, Check::leak, Check::init, Check::race, Check::fence};
    return std::ranges::any_of(kOfMemory, [&](Check check) { return checks.has(check); });
}

bool kfdemu::finds_leaks() { return check::process_checks().checks().has(Check::leak); }

kfdemu::check::StackId kfdemu::stack_of_caller() {
    const Checks checks = check::process_checks().checks();
    return checks.has(Check::leak) || checks.has(Check::memory) ? check::capture_stack() : check::kNoStack;
}

extern "C" [[gnu::visibility("default")]] void kfdemu_tool_load(void* api_table) {
    using namespace kfdemu;
    if (Device::topology() == nullptr) return;
    auto* table = static_cast<hsa::Table*>(api_table);
    if (Device::options().waits_sleep) wrap_waits(*table);
    if (shows(Behaviour::torn_packet)) wrap_queues(*table);
    if (!wants_allocations(Device::options().checks)) return;
    allocations_wrapped = check::process_checks().announced = true;
    wrap_memory(*table);
    wrap_mappings(*table);
    wrap_code(*table);
    if (finds_leaks()) wrap_objects(*table);
}

/// The last hsa_shut_down: what the program has not freed by now, it never does.
extern "C" [[gnu::visibility("default")]] void kfdemu_tool_unload() {
    if (!allocations_wrapped) return;
    kfdemu::report_leaks_now();
    kfdemu::forget_memory();
}
