// Annotates the HSA runtime, which is not compiled with ThreadSanitizer: in a test program, these
// functions precede the runtime's own and declare the order that the runtime guarantees. (Loads of a signal are the
// library's own, in place; the emulated device is compiled with ThreadSanitizer.)
#include <dlfcn.h>
#include <hsa/amd_hsa_signal.h>
#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>
#include <sanitizer/tsan_interface.h>

#include <cstddef>
#include <cstdio>
#include <cstdlib>

namespace {

/// The runtime's own function of that name.
template <class Function>
Function* runtime(const char* name) {
    void* const function = ::dlsym(RTLD_NEXT, name);
    if (function != nullptr) return reinterpret_cast<Function*>(function);
    std::fprintf(stderr, "the runtime has no %s\n", name);
    std::abort();
}

void* value_of(hsa_signal_t signal) {
    return reinterpret_cast<std::byte*>(signal.handle) + offsetof(amd_signal_t, value);
}

/// Freed memory that is allocated again is ordered by the runtime's own locks.
char memory;
void gives_back() { __tsan_release(&memory); }
void took() { __tsan_acquire(&memory); }

}  // namespace

#define RUNTIME(name) static const auto real = runtime<decltype(name)>(#name)

// hsa.h, "Signals": a store with release, seen by the load that sees its value.
#define RELEASES(name)                                         \
    void name(hsa_signal_t signal, hsa_signal_value_t value) { \
        RUNTIME(name);                                         \
        __tsan_release(value_of(signal));                      \
        real(signal, value);                                   \
    }

extern "C" {

RELEASES(hsa_signal_store_screlease)
RELEASES(hsa_signal_add_screlease)
RELEASES(hsa_signal_subtract_screlease)

hsa_signal_value_t hsa_signal_exchange_scacq_screl(hsa_signal_t signal, hsa_signal_value_t value) {
    RUNTIME(hsa_signal_exchange_scacq_screl);
    __tsan_release(value_of(signal));
    const hsa_signal_value_t found = real(signal, value);
    __tsan_acquire(value_of(signal));
    return found;
}

hsa_signal_value_t hsa_signal_cas_scacq_screl(hsa_signal_t signal, hsa_signal_value_t expected,
                                              hsa_signal_value_t value) {
    RUNTIME(hsa_signal_cas_scacq_screl);
    __tsan_release(value_of(signal));
    const hsa_signal_value_t found = real(signal, expected, value);
    __tsan_acquire(value_of(signal));
    return found;
}

hsa_status_t hsa_amd_memory_pool_allocate(hsa_amd_memory_pool_t pool, size_t size, uint32_t flags, void** pointer) {
    RUNTIME(hsa_amd_memory_pool_allocate);
    const hsa_status_t status = real(pool, size, flags, pointer);
    took();
    return status;
}

hsa_status_t hsa_amd_memory_pool_free(void* pointer) {
    RUNTIME(hsa_amd_memory_pool_free);
    gives_back();
    return real(pointer);
}

hsa_status_t hsa_queue_create(hsa_agent_t agent, uint32_t size, hsa_queue_type32_t type,
                              void (*callback)(hsa_status_t, hsa_queue_t*, void*), void* data,
                              uint32_t private_segment_size, uint32_t group_segment_size, hsa_queue_t** queue) {
    RUNTIME(hsa_queue_create);
    const hsa_status_t status =
        real(agent, size, type, callback, data, private_segment_size, group_segment_size, queue);
    took();
    return status;
}

hsa_status_t hsa_queue_destroy(hsa_queue_t* queue) {
    RUNTIME(hsa_queue_destroy);
    gives_back();
    return real(queue);
}

}  // extern "C"
