#include "row.hpp"

namespace kfdemu::isa {
namespace {

using enum Type;

constexpr Row kRows[] = {
#define KFDEMU_ROW(format, opcode, name, on, dst, a, b, c, attributes) \
    {#name, opcode, Format::format, targets::on, dst, {a, b, c}, attributes},
#include "rows.inc"
#undef KFDEMU_ROW
};
static_assert(sizeof kRows / sizeof *kRows == kRowCount);

}  // namespace

std::span<const Row> rows() { return kRows; }

const char* name(Target target) {
    switch (target) {
        case Target::gfx900:
            return "gfx900";
        case Target::gfx906:
            return "gfx906";
        case Target::gfx908:
            return "gfx908";
        case Target::gfx90a:
            return "gfx90a";
    }
    return "gfx9";
}

unsigned dwords(Type type) {
    switch (type) {
        case none:
        case mask:
        case simm:
        case uimm:
        case hex:
        case label:
        case special:
            return type == mask ? 2 : 0;
        case b64:
        case u64:
        case i64:
        case f64:
        case pkf32:
            return 2;
        case b96:
            return 3;
        case b128:
            return 4;
        case b160:
            return 5;
        case b256:
            return 8;
        case b512:
            return 16;
        case b1024:
            return 32;
        default:
            return 1;
    }
}

}  // namespace kfdemu::isa
