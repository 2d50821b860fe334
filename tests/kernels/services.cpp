// Kernels that ask the host for services.
#include <shared/device/device.hpp>
#include <shared/device/services.hpp>

using namespace hsadrv;

HSADRV_KERNEL void hello(int* results) {
    const uint32_t i = get_global_id(0);
    const int printed = hsadrv::printf("work-item %u of %u\n", i, get_global_size(0));
    if (results) results[i] = printed;
}

/// Conversions, by number; one text each.
HSADRV_KERNEL void conversions(const double* x) {
    hsadrv::printf("%d %i %5d|%-5d|%05d %+d\n", -1, 42, 7, 7, 7, 7);
    hsadrv::printf("%u %x %X %#o %lu %llx\n", 4000000000u, 255u, 255u, 8u, 1ul << 40, ~0ull);
    hsadrv::printf("%hhd %hd %ld\n", static_cast<signed char>(-2), static_cast<short>(-3), -4l);
    hsadrv::printf("%f %.3f %e %g %a %10.2f|%-10.2f|\n", x[0], x[0], x[0], x[0], x[0], x[0], x[0]);
    hsadrv::printf("%g %c%c %s|%10s|%-10s|%.2s\n", static_cast<float>(x[1]), 'o', 'k', "text", "right", "left", "cut");
    hsadrv::printf("%*d|%-*d|%.*f %%\n", 6, 1, 6, 2, 2, x[0]);
    hsadrv::printf("%p\n", static_cast<const void*>(x));
    hsadrv::printf("no conversion\n");
    hsadrv::print_error("%s\n", "to standard error");
}

/// Texts of different lengths, from the odd work-items alone.
HSADRV_KERNEL void lengths(const char* letters) {
    const uint32_t i = get_global_id(0);
    if (i % 2 == 0) return;
    hsadrv::printf("%u:%s\n", i, letters + 200 - i);
}

HSADRV_KERNEL void all_positive(const int* values, uint32_t* reached) {
    const uint32_t i = get_global_id(0);
    HSADRV_ASSERT(values[i] > 0);
    barrier();
    reached[i] = 1;
}

struct Node {
    Node* next;
    uint32_t number;
    uint32_t length;  // in words
    uint32_t words[1];
};

/// A list for each work-item: `count` nodes of different sizes. `failed` counts those without memory.
HSADRV_KERNEL void grow_lists(Node** lists, uint32_t count, uint32_t most_words, uint32_t* failed) {
    const uint32_t i = get_global_id(0);
    Node* list = nullptr;
    for (uint32_t k = 0; k < count; ++k) {
        const uint32_t length = 1 + (i * 7 + k * 13) % most_words;
        auto* node = static_cast<Node*>(hsadrv::malloc(sizeof(Node) + 4 * length));
        if (node == nullptr) {
            atomic_add(failed, 1u);
            continue;
        }
        node->next = list;
        node->number = i * count + k;
        node->length = length;
        for (uint32_t w = 0; w < length; ++w) node->words[w] = node->number ^ w;
        list = node;
    }
    lists[i] = list;
}

/// Frees them; `wrong` counts nodes that do not hold what was written, `seen` all nodes.
HSADRV_KERNEL void free_lists(Node** lists, uint32_t* wrong, uint32_t* seen) {
    const uint32_t i = get_global_id(0);
    for (Node* node = lists[i]; node != nullptr;) {
        bool good = true;
        for (uint32_t w = 0; w < node->length; ++w) good = good && node->words[w] == (node->number ^ w);
        if (!good) atomic_add(wrong, 1u);
        atomic_add(seen, 1u);
        Node* const next = node->next;
        hsadrv::free(node);
        node = next;
    }
    lists[i] = nullptr;
}

HSADRV_KERNEL void allocate(uint64_t* addresses, uint64_t size_bytes) {
    addresses[get_global_id(0)] = reinterpret_cast<uint64_t>(hsadrv::malloc(size_bytes));
}
HSADRV_KERNEL void release(const uint64_t* addresses) {
    hsadrv::free(reinterpret_cast<void*>(addresses[get_global_id(0)]));
}

/// A request that no host has a service for.
HSADRV_KERNEL void ask_for(uint32_t service, uint64_t* answer) {
    detail::HostWords request;
    answer[get_global_id(0)] = detail::ask_host(detail::hostcall_buffer(), service, request).words[0];
}

/// Work-groups that meet no failure wait for the others for ever.
HSADRV_KERNEL void all_meet(const int* values, uint32_t* reached) {
    const uint32_t i = get_global_id(0);
    HSADRV_ASSERT(values[i] > 0);
    grid_barrier();
    reached[i] = 1;
}
