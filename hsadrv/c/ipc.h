/* Device memory and signals of other processes: hsadrv/ipc.hpp in C.
 *
 *   hsadrv_ipc_memory exported;                                     // one process
 *   hsadrv_memory_export_ipc(memory, 0, size, &exported);
 *   write(pipe, &exported, sizeof exported);
 *
 *   read(pipe, &exported, sizeof exported);                         // another
 *   hsadrv_memory_attach_ipc(&gpu, 1, &exported, &memory);
 *
 * The processes must not be forks of one that has made a driver: fork first, or exec. Exchange these structures with
 * processes that you trust, as bytes, in any way: a checksum detects damage, not forgery. The exporter keeps the memory
 * until each receiver has attached it; what is attached stays valid after that. The processes order their work by
 * signals or on the host. */
#ifndef HSADRV_C_IPC_H
#define HSADRV_C_IPC_H

#include "hsadrv/c/signal.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Names memory of a process. The sizes of these structures do not change. */
typedef struct hsadrv_ipc_memory {
    uint64_t words[8];
} hsadrv_ipc_memory;

/* Names a signal of a process. */
typedef struct hsadrv_ipc_signal {
    uint64_t words[5];
} hsadrv_ipc_signal;

/* Names size_bytes bytes of device memory, from offset_bytes on. The other process maps all of the runtime's allocation
 * that contains them. Errors: HSADRV_ERROR_INVALID_ARGUMENT for a range that extends past the memory, for host memory,
 * and for memory that is attached, imported or mapped. */
HSADRV_API hsadrv_result hsadrv_memory_export_ipc(hsadrv_memory memory, size_t offset_bytes, size_t size_bytes,
                                                  hsadrv_ipc_memory* exported) HSADRV_NOEXCEPT;

/* Maps memory of another process for these GPUs, at least one. Its address differs from the exporter's;
 * hsadrv_memory_destroy() detaches it. Errors: HSADRV_ERROR_INVALID_ARGUMENT for bytes that
 * hsadrv_memory_export_ipc() did not write, and if the exporter has freed the memory. */
HSADRV_API hsadrv_result hsadrv_memory_attach_ipc(const hsadrv_device* devices, size_t device_count,
                                                  const hsadrv_ipc_memory* exported,
                                                  hsadrv_memory* memory) HSADRV_NOEXCEPT;

/* Names a signal that was created with HSADRV_SIGNAL_SHARED. Errors: HSADRV_ERROR_INVALID_ARGUMENT for another. */
HSADRV_API hsadrv_result hsadrv_signal_export_ipc(hsadrv_signal signal, hsadrv_ipc_signal* exported) HSADRV_NOEXCEPT;

/* The same signal in this process. Destroying it here does not destroy it there. Errors: as
 * hsadrv_memory_attach_ipc(). */
HSADRV_API hsadrv_result hsadrv_signal_attach_ipc(hsadrv_driver driver, const hsadrv_ipc_signal* exported,
                                                  hsadrv_signal* signal) HSADRV_NOEXCEPT;

#ifdef __cplusplus
}
#endif

#endif
