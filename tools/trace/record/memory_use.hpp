// MemoryUse: the bytes that the program has allocated of each agent's memory, as counters over time.
//
// Thread safety: any thread.
#pragma once

#include <cstdint>
#include <mutex>
#include <string>
#include <unordered_map>

#include "tools/trace/record/recorder.hpp"

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

    /// Physical memory, which hsa_amd_vmem_map() maps: it is freed when nothing refers to it and nothing maps it.
    void created(std::uint64_t handle, std::uint64_t bytes, const std::string& memory) {
        const std::lock_guard lock{mutex_};
        physical_[handle] = {{bytes, memory}, 1};
        count(memory, static_cast<std::int64_t>(bytes));
    }
    void retained(std::uint64_t handle) {
        const std::lock_guard lock{mutex_};
        if (const auto found = physical_.find(handle); found != physical_.end()) ++found->second.uses;
    }
    void released(std::uint64_t handle) {
        const std::lock_guard lock{mutex_};
        drop(handle);
    }
    void mapped(const void* address, std::uint64_t handle) {
        const std::lock_guard lock{mutex_};
        const auto found = physical_.find(handle);
        if (found == physical_.end()) return;
        ++found->second.uses;
        maps_[address] = handle;
    }
    void unmapped(const void* address) {
        const std::lock_guard lock{mutex_};
        const auto found = maps_.find(address);
        if (found == maps_.end()) return;
        drop(found->second);
        maps_.erase(found);
    }

  private:
    struct Block {
        std::uint64_t bytes;
        std::string memory;
    };
    struct Physical {
        Block block;
        unsigned uses;  ///< references and maps
    };

    void drop(std::uint64_t handle) {
        const auto found = physical_.find(handle);
        if (found == physical_.end() || --found->second.uses != 0) return;
        count(found->second.block.memory, -static_cast<std::int64_t>(found->second.block.bytes));
        physical_.erase(found);
    }

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
    std::unordered_map<std::uint64_t, Physical> physical_;  // by handle
    std::unordered_map<const void*, std::uint64_t> maps_;   // handles
    std::unordered_map<std::string, std::int64_t> used_;
};

}  // namespace trace
