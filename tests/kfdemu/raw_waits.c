/* Whether waits of the HSA runtime that ask to spin do: waits 0.3 s for signals that are never set, by each call that
 * takes the hint, and prints "spins" or "sleeps" for each. Usage: raw_waits. */
#define _GNU_SOURCE /* RUSAGE_THREAD */
#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>

#include <stdint.h>
#include <stdio.h>
#include <sys/resource.h>
#include <time.h>

static double seconds(clockid_t clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* How often this thread has given up the processor by itself. */
static long sleeps(void) {
    struct rusage used;
    getrusage(RUSAGE_THREAD, &used);
    return used.ru_nvcsw;
}

int main(void) {
    hsa_signal_t signal;
    uint64_t frequency;
    if (hsa_init() != HSA_STATUS_SUCCESS || hsa_signal_create(1, 0, NULL, &signal) != HSA_STATUS_SUCCESS) return 1;
    hsa_system_get_info(HSA_SYSTEM_INFO_TIMESTAMP_FREQUENCY, &frequency);
    const uint64_t ticks = 3 * frequency / 10;
    static const char* const names[] = {"relaxed", "scacquire", "any"};
    for (int call = 0; call < 3; ++call) {
        const double start = seconds(CLOCK_MONOTONIC), before = seconds(CLOCK_THREAD_CPUTIME_ID);
        const long slept = sleeps();
        hsa_signal_condition_t condition = HSA_SIGNAL_CONDITION_EQ;
        hsa_signal_value_t wanted = 0, got = 1;
        if (call == 0) got = hsa_signal_wait_relaxed(signal, condition, wanted, ticks, HSA_WAIT_STATE_ACTIVE);
        if (call == 1) got = hsa_signal_wait_scacquire(signal, condition, wanted, ticks, HSA_WAIT_STATE_ACTIVE);
        if (call == 2 &&
            hsa_amd_signal_wait_any(1, &signal, &condition, &wanted, ticks, HSA_WAIT_STATE_ACTIVE, &got) != UINT32_MAX)
            return 1;
        if (call < 2 && got != 1) return 1;
        const double used = seconds(CLOCK_THREAD_CPUTIME_ID) - before, took = seconds(CLOCK_MONOTONIC) - start;
        if (took < 0.25) return 1;
        /* One that spins may get little of a busy processor. */
        printf("%s %s\n", names[call], used < 0.1 && sleeps() != slept ? "sleeps" : "spins");
    }
    hsa_signal_destroy(signal);
    return hsa_shut_down() == HSA_STATUS_SUCCESS ? 0 : 1;
}
