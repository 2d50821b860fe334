// Event files of GPUs (SMI_EVENTS): a program opens one, writes a mask of the events that it wants, polls, and reads
// lines of text, as from the kernel's kfd_smi_events.c. A file is one end of a socket pair, so that reading, polling
// and closing need no interposition.
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

    /// A memory fault of this process: "1 PID:NAME", in hexadecimal.
    void vm_fault(std::uint32_t gpu_id);
    /// Before and after a reset: "3 SEQUENCE", "4 SEQUENCE".
    void reset_begins(std::uint32_t gpu_id);
    void reset_ended(std::uint32_t gpu_id);

  private:
    enum Kind : unsigned { kVmFault = 1, kPreReset = 3, kPostReset = 4 };
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
