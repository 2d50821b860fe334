// MemoryUse: the bytes that the program has allocated of each agent's memory, as counters over time.
//
// Thread safety: any thread.
#pragma once

#include <cstdint>
#include <mutex>
#include <string>
#include <unordered_map>

#include "recorder.hpp"

namespace trace {

class MemoryUse {
  public:
    void allocated(const void* address, std::uint64_t bytes, const std::string& memory) {
        const std::lock_guard lock{mutex_};
        blocks_[address] = {bytes, memory};
        count(memory, static_cast<std::int64_t>(bytes));
    }
    void freed(const void* address) {
        const std::lock_guard lock{mutex_};
        const auto found = blocks_.find(address);
        if (found == blocks_.end()) return;
        count(found->second.memory, -static_cast<std::int64_t>(found->second.bytes));
        blocks_.erase(found);
    }

  private:
    struct Block {
        std::uint64_t bytes;
        std::string memory;
    };

    void count(const std::string& memory, std::int64_t change) {
        const std::int64_t now = used_[memory] += change;
        Recorder* const recorder = Recorder::active();
        if (recorder == nullptr) return;
        recorder->write([&](TraceWriter& writer, std::string& packets) {
            writer.count(packets, writer.counter(packets, "allocated: " + memory), now_ns(), now);
        });
    }

    std::mutex mutex_;
    std::unordered_map<const void*, Block> blocks_;
    std::unordered_map<std::string, std::int64_t> used_;
};

}  // namespace trace
