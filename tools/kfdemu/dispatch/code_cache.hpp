// A cache of decoded instructions of one GPU, by page and width of the waves.
//
//     CodeCache::Use use{cache};                                        // while it exists, pages found stay valid
//     const CodePage* page = cache.find(space, pc, width, serial);      // nullptr: not executable memory
//     const isa::Inst* inst = page->at(pc);
//
// A page keeps the bytes from which it was decoded. When a dispatch first enters the page, they are compared with
// memory, because other code may have been loaded at the same address. A changed page is decoded again, and so is one
// that is entered often, which then has stretches for translation: planning them takes as long as a short kernel. The
// old page is freed when no Use exists. Thread safety: any thread; a page is immutable. Memory ordering: the mutex
// publishes pages.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "tools/kfdemu/base/address_space.hpp"
#include "tools/kfdemu/isa/encodings/decode.hpp"
#include "tools/kfdemu/jit/page_runs.hpp"

namespace kfdemu {

inline constexpr std::uint64_t kCodePageBytes = 4096;

struct CodePage {
    std::uint64_t begin = 0, end = 0;   ///< addresses: one page, or the part of it that is mapped
    std::vector<std::uint32_t> dwords;  ///< the decoded bytes, and up to two after the page, as far as they are mapped
    std::vector<isa::Inst> slots;
    unsigned width = 0;  ///< of the waves that the slots execute
    jit::PageRuns runs;
    bool planned = false;  ///< `runs` are what they will be
    // Guarded by the cache's mutex:
    std::uint64_t verified_for = 0;  ///< serial of the last dispatch that compared
    std::uint64_t visits = 0;        ///< by waves

    bool contains(std::uint64_t pc) const { return pc >= begin && pc < end; }
    const isa::Inst* at(std::uint64_t pc) const { return &slots[(pc - begin) / 4]; }
};

class CodeCache {
  public:
    /// Held while code runs. Borrows: the cache.
    class Use {
      public:
        explicit Use(CodeCache& cache);
        ~Use();
        Use(const Use&) = delete;
        Use& operator=(const Use&) = delete;

      private:
        CodeCache& cache_;
    };

    explicit CodeCache(isa::Target target, jit::When translated = jit::When::hot, isa::Level level = isa::best_level())
        : target_{target}, level_{level}, translated_{translated} {}

    isa::Target target() const { return target_; }
    /// A new serial number for a dispatch, of all GPUs, never 0.
    static std::uint64_t new_serial();
    /// Requires a Hold of `space` in the calling thread, and a Use. `visits`: of waves since the last call, this one's
    /// included.
    const CodePage* find(const AddressSpace& space, std::uint64_t pc, unsigned width, std::uint64_t dispatch_serial,
                         std::uint64_t visits = 1);
    /// Visits of a page that is not planned, after which find() is to be called again.
    static constexpr std::uint64_t kVisitsAtOnce = 16;

  private:
    using Pages = std::unordered_map<std::uint64_t, std::unique_ptr<CodePage>>;  // by begin

    std::unique_ptr<CodePage> decode(std::uint64_t begin, std::uint64_t end, unsigned width,
                                     std::vector<std::uint32_t> dwords) const;
    void plan(CodePage& page) const;

    const isa::Target target_;
    const isa::Level level_;
    const jit::When translated_;
    std::mutex mutex_;
    Pages pages_, narrow_pages_;  // of 64 lanes, of 32
    std::vector<std::unique_ptr<CodePage>> retired_;
    int users_ = 0;
};

}  // namespace kfdemu
