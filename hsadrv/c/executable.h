/* Code loaded on a GPU, and its kernels and variables. */
#ifndef HSADRV_C_EXECUTABLE_H
#define HSADRV_C_EXECUTABLE_H

#include "hsadrv/c/driver.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct hsadrv_executable_handle* hsadrv_executable;
typedef struct hsadrv_kernel_handle* hsadrv_kernel;

/* Loads an ELF code object, or the member of an offload bundle (also compressed) that fits the GPU. `bytes` are not
 * needed after the call. name: for messages; may be null. Everything is validated before the runtime's loader sees it.
 * Errors: HSADRV_ERROR_INVALID_CODE_OBJECT names the defect, or both targets. */
HSADRV_API hsadrv_result hsadrv_executable_load(hsadrv_device device, const void* bytes, size_t size_bytes,
                                                const char* name, hsadrv_executable* executable) HSADRV_NOEXCEPT;

/* The same from a file. Errors: HSADRV_ERROR if it cannot be opened or is not a regular file. */
HSADRV_API hsadrv_result hsadrv_executable_load_file(hsadrv_device device, const char* path,
                                                     hsadrv_executable* executable) HSADRV_NOEXCEPT;

/* Its kernels, launches in flight and graphs keep the code loaded. */
HSADRV_API hsadrv_result hsadrv_executable_destroy(hsadrv_executable executable) HSADRV_NOEXCEPT;

/* The number of kernels. */
HSADRV_API hsadrv_result hsadrv_executable_kernel_count(hsadrv_executable executable, size_t* count) HSADRV_NOEXCEPT;

/* The name of a kernel by its index. Valid until the executable is destroyed. */
HSADRV_API hsadrv_result hsadrv_executable_kernel_name(hsadrv_executable executable, size_t index,
                                                       const char** name) HSADRV_NOEXCEPT;

/* A kernel by its name. Errors: HSADRV_ERROR_INVALID_ARGUMENT lists the kernels if the name is unknown;
 * HSADRV_ERROR_INVALID_CODE_OBJECT if the kernel needs a service that the library does not provide. */
HSADRV_API hsadrv_result hsadrv_executable_kernel(hsadrv_executable executable, const char* name,
                                                  hsadrv_kernel* kernel) HSADRV_NOEXCEPT;

/* The device address and size of a variable by its symbol's name; the addresses are for kernels and copies, and valid
 * while the code is loaded. Errors: HSADRV_ERROR_INVALID_ARGUMENT lists the variables if the name is unknown. */
HSADRV_API hsadrv_result hsadrv_executable_global(hsadrv_executable executable, const char* name, void** address,
                                                  size_t* size_bytes) HSADRV_NOEXCEPT;

/* Graphs and launches in flight are unaffected. */
HSADRV_API hsadrv_result hsadrv_kernel_destroy(hsadrv_kernel kernel) HSADRV_NOEXCEPT;

typedef struct hsadrv_kernel_facts {
    size_t struct_size;
    const char* name;         /* valid until the kernel is destroyed */
    size_t argument_count;    /* those that a launch gives: without hidden ones and LDS pointers */
    size_t lds_pointer_count; /* LDS arrays sized at launch */
    uint32_t kernarg_bytes;
    uint32_t lds_bytes;             /* static, of a work-group */
    uint32_t scratch_bytes;         /* of a work-item */
    uint32_t workgroup_max;         /* work-items that it was compiled for */
    uint32_t workgroup_required[3]; /* 0, 0, 0: any */
    uint32_t wavefront_size;
    uint32_t vgprs, sgprs;
    uint32_t dynamic_stack; /* 1 if the compiler knows no bound of its scratch */
} hsadrv_kernel_facts;

/* Fills in as much as facts->struct_size holds. */
HSADRV_API hsadrv_result hsadrv_kernel_info(hsadrv_kernel kernel, hsadrv_kernel_facts* facts) HSADRV_NOEXCEPT;

/* The work-group with the most work-items resident on a compute unit, if each work-item uses so much LDS that is sized
 * at launch (`workgroup`: three extents), and how many such work-groups the whole device holds at once: the grid of a
 * kernel that loops over its data. Errors: HSADRV_ERROR_INVALID_ARGUMENT if none fits. */
HSADRV_API hsadrv_result hsadrv_kernel_suggest_group_size(hsadrv_kernel kernel, uint32_t lds_bytes_per_item,
                                                          uint32_t* workgroup, uint32_t* workgroups) HSADRV_NOEXCEPT;

/* What an argument is, and what it accepts. */
typedef enum hsadrv_argument_kind {
    HSADRV_ARGUMENT_UNKNOWN = 0, /* given: matches every argument of its size */
    HSADRV_ARGUMENT_POINTER = 1,
    HSADRV_ARGUMENT_INTEGER = 2, /* signed or unsigned, or an enumeration or bool */
    HSADRV_ARGUMENT_FLOATING = 3,
    HSADRV_ARGUMENT_OBJECT = 4, /* a structure, by value */
    HSADRV_ARGUMENT_VALUE = 5   /* a number or a structure, it is not known which */
} hsadrv_argument_kind;

typedef struct hsadrv_argument_facts {
    size_t struct_size;
    const char*
        name; /* as in the source; empty if the compiler did not write it. Valid until the kernel is destroyed */
    const char* type_name; /* "float", "uint*"; likewise */
    uint32_t offset_bytes; /* in the kernarg segment */
    uint32_t size_bytes;
    uint32_t kind;          /* hsadrv_argument_kind that it accepts */
    uint32_t element_kind;  /* of a pointer: INTEGER or FLOATING if known, else UNKNOWN */
    uint32_t element_bytes; /* 0: unknown */
    uint32_t is_const;      /* a pointer that the source declares as const; only if the compiler wrote it */
} hsadrv_argument_facts;

/* The argument of that index, below hsadrv_kernel_facts::argument_count. */
HSADRV_API hsadrv_result hsadrv_kernel_argument_info(hsadrv_kernel kernel, size_t index,
                                                     hsadrv_argument_facts* facts) HSADRV_NOEXCEPT;

#ifdef __cplusplus
}
#endif

#endif
