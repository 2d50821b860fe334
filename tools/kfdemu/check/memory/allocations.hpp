// The memory that the program has allocated, with its exact sizes, and what it freed lately.
//
//     allocations.allocated(va, 100, capture_stack());
//     allocations.freed(va, capture_stack());
//     const Span span = allocations.span(address);            // Live, Slack, Freed or Unknown, and how far it extends
//     describe(address)                                       // "12 bytes past the end of 100 bytes allocated at 0x…"
//
// The caller that allocates announces it: the tool that ROCR loads (boundary/hsa_tool.cpp). Other memory is Unknown,
// and accesses to it are not judged. The rest of the last page of an allocation is its Slack: nothing else is there.
//
// An allocator above it may hand out pieces of an allocation (kfdemu.h, kfdemu_pool_allocated). Once it has announced
// one, the allocation is a pool: what is in none of its pieces is Slack.
//
// The code of loaded code objects is Code: kernels may read it, and not write it.
//
// Thread safety: every function, any thread. generation() changes with each change, so that spans can be cached.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <optional>
#include <shared_mutex>
#include <string>

#include "tools/kfdemu/check/report/host_stack.hpp"

namespace kfdemu::check {

/// What a range of addresses is.
struct Span {
    enum Kind : std::uint8_t { Unknown, Live, Slack, Freed, Code };
    std::uint64_t begin = 0, end = 0;  ///< addresses, end excluded
    Kind kind = Unknown;

    bool contains(std::uint64_t va, std::uint64_t bytes) const { return va >= begin && va < end && bytes <= end - va; }
};

class Allocations {
  public:
    void allocated(std::uint64_t va, std::uint64_t bytes, StackId by = kNoStack);
    /// Unless all of it is known already. If a part is, it and what it overlaps are unknown from now on: false.
    bool allocated_alone(std::uint64_t va, std::uint64_t bytes, StackId by);
    /// How large the allocation is that begins there and is not freed; 0: there is none.
    std::uint64_t bytes_at(std::uint64_t va) const;
    /// Remembered until the addresses are allocated again. What it was: nothing changes unless it was Live.
    enum class Was : std::uint8_t { Unknown, Live, Freed };
    Was freed(std::uint64_t va, StackId by = kNoStack);
    /// Freed memory is given back: accesses are not judged any more, but faults are explained by it.
    void released(std::uint64_t va);
    /// Nothing is known of this address any more.
    void forget(std::uint64_t va);
    /// Nor of others that begin in that range.
    void forget(std::uint64_t va, std::uint64_t bytes);
    void clear();
    /// A part of an allocation, or of memory that is unknown.
    void piece_allocated(std::uint64_t va, std::uint64_t bytes, StackId by = kNoStack);
    void piece_freed(std::uint64_t va, StackId by = kNoStack);
    /// Replaces what is known of code: the end of each range by its beginning.
    void set_code(std::map<std::uint64_t, std::uint64_t> ranges);

    std::uint64_t generation() const { return generation_.load(std::memory_order_acquire); }
    Span span(std::uint64_t va) const;
    /// The address in words, relative to the nearest allocation or piece; "in no known allocation" if none is near.
    std::string describe(std::uint64_t va) const;
    /// Who allocated and freed what describe() names; without frames.
    std::vector<HostStack> stacks(std::uint64_t va) const;

  private:
    struct Allocation {
        std::uint64_t bytes = 0, number = 0;  ///< number: in order of allocation, from 1
        bool live = true, released = false, is_pool = false, is_piece = false;
        StackId made_by = kNoStack, freed_by = kNoStack;
    };
    using Map = std::map<std::uint64_t, Allocation>;

    // With the lock held.
    static void make_room(Map& map, std::uint64_t va, std::uint64_t bytes);
    void forget_pieces(std::uint64_t va, std::uint64_t bytes);
    static const Map::value_type* nearest_in(const Map& map, std::uint64_t va);
    const Map::value_type* nearest(std::uint64_t va) const;
    const Map::value_type* pool_at(std::uint64_t va) const;
    Span whole_span(std::uint64_t va) const;
    Span code_span(std::uint64_t va, const Span& around) const;
    Span piece_span(std::uint64_t va, const Span& around) const;
    void changed() { generation_.fetch_add(1, std::memory_order_release); }

    mutable std::shared_mutex mutex_;
    Map map_;     // by address; freed ones until something else is there
    Map pieces_;  // the same of pieces
    std::map<std::uint64_t, std::uint64_t> code_;
    std::uint64_t count_ = 0;
    std::atomic<std::uint64_t> generation_{1};
};

}  // namespace kfdemu::check
