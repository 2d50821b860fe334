// Internal: the live allocations and the ones freed last; numbers and texts only.
//
//   book.enter({begin, size, label, where});
//   book.leave(begin);
//   if (const auto nearest = book.nearest(fault_address)) message += nearest->text();
//
// Thread safety: none; the owner has a mutex.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "hsadrv/allocation_record.hpp"

namespace hsadrv::detail {

class AllocationBook {
  public:
    static constexpr std::size_t remembered = 1024;  ///< freed allocations kept
    /// An allocation further away than this explains nothing.
    static constexpr std::uint64_t near_bytes = std::uint64_t{1} << 30;

    void enter(AllocationRecord record) { live_.insert_or_assign(record.begin, std::move(record)); }

    void leave(std::uint64_t begin, bool forget) noexcept {
        const auto found = live_.find(begin);
        if (found == live_.end()) return;
        if (!forget) {
            AllocationRecord& slot = freed_[freed_count_++ % remembered];
            slot = std::move(found->second);
            slot.freed = true;
        }
        live_.erase(found);
    }

    bool is_live(std::uint64_t begin) const noexcept { return live_.find(begin) != live_.end(); }

    /// Live before freed, nearer before farther, later freed before earlier.
    std::optional<NearestAllocation> nearest(std::uint64_t address) const;

    std::vector<AllocationRecord> live() const {
        std::vector<AllocationRecord> all;
        for (const auto& [begin, record] : live_) all.push_back(record);
        return all;
    }

  private:
    std::map<std::uint64_t, AllocationRecord> live_;
    std::array<AllocationRecord, remembered> freed_;
    std::size_t freed_count_ = 0;
};

namespace allocations {
std::optional<NearestAllocation> nearest(std::uint64_t address);
}

}  // namespace hsadrv::detail
