#include "tools/kfdemu/jit/operation_rows.hpp"

namespace kfdemu::jit {
namespace {

/// What a row's translation column says.
namespace column {

using enum Order;

constexpr Entry interpreted, nothing{How::nothing}, number{How::number}, packed_move{How::packed_move},
    wide_shift_left{How::wide_shift_left};
constexpr Entry loads_scalar(std::uint8_t dwords) { return {How::loads_scalar, {}, {}, dwords}; }
constexpr Entry loads_lds(std::uint8_t dwords) { return {How::loads_lds, {}, {}, dwords}; }
constexpr Entry loads_lds_twice(std::uint8_t dwords, std::uint8_t stride) {
    return {How::loads_lds_twice, {}, {}, dwords, straight, stride};
}
constexpr Entry on_lanes(How how, Lane what, std::uint8_t sources, Order order = straight, std::uint8_t code = 0) {
    return {how, what, {}, sources, order, code};
}
constexpr Entry on_scalars(Scalar what, std::uint8_t sources) { return {How::scalar, {}, what, sources}; }

#define lane(what, ...) on_lanes(How::lane, Lane::what, __VA_ARGS__)
#define compare(what, code) on_lanes(How::lane, Lane::what, 2, straight, code)
#define not_translated(what, code) interpreted
#define packed(what, sources) on_lanes(How::packed, Lane::what, sources)
#define global(what) on_lanes(How::global, Lane::what, 0)
#define scalar(what, sources) on_scalars(Scalar::what, sources)
#define KFDEMU_ROW(format, opcodes, name, on, dst, a, b, c, attributes, shape, flow, translation) translation,
constexpr Entry kEntries[] = {
#include "tools/kfdemu/isa/rows/rows.inc"
};
#undef lane
#undef compare
#undef not_translated
#undef packed
#undef global
#undef scalar
#undef KFDEMU_ROW

}  // namespace column
}  // namespace

const Entry& entry_of(isa::Op op) { return column::kEntries[isa::index(op)]; }

}  // namespace kfdemu::jit
