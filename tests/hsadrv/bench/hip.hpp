// The HIP calls used for comparison, loaded from the installed library: not linked.
#pragma once

#include <dlfcn.h>

#include <cstdint>
#include <stdexcept>
#include <string>

namespace bench {

class Hip {
  public:
    /// False afterwards if libamdhip64 is not installed.
    explicit Hip(const std::string& code_object, const char* kernel) {
        for (const char* name : {"libamdhip64.so", "libamdhip64.so.6", "libamdhip64.so.5"})
            if (!library_) library_ = dlopen(name, RTLD_NOW | RTLD_LOCAL);
        if (!library_) return;
        find<int(unsigned)>("hipInit")(0);
        void* module = nullptr;
        check(find<int(void**, const char*)>("hipModuleLoad")(&module, code_object.c_str()), "hipModuleLoad");
        check(find<int(void**, void*, const char*)>("hipModuleGetFunction")(&function_, module, kernel),
              "hipModuleGetFunction");
        auto* create = find<int(void**)>("hipStreamCreate");
        check(create(&stream_) | create(&other_), "hipStreamCreate");
        constexpr unsigned without_timing = 2;
        check(find<int(void**, unsigned)>("hipEventCreateWithFlags")(&event_, without_timing),
              "hipEventCreateWithFlags");
        launch_ = find<Launch>("hipModuleLaunchKernel");
        synchronize_ = find<int(void*)>("hipStreamSynchronize");
        record_ = find<int(void*, void*)>("hipEventRecord");
        wait_ = find<int(void*, void*, unsigned)>("hipStreamWaitEvent");
    }
    explicit operator bool() const { return library_ != nullptr; }

    /// 64 work-items with 56 bytes of arguments.
    void launch(std::uint32_t* out, const std::uint64_t (&values)[6]) {
        void* arguments[7] = {&out};
        for (int i = 0; i < 6; ++i) arguments[i + 1] = const_cast<std::uint64_t*>(&values[i]);
        check(launch_(function_, 1, 1, 1, 64, 1, 1, 0, stream_, arguments, nullptr), "hipModuleLaunchKernel");
    }
    void record() { check(record_(event_, stream_), "hipEventRecord"); }
    /// The other stream waits for what was recorded.
    void wait_other() { check(wait_(other_, event_, 0), "hipStreamWaitEvent"); }
    void synchronize() {
        check(synchronize_(stream_), "hipStreamSynchronize");
        check(synchronize_(other_), "hipStreamSynchronize");
    }

  private:
    using Launch = int(void*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void*, void**,
                       void**);

    template <class Function>
    Function* find(const char* name) {
        void* symbol = dlsym(library_, name);
        if (!symbol) throw std::runtime_error(std::string("no ") + name + " in libamdhip64");
        return reinterpret_cast<Function*>(symbol);
    }
    static void check(int error, const char* what) {
        if (error) throw std::runtime_error(std::string(what) + ": HIP error " + std::to_string(error));
    }

    void* library_ = nullptr;
    void *function_ = nullptr, *stream_ = nullptr, *other_ = nullptr, *event_ = nullptr;
    Launch* launch_ = nullptr;
    int (*synchronize_)(void*) = nullptr;
    int (*record_)(void*, void*) = nullptr;
    int (*wait_)(void*, void*, unsigned) = nullptr;
};

}  // namespace bench
