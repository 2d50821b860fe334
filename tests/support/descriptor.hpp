// A file descriptor that is closed at the end of its scope.
#pragma once

#include <unistd.h>

namespace test_support {

struct Descriptor {
    int fd;
    explicit Descriptor(int opened) : fd{opened} {}
    ~Descriptor() {
        if (fd >= 0) close(fd);
    }
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
    operator int() const { return fd; }
};

}  // namespace test_support
