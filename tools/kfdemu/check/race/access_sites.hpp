// The instructions of kernels that access shared memory, by a small number.
//
//     std::uint16_t site = sites.number(wave, inst);
//     if (sites[site].idiom == Idiom::Waits) …
//
// Thread safety: that of its work-group.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <vector>

#include "tools/kfdemu/check/race/idiom.hpp"

namespace kfdemu::check {

class AccessSites {
  public:
    struct Site {
        isa::Inst inst{};
        Idiom idiom = Idiom::Plain;
        bool swaps = false;  ///< a compare-and-swap
    };

    AccessSites() : sites_(1) {}

    std::uint16_t number(const isa::Wave& wave, const isa::Inst& inst) {
        std::uint16_t& entry = cache_[inst.pc / 4 % kEntries];
        if (std::memcmp(&sites_[entry].inst, &inst, sizeof inst) == 0) return entry;
        for (std::size_t n = 1; n < sites_.size(); ++n)
            if (std::memcmp(&sites_[n].inst, &inst, sizeof inst) == 0) return entry = static_cast<std::uint16_t>(n);
        if (sites_.size() == kMost) return 0;  // more than any kernel has
        sites_.push_back({inst, idiom_of(wave, inst), swaps(inst)});
        return entry = static_cast<std::uint16_t>(sites_.size() - 1);
    }
    Site& operator[](std::uint16_t number) { return sites_[number]; }
    /// If it returns true, numbers given before are no longer valid.
    bool forget_if_many() {
        if (sites_.size() < kMost / 2) return false;
        sites_.resize(1);
        cache_.fill(0);
        return true;
    }

  private:
    static constexpr std::size_t kEntries = 1024, kMost = 65536;
    std::vector<Site> sites_;  // the first stands for unknown ones
    std::array<std::uint16_t, kEntries> cache_{};
};

}  // namespace kfdemu::check
