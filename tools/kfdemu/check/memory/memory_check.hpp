// Reports accesses outside of the program's allocations, of freed memory, and outside of a work-group's LDS, a lane's
// scratch and a kernel's arguments.
//
//     MemoryCheck check;                         // one for a work-group
//     check.before(scene, wave, inst, segments); // each access
//     check.faulted(scene, wave, inst);          // the access faulted: explains where
//
// Thread safety: that of its work-group.
#pragma once

#include <array>
#include <optional>

#include "tools/kfdemu/check/flow/access.hpp"
#include "tools/kfdemu/check/flow/scene.hpp"

namespace kfdemu::check {

class MemoryCheck {
  public:
    void before(const Scene& scene, const isa::Wave& wave, const isa::Inst& inst, const Segments& segments);
    void faulted(const Scene& scene, const isa::Wave& wave, const isa::Inst& inst);

  private:
    struct Where {
        const Scene& scene;
        const isa::Wave& wave;
        const isa::Inst& inst;
    };
    void memory(const Where& where, const Access& access);
    std::optional<std::uint64_t> first_wrong(const Allocations& allocations, const Access& access, unsigned lane);
    static void tell(const Where& where, const Access& access, unsigned lane, std::uint64_t va, Span::Kind kind);
    void segment(const Where& where, const Access& access, std::uint32_t size);
    bool beyond_arguments(const Where& where, const Access& access);
    const Span& span(const Allocations& allocations, std::uint64_t va);
    bool fine(std::uint64_t va, std::uint64_t bytes, bool writes) const;

    // The spans used last. Valid for one generation of the allocations.
    std::array<Span, 4> spans_{};
    unsigned next_ = 0;
    std::uint64_t generation_ = 0;
};

}  // namespace kfdemu::check
