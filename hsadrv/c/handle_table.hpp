// Internal: the C interface's handles, as numbers of a table instead of addresses.
//
//   HandleTable& table = HandleTable::process();
//   void* handle = table.put(HandleKind::stream, object);        // shared with the table
//   auto stream = table.find(handle, HandleKind::stream);        // null: destroyed, of another kind, or no handle
//
// A handle has its kind, its slot and the slot's generation, which changes when the handle is destroyed: any number can
// be checked without reading memory at it. find() shares the object, so that another thread may destroy the handle
// during a call. Thread safety: any thread; one lock for some instructions. Never destroyed, since threads may outlive
// main().
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <vector>

namespace hsadrv::c {

enum class HandleKind : std::uint8_t {
    none,
    driver,
    device,
    memory,
    registration,
    stream,
    event,
    executable,
    kernel,
    graph,
    compiled,
    signal,
    physical_memory,
    virtual_range,
    memory_resource,
    graph_builder,
};
inline constexpr HandleKind last_kind = HandleKind::graph_builder;

/// "a stream"; "no handle" for none.
const char* kind_text(HandleKind kind) noexcept;

class HandleTable {
  public:
    static HandleTable& process() noexcept;

    /// Throws std::bad_alloc; OutOfMemory if four billion handles are in use.
    void* put(HandleKind kind, std::shared_ptr<void> object);
    std::shared_ptr<void> find(const void* handle, HandleKind kind) const noexcept;
    /// Removes it and returns its object; null if there is none.
    std::shared_ptr<void> take(const void* handle, HandleKind kind) noexcept;
    /// What a handle is, or was before it was destroyed; none for a number that was never one.
    HandleKind kind_of(const void* handle) const noexcept;
    /// The number of handles in use.
    std::size_t size() const noexcept;

  private:
    struct Slot {
        std::uint32_t generation = 0;
        HandleKind kind = HandleKind::none;
        std::shared_ptr<void> object;
    };
    static constexpr std::uint32_t last_generation = 0xffffff;  // a slot is not used beyond it

    const Slot* slot_of(std::uint64_t handle, HandleKind kind) const noexcept;

    mutable std::mutex mutex_;
    std::vector<Slot> slots_;
    std::deque<std::uint32_t> free_;  // the longest unused first
    std::size_t used_ = 0;
};

}  // namespace hsadrv::c
