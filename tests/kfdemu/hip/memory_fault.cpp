// A store to a null pointer: the runtime names the fault and aborts the program, as it does on hardware.
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <string>

#include "tests/kfdemu/hip/check.hpp"

__global__ void store(int* where) { *where = 1; }

int main() {
    int ends[2];
    EXPECT(pipe(ends) == 0);
    const pid_t child = fork();  // before the first HIP call: the runtime does not outlive a fork
    EXPECT(child >= 0);
    if (child == 0) {
        dup2(ends[1], STDERR_FILENO);
        close(ends[0]);
        close(ends[1]);
        store<<<1, 1>>>(nullptr);
        HIP(hipDeviceSynchronize());
        std::fprintf(stderr, "the kernel ended");
        return 0;
    }
    close(ends[1]);
    std::string said;
    char bytes[1024];
    for (ssize_t count; (count = read(ends[0], bytes, sizeof bytes)) > 0;)
        said.append(bytes, static_cast<std::size_t>(count));
    int status = 0;
    EXPECT(waitpid(child, &status, 0) == child);
    std::printf("the child said: %s\n", said.c_str());
    EXPECT(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
    EXPECT(said.find("Memory access fault by GPU node-1") != std::string::npos);
    EXPECT(said.find("on address (nil)") != std::string::npos);
    EXPECT(said.find("Page not present") != std::string::npos);
}
