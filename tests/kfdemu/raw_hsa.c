/* A program of the HSA runtime's C API alone: it knows nothing of hsadrv or kfdemu, and must behave on an emulated GPU
 * as on a real one. Usage: raw_hsa FOLDER, where FOLDER/fill.<gfx>.o is the code object of tests/kernels/fill.cl; or
 * raw_hsa FOLDER touch, which only writes into device memory from the host.
 *
 * Each step prints one line; the exit status is 0 when all were right. */
#define _DEFAULT_SOURCE /* usleep */
#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CHECK(call)                                                               \
    do {                                                                          \
        hsa_status_t status_ = (call);                                            \
        if (status_ != HSA_STATUS_SUCCESS) {                                      \
            const char* text_ = "";                                               \
            hsa_status_string(status_, &text_);                                   \
            fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call, text_); \
            exit(1);                                                              \
        }                                                                         \
    } while (0)

#define EXPECT(condition)                                                             \
    do {                                                                              \
        if (!(condition)) {                                                           \
            fprintf(stderr, "%s:%d: not true: %s\n", __FILE__, __LINE__, #condition); \
            exit(1);                                                                  \
        }                                                                             \
    } while (0)

static hsa_agent_t cpu, gpu;
static hsa_amd_memory_pool_t host_pool, kernarg_pool, device_pool;

static hsa_status_t on_pool(hsa_amd_memory_pool_t pool, void* owner) {
    hsa_amd_segment_t segment;
    uint32_t flags;
    CHECK(hsa_amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_SEGMENT, &segment));
    if (segment != HSA_AMD_SEGMENT_GLOBAL) return HSA_STATUS_SUCCESS;
    CHECK(hsa_amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_GLOBAL_FLAGS, &flags));
    if (owner == &gpu) {
        if (flags & HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_COARSE_GRAINED) device_pool = pool;
    } else if (flags & HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_KERNARG_INIT) {
        kernarg_pool = pool;
    } else if (flags & HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_FINE_GRAINED) {
        host_pool = pool;
    }
    return HSA_STATUS_SUCCESS;
}

static hsa_status_t on_agent(hsa_agent_t agent, void* data) {
    hsa_device_type_t type;
    char name[64];
    (void)data;
    CHECK(hsa_agent_get_info(agent, HSA_AGENT_INFO_DEVICE, &type));
    CHECK(hsa_agent_get_info(agent, HSA_AGENT_INFO_NAME, name));
    printf("agent %s: %s\n", type == HSA_DEVICE_TYPE_GPU ? "GPU" : "CPU", name);
    if (type == HSA_DEVICE_TYPE_GPU && gpu.handle == 0) gpu = agent;
    if (type == HSA_DEVICE_TYPE_CPU && cpu.handle == 0) cpu = agent;
    return HSA_STATUS_SUCCESS;
}

static void wait_for_zero(hsa_signal_t signal, const char* what) {
    /* Ten seconds in units of the system clock: a test never hangs. */
    uint64_t frequency;
    CHECK(hsa_system_get_info(HSA_SYSTEM_INFO_TIMESTAMP_FREQUENCY, &frequency));
    hsa_signal_value_t value =
        hsa_signal_wait_scacquire(signal, HSA_SIGNAL_CONDITION_LT, 1, 10 * frequency, HSA_WAIT_STATE_BLOCKED);
    if (value != 0) {
        fprintf(stderr, "%s: the signal is %ld, not 0\n", what, (long)value);
        exit(1);
    }
}

static void copies(void) {
    enum { BYTES = 3 * 1024 * 1024 + 4 };
    unsigned char *source, *back;
    void* device;
    hsa_signal_t done;
    CHECK(hsa_amd_memory_pool_allocate(host_pool, BYTES, 0, (void**)&source));
    CHECK(hsa_amd_memory_pool_allocate(host_pool, BYTES, 0, (void**)&back));
    CHECK(hsa_amd_memory_pool_allocate(device_pool, BYTES, 0, &device));
    CHECK(hsa_amd_agents_allow_access(1, &gpu, NULL, source));
    CHECK(hsa_amd_agents_allow_access(1, &gpu, NULL, back));
    for (size_t i = 0; i < BYTES; ++i) source[i] = (unsigned char)(i * 7 + i / 251);
    memset(back, 0, BYTES);

    CHECK(hsa_signal_create(1, 0, NULL, &done));
    CHECK(hsa_amd_memory_async_copy(device, gpu, source, cpu, BYTES, 0, NULL, done));
    wait_for_zero(done, "copy to the device");
    hsa_signal_store_relaxed(done, 1);
    CHECK(hsa_amd_memory_async_copy(back, cpu, device, gpu, BYTES, 0, NULL, done));
    wait_for_zero(done, "copy to the host");
    EXPECT(memcmp(source, back, BYTES) == 0);

    CHECK(hsa_amd_memory_fill(device, 0xdeadbeef, BYTES / 4));
    CHECK(hsa_memory_copy(back, device, BYTES));
    for (size_t i = 0; i + 4 <= BYTES; i += 4) {
        uint32_t word;
        memcpy(&word, back + i, 4);
        EXPECT(word == 0xdeadbeef);
    }
    CHECK(hsa_signal_destroy(done));
    CHECK(hsa_amd_memory_pool_free(source));
    CHECK(hsa_amd_memory_pool_free(back));
    CHECK(hsa_amd_memory_pool_free(device));
    printf("copies and fill of %d bytes\n", BYTES);
}

static uint64_t reserve(hsa_queue_t* queue) {
    uint64_t index = hsa_queue_add_write_index_relaxed(queue, 1);
    while (index - hsa_queue_load_read_index_scacquire(queue) >= queue->size) {
    }
    return index;
}

static void* slot(hsa_queue_t* queue, uint64_t index) { return (char*)queue->base_address + index % queue->size * 64; }

static void publish(hsa_queue_t* queue, uint64_t index, uint16_t header, uint16_t setup) {
    uint32_t* first = slot(queue, index);
    __atomic_store_n(first, header | (uint32_t)setup << 16, __ATOMIC_RELEASE);
    hsa_signal_store_screlease(queue->doorbell_signal, (hsa_signal_value_t)index);
}

static const uint16_t system_fences = HSA_FENCE_SCOPE_SYSTEM << HSA_PACKET_HEADER_SCACQUIRE_FENCE_SCOPE |
                                      HSA_FENCE_SCOPE_SYSTEM << HSA_PACKET_HEADER_SCRELEASE_FENCE_SCOPE;

static void barriers(hsa_queue_t* queue) {
    hsa_signal_t dependency, done;
    CHECK(hsa_signal_create(1, 0, NULL, &dependency));
    CHECK(hsa_signal_create(1, 0, NULL, &done));
    uint64_t index = reserve(queue);
    hsa_barrier_and_packet_t* packet = slot(queue, index);
    memset((char*)packet + 4, 0, 60);
    packet->dep_signal[1] = dependency;
    packet->completion_signal = done;
    publish(queue, index, (uint16_t)(HSA_PACKET_TYPE_BARRIER_AND | system_fences), 0);
    usleep(20000);
    EXPECT(hsa_signal_load_scacquire(done) == 1);
    hsa_signal_store_screlease(dependency, 0);
    wait_for_zero(done, "barrier packet");
    CHECK(hsa_signal_destroy(dependency));
    CHECK(hsa_signal_destroy(done));

    /* Four times around the ring, the last packet signals. */
    CHECK(hsa_signal_create(4 * (hsa_signal_value_t)queue->size, 0, NULL, &done));
    for (uint32_t i = 0; i < 4 * queue->size; ++i) {
        index = reserve(queue);
        packet = slot(queue, index);
        memset((char*)packet + 4, 0, 60);
        packet->completion_signal = done;
        publish(queue, index, (uint16_t)(HSA_PACKET_TYPE_BARRIER_AND | 1 << HSA_PACKET_HEADER_BARRIER | system_fences),
                0);
    }
    wait_for_zero(done, "barrier packets around the ring");
    EXPECT(hsa_queue_load_read_index_scacquire(queue) == hsa_queue_load_write_index_scacquire(queue));
    CHECK(hsa_signal_destroy(done));
    printf("barrier packets, %u of them\n", 4 * queue->size + 1);
}

static void kernel(hsa_queue_t* queue, const char* folder) {
    enum { N = 1000 };
    char name[64], path[4096];
    hsa_code_object_reader_t reader;
    hsa_executable_t executable;
    hsa_executable_symbol_t symbol;
    struct {
        int* p;
        int v;
    }* kernarg;
    int* out;
    hsa_signal_t done;
    CHECK(hsa_agent_get_info(gpu, HSA_AGENT_INFO_NAME, name));
    snprintf(path, sizeof path, "%s/fill.%s.o", folder, name);
    int file = open(path, O_RDONLY);
    if (file < 0) {
        perror(path);
        exit(1);
    }
    CHECK(hsa_code_object_reader_create_from_file(file, &reader));
    CHECK(hsa_executable_create_alt(HSA_PROFILE_BASE, HSA_DEFAULT_FLOAT_ROUNDING_MODE_DEFAULT, NULL, &executable));
    CHECK(hsa_executable_load_agent_code_object(executable, gpu, reader, NULL, NULL));
    CHECK(hsa_executable_freeze(executable, NULL));
    CHECK(hsa_executable_get_symbol_by_name(executable, "fill.kd", &gpu, &symbol));
    uint64_t object;
    uint32_t kernarg_bytes;
    CHECK(hsa_executable_symbol_get_info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_OBJECT, &object));
    CHECK(
        hsa_executable_symbol_get_info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_KERNARG_SEGMENT_SIZE, &kernarg_bytes));
    CHECK(hsa_amd_memory_pool_allocate(kernarg_pool, kernarg_bytes > sizeof *kernarg ? kernarg_bytes : sizeof *kernarg,
                                       0, (void**)&kernarg));
    CHECK(hsa_amd_agents_allow_access(1, &gpu, NULL, kernarg));
    CHECK(hsa_amd_memory_pool_allocate(host_pool, N * sizeof *out, 0, (void**)&out));
    CHECK(hsa_amd_agents_allow_access(1, &gpu, NULL, out));
    memset(out, 0, N * sizeof *out);
    kernarg->p = out;
    kernarg->v = 42;
    CHECK(hsa_signal_create(1, 0, NULL, &done));
    uint64_t index = reserve(queue);
    hsa_kernel_dispatch_packet_t* packet = slot(queue, index);
    memset((char*)packet + 4, 0, 60);
    packet->workgroup_size_x = 256;
    packet->workgroup_size_y = packet->workgroup_size_z = 1;
    packet->grid_size_x = N;
    packet->grid_size_y = packet->grid_size_z = 1;
    packet->kernel_object = object;
    packet->kernarg_address = kernarg;
    packet->completion_signal = done;
    publish(queue, index, (uint16_t)(HSA_PACKET_TYPE_KERNEL_DISPATCH | system_fences),
            1 << HSA_KERNEL_DISPATCH_PACKET_SETUP_DIMENSIONS);
    wait_for_zero(done, "kernel");
    for (int i = 0; i < N; ++i) EXPECT(out[i] == 42 + i);
    CHECK(hsa_signal_destroy(done));
    CHECK(hsa_amd_memory_pool_free(kernarg));
    CHECK(hsa_amd_memory_pool_free(out));
    CHECK(hsa_executable_destroy(executable));
    CHECK(hsa_code_object_reader_destroy(reader));
    close(file);
    printf("a kernel of %d work-items on %s\n", N, name);
}

static void touch(void) {
    int* device;
    CHECK(hsa_amd_memory_pool_allocate(device_pool, 4096, 0, (void**)&device));
    *(volatile int*)device = 1;
    printf("touched\n");
    CHECK(hsa_amd_memory_pool_free(device));
}

int main(int argc, char** argv) {
    hsa_queue_t* queue;
    if (argc < 2 || argc > 3) {
        fprintf(stderr, "usage: %s FOLDER [touch]\n", argv[0]);
        return 2;
    }
    CHECK(hsa_init());
    CHECK(hsa_iterate_agents(on_agent, NULL));
    EXPECT(gpu.handle != 0 && cpu.handle != 0);
    CHECK(hsa_amd_agent_iterate_memory_pools(cpu, on_pool, &cpu));
    CHECK(hsa_amd_agent_iterate_memory_pools(gpu, on_pool, &gpu));
    if (argc == 3) {
        touch();
        CHECK(hsa_shut_down());
        return 0;
    }
    copies();
    CHECK(hsa_queue_create(gpu, 64, HSA_QUEUE_TYPE_SINGLE, NULL, NULL, UINT32_MAX, UINT32_MAX, &queue));
    barriers(queue);
    kernel(queue, argv[1]);
    CHECK(hsa_queue_destroy(queue));
    CHECK(hsa_shut_down());
    puts("all right");
    return 0;
}
