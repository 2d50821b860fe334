// The program's mappings of device files that are watched.
//
//     table.add({begin, end, doorbells});
//     table.remove(begin, end);                        // parts of mappings, too
//     auto mapping = table.find(va);
//     table.each([](MappingTable::Mapping& mapping) { … });
//
// Called within mmap() and munmap(), so also within an allocator: it allocates nothing and takes no lock that another
// library knows. Signals are blocked meanwhile. Thread safety: every function, any thread; each() and with() call
// `visit` with the lock held, which must not use the table or access watched memory.
#pragma once

#include <signal.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

namespace kfdemu {

class MappingTable {
  public:
    struct Mapping {
        std::uint64_t begin = 0, end = 0;
        const std::byte* doorbells = nullptr;  ///< the emulator's own mapping of them; null: it is memory
        bool given = false;                    ///< pages of it may be in the page table
    };

    MappingTable();
    ~MappingTable() = default;
    MappingTable(const MappingTable&) = delete;
    MappingTable& operator=(const MappingTable&) = delete;

    /// Without effect if there are too many.
    void add(const Mapping& mapping);
    void remove(std::uint64_t begin, std::uint64_t end);
    std::optional<Mapping> find(std::uint64_t va);
    template <class Visit>
    void each(Visit&& visit) {
        const Hold hold{*this};
        for (std::size_t n = 0; n < count_; ++n) visit(all_[n]);
    }
    /// The mapping that contains `va`, if there is one.
    template <class Visit>
    void with(std::uint64_t va, Visit&& visit) {
        const Hold hold{*this};
        for (std::size_t n = 0; n < count_; ++n)
            if (va >= all_[n].begin && va < all_[n].end) return visit(all_[n]);
    }
    /// In a child of fork(), whose only thread this is: another one may have held the lock.
    void reset();

  private:
    class Hold {
      public:
        explicit Hold(MappingTable& of);
        ~Hold();
        Hold(const Hold&) = delete;
        Hold& operator=(const Hold&) = delete;

      private:
        MappingTable& of_;
        sigset_t before_;
    };

    void append(const Mapping& mapping);

    std::atomic_flag busy_;
    Mapping* const all_;  // pages of its own; null: there is no memory
    std::size_t count_ = 0;
};

}  // namespace kfdemu
