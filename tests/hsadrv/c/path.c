/* The C interface from the driver to its end, as a C99 program sees it. Arguments: stream.hsaco, launch.hsaco or one of
 * its single code objects. Prints each check that fails, and counts them in the last line. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/hsadrv/c/machine.h"

static void devices(const struct machine* m) {
    size_t count = 0;
    hsadrv_device same = NULL, by_uuid = NULL, by_index = NULL;
    hsadrv_device_facts facts = {.struct_size = sizeof facts};
    OK(hsadrv_driver_device_count(m->driver, &count));
    CHECK(count >= 1);
    OK(hsadrv_driver_device(m->driver, 0, &same));
    CHECK(same == m->gpu);
    OK(hsadrv_device_info(m->gpu, &facts));
    CHECK(strncmp(facts.name, "gfx", 3) == 0);
    CHECK(strncmp(facts.isa, "amdgcn-amd-amdhsa--gfx", 22) == 0);
    CHECK(strlen(facts.pci_address) == 12);
    CHECK(facts.compute_units > 0 && facts.workgroup_max == 1024);
    CHECK(facts.wavefront_size == (strncmp(facts.name, "gfx9", 4) == 0 ? 64 : 32));
    CHECK(facts.lds_bytes >= 65536 && facts.memory_bytes > 0 && facts.native_agent != 0);
    OK(hsadrv_driver_find_device(m->driver, facts.uuid, &by_uuid));
    OK(hsadrv_driver_find_device(m->driver, "0", &by_index));
    CHECK(by_uuid == m->gpu && by_index == m->gpu);
    CHECK(hsadrv_version() == HSADRV_VERSION);
}

static void memory_and_copies(const struct machine* m) {
    uint32_t back[COUNT], pageable[COUNT];
    const uint32_t pattern = 7;
    hsadrv_memory device, pinned;
    hsadrv_registration registration;
    void *address = NULL, *at_gpu = NULL;
    size_t size = 0;
    uint32_t* own = calloc(COUNT, sizeof *own);
    OK(hsadrv_memory_create(m->gpu, HSADRV_MEMORY_DEVICE, sizeof back, &device));
    OK(hsadrv_memory_address(device, &address));
    OK(hsadrv_memory_size(device, &size));
    CHECK(size == sizeof back && address != NULL);
    OK(hsadrv_stream_fill(m->stream, address, sizeof back, &pattern, sizeof pattern, patience_ns));
    OK(hsadrv_stream_copy_and_wait(m->stream, back, address, sizeof back, patience_ns));
    CHECK(all_are(back, 7));

    for (int i = 0; i < COUNT; ++i) pageable[i] = 8;
    OK(hsadrv_stream_copy(m->stream, address, pageable, sizeof back, patience_ns));
    uint32_t* const host = host_words(m, &pinned, 0);
    OK(hsadrv_stream_copy(m->stream, host, address, sizeof back, patience_ns));
    OK(hsadrv_stream_synchronize(m->stream, patience_ns));
    CHECK(all_are(host, 8));

    OK(hsadrv_registration_create(m->gpu, own, COUNT * sizeof *own, HSADRV_MEMORY_HOST, &registration));
    OK(hsadrv_registration_address(registration, &at_gpu));
    CHECK(at_gpu != NULL);
    OK(hsadrv_stream_copy_and_wait(m->stream, own, address, sizeof back, patience_ns));
    CHECK(all_are(own, 8));
    OK(hsadrv_registration_destroy(registration));
    free(own);
    OK(hsadrv_memory_destroy(pinned));
    OK(hsadrv_memory_destroy(device));
}

static void code_and_kernels(const struct machine* m, const char* other) {
    static char bytes[1 << 22];
    size_t count = 0, size;
    const char* name = NULL;
    hsadrv_executable code;
    hsadrv_kernel reverse;
    hsadrv_device_facts device = {.struct_size = sizeof device};
    hsadrv_kernel_facts facts = {.struct_size = sizeof facts};
    hsadrv_argument_facts argument = {.struct_size = sizeof argument};
    FILE* file = fopen(other, "rb");
    CHECK(file != NULL);
    if (!file) return;
    size = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    OK(hsadrv_executable_load(m->gpu, bytes, size, "from memory", &code));
    memset(bytes, 0, sizeof bytes); /* they are not needed any more */
    OK(hsadrv_executable_kernel_count(code, &count));
    CHECK(count > 3);
    OK(hsadrv_executable_kernel_name(code, 0, &name));
    CHECK(name != NULL && strlen(name) > 0);
    OK(hsadrv_executable_kernel(code, "reverse", &reverse));
    OK(hsadrv_executable_destroy(code)); /* the kernel keeps it */
    OK(hsadrv_device_info(m->gpu, &device));
    OK(hsadrv_kernel_info(reverse, &facts));
    CHECK(strcmp(facts.name, "reverse") == 0);
    CHECK(facts.argument_count == 2 && facts.lds_pointer_count == 1 && facts.lds_bytes == 12);
    CHECK(facts.wavefront_size == device.wavefront_size && facts.vgprs > 0 && facts.kernarg_bytes >= 16);
    OK(hsadrv_kernel_argument_info(reverse, 0, &argument));
    CHECK(argument.kind == HSADRV_ARGUMENT_POINTER && argument.offset_bytes == 0 && argument.size_bytes == 8);
    CHECK(strcmp(argument.type_name, "uint*") == 0);
    CHECK(argument.element_kind == HSADRV_ARGUMENT_INTEGER && argument.element_bytes == 4);
    OK(hsadrv_kernel_argument_info(reverse, 1, &argument));
    CHECK(argument.kind == HSADRV_ARGUMENT_INTEGER && argument.offset_bytes == 12 && argument.size_bytes == 4);

    hsadrv_memory memory;
    uint32_t* const data = host_words(m, &memory, 0);
    const uint32_t bias = 1000;
    const hsadrv_launch_config config = {
        .struct_size = sizeof config, .grid = {64}, .workgroup = {64}, .lds_bytes = 64 * sizeof(uint32_t)};
    const hsadrv_argument arguments[] = {
        hsadrv_argument_pointer(data, HSADRV_ARGUMENT_UNKNOWN, 0),
        hsadrv_argument_value(HSADRV_ARGUMENT_INTEGER, &bias, sizeof bias),
    };
    for (uint32_t i = 0; i < 64; ++i) data[i] = i;
    OK(hsadrv_kernel_launch(reverse, m->stream, &config, arguments, 2, patience_ns));
    OK(hsadrv_kernel_destroy(reverse)); /* the launch keeps it */
    OK(hsadrv_stream_synchronize(m->stream, patience_ns));
    CHECK(data[0] == 63 + 1000 && data[63] == 0 + 1000);
    OK(hsadrv_memory_destroy(memory));
}

static void launches_and_events(const struct machine* m) {
    hsadrv_memory memory;
    hsadrv_stream other;
    hsadrv_event begin, end;
    int done = 0;
    int64_t elapsed_ns = -1;
    uint32_t* const data = host_words(m, &memory, 1);
    const hsadrv_stream_options options = {.struct_size = sizeof options, .name = "second", .packets = 64};
    OK(hsadrv_stream_create(m->gpu, &options, &other));
    OK(hsadrv_stream_record(m->stream, HSADRV_EVENT_TIMING, patience_ns, &begin));
    OK(scale_add(m, memory, 3, 1));
    OK(scale_add(m, memory, 3, 1));
    OK(hsadrv_stream_record(m->stream, HSADRV_EVENT_TIMING, patience_ns, &end));
    OK(hsadrv_stream_wait(other, end, patience_ns));
    OK(hsadrv_stream_synchronize(other, patience_ns));
    CHECK(all_are(data, 13));
    OK(hsadrv_event_synchronize(end, patience_ns));
    OK(hsadrv_event_query(begin, &done));
    CHECK(done == 1);
    OK(hsadrv_event_elapsed(begin, end, &elapsed_ns));
    CHECK(elapsed_ns > 0);
    OK(hsadrv_event_destroy(begin));
    OK(hsadrv_event_destroy(end));
    OK(hsadrv_stream_destroy(other, patience_ns));
    OK(hsadrv_stream_query(m->stream, &done));
    CHECK(done == 1);

    OK(scale_add(m, memory, 1, 1));
    OK(hsadrv_memory_destroy_on(memory, m->stream));
    OK(hsadrv_stream_synchronize(m->stream, patience_ns));
}

struct counter {
    int calls, releases, completions;
    uint32_t seen;
    const uint32_t* word;
    hsadrv_result result;
};

static int count_call(void* user) {
    struct counter* counter = user;
    ++counter->calls;
    counter->seen = *counter->word;
    return 0;
}
static void count_release(void* user) { ++((struct counter*)user)->releases; }
static void count_completion(hsadrv_result result, const char* message, void* user) {
    struct counter* counter = user;
    ++counter->completions;
    counter->result = result;
    if (*message) ++counter->completions; /* no text for success */
}

static void host_functions(const struct machine* m) {
    hsadrv_memory memory;
    struct counter counter = {0, 0, 0, 0, NULL, HSADRV_ERROR_UNKNOWN};
    counter.word = host_words(m, &memory, 5);
    OK(scale_add(m, memory, 2, 0));
    OK(hsadrv_stream_call(m->stream, count_call, &counter, count_release, patience_ns));
    OK(hsadrv_stream_on_complete(m->stream, count_completion, &counter, patience_ns));
    OK(scale_add(m, memory, 2, 0));
    OK(hsadrv_stream_call(m->stream, count_call, &counter, NULL, patience_ns));
    OK(hsadrv_stream_synchronize(m->stream, patience_ns));
    CHECK(counter.calls == 2 && counter.seen == 20);
    CHECK(counter.releases == 1);
    CHECK(counter.completions == 1 && counter.result == HSADRV_SUCCESS);
    OK(hsadrv_memory_destroy(memory));
}

static void graphs(const struct machine* m) {
    hsadrv_memory first, second;
    hsadrv_graph graph;
    size_t nodes = 0, kernels = 0;
    uint32_t *const a = host_words(m, &first, 1), *const b = host_words(m, &second, 1);
    const uint32_t factor = 10, summand = 1, count = COUNT;
    const hsadrv_launch_config config = {.struct_size = sizeof config, .grid = {COUNT}, .workgroup = {64}};
    const hsadrv_argument arguments[] = {
        hsadrv_argument_memory(second, HSADRV_ARGUMENT_INTEGER, sizeof(uint32_t)),
        hsadrv_argument_value(HSADRV_ARGUMENT_INTEGER, &factor, sizeof factor),
        hsadrv_argument_value(HSADRV_ARGUMENT_INTEGER, &summand, sizeof summand),
        hsadrv_argument_value(HSADRV_ARGUMENT_INTEGER, &count, sizeof count),
    };
    OK(hsadrv_stream_begin_capture(m->stream));
    OK(scale_add(m, first, 3, 1));
    OK(scale_add(m, first, 3, 1));
    OK(hsadrv_stream_end_capture(m->stream, &graph));
    OK(hsadrv_graph_size(graph, &nodes, &kernels));
    CHECK(nodes == 2 && kernels == 2);
    CHECK(all_are(a, 1)); /* recorded, not run */
    OK(hsadrv_graph_launch(graph, m->stream, patience_ns));
    OK(hsadrv_graph_update(graph, 1, m->scale_add, &config, arguments, 4, patience_ns));
    OK(hsadrv_memory_destroy(second)); /* the graph holds it */
    OK(hsadrv_graph_launch(graph, m->stream, patience_ns));
    OK(hsadrv_stream_synchronize(m->stream, patience_ns));
    CHECK(all_are(a, 13 * 3 + 1));
    CHECK(all_are(b, 11));
    OK(hsadrv_graph_destroy(graph));
    OK(hsadrv_memory_destroy(first));
}

int main(int argc, char** argv) {
    struct machine m;
    if (argc != 3) return 2;
    memset(&m, 0, sizeof m);
    CHECK(hsadrv_last_error() == HSADRV_SUCCESS && *hsadrv_last_error_message() == 0);
    open_machine(&m, argv[1]);
    if (failed == 0) {
        devices(&m);
        memory_and_copies(&m);
        code_and_kernels(&m, argv[2]);
        launches_and_events(&m);
        host_functions(&m);
        graphs(&m);
    }
    close_machine(&m);
    CHECK(hsadrv_last_error() == HSADRV_SUCCESS);
    return !all_passed();
}
