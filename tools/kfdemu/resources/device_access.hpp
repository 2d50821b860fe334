// Hides the memory accesses of kernels and copy engines from ThreadSanitizer. The packets and signals
// that order them stay visible to it; races between a program and its own kernels are not reported.
//
//     const DeviceAccess here;   // until the scope ends, this thread's accesses are not recorded; atomics still order
#pragma once

#if defined(__SANITIZE_THREAD__)
#define KFDEMU_THREAD_SANITIZER
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define KFDEMU_THREAD_SANITIZER
#endif
#endif

#ifdef KFDEMU_THREAD_SANITIZER
// Defined in the sanitizer's runtime, which has no header for them.
extern "C" {
void AnnotateIgnoreReadsBegin(const char* file, int line);
void AnnotateIgnoreReadsEnd(const char* file, int line);
void AnnotateIgnoreWritesBegin(const char* file, int line);
void AnnotateIgnoreWritesEnd(const char* file, int line);
}
#endif

namespace kfdemu {

class DeviceAccess {
  public:
#ifdef KFDEMU_THREAD_SANITIZER
    DeviceAccess() {
        AnnotateIgnoreReadsBegin(__FILE__, __LINE__);
        AnnotateIgnoreWritesBegin(__FILE__, __LINE__);
    }
    ~DeviceAccess() {
        AnnotateIgnoreWritesEnd(__FILE__, __LINE__);
        AnnotateIgnoreReadsEnd(__FILE__, __LINE__);
    }
#else
    DeviceAccess() noexcept {}  // not trivial, so that no unused-variable warning is given
#endif
    DeviceAccess(const DeviceAccess&) = delete;
    DeviceAccess& operator=(const DeviceAccess&) = delete;
};

}  // namespace kfdemu
