// A plugin for tests: has functions of its own with the names of an HSA tool's, and calls the program when it is
// loaded.
#include <dlfcn.h>

#include <cstdio>

extern "C" bool OnLoad(void*, unsigned long, unsigned long, const char* const*) {
    std::puts("the plugin's OnLoad");
    return true;
}
extern "C" void OnUnload() { std::puts("the plugin's OnUnload"); }

extern "C" void plugin_start() {
    OnLoad(nullptr, 0, 0, nullptr);
    OnUnload();
}

[[gnu::constructor]] static void loaded() {
    if (void* function = dlsym(RTLD_DEFAULT, "plugin_is_loaded")) reinterpret_cast<void (*)()>(function)();
}
