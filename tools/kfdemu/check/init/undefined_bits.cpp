#include "tools/kfdemu/check/init/undefined_bits.hpp"

namespace kfdemu::check {
std::int64_t sign_extended(std::uint64_t value, unsigned width) {
    const unsigned up = 64 - width;
    return static_cast<std::int64_t>(value << up) >> up;
}

Bits logical_not(Bits a, unsigned width) { return {~a.value & low_bits(width), a.undefined}; }
Bits logical_and(Bits a, Bits b) {
    return {a.value & b.value, (a.undefined & b.undefined) | (a.undefined & b.value & ~b.undefined) |
                                   (b.undefined & a.value & ~a.undefined)};
}
Bits logical_or(Bits a, Bits b) {
    return {a.value | b.value, (a.undefined & b.undefined) | (a.undefined & ~b.most()) | (b.undefined & ~a.most())};
}
Bits logical_xor(Bits a, Bits b) { return {a.value ^ b.value, a.undefined | b.undefined}; }

Bits add(Bits a, Bits b, unsigned width) {
    const std::uint64_t differs = (a.least() + b.least()) ^ (a.most() + b.most());
    return {(a.value + b.value) & low_bits(width), (a.undefined | b.undefined | differs) & low_bits(width)};
}
Bits subtract(Bits a, Bits b, unsigned width) {
    const std::uint64_t differs = (a.least() - b.most()) ^ (a.most() - b.least());
    return {(a.value - b.value) & low_bits(width), (a.undefined | b.undefined | differs) & low_bits(width)};
}

Bits shift_left(Bits a, Bits distance, unsigned width) {
    const std::uint64_t kept = low_bits(width), places = width - 1;
    if ((distance.undefined & places) != 0) return {0, a.value == 0 && !a.any() ? 0 : kept};
    const std::uint64_t by = distance.value & places;
    return {a.value << by & kept, a.undefined << by & kept};
}
Bits shift_right(Bits a, Bits distance, unsigned width) {
    const std::uint64_t kept = low_bits(width), places = width - 1;
    if ((distance.undefined & places) != 0) return {0, a.value == 0 && !a.any() ? 0 : kept};
    const std::uint64_t by = distance.value & places;
    return {(a.value & kept) >> by, (a.undefined & kept) >> by};
}
Bits shift_right_signed(Bits a, Bits distance, unsigned width) {
    const std::uint64_t kept = low_bits(width), places = width - 1;
    if ((distance.undefined & places) != 0) return {0, a.value == 0 && !a.any() ? 0 : kept};
    const std::uint64_t by = distance.value & places;
    const auto moved = [&](std::uint64_t v) {
        return static_cast<std::uint64_t>(sign_extended(v, width) >> by) & kept;
    };
    return {moved(a.value), moved(a.undefined)};
}

Bits select(Bits condition, Bits yes, Bits no) {
    const Bits& taken = (condition.value & 1) != 0 ? yes : no;
    if ((condition.undefined & 1) == 0) return taken;
    return {taken.value, yes.undefined | no.undefined | (yes.value ^ no.value)};
}

bool nonzero_is_undefined(Bits a) { return a.any() && a.least() == 0; }
bool equality_is_undefined(Bits a, Bits b) {
    const std::uint64_t undefined = a.undefined | b.undefined;
    return undefined != 0 && ((a.value ^ b.value) & ~undefined) == 0;
}
bool order_is_undefined(Bits a, Bits b, bool is_signed, unsigned width) {
    if (!a.any() && !b.any()) return false;
    // Flipping the sign bit makes signed numbers compare as unsigned ones.
    const std::uint64_t turn = is_signed ? std::uint64_t{1} << (width - 1) : 0;
    a.value ^= turn, b.value ^= turn;
    return (a.least() < b.most()) != (a.most() < b.least());
}

bool carry_is_undefined(Bits a, Bits b, Bits carry, unsigned width) {
    const auto out = [&](std::uint64_t x, std::uint64_t y, std::uint64_t c) { return x + y + c > low_bits(width); };
    return out(a.least(), b.least(), carry.least() & 1) != out(a.most(), b.most(), carry.most() & 1);
}
bool borrow_is_undefined(Bits a, Bits b, Bits carry) {
    const auto out = [](std::uint64_t x, std::uint64_t y, std::uint64_t c) { return y + c > x; };
    return out(a.least(), b.most(), carry.most() & 1) != out(a.most(), b.least(), carry.least() & 1);
}

}  // namespace kfdemu::check
