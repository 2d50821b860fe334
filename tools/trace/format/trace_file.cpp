#include "tools/trace/format/trace_file.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>

#include "tools/trace/format/perfetto.hpp"

namespace trace {
namespace {

constexpr std::uint64_t step_bytes = std::uint64_t{1} << 20;
constexpr std::size_t padding_header = TraceFile::least_bytes;

[[noreturn]] void fail(const std::string& what) { throw std::system_error{errno, std::generic_category(), what}; }

/// A varint of five bytes.
void put_length(char* at, std::uint64_t length) {
    for (unsigned n = 0; n < 5; ++n) at[n] = static_cast<char>((length >> (7 * n) & 0x7f) | (n < 4 ? 0x80 : 0));
}

}  // namespace

TraceFile::TraceFile(std::string path, Limits limits) : path_{std::move(path)}, limits_{limits} {
    descriptor_ = open(path_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (descriptor_ < 0) fail("open('" + path_ + "')");
    flock(descriptor_, LOCK_EX | LOCK_NB);  // where there are no locks, it is written all the same
    void* const mapping =
        mmap(nullptr, limits_.most_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, descriptor_, 0);
    if (mapping == MAP_FAILED) {
        close(descriptor_);
        fail("mmap('" + path_ + "', " + std::to_string(limits_.most_bytes) + " B)");
    }
    mapping_ = static_cast<char*>(mapping);
    if (!grow(padding_header)) {
        unmap();
        fail("posix_fallocate('" + path_ + "')");
    }
    put_padding(0);
}

TraceFile::~TraceFile() { finish(); }

/// The blocks are allocated here: a full disk is an error, not a signal at a store.
bool TraceFile::grow(std::uint64_t wanted) {
    if (wanted <= size_) return true;
    if (wanted > limits_.most_bytes) return false;
    const std::uint64_t size = std::min((wanted + step_bytes - 1) / step_bytes * step_bytes, limits_.most_bytes);
    int error = EINTR;
    while (error == EINTR)
        error = posix_fallocate(descriptor_, static_cast<off_t>(size_), static_cast<off_t>(size - size_));
    if (error != 0) {
        errno = error;
        return false;
    }
    size_ = size;
    return true;
}

/// Up to the end of the file: a packet with one field that has no meaning.
void TraceFile::put_padding(std::uint64_t at) {
    char* const header = mapping_ + at;
    const std::uint64_t rest = size_ - at - padding_header;
    constexpr std::uint32_t tag = perfetto::packet::padding << 3 | 2;
    static_assert(tag >> 21 == 0 && tag >> 14 != 0);
    header[0] = static_cast<char>(perfetto::file::packet << 3 | 2);
    put_length(header + 1, rest + 8);
    header[6] = static_cast<char>(tag | 0x80);
    header[7] = static_cast<char>(tag >> 7 | 0x80);
    header[8] = static_cast<char>(tag >> 14);
    put_length(header + 9, rest);
}

bool TraceFile::append(std::string_view packets) {
    if (mapping_ == nullptr || packets.size() < least_bytes) return false;
    const std::uint64_t end = used_ + packets.size();
    if (end + padding_header > size_) {
        if (!grow(end + padding_header)) return false;
        put_padding(used_);
    }
    char* const to = mapping_ + used_;
    put_padding(end);
    std::memcpy(to + least_bytes, packets.data() + least_bytes, packets.size() - least_bytes);
    // In program order, so that a file that is read after a SIGKILL is whole.
    std::atomic_signal_fence(std::memory_order_seq_cst);
    std::memcpy(to, packets.data(), least_bytes);
    used_ = end;
    return true;
}

void TraceFile::unmap() {
    if (mapping_ != nullptr) munmap(mapping_, limits_.most_bytes);
    mapping_ = nullptr;
    if (descriptor_ >= 0) close(descriptor_);
    descriptor_ = -1;
}

void TraceFile::finish() {
    if (mapping_ == nullptr) return;
    // If it fails, the padding stays, which readers skip.
    [[maybe_unused]] const int result = ftruncate(descriptor_, static_cast<off_t>(used_));
    unmap();
}

void TraceFile::abandon() { unmap(); }

}  // namespace trace
