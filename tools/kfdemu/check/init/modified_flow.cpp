// DPP and SDWA: executed on undefined bits, so that they move exactly as the values do.
#include <algorithm>
#include <bit>

#include "tools/kfdemu/check/init/vector_flow.hpp"

namespace kfdemu::check {
namespace {

using namespace isa;

enum : unsigned { kFrom = 0, kTo = 1 };

/// The instruction as a move from one register of the shadow wave to another.
Inst as_move(const Inst& inst) {
    Inst move = inst;
    move.format = Format::Vop1;
    move.src[0] = ShadowWave::operand(kFrom);
    move.dst = ShadowWave::operand(kTo);
    move.neg = move.abs = move.omod = move.op_sel = 0;
    move.clamp = false;
    move.flags = kPrepare;
    return move;
}

void move_lanes(ShadowWave& shadow, const Inst& move, std::uint32_t* lanes) {
    std::copy_n(lanes, shadow.width(), shadow.lanes(kFrom));
    std::fill_n(shadow.lanes(kTo), shadow.width(), 0);
    shadow.run(move, Op::v_mov_b32);
    std::copy_n(shadow.lanes(kTo), shadow.width(), lanes);
}

constexpr unsigned kDword = 6;

}  // namespace

std::uint64_t written_lanes(const Flow& flow) {
    if (!flow.inst.moves_lanes()) return flow.wave.exec();
    ShadowWave& shadow = flow.shared.wave;
    shadow.prepare(flow.wave);
    std::fill_n(shadow.lanes(kFrom), shadow.width(), 0);
    std::fill_n(shadow.lanes(kTo), shadow.width(), 1);
    shadow.run(as_move(flow.inst), Op::v_mov_b32);
    std::uint64_t lanes = 0;
    for (unsigned l = 0; l < shadow.width(); ++l) lanes |= std::uint64_t{shadow.lanes(kTo)[l] == 0} << l;
    return lanes;
}

void modify_source(const Flow& flow, unsigned n, Column& column) {
    const Inst& inst = flow.inst;
    ShadowWave& shadow = flow.shared.wave;
    Inst move = as_move(inst);
    shadow.prepare(flow.wave);
    if (inst.moves_lanes() && n == 0) {
        for (std::uint32_t* lanes : {column.value, column.bits, column.origin}) move_lanes(shadow, move, lanes);
    }
    if (inst.form == Form::Sdwa && n < 2) {
        const std::uint32_t field = inst.literal >> (16 + 8 * n) & 0xf;
        move.literal = field << 16 | kDword << 8;
        for (std::uint32_t* lanes : {column.value, column.bits}) move_lanes(shadow, move, lanes);
    }
}

void modify_result(const Flow& flow, Column& column) {
    ShadowWave& shadow = flow.shared.wave;
    shadow.prepare(flow.wave);
    Inst place = as_move(flow.inst);
    place.literal = (flow.inst.literal & 0x1f00) | kDword << 16;
    place.flags = kPrepare | kFinish;
    std::copy_n(column.bits, shadow.width(), shadow.lanes(kFrom));
    for (unsigned l = 0; l < shadow.width(); ++l) {
        const Undefined old = flow.own.registers.at(flow.inst.dst, l);
        shadow.lanes(kTo)[l] = old.bits;
        if (column.bits[l] == 0) column.origin[l] = old.origin;
    }
    shadow.run(place, Op::v_mov_b32);
    std::copy_n(shadow.lanes(kTo), shadow.width(), column.bits);
}

}  // namespace kfdemu::check
