// Watches the program's own accesses of device memory for `fence`, by userfaultfd: an access of a page that is not in
// its page table waits for a thread of ours.
//
//     host_pages::mapped(va, size, doorbells);    // the program has mapped a part of a device file
//     host_pages::unmapping(va, size);            // before it unmaps, or maps something else
//     host_pages::follow_checks();                // `fence` may have been switched on again
//
// Pages are taken out of the page table with each doorbell, so each page's first access since then is seen. The
// doorbell's own page is as well: its store waits until that is done. Needs Linux 5.18 and the right to handle faults
// of system calls, which root has; without, a note says so. What was mapped before `fence` was first on is not watched.
// Thread safety: every function, any thread; mapped() and unmapping() also within an allocator.
#pragma once

#include <cstddef>
#include <cstdint>

namespace kfdemu::host_pages {

/// `doorbells`: the emulator's own mapping of them; null: it is memory.
void mapped(std::uint64_t va, std::size_t size_bytes, const std::byte* doorbells);
void unmapping(std::uint64_t va, std::size_t size_bytes);
void follow_checks();

}  // namespace kfdemu::host_pages
