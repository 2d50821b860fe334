/* Source in, code object out, in memory: hsadrv/compile.hpp in C.
 *
 *   hsadrv_compiled made;
 *   const void* code;
 *   size_t code_bytes;
 *   hsadrv_compile(gpu, source, strlen(source), NULL, HSADRV_FOREVER, &made);
 *   hsadrv_compiled_code(made, &code, &code_bytes);
 *   hsadrv_executable_load(gpu, code, code_bytes, "my kernels", &executable);
 *
 * Runs an installed clang as a child process on memory files, and takes what was compiled before from a cache
 * ($HSADRV_CACHE, $HSADRV_CACHE_SIZE), as docs/guide/jit.md describes. */
#ifndef HSADRV_C_COMPILE_H
#define HSADRV_C_COMPILE_H

#include "hsadrv/c/driver.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct hsadrv_compiled_handle* hsadrv_compiled;

typedef enum hsadrv_language {
    HSADRV_LANGUAGE_CPP = 0,     /* freestanding C++20: #include <shared/device/device.hpp> */
    HSADRV_LANGUAGE_OPENCL = 1,  /* OpenCL C 2.0: #include <shared/device/opencl.h> */
    HSADRV_LANGUAGE_LLVM_IR = 2, /* text or bitcode */
    HSADRV_LANGUAGE_ASSEMBLY = 3
} hsadrv_language;

typedef struct hsadrv_compile_options {
    size_t struct_size;
    uint32_t language;            /* hsadrv_language */
    uint32_t code_object_version; /* 4 to 6; 0: 5 */
    uint32_t line_numbers;        /* not 0: for debuggers, profilers and checkers */
    uint32_t no_cache;            /* not 0: compiles, and keeps nothing */
    const char* target;           /* "gfx90a", "gfx90a:xnack+"; null: the device's */
    const char* name;             /* of the source, in messages; null: "<source>" */
    const char* level;            /* of optimisation: "0" to "3", "s" or "z"; null: "2" */
    const char* clang;            /* a file, or a name in $PATH; null: the one that hsadrv-cc finds */
    const char* const* defines;   /* "NAME" or "NAME=VALUE" */
    size_t define_count;
    const char* const* folders; /* of headers, searched in this order, before the others */
    size_t folder_count;
    const char* const* clang_options; /* others, one word each */
    size_t clang_option_count;
} hsadrv_compile_options;

/* Compiles a source of size_bytes bytes. device: may be null if options->target is set. options: may be null. At the
 * deadline the compiler is killed. Errors: HSADRV_ERROR_COMPILE, the message holds what the compiler printed, with
 * lines of the source; HSADRV_ERROR_NO_COMPILER lists those found, and what to install;
 * HSADRV_ERROR_INVALID_ARGUMENT for options that contradict each other. */
HSADRV_API hsadrv_result hsadrv_compile(hsadrv_device device, const void* source, size_t size_bytes,
                                        const hsadrv_compile_options* options, uint64_t timeout_ns,
                                        hsadrv_compiled* compiled) HSADRV_NOEXCEPT;

/* The code object, an ELF file. Valid until `compiled` is destroyed. */
HSADRV_API hsadrv_result hsadrv_compiled_code(hsadrv_compiled compiled, const void** code,
                                              size_t* size_bytes) HSADRV_NOEXCEPT;

/* What the compiler printed, warnings among it; empty if nothing. Valid until `compiled` is destroyed. */
HSADRV_API hsadrv_result hsadrv_compiled_messages(hsadrv_compiled compiled, const char** text) HSADRV_NOEXCEPT;

HSADRV_API hsadrv_result hsadrv_compiled_destroy(hsadrv_compiled compiled) HSADRV_NOEXCEPT;

#ifdef __cplusplus
}
#endif

#endif
