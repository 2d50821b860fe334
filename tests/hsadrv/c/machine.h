/* For programs that test the C interface: checks that are counted, and a GPU with a stream and the kernel scale_add. */
#ifndef HSADRV_TESTS_MACHINE_H
#define HSADRV_TESTS_MACHINE_H

#include <stdio.h>

#include "hsadrv/hsadrv.h"

enum { COUNT = 1024 };
static const uint64_t patience_ns = UINT64_C(60000000000);
static int passed, failed;

#define CHECK(condition)                                                                            \
    do {                                                                                            \
        if (condition) {                                                                            \
            ++passed;                                                                               \
        } else {                                                                                    \
            ++failed;                                                                               \
            printf("%s:%d: %s: %s\n", __FILE__, __LINE__, #condition, hsadrv_last_error_message()); \
        }                                                                                           \
    } while (0)
#define OK(call) CHECK((call) == HSADRV_SUCCESS)

struct machine {
    hsadrv_driver driver;
    hsadrv_device gpu;
    hsadrv_stream stream;
    hsadrv_executable code;
    hsadrv_kernel scale_add;
};

static inline void open_machine(struct machine* m, const char* file) {
    OK(hsadrv_driver_create(&m->driver));
    OK(hsadrv_driver_device(m->driver, 0, &m->gpu));
    OK(hsadrv_stream_create(m->gpu, NULL, &m->stream));
    OK(hsadrv_executable_load_file(m->gpu, file, &m->code));
    OK(hsadrv_executable_kernel(m->code, "scale_add", &m->scale_add));
}

static inline void close_machine(const struct machine* m) {
    OK(hsadrv_kernel_destroy(m->scale_add));
    OK(hsadrv_executable_destroy(m->code));
    OK(hsadrv_stream_destroy(m->stream, patience_ns));
    OK(hsadrv_driver_destroy(m->driver));
}

static inline uint32_t* host_words(const struct machine* m, hsadrv_memory* memory, uint32_t value) {
    void* address = NULL;
    OK(hsadrv_memory_create(m->gpu, HSADRV_MEMORY_HOST, COUNT * sizeof(uint32_t), memory));
    OK(hsadrv_memory_address(*memory, &address));
    for (int i = 0; i < COUNT; ++i) ((uint32_t*)address)[i] = value;
    return address;
}

static inline int all_are(const uint32_t* words, uint32_t value) {
    for (int i = 0; i < COUNT; ++i)
        if (words[i] != value) return 0;
    return 1;
}

/* data = data * factor + summand, described for a call. It refers to itself: do not copy it. */
struct scale_add_launch {
    uint32_t factor, summand, count;
    hsadrv_launch_config config;
    hsadrv_argument arguments[4];
};

static inline void describe(struct scale_add_launch* launch, hsadrv_memory data, uint32_t factor, uint32_t summand) {
    const hsadrv_launch_config config = {.struct_size = sizeof config, .grid = {COUNT}, .workgroup = {256}};
    launch->factor = factor;
    launch->summand = summand;
    launch->count = COUNT;
    launch->config = config;
    launch->arguments[0] = hsadrv_argument_memory(data, HSADRV_ARGUMENT_INTEGER, sizeof(uint32_t));
    launch->arguments[1] = hsadrv_argument_value(HSADRV_ARGUMENT_INTEGER, &launch->factor, sizeof launch->factor);
    launch->arguments[2] = hsadrv_argument_value(HSADRV_ARGUMENT_VALUE, &launch->summand, sizeof launch->summand);
    launch->arguments[3] = hsadrv_argument_value(HSADRV_ARGUMENT_UNKNOWN, &launch->count, sizeof launch->count);
}

static inline hsadrv_result scale_add(const struct machine* m, hsadrv_memory data, uint32_t factor, uint32_t summand) {
    struct scale_add_launch launch;
    describe(&launch, data, factor, summand);
    return hsadrv_kernel_launch(m->scale_add, m->stream, &launch.config, launch.arguments, 4, patience_ns);
}

static inline int all_passed(void) {
    printf("%d passed, %d failed, 0 skipped\n", passed, failed);
    return failed == 0;
}

#endif
