#include "hsadrv/base/device_file.hpp"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

namespace hsadrv::detail {

namespace {

// linux/kfd_ioctl.h, AMDKFD_IOC_GET_VERSION; declared here because old kernel headers lack the file.
struct KfdVersion {
    std::uint32_t major, minor;
};
constexpr unsigned long get_version = _IOR('K', 0x01, KfdVersion);

std::string remedy_for_open(int error) {
    switch (error) {
        case EACCES:
        case EPERM:
            return "add this user to the groups that own the file, usually render and video";
        case ENOENT:
            return "is the amdgpu kernel driver loaded? in a container: --device=/dev/kfd --device=/dev/dri";
        case ENXIO:
        case ENODEV:
            return "the amdgpu kernel driver is not bound to a GPU";
        case EMFILE: {
            rlimit limit{};
            ::getrlimit(RLIMIT_NOFILE, &limit);
            return "this process has all of its " + std::to_string(limit.rlim_cur) +
                   " descriptors open: close some, or raise the limit with ulimit -n";
        }
        case ENFILE:
            return "the system has no file descriptors left";
        case ENOMEM:
            return "the kernel has no memory left";
    }
    return {};
}

}  // namespace

DeviceFile DeviceFile::probe() noexcept {
    DeviceFile file;
    const int fd = ::open("/dev/kfd", O_RDWR | O_CLOEXEC);
    if (fd < 0) {
        file.open_error = errno;
        return file;
    }
    KfdVersion version{};
    if (::ioctl(fd, get_version, &version) != 0) file.ioctl_error = errno;
    file.version_major = version.major;
    file.version_minor = version.minor;
    ::close(fd);
    return file;
}

std::string DeviceFile::text() const {
    if (open_error != 0) {
        const std::string remedy = remedy_for_open(open_error);
        return std::string("/dev/kfd: ") + std::strerror(open_error) + (remedy.empty() ? "" : " (" + remedy + ")");
    }
    if (ioctl_error != 0) return std::string("/dev/kfd opens, but gives no version: ") + std::strerror(ioctl_error);
    const std::string version = std::to_string(version_major) + "." + std::to_string(version_minor);
    if (version_major < 1)
        return "/dev/kfd: its interface is " + version +
               ", and the runtime needs 1.0 or newer (install a newer kernel)";
    return "/dev/kfd opens, interface " + version;
}

// secure_getenv, like the runtime: a setuid program ignores them.
std::string hiding_variables() {
    std::string text;
    for (const char* name :
         {"ROCR_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "GPU_DEVICE_ORDINAL", "HSA_OVERRIDE_GFX_VERSION"})
        if (const char* value = ::secure_getenv(name)) text += ", " + std::string(name) + "=" + value;
    return text.empty() ? text : text.substr(2);
}

std::string no_device_advice(const DeviceFile& file) {
    std::string text = "tried: " + file.text();
    if (const std::string hiding = hiding_variables(); !hiding.empty()) text += ", " + hiding;
    return text + ". On a machine without an AMD GPU, run the program on an emulated one: kfdemu run -- PROGRAM";
}

}  // namespace hsadrv::detail
