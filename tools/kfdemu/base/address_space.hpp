// What one GPU of this process can reach: which GPU virtual addresses are mapped, where their bytes lie on
// the host, and what may be done with them.
//
//     AddressSpace::Hold hold{space};                     // the map stands still while this lives
//     const AddressSpace::Range* r = space.find(va);      // nullptr: a memory fault
//     std::byte* p = r->at(va);
//
// Thread safety: every function may be called from any thread. find() needs a Hold in the calling thread, and
// what it returned is valid until that Hold ends. map() and unmap() wait until every Hold that was there has
// ended, as a TLB shoot-down does; so holders must end and renew their Hold often (at least once a quantum of
// instructions), cheaply so by calling Hold::renew(), which costs one load while nobody waits to change the map.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

namespace kfdemu {

enum Access : std::uint32_t { kRead = 1, kWrite = 2, kExecute = 4 };

class AddressSpace {
  public:
    struct Range {
        std::uint64_t begin = 0, end = 0;  ///< GPU virtual addresses, end excluded
        std::byte* host = nullptr;         ///< where the byte at `begin` lies in this process
        std::uint32_t access = 0;          ///< a set of Access
        std::uint64_t allocation = 0;      ///< the handle of the allocation that it belongs to
        bool user_pages = false;           ///< the program's own memory, which it may unmap at any time

        bool contains(std::uint64_t va, std::uint64_t size_bytes) const {
            return va >= begin && va < end && size_bytes <= end - va;
        }
        bool allows(std::uint32_t wanted) const { return (access & wanted) == wanted; }
        std::byte* at(std::uint64_t va) const { return host + (va - begin); }
        /// False: pages that the program has unmapped since; to the GPU they are not there. A system call.
        bool present() const;
    };

    class Hold {
      public:
        explicit Hold(const AddressSpace& space) : space_{space} { space_.enter(); }
        ~Hold() { space_.leave(); }
        Hold(const Hold&) = delete;
        Hold& operator=(const Hold&) = delete;
        /// Lets waiting changes of the map pass; every Range found before is void if this returns true.
        bool renew() {
            if (space_.writers_.load(std::memory_order_relaxed) == 0) return false;
            space_.leave();
            space_.enter();
            return true;
        }

      private:
        const AddressSpace& space_;
    };

    /// The range that holds `va`, or nullptr.
    const Range* find(std::uint64_t va) const;

    /// Adds a range, which must not overlap one that is there: false if it does.
    bool map(const Range& range);
    /// Removes what of [begin, end) is mapped, splitting ranges that stick out; with `only`, what belongs to that
    /// allocation alone.
    void unmap(std::uint64_t begin, std::uint64_t end, std::uint64_t only = 0);

    /// Counts changes of the map: equal values mean that what find() returned is still right.
    std::uint64_t generation() const { return generation_.load(std::memory_order_acquire); }

  private:
    void enter() const;
    void leave() const;
    template <class Change>
    void change(Change&& edit);

    mutable std::mutex mutex_;
    mutable std::condition_variable turn_;
    mutable int holders_ = 0;
    mutable std::atomic<int> writers_{0};  // waiting or writing; relaxed reads only hint, mutex_ decides
    std::atomic<std::uint64_t> generation_{0};
    std::vector<Range> ranges_;  // sorted by begin, disjoint
};

}  // namespace kfdemu
