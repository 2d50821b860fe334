#include "tools/kfdemu/count/write.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "tools/kfdemu/count/kernel_counts.hpp"
#include "tools/kfdemu/count/listing.hpp"

namespace kfdemu::count {
namespace {

std::string last_error() { return std::strerror(errno); }

std::string contents(const std::string& path, const Listing& listing) {
    if (path.ends_with(".json")) return to_json(listing);
    if (path.ends_with(".html")) return to_html(listing);
    return to_text(listing);
}

std::string write_all(int fd, std::string_view text) {
    while (!text.empty()) {
        const ssize_t written = ::write(fd, text.data(), text.size());
        if (written < 0 && errno == EINTR) continue;
        if (written <= 0) return last_error();
        text.remove_prefix(static_cast<std::size_t>(written));
    }
    return {};
}

bool is_before(const timespec& a, const timespec& b) {
    return a.tv_sec != b.tv_sec ? a.tv_sec < b.tv_sec : a.tv_nsec < b.tv_nsec;
}

/// Whether the file is for this process. Locked: two may end at once.
bool takes(int fd, const Options& options, const timespec& began) {
    struct flock whole{};
    whole.l_type = F_WRLCK;
    while (fcntl(fd, F_SETLKW, &whole) != 0 && errno == EINTR) {
    }
    struct stat status{};
    if (fstat(fd, &status) != 0 || !S_ISREG(status.st_mode)) return true;  // /dev/stdout
    return status.st_size == 0 || (options.check_first == 0 && is_before(status.st_mtim, began));
}

}  // namespace

std::string begin_counters(const std::string& path) {
    const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (fd < 0) return last_error();
    ::close(fd);
    return {};
}

std::string write_counters(const Options& options) {
    const KernelCounts* counts = process_counts();
    if (options.counters.empty() || counts == nullptr || counts->owner != getpid()) return {};
    const std::vector<KernelTotal> totals = counts->totals();
    if (totals.empty()) return {};
    const std::string text = contents(options.counters, list(getpid(), program_invocation_name, totals));
    int fd = ::open(options.counters.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
    if (fd >= 0 && !takes(fd, options, counts->began)) {
        ::close(fd);
        const std::string other = options.counters + "." + std::to_string(getpid());
        fd = ::open(other.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
    }
    if (fd < 0) return last_error();
    [[maybe_unused]] const int cut = ftruncate(fd, 0);  // fails for what is no regular file
    const std::string error = write_all(fd, text);
    ::close(fd);
    return error;
}

}  // namespace kfdemu::count
