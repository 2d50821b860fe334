#include "tools/kfdemu/dispatch/code_cache.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <utility>

#include "tools/kfdemu/base/user_memory.hpp"

namespace kfdemu {
namespace {

/// As many waves take longer than planning a page.
constexpr std::uint64_t kVisitsBefore = 64;

std::uint64_t page_begin(const AddressSpace::Range& range, std::uint64_t pc) {
    return std::max((range.begin + 3) & ~std::uint64_t{3}, pc & ~(kCodePageBytes - 1));
}
std::uint64_t page_end(const AddressSpace::Range& range, std::uint64_t pc) {
    return std::min(range.end & ~std::uint64_t{3}, (pc & ~(kCodePageBytes - 1)) + kCodePageBytes);
}

/// Copies code. The caller has the cache's mutex, so a fault must not end it by a jump: user pages are read by the
/// kernel. What it cannot read is 0, an illegal instruction.
void copy(void* to, const AddressSpace::Range& range, std::uint64_t va, std::size_t size_bytes) {
    if (!range.user_pages) {
        std::memcpy(to, range.at(va), size_bytes);
    } else if (user::copy_in(to, reinterpret_cast<std::uint64_t>(range.at(va)), size_bytes) != 0) {
        std::memset(to, 0, size_bytes);
    }
}

/// The dwords of the page, and up to two after it: an instruction may cross the end.
std::vector<std::uint32_t> read_dwords(const AddressSpace& space, const AddressSpace::Range& range, std::uint64_t begin,
                                       std::uint64_t end) {
    std::vector<std::uint32_t> dwords((end - begin) / 4);
    copy(dwords.data(), range, begin, end - begin);
    for (std::uint64_t va = end; va < end + 8; va += 4) {
        const AddressSpace::Range* next = range.contains(va, 4) ? &range : space.find(va);
        if (next == nullptr || !next->contains(va, 4) || !next->allows(kExecute)) break;
        copy(&dwords.emplace_back(), *next, va, 4);
    }
    return dwords;
}

}  // namespace

CodeCache::Use::Use(CodeCache& cache) : cache_{cache} {
    const std::lock_guard lock{cache_.mutex_};
    ++cache_.users_;
}

CodeCache::Use::~Use() {
    const std::lock_guard lock{cache_.mutex_};
    if (--cache_.users_ == 0) cache_.retired_.clear();
}

std::uint64_t CodeCache::new_serial() {
    static std::atomic<std::uint64_t> last{0};
    return last.fetch_add(1, std::memory_order_relaxed) + 1;
}

std::unique_ptr<CodePage> CodeCache::decode(std::uint64_t begin, std::uint64_t end, unsigned width,
                                            std::vector<std::uint32_t> dwords) const {
    auto page = std::make_unique<CodePage>();
    page->begin = begin;
    page->end = end;
    page->width = width;
    page->dwords = std::move(dwords);
    page->slots.resize((end - begin) / 4 + isa::Decoder::kEnds);
    isa::Decoder{target_, level_, width}.decode_page(begin, page->dwords, page->slots);
    page->planned = translated_ == jit::When::never;
    if (translated_ == jit::When::always) plan(*page);
    return page;
}

void CodeCache::plan(CodePage& page) const {
    page.runs = jit::PageRuns{page.slots, level_, page.width, translated_};
    page.planned = true;
}

const CodePage* CodeCache::find(const AddressSpace& space, std::uint64_t pc, unsigned width,
                                std::uint64_t dispatch_serial, std::uint64_t visits) {
    const AddressSpace::Range* range = (pc & 3) == 0 ? space.find(pc) : nullptr;
    if (range == nullptr || !range->allows(kExecute)) return nullptr;
    const std::uint64_t begin = page_begin(*range, pc), end = page_end(*range, pc);
    if (pc < begin || pc >= end) return nullptr;

    const std::lock_guard lock{mutex_};
    std::unique_ptr<CodePage>& page = (width == isa::kMostLanes ? pages_ : narrow_pages_)[begin];
    const bool verified = page != nullptr && page->verified_for == dispatch_serial && page->end == end;
    const bool hot = page != nullptr && !page->planned && (page->visits += visits) >= kVisitsBefore;
    if (verified && !hot) return page.get();
    // What the code was when the dispatch first entered it, as in an instruction cache.
    std::vector<std::uint32_t> dwords = verified ? page->dwords : read_dwords(space, *range, begin, end);
    if (page == nullptr || hot || page->end != end || page->dwords != dwords) {
        if (page != nullptr) retired_.push_back(std::move(page));
        page = decode(begin, end, width, std::move(dwords));
        if (hot) plan(*page);
    }
    page->verified_for = dispatch_serial;
    return page.get();
}

}  // namespace kfdemu
