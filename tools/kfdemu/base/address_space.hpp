// The GPU virtual address space of one GPU in this process: mapped ranges, their host addresses and access rights.
//
//     AddressSpace::Hold hold{space};                     // the map does not change while this exists
//     const AddressSpace::Range* r = space.find(va);      // nullptr: a memory fault
//     std::byte* p = r->at(va);
//
// Thread safety: every function, any thread. find() requires a Hold in the calling thread; its result is valid until
// that Hold ends. map() and unmap() wait until every existing Hold has ended or been renewed, like a TLB shootdown.
// Holders must therefore call Hold::renew() often, at least once per quantum of instructions. It costs one load unless
// a change of the map is waiting.
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
        std::byte* host = nullptr;         ///< host address of the byte at `begin`
        std::uint32_t access = 0;          ///< a set of Access
        std::uint64_t allocation = 0;      ///< handle of its allocation
        bool user_pages = false;           ///< the program's own pages, which it may unmap at any time

        bool contains(std::uint64_t va, std::uint64_t size_bytes) const {
            return va >= begin && va < end && size_bytes <= end - va;
        }
        bool allows(std::uint32_t wanted) const { return (access & wanted) == wanted; }
        std::byte* at(std::uint64_t va) const { return host + (va - begin); }
        /// False if the program has since unmapped user pages; the GPU then faults on them. Costs a system call.
        bool present() const;
    };

    class Hold {
      public:
        explicit Hold(const AddressSpace& space) : space_{space} { space_.enter(); }
        ~Hold() { space_.leave(); }
        Hold(const Hold&) = delete;
        Hold& operator=(const Hold&) = delete;
        /// Lets waiting changes of the map proceed. If it returns true, every Range found before is invalid.
        bool renew() {
            if (space_.writers_.load(std::memory_order_relaxed) == 0) return false;  // a hint, tested often
            space_.leave();
            space_.enter();
            return true;
        }

      private:
        const AddressSpace& space_;
    };

    /// The range that contains `va`, or nullptr.
    const Range* find(std::uint64_t va) const;

    /// The range whose memory is at the host's address `host`, or nullptr. Slow: searches all.
    const Range* find_host(const std::byte* host) const;

    /// Whether anything but `allocation` is mapped in [begin, end). Needs no Hold.
    bool maps_other(std::uint64_t begin, std::uint64_t end, std::uint64_t allocation) const;

    /// Adds a range. False if it overlaps an existing one.
    bool map(const Range& range);
    /// As map(), in place of what is mapped there of the same allocation: no access fails between the two.
    bool replace(const Range& range);
    /// Unmaps [begin, end), and splits ranges that extend beyond it. If `only` is not 0, unmaps only ranges of that
    /// allocation.
    void unmap(std::uint64_t begin, std::uint64_t end, std::uint64_t only = 0);

    /// Number of changes of the map. If it is unchanged, earlier results of find() are still correct.
    std::uint64_t generation() const { return generation_.load(std::memory_order_acquire); }

  private:
    void enter() const;
    void leave() const;
    template <class Change>
    void change(Change&& edit);
    bool insert(const Range& range);
    void remove(std::uint64_t begin, std::uint64_t end, std::uint64_t only);

    mutable std::mutex mutex_;
    mutable std::condition_variable turn_;
    // Sequentially consistent: of a holder that enters and a writer that begins, at least one sees the other. Holders
    // write in a cache line of their own.
    alignas(64) mutable std::atomic<int> holders_{0};
    alignas(64) std::atomic<int> writers_{0};  // waiting or writing; changes under mutex_
    std::atomic<std::uint64_t> generation_{0};
    std::vector<Range> ranges_;  // sorted by begin, disjoint
};

}  // namespace kfdemu
