// The HSA runtime's API table: where its functions are, whichever version of the runtime filled it.
//
//     replace(table.core, offsetof(CoreApiTable, hsa_queue_create_fn), &ours, next);
//
// Tables grow at their end, except that two functions were inserted into AmdExtTable after ROCR 5.2. A table's
// version.minor is its size in bytes. Pure. Source: hsa_api_trace.h of ROCR 5.2 to 7.2.
#pragma once

#define AMD_INTERNAL_BUILD  // includes beside itself, as it is installed
#include <hsa/hsa_api_trace.h>

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace trace {

constexpr bool has_inserted(std::size_t amd_table_bytes) { return amd_table_bytes > 424; }

inline constexpr std::size_t inserted_bytes = 2 * sizeof(void*);
inline constexpr std::size_t inserted_at = offsetof(AmdExtTable, hsa_amd_memory_async_copy_fn) + sizeof(void*);
/// hsa_amd_memory_async_copy_on_engine, the first of the two.
inline constexpr std::size_t copy_on_engine = inserted_at;

/// Where in a table of so many bytes the function is that has this offset in the header's.
constexpr std::size_t amd_offset(std::size_t in_header, std::size_t table_bytes) {
    const bool there = has_inserted(table_bytes), here = has_inserted(sizeof(AmdExtTable));
    if (in_header < inserted_at || there == here) return in_header;
    return there ? in_header + inserted_bytes : in_header - inserted_bytes;
}

/// Puts `ours` in the table, and what was there in `next`. False: the table has no such function.
template <class Function>
bool replace(void* table, std::size_t offset, Function* ours, Function*& next) {
    ApiTableVersion version{};
    std::memcpy(&version, table, sizeof version);
    if (offset + sizeof ours > version.minor_id) return false;
    std::byte* const slot = static_cast<std::byte*>(table) + offset;
    std::memcpy(&next, slot, sizeof next);
    if (next == nullptr) return false;
    std::memcpy(slot, &ours, sizeof ours);
    return true;
}

}  // namespace trace
