/* The control interface of an emulated GPU: what a test asks of kfdemu that it cannot ask of hardware.
 *
 *     #include <kfdemu.h>
 *
 *     const struct kfdemu_control* emulator = kfdemu_find_control();
 *     if (!emulator) skip("a GPU that can be made to fail");                  // real hardware, or KFDEMU=off
 *     emulator->fail(KFDEMU_ALLOCATION, 3, 1, ENOMEM);                        // the third allocation from now
 *     …
 *     emulator->reset();                                                      // all is well again
 *
 * A program includes this file and links nothing: the interface is found by dlsym() where the emulator is linked in or
 * preloaded, and is absent elsewhere. Everything asked for concerns this process alone.
 *
 * Counts ("nth") begin at 1, which is the next one from now. Functions that return int return 0 or an errno value.
 * Thread safety: every function, any thread. Lifetime: the table stays valid until the process ends; a child of fork()
 * has its own state, which begins as a copy of its parent's. */
#ifndef KFDEMU_H
#define KFDEMU_H

#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define KFDEMU_CONTROL_VERSION 1u

/* What can be made to fail. */
enum kfdemu_point {
    KFDEMU_ALLOCATION = 1, /* ALLOC_MEMORY_OF_GPU: VRAM, system memory, user pages */
    KFDEMU_SCRATCH = 2,    /* ALLOC_MEMORY_OF_GPU for a queue's scratch memory: scratch runs out */
    KFDEMU_MMAP = 3,       /* mmap() of a device file */
    KFDEMU_IOCTL = 4,      /* ioctl() on /dev/kfd, whatever is asked */
    KFDEMU_OPEN = 5        /* open() of /dev/kfd */
};
/* KFDEMU_IOCTL, only the request of that number: KFDEMU_IOCTL_NUMBER(0x02) is CREATE_QUEUE. */
#define KFDEMU_IOCTL_NUMBER(number) ((uint32_t)KFDEMU_IOCTL | (uint32_t)(number) << 8)

#define KFDEMU_ALL UINT64_MAX /* as a count: from the nth on, all */

/* What can become of an interrupt, by which the device wakes threads that sleep until a signal changes. The signal's
 * value itself is always written. */
enum kfdemu_interrupt {
    KFDEMU_DROP = 1,     /* it never comes */
    KFDEMU_DELAY = 2,    /* it comes delay_us late */
    KFDEMU_DUPLICATE = 3 /* it comes, and once more delay_us later */
};

/* A queue is named by where its ring lies: hsa_queue_t's base_address. Or all queues of a kind: */
#define KFDEMU_ALL_COMPUTE_QUEUES ((const void*)1)
#define KFDEMU_ALL_SDMA_QUEUES ((const void*)2)

/* What the device did since it was made. */
struct kfdemu_counters {
    uint64_t packets;      /* AQL packets read from rings, of every type */
    uint64_t dispatches;   /* kernels started */
    uint64_t work_groups;  /* started */
    uint64_t waves;        /* started */
    uint64_t instructions; /* executed, a wave's counting one */
    uint64_t sdma_packets; /* read from rings */
    uint64_t sdma_bytes;   /* copied and filled */
    uint64_t ioctls;       /* on /dev/kfd */
    uint64_t allocations;  /* asked for */
    uint64_t mappings;     /* mmap() of a device file */
    uint64_t interrupts;   /* raised, whatever became of them */
    uint64_t faults;       /* that stopped a queue: bad packets, memory faults, illegal instructions … */
    uint64_t injected;     /* failures, lost or late interrupts, broken packets: what happened because it was asked */
    uint64_t buffers;      /* of memory that exist now: no count of what was, but what has not been freed yet */
};

struct kfdemu_control {
    uint32_t version, size_bytes; /* of this table */

    /* Calls nth to nth + count - 1 of that kind from now fail with `error` and do nothing. `point`: a kfdemu_point or
     * KFDEMU_IOCTL_NUMBER(). Several requests count side by side. EINVAL: no such point, nth or count 0, error not
     * 1…4095. */
    int (*fail)(uint32_t point, uint64_t nth, uint64_t count, int error);

    /* Interrupts nth to nth + count - 1 from now are lost, late or doubled (a kfdemu_interrupt). EINVAL: no such
     * action, nth or count 0. */
    int (*interrupts)(uint32_t action, uint64_t nth, uint64_t count, uint64_t delay_us);

    /* The queue takes no packet while stalled; kernels that run go on. */
    int (*stall_queue)(const void* ring, int stalled);

    /* The nth packet from now that the queue takes has `size` bytes (1 to 8) at `offset` replaced as it is read; the
     * ring itself stays as it is. The header of AQL packets is at 0. EINVAL: outside of a packet's 64 bytes. */
    int (*break_packet)(const void* ring, uint64_t nth, uint32_t offset, const void* bytes, uint32_t size);

    /* The GPU (0, 1, …) is reset as after a hang: its queues stop for good, and a hardware-exception event is raised.
     * ENODEV: no such GPU, or no program has opened the device. */
    int (*reset_gpu)(uint32_t gpu, int memory_lost);

    /* Kernels launched from now on run on one thread in an order that `seed` alone decides: of work-groups, of waves,
     * and of where each is interrupted. 0: fast and unordered again. */
    void (*set_seed)(uint64_t seed);

    /* Fills in the first `size_bytes` of `counters`. */
    void (*counters)(struct kfdemu_counters* counters, size_t size_bytes);

    /* Forgets all that was asked for by fail, interrupts, stall_queue, break_packet and set_seed. Counters go on. */
    void (*reset)(void);
};

/* What kfdemu exports; NULL if the emulator has no such version or is off. Use kfdemu_find_control(). */
const struct kfdemu_control* kfdemu_get_control(uint32_t version);

/* The emulator's interface, or NULL where no GPU is emulated. (With an old libc, link with -ldl.) */
static inline const struct kfdemu_control* kfdemu_find_control(void) {
    typedef const struct kfdemu_control* (*get_control)(uint32_t);
    union {
        void* found;
        get_control function;
    } symbol;
    symbol.found = dlsym(RTLD_DEFAULT, "kfdemu_get_control");
    return symbol.found ? symbol.function(KFDEMU_CONTROL_VERSION) : NULL;
}

#ifdef __cplusplus
}
#endif

#endif
