/* The C interface's ABI: sizes, offsets and numbers that programs have compiled in. A structure may grow at its end:
 * its size below then changes, its offsets do not. */
#include <stddef.h>
#include <stdio.h>

#include "hsadrv/hsadrv.h"

static int passed, failed;

static void check(const char* what, size_t found, size_t wanted) {
    if (found == wanted) {
        ++passed;
    } else {
        ++failed;
        printf("%s is %lu, not %lu\n", what, (unsigned long)found, (unsigned long)wanted);
    }
}

#define SIZE(type, bytes) check("sizeof(" #type ")", sizeof(type), bytes)
#define OFFSET(type, field, bytes) check("offsetof(" #type ", " #field ")", offsetof(type, field), bytes)
#define VALUE(name, number) check(#name, (size_t)(name), number)

static void structures(void) {
    SIZE(hsadrv_result, 4);
    SIZE(hsadrv_stream, 8);
    SIZE(hsadrv_argument, 48);
    OFFSET(hsadrv_argument, element_kind, 4);
    OFFSET(hsadrv_argument, element_bytes, 8);
    OFFSET(hsadrv_argument, value, 16);
    OFFSET(hsadrv_argument, size_bytes, 24);
    OFFSET(hsadrv_argument, memory, 32);
    OFFSET(hsadrv_argument, offset_bytes, 40);
    SIZE(hsadrv_launch_config, 72);
    OFFSET(hsadrv_launch_config, grid, 8);
    OFFSET(hsadrv_launch_config, workgroup, 20);
    OFFSET(hsadrv_launch_config, lds_bytes, 32);
    OFFSET(hsadrv_launch_config, stack_bytes, 40);
    OFFSET(hsadrv_launch_config, lds_offsets_bytes, 48);
    OFFSET(hsadrv_launch_config, cooperative, 56);
    OFFSET(hsadrv_launch_config, groups, 60);
    SIZE(hsadrv_agent_facts, 160);
    OFFSET(hsadrv_agent_facts, pools, 24);
    OFFSET(hsadrv_agent_facts, name, 32);
    SIZE(hsadrv_pool_facts, 48);
    OFFSET(hsadrv_pool_facts, alloc_granule_bytes, 24);
    OFFSET(hsadrv_pool_facts, host_accessible, 44);
    SIZE(hsadrv_stream_options, 56);
    OFFSET(hsadrv_stream_options, packets, 16);
    OFFSET(hsadrv_stream_options, kernarg_bytes, 24);
    OFFSET(hsadrv_stream_options, cu_mask, 32);
    OFFSET(hsadrv_stream_options, priority, 48);
    SIZE(hsadrv_kernel_facts, 80);
    OFFSET(hsadrv_kernel_facts, argument_count, 16);
    OFFSET(hsadrv_kernel_facts, workgroup_required, 48);
    OFFSET(hsadrv_kernel_facts, dynamic_stack, 72);
    SIZE(hsadrv_argument_facts, 48);
    OFFSET(hsadrv_argument_facts, type_name, 16);
    OFFSET(hsadrv_argument_facts, kind, 32);
    OFFSET(hsadrv_argument_facts, is_const, 44);
    SIZE(hsadrv_device_facts, 352);
    OFFSET(hsadrv_device_facts, compute_units, 32);
    OFFSET(hsadrv_device_facts, name, 76);
    OFFSET(hsadrv_device_facts, isa, 252);
    SIZE(hsadrv_ipc_memory, 64);
    SIZE(hsadrv_ipc_signal, 40);
    SIZE(hsadrv_graph_node, 16);
    OFFSET(hsadrv_graph_node, number, 8);
    SIZE(hsadrv_managed_facts, 32);
    OFFSET(hsadrv_managed_facts, preferred_agent, 8);
    OFFSET(hsadrv_managed_facts, access, 28);
    SIZE(hsadrv_memory_callbacks, 40);
    OFFSET(hsadrv_memory_callbacks, allocate, 8);
    OFFSET(hsadrv_memory_callbacks, release, 24);
    OFFSET(hsadrv_memory_callbacks, user, 32);
}

static void numbers(void) {
    VALUE(HSADRV_SUCCESS, 0);
    VALUE(HSADRV_ERROR_INVALID_ARGUMENT, 2);
    VALUE(HSADRV_ERROR_INVALID_HANDLE, 3);
    VALUE(HSADRV_ERROR_TIMEOUT, 11);
    VALUE(HSADRV_ERROR_UNKNOWN, 16);
    VALUE(HSADRV_ERROR_COMPILE, 17);
    VALUE(HSADRV_ERROR_NO_COMPILER, 18);
    VALUE(HSADRV_LANGUAGE_OPENCL, 1);
    VALUE(HSADRV_LANGUAGE_ASSEMBLY, 3);
    SIZE(hsadrv_compile_options, 104);
    OFFSET(hsadrv_compile_options, target, 24);
    OFFSET(hsadrv_compile_options, defines, 56);
    OFFSET(hsadrv_compile_options, clang_option_count, 96);
    VALUE(HSADRV_MEMORY_HOST, 2);
    VALUE(HSADRV_MEMORY_HOST_COARSE, 3);
    VALUE(HSADRV_PRIORITY_HIGH, 2);
    VALUE(HSADRV_EVENT_TIMING, 1);
    VALUE(HSADRV_SIGNAL_SHARED, 1);
    VALUE(HSADRV_EQUAL, 0);
    VALUE(HSADRV_GREATER_EQUAL, 3);
    VALUE(HSADRV_ADVICE_READ_MOSTLY, 0);
    VALUE(HSADRV_ADVICE_NOT_ACCESSIBLE_BY, 6);
    VALUE(HSADRV_ACCESS_IN_PLACE, 2);
    VALUE(HSADRV_ARGUMENT_UNKNOWN, 0);
    VALUE(HSADRV_ARGUMENT_POINTER, 1);
    VALUE(HSADRV_ARGUMENT_VALUE, 5);
}

int main(void) {
    structures();
    numbers();
    check("HSADRV_VERSION_MAJOR", HSADRV_VERSION_MAJOR, PROJECT_MAJOR);
    check("HSADRV_VERSION_MINOR", HSADRV_VERSION_MINOR, PROJECT_MINOR);
    check("HSADRV_VERSION_PATCH", HSADRV_VERSION_PATCH, PROJECT_PATCH);
    check("hsadrv_version()", hsadrv_version(), HSADRV_VERSION);
    printf("%d passed, %d failed, 0 skipped\n", passed, failed);
    return failed != 0;
}
