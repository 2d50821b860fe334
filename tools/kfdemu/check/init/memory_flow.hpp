// Undefined bits through memory instructions: LDS and scratch keep them; reports addresses made of them, and stores of
// them to memory that others read.
//
//     MemoryFlow{flow}.run();
//
// A store to memory is reported if what it stores was computed from undefined bits, or is undefined as a whole; copies
// of structures with padding are neither. What is stored is then taken to be defined. Thread safety: that of its
// work-group.
#pragma once

#include "tools/kfdemu/check/flow/access.hpp"
#include "tools/kfdemu/check/init/flow.hpp"

namespace kfdemu::check {

class MemoryFlow {
  public:
    explicit MemoryFlow(const Flow& flow);

    void run();

  private:
    void addresses();
    void address_part(isa::Operand operand, unsigned count);
    void move_between_lanes();
    void unknown_access();
    void loads(const Access& access, unsigned number);
    void transposed_loads(const Access& access);
    void fresh_loads(const Access& access, const Access* whole);
    void stores(const Access& access, unsigned number);
    void memory_atomic(const Access& access, isa::Operand data, unsigned count);
    void atomic(const Access& access, unsigned number);
    void define_results(std::uint64_t lanes);
    bool is_above_gcc_stack(std::uint64_t va) const;
    void check_stored(const Access& access, isa::Operand data, unsigned count, unsigned shift);
    Undefined fresh(std::uint64_t va, unsigned bytes);
    DefinedMemory* memory_of(const Access& access);
    unsigned lane_in(const Access& access, unsigned lane) const;
    Undefined never_written(const Access& access, unsigned lane, unsigned dword, Undefined found);
    isa::Operand data_of(unsigned number) const;

    const Flow& flow_;
    const isa::Inst& inst_;
    const isa::Row& row_;
};

}  // namespace kfdemu::check
