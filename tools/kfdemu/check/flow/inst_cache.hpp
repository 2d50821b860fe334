// Caches the register uses of the instructions that a work-group executes.
//
//     const RegisterUses& uses = cache.uses(inst);
//
// An entry holds the whole decoded instruction, so it stays right when code changes or registers are indexed. Thread
// safety: that of its work-group.
#pragma once

#include <cstring>
#include <vector>

#include "tools/kfdemu/check/flow/register_use.hpp"

namespace kfdemu::check {

class InstCache {
  public:
    InstCache() : entries_(kEntries) {}

    const RegisterUses& uses(const isa::Inst& inst) {
        Entry& entry = entries_[inst.pc / 4 % kEntries];
        if (std::memcmp(&entry.inst, &inst, sizeof inst) != 0) entry = {inst, register_uses(inst)};
        return entry.uses;
    }

  private:
    static constexpr std::size_t kEntries = 2048;
    struct Entry {
        isa::Inst inst{};
        RegisterUses uses;
    };
    std::vector<Entry> entries_;
};

}  // namespace kfdemu::check
