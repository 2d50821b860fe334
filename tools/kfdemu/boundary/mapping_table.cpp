#include "tools/kfdemu/boundary/mapping_table.hpp"

#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>

namespace kfdemu {
namespace {

constexpr std::size_t kMost = 65536;

/// Linux gives each page when it is first used.
void* pages_for(std::size_t size_bytes) {
    // A direct system call: mmap() is interposed, and calls this.
    const long pages =
        syscall(SYS_mmap, nullptr, size_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, off_t{0});
    return pages == -1 ? nullptr : reinterpret_cast<void*>(pages);
}

}  // namespace

MappingTable::Hold::Hold(MappingTable& of) : of_{of} {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
    while (of_.busy_.test_and_set(std::memory_order_acquire)) sched_yield();
}

MappingTable::Hold::~Hold() {
    of_.busy_.clear(std::memory_order_release);
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

MappingTable::MappingTable() : all_{static_cast<Mapping*>(pages_for(kMost * sizeof(Mapping)))} {}

void MappingTable::append(const Mapping& mapping) {
    if (all_ != nullptr && count_ < kMost) all_[count_++] = mapping;
}

void MappingTable::add(const Mapping& mapping) {
    const Hold hold{*this};
    append(mapping);
}

void MappingTable::remove(std::uint64_t begin, std::uint64_t end) {
    const Hold hold{*this};
    for (std::size_t n = 0; n < count_;) {
        const Mapping mapping = all_[n];
        if (mapping.end <= begin || mapping.begin >= end) {
            ++n;
            continue;
        }
        all_[n] = all_[--count_];
        const auto rest = [&](std::uint64_t from, std::uint64_t to) {
            if (from >= to) return;
            Mapping part = mapping;
            if (part.doorbells != nullptr) part.doorbells += from - mapping.begin;
            part.begin = from;
            part.end = to;
            append(part);  // does not overlap: it may be looked at again
        };
        rest(mapping.begin, std::min(mapping.end, begin));
        rest(std::max(mapping.begin, end), mapping.end);
    }
}

std::optional<MappingTable::Mapping> MappingTable::find(std::uint64_t va) {
    std::optional<Mapping> found;
    with(va, [&](const Mapping& mapping) { found = mapping; });
    return found;
}

void MappingTable::reset() {
    busy_.clear(std::memory_order_release);
    count_ = 0;
}

}  // namespace kfdemu
