/* What programs of the HSA runtime may do, and a trace must stand: each is right without it. Usage: traced_edges CASE,
 * or traced_edges producers CODE-OBJECT THREADS DISPATCHES, which runs fill in so many threads, on one queue; or
 * traced_edges fault CODE-OBJECT, whose fill writes to address 16, for which the runtime aborts. */
#define _GNU_SOURCE /* usleep, RTLD_DEFAULT */
#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>

#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define CHECK(call)                                        \
    do {                                                   \
        hsa_status_t status_ = (call);                     \
        if (status_ != HSA_STATUS_SUCCESS) {               \
            fprintf(stderr, "%s: 0x%x\n", #call, status_); \
            exit(1);                                       \
        }                                                  \
    } while (0)

static hsa_agent_t cpu, gpu;
static hsa_amd_memory_pool_t host_pool, device_pool;

static hsa_status_t on_pool(hsa_amd_memory_pool_t pool, void* found) {
    hsa_amd_segment_t segment;
    bool allocates = false;
    CHECK(hsa_amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_SEGMENT, &segment));
    CHECK(hsa_amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_RUNTIME_ALLOC_ALLOWED, &allocates));
    if (segment == HSA_AMD_SEGMENT_GLOBAL && allocates) *(hsa_amd_memory_pool_t*)found = pool;
    return HSA_STATUS_SUCCESS;
}

static hsa_status_t on_agent(hsa_agent_t agent, void* data) {
    hsa_device_type_t type;
    (void)data;
    CHECK(hsa_agent_get_info(agent, HSA_AGENT_INFO_DEVICE, &type));
    *(type == HSA_DEVICE_TYPE_GPU ? &gpu : &cpu) = agent;
    return HSA_STATUS_SUCCESS;
}

static void start(void) {
    CHECK(hsa_init());
    CHECK(hsa_iterate_agents(on_agent, NULL));
    CHECK(hsa_amd_agent_iterate_memory_pools(cpu, on_pool, &host_pool));
    CHECK(hsa_amd_agent_iterate_memory_pools(gpu, on_pool, &device_pool));
}

static hsa_signal_t signal_of(hsa_signal_value_t value) {
    hsa_signal_t signal;
    CHECK(hsa_signal_create(value, 0, NULL, &signal));
    return signal;
}

static hsa_queue_t* queue_of(uint32_t size) {
    hsa_queue_t* queue;
    CHECK(hsa_queue_create(gpu, size, HSA_QUEUE_TYPE_MULTI, NULL, NULL, UINT32_MAX, UINT32_MAX, &queue));
    return queue;
}

static void* slot(hsa_queue_t* queue, uint64_t index) { return (char*)queue->base_address + index % queue->size * 64; }

static void publish(hsa_queue_t* queue, uint64_t index, uint32_t head) {
    __atomic_store_n((uint32_t*)slot(queue, index), head, __ATOMIC_RELEASE);
    hsa_signal_store_screlease(queue->doorbell_signal, (hsa_signal_value_t)index);
}

static void barrier(hsa_queue_t* queue, hsa_signal_t before, hsa_signal_t done) {
    const uint64_t index = hsa_queue_add_write_index_relaxed(queue, 1);
    hsa_barrier_and_packet_t* packet = slot(queue, index);
    memset((char*)packet + 4, 0, 60);
    packet->dep_signal[0] = before;
    packet->completion_signal = done;
    publish(queue, index, HSA_PACKET_TYPE_BARRIER_AND | 1 << HSA_PACKET_HEADER_BARRIER);
}

static void wait_for(hsa_signal_t signal) {
    while (hsa_signal_wait_scacquire(signal, HSA_SIGNAL_CONDITION_LT, 1, UINT64_MAX, HSA_WAIT_STATE_BLOCKED) > 0) {
    }
}

/* Signals of a packet that never ends. */
static void destroy(void) {
    for (int n = 0; n < 20; ++n) {
        hsa_queue_t* queue = queue_of(64);
        const hsa_signal_t never = signal_of(1), done = signal_of(1);
        barrier(queue, never, done);
        usleep(1000);
        CHECK(hsa_queue_destroy(queue));
        CHECK(hsa_signal_destroy(done));
        CHECK(hsa_signal_destroy(never));
        usleep(5000);
    }
}

static void copies(int count) {
    void *host, *device;
    CHECK(hsa_amd_memory_pool_allocate(host_pool, 4096, 0, &host));
    CHECK(hsa_amd_memory_pool_allocate(device_pool, 4096, 0, &device));
    CHECK(hsa_amd_agents_allow_access(1, &gpu, NULL, host));
    const hsa_signal_t done = signal_of(1);
    CHECK(hsa_amd_memory_async_copy(device, gpu, host, cpu, 0, 0, NULL, done)); /* leaves the signal as it is */
    for (int n = 0; n < count; ++n) {
        if (n % 2)
            hsa_signal_store_relaxed(done, 1);
        else
            hsa_signal_exchange_relaxed(done, 1);
        CHECK(hsa_amd_memory_async_copy(device, gpu, host, cpu, 4096, 0, NULL, done));
        wait_for(done);
    }
    CHECK(hsa_signal_destroy(done));
    CHECK(hsa_amd_memory_pool_free(host));
    CHECK(hsa_amd_memory_pool_free(device));
    printf("%d copies\n", count);
}

static void* wait_for_ever(void* signal) {
    for (;;)
        hsa_signal_wait_scacquire(*(hsa_signal_t*)signal, HSA_SIGNAL_CONDITION_LT, 1, 100000, HSA_WAIT_STATE_BLOCKED);
    return NULL;
}

/* While threads wait, and copies are recorded. */
static void end_of_process(void) {
    static hsa_signal_t never;
    never = signal_of(1);
    pthread_t thread;
    for (int n = 0; n < 8; ++n) pthread_create(&thread, NULL, wait_for_ever, &never);
    usleep(100000);
    exit(0);
}

static void forks(void) {
    hsa_queue_t* queue = queue_of(1024);
    const hsa_signal_t never = signal_of(1);
    for (int n = 0; n < 500; ++n) barrier(queue, never, signal_of(1));
    for (int n = 0; n < 30; ++n) {
        const pid_t child = fork();
        if (child == 0) exit(0);
        int status = -1;
        waitpid(child, &status, 0);
        if (status != 0) _exit(1);
    }
    _exit(0);
}

static hsa_queue_t* shared_queue;
static hsa_kernel_dispatch_packet_t fill;
static int dispatches;

/* Reserves first and publishes later, so that others' doorbells pass this packet on. */
static void* produce(void* data) {
    unsigned seed = (unsigned)(size_t)data;
    const hsa_signal_t done = signal_of(1);
    for (int n = 0; n < dispatches; ++n) {
        hsa_signal_store_relaxed(done, 1);
        const uint64_t index = hsa_queue_add_write_index_relaxed(shared_queue, 1);
        usleep((useconds_t)(rand_r(&seed) % 300));
        while (index - hsa_queue_load_read_index_scacquire(shared_queue) >= shared_queue->size) usleep(10);
        hsa_kernel_dispatch_packet_t* packet = slot(shared_queue, index);
        memcpy((char*)packet + 4, (char*)&fill + 4, 60);
        packet->completion_signal = done;
        publish(shared_queue, index, HSA_PACKET_TYPE_KERNEL_DISPATCH | 2 << 9 | 2 << 11 | 1u << 16);
        wait_for(done);
    }
    CHECK(hsa_signal_destroy(done));
    return NULL;
}

static void producers(const char* file, int threads, void* wrong_address) {
    hsa_code_object_reader_t reader;
    hsa_executable_t executable;
    hsa_executable_symbol_t symbol;
    void *memory, *arguments;
    CHECK(hsa_code_object_reader_create_from_file(open(file, O_RDONLY), &reader));
    CHECK(hsa_executable_create_alt(HSA_PROFILE_BASE, HSA_DEFAULT_FLOAT_ROUNDING_MODE_DEFAULT, NULL, &executable));
    CHECK(hsa_executable_load_agent_code_object(executable, gpu, reader, NULL, NULL));
    CHECK(hsa_executable_freeze(executable, NULL));
    CHECK(hsa_executable_get_symbol_by_name(executable, "fill.kd", &gpu, &symbol));
    CHECK(hsa_executable_symbol_get_info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_OBJECT, &fill.kernel_object));
    CHECK(hsa_amd_memory_pool_allocate(device_pool, 4096, 0, &memory));
    CHECK(hsa_amd_memory_pool_allocate(host_pool, 4096, 0, &arguments));
    CHECK(hsa_amd_agents_allow_access(1, &gpu, NULL, arguments));
    memset(arguments, 0, 4096);
    memcpy(arguments, wrong_address ? &wrong_address : &memory, sizeof memory);
    fill.kernarg_address = arguments;
    fill.workgroup_size_x = fill.grid_size_x = 64;
    fill.workgroup_size_y = fill.workgroup_size_z = 1;
    fill.grid_size_y = fill.grid_size_z = 1;
    shared_queue = queue_of(64);
    pthread_t all[64];
    for (int n = 0; n < threads; ++n) pthread_create(&all[n], NULL, produce, (void*)(size_t)(n + 1));
    for (int n = 0; n < threads; ++n) pthread_join(all[n], NULL);
    CHECK(hsa_queue_destroy(shared_queue));
}

/* Physical memory that stays while it is mapped: at most two parts of 2 MiB at a time. Prints whether the runtime has
 * it. */
static void vmem(void) {
    enum { part = 2 << 20 };
    typedef struct {
        uint64_t handle;
    } memory_t;
    hsa_status_t (*reserve)(void**, size_t, uint64_t, uint64_t), (*unreserve)(void*, size_t), (*unmap)(void*, size_t);
    hsa_status_t (*create)(hsa_amd_memory_pool_t, size_t, int, uint64_t, memory_t*), (*release)(memory_t);
    hsa_status_t (*map)(void*, size_t, size_t, memory_t, uint64_t);
    *(void**)&reserve = dlsym(RTLD_DEFAULT, "hsa_amd_vmem_address_reserve");
    *(void**)&unreserve = dlsym(RTLD_DEFAULT, "hsa_amd_vmem_address_free");
    *(void**)&create = dlsym(RTLD_DEFAULT, "hsa_amd_vmem_handle_create");
    *(void**)&release = dlsym(RTLD_DEFAULT, "hsa_amd_vmem_handle_release");
    *(void**)&map = dlsym(RTLD_DEFAULT, "hsa_amd_vmem_map");
    *(void**)&unmap = dlsym(RTLD_DEFAULT, "hsa_amd_vmem_unmap");
    puts(reserve ? "virtual memory" : "no virtual memory");
    if (!reserve) return;
    char* address;
    CHECK(reserve((void**)&address, 2 * part, 0, 0));
    for (int round = 0; round < 3; ++round) {
        for (int n = 0; n < 2; ++n) {
            memory_t memory;
            CHECK(create(device_pool, part, 0, 0, &memory));
            CHECK(map(address + n * part, part, 0, memory, 0));
            CHECK(release(memory));
        }
        for (int n = 0; n < 2; ++n) CHECK(unmap(address + n * part, part));
    }
    CHECK(unreserve(address, 2 * part));
}

int main(int argc, char** argv) {
    const char* which = argc > 1 ? argv[1] : "";
    start();
    if (!strcmp(which, "destroy")) destroy();
    if (!strcmp(which, "copies")) copies(50);
    if (!strcmp(which, "exit")) end_of_process();
    if (!strcmp(which, "fork")) forks();
    if (!strcmp(which, "null")) return hsa_queue_destroy(NULL) == HSA_STATUS_SUCCESS;
    if (!strcmp(which, "vmem")) vmem();
    if (!strcmp(which, "again")) {
        copies(1);
        CHECK(hsa_shut_down());
        start();
        copies(1);
    }
    if (!strcmp(which, "producers") && argc == 5) {
        dispatches = atoi(argv[4]);
        producers(argv[2], atoi(argv[3]), NULL);
    }
    if (!strcmp(which, "fault") && argc == 3) {
        dispatches = 1;
        producers(argv[2], 1, (void*)16);
    }
    CHECK(hsa_shut_down());
    return 0;
}
