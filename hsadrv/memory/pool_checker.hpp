// Internal: tells a memory checker that the process may run under which pieces of an allocation are in use. Checkers
// see what the runtime allocates, but not what an allocator makes of it.
//
//   const PoolChecker* checker = PoolChecker::find();        // null: there is none, and nothing to tell
//   if (checker != nullptr) checker->allocated(piece, 100);
//
// The functions are those of kfdemu.h, "For allocators"; any checker may export them. They are looked up in the
// process, so this library depends on no checker.
//
// Thread safety: any thread.
#pragma once

#include <cstddef>

namespace hsadrv::detail {

struct PoolChecker {
    void (*allocated)(const void* piece, std::size_t size_bytes) = nullptr;
    void (*freed)(const void* piece) = nullptr;

    /// Looked up once.
    static const PoolChecker* find() noexcept;
};

}  // namespace hsadrv::detail
