/* Managed memory: pages that the host and GPUs use at the same address. hsadrv/managed_memory.hpp in C.
 *
 * Every function gives HSADRV_ERROR_NOT_OFFERED where the system has no shared virtual memory (SVM). Ranges are
 * extended to whole pages of 4096 bytes; HSADRV_ERROR_INVALID_ARGUMENT for pages that are not mapped. */
#ifndef HSADRV_C_MANAGED_MEMORY_H
#define HSADRV_C_MANAGED_MEMORY_H

#include "hsadrv/c/stream.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Zeroed pages that the host and these GPUs, at least one, access. The host sees a kernel's writes after the stream was
 * synchronised. Copies treat them as pageable. 0 bytes give memory whose address is null. Errors:
 * HSADRV_ERROR_OUT_OF_MEMORY. */
HSADRV_API hsadrv_result hsadrv_memory_create_managed(const hsadrv_device* devices, size_t device_count,
                                                      size_t size_bytes, hsadrv_memory* memory) HSADRV_NOEXCEPT;

/* `device`: the one that is given. */
typedef enum hsadrv_advice {
    HSADRV_ADVICE_READ_MOSTLY = 0,            /* copies on several devices are worth it */
    HSADRV_ADVICE_NOT_READ_MOSTLY = 1,        /* the default */
    HSADRV_ADVICE_PREFERRED_LOCATION = 2,     /* migrations leave the pages on `device`, or in the host's memory */
    HSADRV_ADVICE_NO_PREFERRED_LOCATION = 3,  /* the default */
    HSADRV_ADVICE_ACCESSIBLE_BY = 4,          /* `device` accesses them, perhaps after a migration */
    HSADRV_ADVICE_ACCESSIBLE_IN_PLACE_BY = 5, /* `device` accesses them without a migration */
    HSADRV_ADVICE_NOT_ACCESSIBLE_BY = 6       /* an access of `device` is a memory fault */
} hsadrv_advice;

/* Sets one attribute of private pages of the process: managed memory, or the program's own. device: needed where the
 * hsadrv_advice names one; null with HSADRV_ADVICE_PREFERRED_LOCATION means the memory of the first CPU; otherwise
 * ignored. */
HSADRV_API hsadrv_result hsadrv_managed_advise(void* address, size_t size_bytes, uint32_t advice,
                                               hsadrv_device device) HSADRV_NOEXCEPT;

typedef enum hsadrv_managed_access {
    HSADRV_ACCESS_NONE = 0,
    HSADRV_ACCESS_MIGRATING = 1,
    HSADRV_ACCESS_IN_PLACE = 2
} hsadrv_managed_access;

typedef struct hsadrv_managed_facts {
    size_t struct_size;
    uint64_t preferred_agent;  /* hsa_agent_t::handle, as hsadrv_device_facts::native_agent; 0: none, or several */
    uint64_t prefetched_agent; /* likewise, of the last hsadrv_stream_prefetch() */
    uint32_t read_mostly;      /* 1: all pages */
    uint32_t access;           /* hsadrv_managed_access of the device that was asked for */
} hsadrv_managed_facts;

/* What was set for a range. Fills in as much as facts->struct_size holds. */
HSADRV_API hsadrv_result hsadrv_managed_info(void* address, size_t size_bytes, hsadrv_device device,
                                             hsadrv_managed_facts* facts) HSADRV_NOEXCEPT;

/* In the stream's order, moves the pages to the device; null: to the memory of the first CPU. The pages must stay
 * mapped until that is complete (hsadrv_stream_hold()). A prefetch that fails later fails the stream. */
HSADRV_API hsadrv_result hsadrv_stream_prefetch(hsadrv_stream stream, void* address, size_t size_bytes,
                                                hsadrv_device device, uint64_t timeout_ns) HSADRV_NOEXCEPT;

#ifdef __cplusplus
}
#endif

#endif
