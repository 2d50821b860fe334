// Which bits of LDS, or of the lanes' scratch, were written: a byte of undefined bits for each byte.
//
//     memory.begin(1, lds_bytes);
//     memory.store(lane, offset, bytes, data);       // data: undefined bits and origins, by dword
//     if (memory.any()) memory.load(lane, offset, bytes, data);
//
// What is outside is defined: LDS reads as zero there. Thread safety: that of its work-group.
#pragma once

#include <cstdint>
#include <vector>

#include "tools/kfdemu/check/init/defined_registers.hpp"

namespace kfdemu::check {

class DefinedMemory {
  public:
    /// `lanes` segments of so many bytes each, all undefined.
    void begin(unsigned lanes, std::uint32_t bytes);
    void define_all();

    /// Whether there may be undefined bits.
    bool any() const { return undefined_bytes_ != 0; }
    /// The first `bytes` bytes; `data` has a dword for each four of them. Origin 0: never written.
    void load(unsigned lane, std::uint64_t offset, unsigned bytes, Undefined* data) const;
    void store(unsigned lane, std::uint64_t offset, unsigned bytes, const Undefined* data);

  private:
    bool inside(std::uint64_t offset, unsigned bytes) const { return offset <= bytes_ && bytes <= bytes_ - offset; }
    void start_again();

    unsigned lanes_ = 0;
    std::uint32_t bytes_ = 0, touched_ = 0;  ///< touched_: bytes of each lane that are not as begin() left them
    std::uint64_t undefined_bytes_ = 0;
    std::vector<std::uint8_t> bits_;
    std::vector<Origin> origins_;  ///< by dword
};

}  // namespace kfdemu::check
