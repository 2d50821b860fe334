// What libkfdemu-tool.so calls, which ROCR loads into a process under --check=memory, init or leak (HSA_TOOLS_LIB):
// wraps calls that create and destroy what these checks are about.
//
// Other tools chain: each calls what it found in the table.
#include "boundary/hsa_tool.hpp"

extern "C" [[gnu::visibility("default")]] void kfdemu_tool_load(void* api_table) {
    using namespace kfdemu;
    auto* table = static_cast<hsa::Table*>(api_table);
    check::process_checks().announced = true;
    wrap_memory(*table);
    wrap_mappings(*table);
    wrap_code(*table);
    if (finds_leaks()) wrap_objects(*table);
}

/// The last hsa_shut_down: what the program has not freed by now, it never does.
extern "C" [[gnu::visibility("default")]] void kfdemu_tool_unload() {
    kfdemu::report_leaks_now();
    kfdemu::forget_memory();
}
