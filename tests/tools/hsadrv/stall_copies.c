/* Preloaded beside the emulator: its copy engines stop for good when they have copied so many bytes as
 * STALL_COPIES_AFTER says. */
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include "tools/kfdemu/kfdemu.h"

static void* watch(void* after) {
    const struct kfdemu_control* emulator = kfdemu_find_control();
    const struct timespec moment = {0, 1000000};
    struct kfdemu_counters counters = {0};
    while (emulator && counters.sdma_bytes < *(uint64_t*)after) {
        nanosleep(&moment, NULL);
        emulator->counters(&counters, sizeof counters);
    }
    if (emulator) emulator->stall_queue(KFDEMU_ALL_SDMA_QUEUES, 1);
    return NULL;
}

__attribute__((constructor)) static void begin(void) {
    static uint64_t after;
    const char* said = getenv("STALL_COPIES_AFTER");
    pthread_t thread;
    if (!said || !kfdemu_find_control()) return;
    after = strtoull(said, NULL, 10);
    if (pthread_create(&thread, NULL, watch, &after) == 0) pthread_detach(thread);
}
