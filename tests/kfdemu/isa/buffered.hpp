// A Machine with LDS and a page of memory.
//
//     Buffered b;
//     b.put(16, 0x1234u);
//     b.run(buffer_load_dword...);
//     b.at<std::uint32_t>(16)
//
// Thread safety: one thread at a time.
#pragma once

#include "tests/kfdemu/isa/bytes.hpp"
#include "tests/kfdemu/isa/machine.hpp"
#include "tools/kfdemu/base/address_space.hpp"
#include "tools/kfdemu/isa/memory/tlb.hpp"
#include "tools/kfdemu/isa/rows/traits.hpp"

namespace test_isa {

inline constexpr u64 kBase = 0x100000;
inline constexpr u32 kSize = 4096;

/// A wave with LDS and a page of memory, to which s[8:11] is a raw buffer of 1024 bytes.
class Buffered {
  public:
    explicit Buffered(Level level = kfdemu::isa::best_level(), Target target = Target::gfx90a,
                      unsigned width = kfdemu::isa::kMostLanes)
        : machine{target, level, width} {
        space_.map({kBase, kBase + kSize, bytes_.data(), kfdemu::kRead | kfdemu::kWrite, 1, false});
        machine.wave().memory = &space_;
        machine.wave().tlb = &tlb_;
        machine.wave().lds = lds_.data();
        machine.wave().lds_size_bytes = sizeof lds_;
        resource(0, 0, 0);
        if (kfdemu::isa::traits_of(target).unified_formats) machine.sgpr(11) = 3u << 28;  // OOB_SELECT: bytes
        machine.exec(1);
    }
    void resource(u32 data_format, u32 number_format, u32 select) {
        machine.sgpr(8) = static_cast<u32>(kBase);
        machine.sgpr(9) = 0;
        machine.sgpr(10) = 1024;
        machine.sgpr(11) = select | number_format << 12 | data_format << 15;
    }
    Stop run(const std::vector<u32>& code) {
        const kfdemu::AddressSpace::Hold hold{space_};
        tlb_.flush();
        return machine.run(code);
    }
    template <class T>
    T at(unsigned offset) const {
        return bytes_.at<T>(offset);
    }
    template <class T>
    void put(unsigned offset, T value) {
        bytes_.put(offset, value);
    }
    u32 lds(unsigned offset) const { return lds_.at<u32>(offset); }
    void put_lds(unsigned offset, u32 value) { lds_.put(offset, value); }

    Machine machine;

  private:
    kfdemu::AddressSpace space_;
    kfdemu::isa::Tlb tlb_;
    Bytes<kSize> bytes_;
    Bytes<1024> lds_;
};

}  // namespace test_isa
