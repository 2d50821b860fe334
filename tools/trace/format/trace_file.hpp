// TraceFile: a growing file of packets that is whole at every moment, also after SIGKILL.
//
//     TraceFile file{"run.pftrace", {.most_bytes = 1 << 30}};
//     if (!file.append(packets)) …          // it is full, or the disk is; what is there stays
//     file.finish();                        // gives back the room after the last packet
//
// The file is mapped, so that the kernel keeps what was appended when the process dies. What follows the last packet
// is one packet of padding, which readers skip; append() writes the next padding first and the begin of the new packets
// last. Thread safety: one thread at a time. Lifetime: the file outlives the object.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace trace {

class TraceFile {
  public:
    struct Limits {
        std::uint64_t most_bytes = std::uint64_t{1} << 30;
    };

    /// Creates the file, and locks it (flock) as long as it is written. Throws std::system_error, with
    /// errc::file_exists if there is one.
    TraceFile(std::string path, Limits limits);
    ~TraceFile();
    TraceFile(const TraceFile&) = delete;
    TraceFile& operator=(const TraceFile&) = delete;

    /// Whole packets, at least least_bytes of them. False: there is no room for all of them, and none is written.
    bool append(std::string_view packets);
    /// Truncates the padding. Nothing can be appended after it.
    void finish();
    /// Nothing is written or truncated any more: the file is another process's.
    void abandon();

    std::uint64_t size_bytes() const { return used_; }
    const std::string& path() const { return path_; }

    static constexpr std::size_t least_bytes = 14;

  private:
    bool grow(std::uint64_t wanted);
    void put_padding(std::uint64_t at);
    void unmap();

    std::string path_;
    const Limits limits_;
    int descriptor_ = -1;
    char* mapping_ = nullptr;
    std::uint64_t size_ = 0, used_ = 0;  // of the file; of its packets without the padding
};

}  // namespace trace
