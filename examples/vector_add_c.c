/* Adds two arrays on the GPU, through the C interface. */
#include <hsadrv/hsadrv.h>
#include <stdio.h>
#include <stdlib.h>

enum { COUNT = 1 << 20 };
static const uint64_t patience_ns = UINT64_C(60000000000);

/* Ends the program with the library's message if a call failed. */
static void check(hsadrv_result result) {
    if (result == HSADRV_SUCCESS) return;
    fprintf(stderr, "vector_add_c: %s: %s\n", hsadrv_result_name((int)result), hsadrv_last_error_message());
    exit(1);
}

/* Device memory with COUNT times `value`. */
static hsadrv_memory filled(hsadrv_device gpu, hsadrv_stream stream, float value) {
    hsadrv_memory memory;
    void* address;
    check(hsadrv_memory_create(gpu, HSADRV_MEMORY_DEVICE, COUNT * sizeof(float), &memory));
    check(hsadrv_memory_address(memory, &address));
    check(hsadrv_stream_fill(stream, address, COUNT * sizeof(float), &value, sizeof value, patience_ns));
    return memory;
}

int main(void) {
    hsadrv_driver driver;
    hsadrv_device gpu;
    hsadrv_stream stream;
    check(hsadrv_driver_create(&driver));
    check(hsadrv_driver_device(driver, 0, &gpu));
    check(hsadrv_stream_create(gpu, NULL, &stream));

    hsadrv_memory a = filled(gpu, stream, 1.0f), b = filled(gpu, stream, 2.0f), c = filled(gpu, stream, 0.0f);
    hsadrv_executable code;
    hsadrv_kernel kernel;
    check(hsadrv_executable_load_file(gpu, "vector_add.hsaco", &code));
    check(hsadrv_executable_kernel(code, "vector_add", &kernel));

    const uint32_t count = COUNT;
    const hsadrv_launch_config config = {.struct_size = sizeof config, .grid = {COUNT}, .workgroup = {256}};
    const hsadrv_argument arguments[] = {
        hsadrv_argument_memory(a, HSADRV_ARGUMENT_FLOATING, sizeof(float)),
        hsadrv_argument_memory(b, HSADRV_ARGUMENT_FLOATING, sizeof(float)),
        hsadrv_argument_memory(c, HSADRV_ARGUMENT_FLOATING, sizeof(float)),
        hsadrv_argument_value(HSADRV_ARGUMENT_INTEGER, &count, sizeof count),
    };
    check(hsadrv_kernel_launch(kernel, stream, &config, arguments, 4, patience_ns));

    float* sums = malloc(COUNT * sizeof(float));
    void* address;
    size_t right = 0;
    if (!sums) return 1;
    check(hsadrv_memory_address(c, &address));
    check(hsadrv_stream_copy_and_wait(stream, sums, address, COUNT * sizeof(float), patience_ns));
    for (size_t i = 0; i < COUNT; ++i) right += sums[i] == 3.0f;
    free(sums);

    hsadrv_device_facts facts = {.struct_size = sizeof facts};
    check(hsadrv_device_info(gpu, &facts));
    printf("%s: %lu of %lu sums are right\n", facts.name, (unsigned long)right, (unsigned long)COUNT);

    check(hsadrv_kernel_destroy(kernel));
    check(hsadrv_executable_destroy(code));
    check(hsadrv_memory_destroy(a));
    check(hsadrv_memory_destroy(b));
    check(hsadrv_memory_destroy(c));
    check(hsadrv_stream_destroy(stream, patience_ns));
    check(hsadrv_driver_destroy(driver));
    return right == COUNT ? 0 : 1;
}
