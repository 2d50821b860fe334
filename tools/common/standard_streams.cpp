#include "tools/common/standard_streams.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "tools/common/failure.hpp"

namespace tools {

void hold_standard_streams() {
    for (int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
        if (fcntl(stream, F_GETFD) >= 0) continue;
        // open() returns the lowest free number, this one. The opposite mode keeps reads or writes failing with EBADF.
        if (open("/dev/null", stream == STDIN_FILENO ? O_WRONLY : O_RDONLY) != stream) _exit(4);
    }
}

void print_or_fail(std::string_view text) {
    while (!text.empty()) {
        const ssize_t written = ::write(STDOUT_FILENO, text.data(), text.size());
        if (written < 0 && errno == EINTR) continue;
        if (written < 0)
            throw Failure(ExitStatus::files, fmt::format("cannot write to standard output: {}", std::strerror(errno)));
        text.remove_prefix(static_cast<std::size_t>(written));
    }
}

}  // namespace tools
