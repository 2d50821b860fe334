#include "hsadrv/base/lock_rank.hpp"

#ifndef NDEBUG
#include <array>
#include <cstdio>
#include <cstdlib>

namespace hsadrv::detail::lock_ranks {

namespace {

constexpr std::array names{
    "a stream's handle", "the list of streams", "a stream", "the pool of queues", "a queue", "a stream's copies",
    "the engines' room", "the callbacks",       "a leaf"};
thread_local std::array<unsigned, names.size()> held{};

std::size_t number(LockRank rank) noexcept { return static_cast<std::size_t>(rank); }

}  // namespace

void wait_for(LockRank rank) noexcept {
    for (std::size_t i = number(rank); i < held.size(); ++i) {
        if (held[i] == 0) continue;
        std::fprintf(stderr, "hsadrv: the lock of %s is waited for by a thread that has that of %s (lock_rank.hpp)\n",
                     names[number(rank)], names[i]);
        std::abort();
    }
}

void took(LockRank rank) noexcept { ++held[number(rank)]; }
void gave_back(LockRank rank) noexcept { --held[number(rank)]; }

}  // namespace hsadrv::detail::lock_ranks
#endif
