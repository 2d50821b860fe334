// Who last wrote and read each dword of memory in one dispatch.
//
//     MemoryShadow shadow;                                       // one for a dispatch
//     MemoryShadow::Page* page = shadow.page(va);                // null: the limit is reached
//     const std::lock_guard lock{*page};
//     page->cell(va).write = …
//
// A dword takes 64 bytes, in pages that are allocated when they are first accessed. All shadows of the process together
// have at most a quarter of the machine's memory. Thread safety: page(), any thread; a page's cells, under its lock.
// Pages live as long as the shadow.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <utility>
#include <vector>

namespace kfdemu::check {

class MemoryShadow {
  public:
    enum class Kind : std::uint8_t {
        Plain,
        Atomic,  ///< or a load that looks for what others wrote
        Agreed,  ///< several work-groups or waves wrote the same value
        Waited,  ///< plain, by a wave that had waited for its earlier stores
        Group,   ///< a load that looks for what its own work-group wrote
    };
    struct Record {
        std::uint32_t group = 0;   ///< its number in the dispatch, from 1; 0: unset
        std::uint32_t number = 0;  ///< among the wave's memory instructions
        std::uint32_t tick = 0;    ///< of the dispatch, at that time
        std::uint16_t site = 0;
        std::uint16_t lane : 6 = 0, wave : 5 = 0;
        std::uint16_t bytes : 4 = 0;  ///< of the dword, one bit each
        std::uint16_t kind : 3 = 0;
        std::uint16_t alone : 1 = 0;  ///< of the wave's lanes, only this one
        std::uint16_t kept : 1 = 0;   ///< a store that a cache keeps (CacheModel)

        bool is_set() const { return group != 0; }
        bool is(Kind what) const { return kind == static_cast<std::uint16_t>(what); }
        bool is_plain() const { return is(Kind::Plain) || is(Kind::Waited); }
        bool overlaps(const Record& other) const { return (bytes & other.bytes) != 0; }
    };
    struct Cell {
        Record write, read[2];    ///< the reads of two waves
        std::uint32_t value = 0;  ///< that was written, if it was not by an atomic
    };

    /// The bits of a dword's bytes.
    static constexpr std::uint32_t bits_of(unsigned bytes) {
        std::uint32_t bits = 0;
        for (unsigned n = 0; n < 4; ++n)
            if ((bytes >> n & 1) != 0) bits |= 0xffu << 8 * n;
        return bits;
    }

    class Page {
      public:
        static constexpr std::uint64_t kBytes = 1024;

        Cell& cell(std::uint64_t va) { return cells_[va % kBytes / 4]; }
        const Cell& cell(std::uint64_t va) const { return cells_[va % kBytes / 4]; }
        void lock() {
            while (busy_.test_and_set(std::memory_order_acquire)) {
            }
        }
        void unlock() { busy_.clear(std::memory_order_release); }

      private:
        std::atomic_flag busy_;
        std::array<Cell, kBytes / 4> cells_{};
    };

    MemoryShadow() = default;
    ~MemoryShadow();
    MemoryShadow(const MemoryShadow&) = delete;
    MemoryShadow& operator=(const MemoryShadow&) = delete;

    Page* page(std::uint64_t va);

    /// Of its pages.
    std::size_t bytes() const { return bytes_.load(std::memory_order_relaxed); }
    /// Of the process; 0: a quarter of the machine's memory.
    static void set_limit(std::size_t bytes);

    /// Address and page of all that were accessed.
    std::vector<std::pair<std::uint64_t, const Page*>> pages() {
        std::vector<std::pair<std::uint64_t, const Page*>> all;
        for (Shard& shard : shards_) {
            const std::lock_guard lock{shard.mutex};
            for (const auto& [number, page] : shard.pages) all.emplace_back(number * Page::kBytes, page.get());
        }
        return all;
    }
    /// Null: nothing of it was accessed.
    const Page* find(std::uint64_t va) {
        Shard& shard = shards_[va / Page::kBytes % shards_.size()];
        const std::lock_guard lock{shard.mutex};
        const auto found = shard.pages.find(va / Page::kBytes);
        return found == shard.pages.end() ? nullptr : found->second.get();
    }

    /// Any dword of an aligned part of a page.
    bool is_accessed(std::uint64_t va, std::uint64_t bytes) {
        const Page* page = find(va);
        if (page == nullptr) return false;
        for (std::uint64_t at = va; at < va + bytes; at += 4)
            if (const Cell& cell = page->cell(at);
                cell.write.is_set() || cell.read[0].is_set() || cell.read[1].is_set())
                return true;
        return false;
    }

    bool is_written(std::uint64_t va) {
        const Page* page = find(va);
        return page != nullptr && page->cell(va).write.group != 0;
    }

  private:
    struct Shard {
        std::mutex mutex;
        std::unordered_map<std::uint64_t, std::unique_ptr<Page>> pages;
    };
    std::array<Shard, 64> shards_;
    std::atomic<std::size_t> bytes_{0};  // relaxed: a counter
};

}  // namespace kfdemu::check
