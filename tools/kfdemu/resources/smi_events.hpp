// Event files of GPUs (SMI_EVENTS): a program opens one, writes a mask of the events that it wants, polls, and reads
// lines of text, as from the kernel's kfd_smi_events.c: the kind of event and its values, in hexadecimal, but for times
// (nanoseconds since boot) and causes. A file is one end of a socket pair, so that reading, polling and closing need no
// interposition.
//
// Not there, because they never happen here: page faults that are retried (XNACK is off), evictions for memory, and
// the restoration of evicted queues.
//
// Thread safety: every function, any thread.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace kfdemu {

class SmiEvents {
  public:
    SmiEvents() = default;
    ~SmiEvents();
    SmiEvents(const SmiEvents&) = delete;
    SmiEvents& operator=(const SmiEvents&) = delete;

    /// `fd` receives a descriptor that the caller closes; 0 or an errno value.
    int open(std::uint32_t gpu_id, int& fd);

    /// A memory fault of this process: "1 PID:NAME".
    void vm_fault(std::uint32_t gpu_id);
    /// Before and after a reset: "3 SEQUENCE", "4 SEQUENCE".
    void reset_begins(std::uint32_t gpu_id);
    void reset_ended(std::uint32_t gpu_id);

    /// What a migration needs to be told: SVM locations, each 0 (system memory) or a GPU's id.
    struct Migration {
        std::uint64_t begin, end;
        std::uint32_t from, to, prefetch, preferred;
    };
    /// Pages that were asked to be elsewhere, on the GPU that is not system memory: "5 TIME -PID @PAGE(PAGES) FROM->TO
    /// PREFETCH:PREFERRED CAUSE", then "6 TIME -PID @PAGE(PAGES) FROM->TO CAUSE".
    void prefetched(std::uint32_t gpu_id, const Migration& migration);
    /// Pages that the program unmapped, and a GPU could access: "b TIME -PID @PAGE(PAGES) GPU CAUSE".
    void unmapped(std::uint32_t gpu_id, std::uint64_t begin, std::uint64_t end);
    /// The queues of this process, which a reset stops: "9 TIME -PID GPU CAUSE".
    void evicted_by_reset(std::uint32_t gpu_id);

  private:
    enum Kind : unsigned {
        kVmFault = 1,
        kPreReset = 3,
        kPostReset = 4,
        kMigrateStart = 5,
        kMigrateEnd = 6,
        kQueueEviction = 9,
        kUnmapFromGpu = 11,
    };
    struct Client {
        std::uint32_t gpu_id;
        int fd;
        std::uint64_t wanted = 0;  // bit n - 1: kind n
        std::string task;          // the name of the thread that opened the file
    };

    static bool read_mask(Client& client);
    void forget_closed();
    template <class Text>
    void send(std::uint32_t gpu_id, Kind kind, Text&& text);

    std::mutex mutex_;
    std::vector<Client> clients_;
    std::map<std::uint32_t, std::uint32_t> resets_;  // by GPU
};

}  // namespace kfdemu
