#include "tools/kfdemu/check/init/defined_memory.hpp"

#include <algorithm>
#include <cstring>

namespace kfdemu::check {

void DefinedMemory::begin(unsigned lanes, std::uint32_t bytes) {
    const std::uint32_t rounded = (bytes + 3) / 4 * 4;
    const std::size_t size = std::size_t{lanes} * rounded;
    if (lanes != lanes_ || rounded != bytes_) {
        lanes_ = lanes, bytes_ = rounded;
        bits_.assign(size, 0xff);
        origins_.assign(size / 4, 0);
    } else {
        start_again();
    }
    touched_ = 0;
    undefined_bytes_ = size;
}

void DefinedMemory::start_again() {
    if (touched_ == 0) return;
    for (std::size_t lane = 0; lane < lanes_; ++lane) {
        std::memset(bits_.data() + lane * bytes_, 0xff, touched_);
        std::fill_n(origins_.begin() + static_cast<std::ptrdiff_t>(lane * bytes_ / 4), touched_ / 4, 0);
    }
}

void DefinedMemory::define_all() {
    if (!any()) return;
    std::fill(bits_.begin(), bits_.end(), std::uint8_t{0});
    touched_ = bytes_;
    undefined_bytes_ = 0;
}

void DefinedMemory::load(unsigned lane, std::uint64_t offset, unsigned bytes, Undefined* data) const {
    for (unsigned k = 0; k < bytes; k += 4) data[k / 4] = {};
    if (!any() || !inside(offset, bytes)) return;
    const std::size_t at = std::size_t{lane} * bytes_ + offset;
    for (unsigned k = 0; k < bytes; k += 4) {
        Undefined& dword = data[k / 4];
        std::memcpy(&dword.bits, bits_.data() + at + k, std::min(bytes - k, 4u));
        if (dword.bits == 0) continue;
        const std::size_t first = at + k;
        dword.origin = origins_[first / 4];
        // An unaligned dword has two origins.
        if (dword.origin == 0 && first % 4 != 0 && first / 4 + 1 < origins_.size())
            dword.origin = origins_[first / 4 + 1];
    }
}

void DefinedMemory::store(unsigned lane, std::uint64_t offset, unsigned bytes, const Undefined* data) {
    if (!inside(offset, bytes)) return;
    const std::size_t at = std::size_t{lane} * bytes_ + offset;
    touched_ = std::max(touched_, static_cast<std::uint32_t>((offset + bytes + 3) / 4 * 4));
    for (unsigned k = 0; k < bytes; ++k) {
        const auto now = static_cast<std::uint8_t>(data[k / 4].bits >> 8 * (k % 4));
        std::uint8_t& bits = bits_[at + k];
        undefined_bytes_ = undefined_bytes_ - (bits != 0) + (now != 0);
        bits = now;
        if (now != 0) origins_[(at + k) / 4] = data[k / 4].origin;
    }
}

}  // namespace kfdemu::check
