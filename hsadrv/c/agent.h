/* What the runtime has found: its agents, CPUs among them, and their memory.
 *
 *   hsadrv_pool_facts pool = {.struct_size = sizeof pool};
 *   hsadrv_driver_pool_info(driver, 0, HSADRV_VIEW_POOLS, 0, &pool);      // of the first agent
 *
 * hsadrv_memory_create() needs none of it. Agents, pools and regions are numbered in the runtime's order. */
#ifndef HSADRV_C_AGENT_H
#define HSADRV_C_AGENT_H

#include "hsadrv/c/memory.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum hsadrv_agent_kind { HSADRV_AGENT_CPU = 0, HSADRV_AGENT_GPU = 1, HSADRV_AGENT_OTHER = 2 } hsadrv_agent_kind;

/* Texts are cut to their field, and end in zero. */
typedef struct hsadrv_agent_facts {
    size_t struct_size;
    uint64_t native_agent; /* hsa_agent_t::handle */
    uint32_t kind;         /* hsadrv_agent_kind */
    uint32_t device;       /* of a GPU that can run kernels: its index for hsadrv_driver_device(); else UINT32_MAX */
    uint32_t pools;
    uint32_t regions;
    char name[64];
    char product_name[64];
} hsadrv_agent_facts;

/* Two views of an agent's memory: AMD's, from which allocations are made, and that of the HSA core specification. */
typedef enum hsadrv_memory_view { HSADRV_VIEW_POOLS = 0, HSADRV_VIEW_REGIONS = 1 } hsadrv_memory_view;

typedef enum hsadrv_segment {
    HSADRV_SEGMENT_GLOBAL = 0,
    HSADRV_SEGMENT_READONLY = 1,
    HSADRV_SEGMENT_PRIVATE = 2,
    HSADRV_SEGMENT_GROUP = 3, /* LDS */
    HSADRV_SEGMENT_KERNARG = 4
} hsadrv_segment;

typedef enum hsadrv_pool_flags {
    HSADRV_POOL_KERNARG = 1,
    HSADRV_POOL_FINE_GRAINED = 2,
    HSADRV_POOL_COARSE_GRAINED = 4
} hsadrv_pool_flags;

typedef struct hsadrv_pool_facts {
    size_t struct_size;
    uint64_t size_bytes;
    uint64_t alloc_max_bytes;
    uint64_t alloc_granule_bytes;
    uint32_t segment;         /* hsadrv_segment */
    uint32_t flags;           /* hsadrv_pool_flags, of the global segment */
    uint32_t alloc_allowed;   /* 0 or 1 */
    uint32_t host_accessible; /* 0 or 1 */
} hsadrv_pool_facts;

HSADRV_API hsadrv_result hsadrv_driver_agent_count(hsadrv_driver driver, size_t* count) HSADRV_NOEXCEPT;
HSADRV_API hsadrv_result hsadrv_driver_agent_info(hsadrv_driver driver, size_t agent,
                                                  hsadrv_agent_facts* facts) HSADRV_NOEXCEPT;
HSADRV_API hsadrv_result hsadrv_driver_pool_info(hsadrv_driver driver, size_t agent, uint32_t view, size_t index,
                                                 hsadrv_pool_facts* facts) HSADRV_NOEXCEPT;
/* As hsadrv_memory_create(), from that pool, or from a pool with the same memory as that region. Host memory is
 * accessible to all GPUs. Errors: HSADRV_ERROR_NOT_OFFERED if it allows no allocation. */
HSADRV_API hsadrv_result hsadrv_memory_create_in(hsadrv_driver driver, size_t agent, uint32_t view, size_t index,
                                                 size_t size_bytes, hsadrv_memory* memory) HSADRV_NOEXCEPT;

#ifdef __cplusplus
}
#endif

#endif
