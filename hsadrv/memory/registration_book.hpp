// Internal: which host ranges are locked, how often, and under which name; numbers only, no runtime.
//
//   if (const auto entry = book.share(range)) return entry->device;       // the same range once more
//   const auto name = book.reserve_name(range);                           // lock it under this address
//   const auto id = book.add({range, *name, device});
//   if (const auto last = book.remove(id)) unlock(last->name), book.release_name(last->name);
//
// The runtime finds a lock by the address that it began at, and finds none when two locks begin at one
// address with different sizes: neither can be undone then. So no two locks here have the same name. A lock
// covers whole pages, so any address of the range's first page names it as well as the range's own beginning does.
//
// Thread safety: none; the owner has a mutex. Source: ROCT-Thunk, fmm.c, vm_find_object_by_address_userptr.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <optional>
#include <set>
#include <vector>

namespace hsadrv::detail {

/// What somebody wants registered. `agents` are handles, sorted; `kind` tells kinds of memory apart.
struct HostRange {
    std::uintptr_t begin = 0;
    std::size_t size_bytes = 0;
    unsigned kind = 0;
    std::vector<std::uint64_t> agents = {};
};

struct HostLock {
    HostRange range;
    std::uintptr_t name = 0;    ///< what the runtime knows it by
    std::uintptr_t device = 0;  ///< where agents see range.begin
};

class RegistrationBook {
  public:
    using Id = std::uint64_t;  ///< of one registration; never zero, never reused
    static constexpr std::size_t page_bytes = 4096;

    struct Entry {
        Id id;
        std::uintptr_t device;
    };
    /// One more registration under a lock of the same bytes, kind and at least these agents, if there is one.
    /// A scoped registration is found by its id alone.
    std::optional<Entry> share(const HostRange& range, bool scoped);

    /// An address to lock the range by that names no other lock; nothing if its first page has none left.
    std::optional<std::uintptr_t> reserve_name(std::uintptr_t begin);
    void release_name(std::uintptr_t name) noexcept { names_.erase(name); }

    /// The first registration under a lock that now exists.
    Id add(HostLock lock, bool scoped);

    /// Ends a registration. Returns the lock if that was its last one: unlock it, then release its name.
    /// Nothing for an id that is not there.
    std::optional<HostLock> remove(Id id);

    /// The latest registration that is not scoped and begins at `begin` (and has that size, if one is given).
    std::optional<Id> latest(std::uintptr_t begin, std::optional<std::size_t> size_bytes = {}) const;

    /// Of the locks that `address` lies in, by the host's or the agents' view, the one that reaches furthest.
    const HostLock* covering(std::uintptr_t address) const;

    std::size_t locks() const noexcept { return locks_.size(); }
    std::size_t registrations() const noexcept { return registered_.size(); }
    /// For the end: the id of any registration, or nothing.
    std::optional<Id> any() const;

  private:
    struct Record {
        HostLock lock;
        std::set<Id> scoped, unscoped;  // its registrations
    };
    using Locks = std::list<Record>;
    using Index = std::multimap<std::uintptr_t, Locks::iterator>;

    Id enter(Locks::iterator lock, bool scoped);
    const HostLock* furthest(const Index& index, std::uintptr_t address) const;
    static void erase(Index& index, std::uintptr_t key, Locks::iterator lock) noexcept;

    Locks locks_;
    std::map<Id, Locks::iterator> registered_;
    Index by_host_, by_device_;
    std::set<std::uintptr_t> names_;
    std::size_t longest_bytes_ = 0;  // of any lock there ever was: bounds the search
    Id last_id_ = 0;
};

}  // namespace hsadrv::detail
