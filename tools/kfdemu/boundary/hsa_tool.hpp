// What the HSA runtime's API table is wrapped with: under --check, for waits that sleep, and for torn packets.
//
//     wrap_memory(table);              // OnLoad
//     report_leaks_now();              // OnUnload, or the end of the process, whichever is first
//
// Thread safety: the wrapped functions, any thread; wrap_…() while no other thread uses the runtime.
#pragma once

#include <cstring>

#include "../check/process.hpp"
#include "hsa_table.hpp"

namespace kfdemu {

void wrap_memory(hsa::Table& table);
/// Frees what was freed and is kept for a while, before somebody counts.
void free_delayed();
/// The runtime ends: gives back what is kept, and knows of nothing any more.
void forget_memory();

void wrap_waits(hsa::Table& table);
void wrap_mappings(hsa::Table& table);
void wrap_code(hsa::Table& table);
void wrap_queues(hsa::Table& table);

void wrap_objects(hsa::Table& table);
/// Reports what is alive, and forgets it. Does nothing in a child of fork(): it has copies of its parent's objects.
void report_leaks_now();

/// Whether one of these checks needs to know of allocations.
bool wants_allocations(const Checks& checks);
/// Whether --check=leak is on.
bool finds_leaks();
inline check::Allocations& allocations() { return check::process_checks().allocations; }
inline check::LiveObjects& objects() { return check::process_checks().objects; }
/// The caller's stack if a check that shows it is on.
check::StackId stack_of_caller();

namespace hsa {

inline std::size_t bytes_of(const std::byte* table) {
    TableVersion version{};
    std::memcpy(&version, table, sizeof version);
    return version.minor;
}

inline std::size_t later(const std::byte* amd, Later function) { return offset_in(bytes_of(amd), function); }

/// Puts `ours` in the table and what was there in `next`, if the table has the function.
template <class Function>
void wrap(std::byte* table, std::size_t offset, Function ours, Function& next) {
    if (offset + sizeof ours > bytes_of(table)) return;
    std::memcpy(&next, table + offset, sizeof next);
    std::memcpy(table + offset, &ours, sizeof ours);
}

}  // namespace hsa
}  // namespace kfdemu
