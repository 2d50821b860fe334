// Internal: which host ranges are locked, how often, and under which name; numbers only, no runtime calls.
//
//   if (const auto entry = book.share(range)) return entry->device;       // the same range again
//   const auto name = book.reserve_name(range);                           // lock it under this address
//   const auto id = book.add({range, *name, device});
//   if (const auto last = book.remove(id)) unlock(last->name), book.release_name(last->name);
//
// The runtime finds a lock by its start address. If two locks start at one address with different sizes, it finds
// neither, and neither can be undone. So no two locks here have the same name. A lock covers whole pages, so any
// address in the range's first page can serve as its name.
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

/// A requested registration. `agents` are handles, sorted; `kind` distinguishes kinds of memory.
struct HostRange {
    std::uintptr_t begin = 0;
    std::size_t size_bytes = 0;
    unsigned kind = 0;
    std::vector<std::uint64_t> agents = {};
};

struct HostLock {
    HostRange range;
    std::uintptr_t name = 0;    ///< the address by which the runtime finds it
    std::uintptr_t device = 0;  ///< the address of range.begin for agents
};

class RegistrationBook {
  public:
    using Id = std::uint64_t;  ///< of one registration; never zero, never reused
    static constexpr std::size_t page_bytes = 4096;

    struct Entry {
        Id id;
        std::uintptr_t device;
    };
    /// Adds a registration to a lock of the same bytes and kind and at least these agents, if there is one. A scoped
    /// registration is found only by its id.
    std::optional<Entry> share(const HostRange& range, bool scoped);

    /// An unused address to lock the range by; std::nullopt if its first page has none left.
    std::optional<std::uintptr_t> reserve_name(std::uintptr_t begin);
    void release_name(std::uintptr_t name) noexcept { names_.erase(name); }

    /// The first registration under a new lock.
    Id add(HostLock lock, bool scoped);

    /// Ends a registration. Returns the lock if that was its last one: unlock it, then release its name. Returns
    /// std::nullopt for an unknown id.
    std::optional<HostLock> remove(Id id);

    /// The latest unscoped registration that begins at `begin` (and has that size, if one is given).
    std::optional<Id> latest(std::uintptr_t begin, std::optional<std::size_t> size_bytes = {}) const;

    /// Of the locks that contain `address`, as the host or agents see it, the one that extends furthest.
    const HostLock* covering(std::uintptr_t address) const;

    std::size_t locks() const noexcept { return locks_.size(); }
    std::size_t registrations() const noexcept { return registered_.size(); }
    /// For shutdown: the id of any registration; std::nullopt if there is none.
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
    std::size_t longest_bytes_ = 0;  // the longest lock so far: bounds the search
    Id last_id_ = 0;
};

}  // namespace hsadrv::detail
