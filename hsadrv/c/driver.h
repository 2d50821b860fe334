/* The HSA runtime of the process, and its GPUs. */
#ifndef HSADRV_C_DRIVER_H
#define HSADRV_C_DRIVER_H

#include "hsadrv/c/error.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct hsadrv_driver_handle* hsadrv_driver;
typedef struct hsadrv_device_handle* hsadrv_device;

/* Initialises the runtime or joins it. Each object of this interface holds the runtime as well: it is shut down when
 * the last one is destroyed. Errors: HSADRV_ERROR_NO_DEVICE with what was tried, if the runtime finds none. */
HSADRV_API hsadrv_result hsadrv_driver_create(hsadrv_driver* driver) HSADRV_NOEXCEPT;

/* Also destroys the handles of its devices. Objects made on them remain. */
HSADRV_API hsadrv_result hsadrv_driver_destroy(hsadrv_driver driver) HSADRV_NOEXCEPT;

/* The number of GPUs that can run kernels, in the runtime's order (ROCR_VISIBLE_DEVICES applies). At least 1. Errors:
 * HSADRV_ERROR_NO_DEVICE. */
HSADRV_API hsadrv_result hsadrv_driver_device_count(hsadrv_driver driver, size_t* count) HSADRV_NOEXCEPT;

/* The GPU of that index. The handle belongs to the driver, which returns the same one each time. There is no current
 * device: functions that need one take it. */
HSADRV_API hsadrv_result hsadrv_driver_device(hsadrv_driver driver, size_t index,
                                              hsadrv_device* device) HSADRV_NOEXCEPT;

/* The GPU named by a text: an index ("0"), a UUID or its beginning ("GPU-…"), a PCI address, or a name ("gfx90a", or
 * the product's). Errors: HSADRV_ERROR_INVALID_ARGUMENT if several match, HSADRV_ERROR_NO_DEVICE if none does; both
 * messages list the GPUs. */
HSADRV_API hsadrv_result hsadrv_driver_find_device(hsadrv_driver driver, const char* text,
                                                   hsadrv_device* device) HSADRV_NOEXCEPT;

/* Texts are cut to their field, and end in zero. */
typedef struct hsadrv_device_facts {
    size_t struct_size;
    uint64_t native_agent;      /* hsa_agent_t::handle, for programs that call the HSA runtime as well */
    uint64_t memory_bytes;      /* of its largest pool of device memory */
    uint64_t memory_free_bytes; /* 0: unknown, the runtime is too old to say */
    uint32_t compute_units;
    uint32_t wavefront_size;       /* work-items */
    uint32_t workgroup_max;        /* work-items of a work-group */
    uint32_t workgroup_max_dim[3]; /* in each dimension */
    uint32_t grid_max_dim[3];
    uint32_t lds_bytes; /* of a work-group at most */
    uint32_t max_clock_mhz;
    char name[64];         /* "gfx90a" */
    char product_name[64]; /* "AMD Instinct MI210" */
    char uuid[32];         /* "GPU-…" */
    char pci_address[16];  /* "0000:03:00.0" */
    char isa[96];          /* "amdgcn-amd-amdhsa--gfx90a:sramecc+:xnack-" */
} hsadrv_device_facts;

/* Fills in as much as facts->struct_size holds. Each call asks the runtime. */
HSADRV_API hsadrv_result hsadrv_device_info(hsadrv_device device, hsadrv_device_facts* facts) HSADRV_NOEXCEPT;

#ifdef __cplusplus
}
#endif

#endif
