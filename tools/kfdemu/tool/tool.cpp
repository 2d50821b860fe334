// libkfdemu-tool.so: the tool of --waits and --check that ROCR loads. Hands its calls on to libkfdemu
// (boundary/hsa_tool.cpp), which is preloaded or linked; without it, does nothing.
#include <dlfcn.h>

#include <cstdint>

namespace {

template <class Function>
Function* found(const char* name) {
    return reinterpret_cast<Function*>(dlsym(RTLD_DEFAULT, name));
}

}  // namespace

extern "C" [[gnu::visibility("default")]] bool OnLoad(void* table, std::uint64_t, std::uint64_t, const char* const*) {
    if (auto* load = found<void(void*)>("kfdemu_tool_load")) load(table);
    return true;
}

extern "C" [[gnu::visibility("default")]] void OnUnload() {
    if (auto* unload = found<void()>("kfdemu_tool_unload")) unload();
}
