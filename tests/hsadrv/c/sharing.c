/* Two processes that share device memory and signals, in C. Argument: stream.hsaco. The program starts itself again as
 * the other process, with what is shared in hexadecimal digits. */
#define _POSIX_C_SOURCE 200809L

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/hsadrv/c/machine.h"

/* What the other process is given. */
struct shared {
    hsadrv_ipc_memory memory;
    hsadrv_ipc_signal go, done;
};

static void to_digits(const struct shared* shared, char* digits) {
    const unsigned char* bytes = (const unsigned char*)shared;
    for (size_t i = 0; i < sizeof *shared; ++i) snprintf(digits + 2 * i, 3, "%02x", bytes[i]);
}

static void from_digits(const char* digits, struct shared* shared) {
    unsigned char* bytes = (unsigned char*)shared;
    for (size_t i = 0; i < sizeof *shared; ++i) {
        const char byte[3] = {digits[2 * i], digits[2 * i + 1], 0};
        bytes[i] = (unsigned char)strtoul(byte, NULL, 16);
    }
}

/* Waits on the device for `go`, changes the memory, and decrements `done`. */
static void other_process(struct machine* m, const char* digits) {
    struct shared shared;
    hsadrv_memory memory;
    hsadrv_signal go, done;
    void* address = NULL;
    size_t size = 0;
    from_digits(digits, &shared);
    OK(hsadrv_memory_attach_ipc(&m->gpu, 1, &shared.memory, &memory));
    OK(hsadrv_signal_attach_ipc(m->driver, &shared.go, &go));
    OK(hsadrv_signal_attach_ipc(m->driver, &shared.done, &done));
    OK(hsadrv_memory_address(memory, &address));
    OK(hsadrv_memory_size(memory, &size));
    CHECK(address != NULL && size == COUNT * sizeof(uint32_t));
    OK(hsadrv_signal_add(done, -1)); /* "attached" */
    OK(hsadrv_stream_wait_signal(m->stream, go, HSADRV_LESS, 1, patience_ns));
    OK(scale_add(m, memory, 3, 1));
    OK(hsadrv_stream_decrement(m->stream, done, patience_ns));
    OK(hsadrv_signal_destroy(go)); /* the stream keeps them */
    OK(hsadrv_signal_destroy(done));
    OK(hsadrv_memory_destroy_on(memory, m->stream));
    OK(hsadrv_stream_synchronize(m->stream, patience_ns));
}

static pid_t start(const char* program, const char* file, const char* digits) {
    const pid_t child = fork();
    if (child == 0) {
        execl(program, program, file, digits, (char*)NULL);
        _exit(127);
    }
    return child;
}

static void share(struct machine* m, const char* program, const char* file) {
    uint32_t back[2 * COUNT];
    char digits[2 * sizeof(struct shared) + 1];
    struct shared shared;
    hsadrv_memory memory;
    hsadrv_signal go, done;
    void* address;
    int64_t seen = -1;
    int status = -1;
    const uint32_t five = 5;
    OK(hsadrv_memory_create(m->gpu, HSADRV_MEMORY_DEVICE, sizeof back, &memory));
    OK(hsadrv_memory_address(memory, &address));
    OK(hsadrv_signal_create(m->driver, 1, HSADRV_SIGNAL_SHARED, &go));
    OK(hsadrv_signal_create(m->driver, 2, HSADRV_SIGNAL_SHARED, &done));
    OK(hsadrv_memory_export_ipc(memory, sizeof back / 2, sizeof back / 2, &shared.memory));
    OK(hsadrv_signal_export_ipc(go, &shared.go));
    OK(hsadrv_signal_export_ipc(done, &shared.done));
    to_digits(&shared, digits);
    const pid_t child = start(program, file, digits);
    CHECK(child > 0);
    OK(hsadrv_signal_wait(done, HSADRV_LESS, 2, patience_ns, &seen));
    CHECK(seen == 1);
    OK(hsadrv_stream_fill(m->stream, address, sizeof back, &five, sizeof five, patience_ns));
    OK(hsadrv_stream_decrement(m->stream, go, patience_ns)); /* now the other process's kernel runs */
    OK(hsadrv_stream_wait_signal(m->stream, done, HSADRV_EQUAL, 0, patience_ns));
    OK(hsadrv_stream_copy_and_wait(m->stream, back, address, sizeof back, patience_ns));
    CHECK(all_are(back, 5));
    CHECK(all_are(back + COUNT, 16));
    CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
    OK(hsadrv_signal_load(go, &seen));
    CHECK(seen == 0);
    OK(hsadrv_signal_destroy(go));
    OK(hsadrv_signal_destroy(done));
    OK(hsadrv_memory_destroy(memory));
}

int main(int argc, char** argv) {
    struct machine m;
    if (argc != 2 && argc != 3) return 2;
    memset(&m, 0, sizeof m);
    open_machine(&m, argv[1]);
    if (failed == 0 && argc == 2) share(&m, argv[0], argv[1]);
    if (failed == 0 && argc == 3) other_process(&m, argv[2]);
    close_machine(&m);
    return !all_passed();
}
