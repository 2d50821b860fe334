/* The control interface of the emulated GPU: fault injection, queue stalls, resets, seeds, counters, checks; for tests.
 *
 *     #include <kfdemu.h>
 *
 *     const struct kfdemu_control* emulator = kfdemu_find_control();
 *     if (!emulator) skip("a GPU that can be made to fail");                  // real hardware, or KFDEMU=off
 *     emulator->fail(KFDEMU_ALLOCATION, 3, 1, ENOMEM);                        // the third from now fails
 *     …
 *     emulator->reset();                                                      // no failure is requested any more
 *
 * A program includes this file and links nothing: dlsym() finds the interface if the emulator is linked or preloaded.
 * Every request affects this process only.
 *
 * Counts ("nth") begin at 1: the next one from now. Functions that return int return 0 or an errno value.
 * Thread safety: every function, any thread. Lifetime: the table is valid until the process ends. A child of fork()
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

/* The calls that can be made to fail. */
enum kfdemu_point {
    KFDEMU_ALLOCATION = 1, /* ALLOC_MEMORY_OF_GPU: VRAM, system memory, user pages */
    KFDEMU_SCRATCH = 2,    /* ALLOC_MEMORY_OF_GPU for a queue's scratch memory */
    KFDEMU_MMAP = 3,       /* mmap() of a device file */
    KFDEMU_IOCTL = 4,      /* ioctl() on /dev/kfd, every request */
    KFDEMU_OPEN = 5        /* open() of /dev/kfd */
};
/* KFDEMU_IOCTL restricted to one request number: KFDEMU_IOCTL_NUMBER(0x02) is CREATE_QUEUE. */
#define KFDEMU_IOCTL_NUMBER(number) ((uint32_t)KFDEMU_IOCTL | (uint32_t)(number) << 8)

#define KFDEMU_ALL UINT64_MAX /* as a count: the nth and all after it */

/* What happens to an interrupt. The device raises interrupts to wake threads that sleep on a signal. The signal's value
 * is always written. */
enum kfdemu_interrupt {
    KFDEMU_DROP = 1,     /* never delivered */
    KFDEMU_DELAY = 2,    /* delivered delay_us late */
    KFDEMU_DUPLICATE = 3 /* delivered, and again delay_us later */
};

/* What kernels can be checked for; a set of bits. kfdemu(1), "CHECKS". */
enum kfdemu_check {
    KFDEMU_CHECK_MEMORY = 1,   /* accesses outside of allocations, LDS, scratch and kernel arguments; use after free */
    KFDEMU_CHECK_WAIT = 2,     /* registers used before the s_waitcnt that their load requires */
    KFDEMU_CHECK_RACE = 4,     /* accesses of LDS and memory by two waves or work-groups that nothing orders */
    KFDEMU_CHECK_INIT = 8,     /* values never written that are addresses, decide branches, or are stored */
    KFDEMU_CHECK_FENCE = 16,   /* accesses that are ordered, but not visible to each other: caches, packets in flight */
    KFDEMU_CHECK_LEAK = 32,    /* memory, signals, queues and executables that are never freed or destroyed */
    KFDEMU_CHECK_LDS_RACE = 64 /* the part of it that concerns LDS, which costs less */
};

/* A queue is named by the address of its ring: hsa_queue_t's base_address. These name all queues of a kind: */
#define KFDEMU_ALL_COMPUTE_QUEUES ((const void*)1)
#define KFDEMU_ALL_SDMA_QUEUES ((const void*)2)

/* Counts since the device was created. */
struct kfdemu_counters {
    uint64_t packets;      /* AQL packets read from rings, of every type */
    uint64_t dispatches;   /* kernels started */
    uint64_t work_groups;  /* started */
    uint64_t waves;        /* started */
    uint64_t instructions; /* executed; one for a whole wave */
    uint64_t sdma_packets; /* read from rings */
    uint64_t sdma_bytes;   /* copied or filled */
    uint64_t ioctls;       /* on /dev/kfd */
    uint64_t allocations;  /* requested */
    uint64_t mappings;     /* mmap() of a device file */
    uint64_t interrupts;   /* raised, including dropped and delayed ones */
    uint64_t faults;       /* that stopped a queue: bad packets, memory faults, illegal instructions, … */
    uint64_t injected;     /* requested failures, lost or late interrupts and broken packets that took effect */
    uint64_t buffers;      /* of memory that exist now, not a total: grows and shrinks */
};

struct kfdemu_control {
    uint32_t version, size_bytes; /* of this table */

    /* Calls nth to nth + count - 1 of that kind from now fail with `error` and do nothing. `point`: a kfdemu_point or
     * KFDEMU_IOCTL_NUMBER(). Each request counts independently. EINVAL: no such point, nth or count is 0, or error is
     * not in 1…4095. */
    int (*fail)(uint32_t point, uint64_t nth, uint64_t count, int error);

    /* Interrupts nth to nth + count - 1 from now are dropped, delayed or duplicated (a kfdemu_interrupt). EINVAL:
     * no such action, or nth or count is 0. */
    int (*interrupts)(uint32_t action, uint64_t nth, uint64_t count, uint64_t delay_us);

    /* A stalled queue takes no packets. Running kernels continue. */
    int (*stall_queue)(const void* ring, int stalled);

    /* Replaces `size` bytes (1 to 8) at `offset` of the nth packet from now that the queue reads. The ring itself does
     * not change. The header of an AQL packet is at 0. EINVAL: outside the packet's 64 bytes. */
    int (*break_packet)(const void* ring, uint64_t nth, uint32_t offset, const void* bytes, uint32_t size);

    /* Resets the GPU (0, 1, …) as after a hang: its queues stop permanently, and a hardware-exception event is raised.
     * ENODEV: no such GPU, or the device has not been opened. */
    int (*reset_gpu)(uint32_t gpu, int memory_lost);

    /* Kernels launched from now on run on one thread. `seed` alone decides the order of work-groups and waves, and the
     * points where each wave is preempted. 0: all threads, unordered. */
    void (*set_seed)(uint64_t seed);

    /* Fills in the first `size_bytes` of `counters`. */
    void (*counters)(struct kfdemu_counters* counters, size_t size_bytes);

    /* Cancels every request made with fail, interrupts, stall_queue, break_packet, set_seed, check and suppress.
     * Keeps the counters and the findings. */
    void (*reset)(void);

    /* Below: present if size_bytes covers them. */

    /* Kernels that start from now on are checked for `checks`, a set of kfdemu_check; 0: for nothing. EINVAL: an
     * unknown bit. KFDEMU_CHECK_MEMORY and _LEAK know allocations only if the environment variable KFDEMU names them
     * when the HSA runtime starts (KFDEMU=on,check=memory): otherwise memory judges LDS, scratch and arguments, and
     * leak nothing. A summary and a report (kfdemu(1), --check-report) are written only if KFDEMU names a check. */
    int (*check)(uint32_t checks);

    /* The number of distinct findings; one that repeats counts once. Also those beyond KFDEMU's check-limit. */
    uint64_t (*findings)(void);

    /* Copies the text of finding `index` (from 0), cut to size_bytes - 1, and a terminating zero. Returns the length of
     * the whole text; 0: no such finding, or one beyond KFDEMU's check-limit, which has no text. */
    size_t (*finding)(uint64_t index, char* text, size_t size_bytes);

    /* Forgets all findings. */
    void (*forget_findings)(void);

    /* Findings from now on that a line CHECK:PATTERN describes are not reported; kfdemu(1), "CHECKS". EINVAL: the line
     * is wrong. */
    int (*suppress)(const char* line);

    /* The number of distinct findings that were suppressed. */
    uint64_t (*suppressed)(void);

    /* How many slots of that ring were below the write index before they were written. 0 unless the device has the
     * strict behaviour write-index or torn-packet; kfdemu(1), "STRICTNESS". */
    uint64_t (*early_slots)(const void* ring);

    /* How many packets of that ring ran with the second half of what was in their slots before. 0 unless the device
     * has the strict behaviour torn-packet. */
    uint64_t (*torn_packets)(const void* ring);
};

/* For allocators that hand out pieces of larger allocations, so that the check "memory" knows the pieces. Exported by
 * kfdemu, and looked up with dlsym(RTLD_DEFAULT, …) by allocators that also run without. An allocation in which a piece
 * was announced is a pool: kernels may only access its pieces. Announce all of them or none; a piece ends also when the
 * allocation that it is in is freed.
 *
 * kfdemu_pool_is_checked: not 0 if the process was started with a check that wants to know; the same for its life. */
int kfdemu_pool_is_checked(void);
void kfdemu_pool_allocated(const void* piece, size_t bytes);
/* From now on, no kernel may access it. If frees are in a stream's order: to be called when the stream is there. */
void kfdemu_pool_freed(const void* piece);

/* For bindings of languages whose calls are not on the native stack: "x.py:12 in main", the line of the program that
 * the calling thread's allocations and frees come from in the reports of checks, until NULL. The text is copied.
 * Exported and looked up as those above. */
void kfdemu_called_from(const char* place);

/* Exported by kfdemu; NULL if the emulator does not have that version or is off. Use kfdemu_find_control(). */
const struct kfdemu_control* kfdemu_get_control(uint32_t version);

/* The control interface, or NULL if no GPU is emulated. Before glibc 2.34, link with -ldl. */
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
