// One operation on a part's lanes, of sources that are in vectors, as instructions of AVX2 or AVX-512. Internal to
// translator.cpp. Thread safety: none.
#pragma once

#include "tools/kfdemu/jit/mask_code.hpp"

namespace kfdemu::jit {

class LaneCode : protected MaskCode {
  protected:
    using MaskCode::MaskCode;

    void operate(const LaneOp& op, const Xmm& d, const Xmm& a, const Xmm& b, const Xmm& c) {
        switch (op.lane) {
            case Lane::scalar:
            case Lane::load_lds:
            case Lane::load_global:
            case Lane::store_global:
            case Lane::fma_f:
            case Lane::compare_f:
            case Lane::compare_i:
            case Lane::compare_u:
            case Lane::compare_i16:
            case Lane::compare_u16:
                return;
            case Lane::move:
                return vmovaps(d, a);
            case Lane::negate:
                return vxorps(d, a, constant(~0u));
            case Lane::select:
                return select(op.mask_in, d, a, b);
            case Lane::add_f:
                return vaddps(d, a, b);
            case Lane::sub_f:
                return vsubps(d, a, b);
            case Lane::mul_f:
                return vmulps(d, a, b);
            case Lane::mad_f:
                return multiply_add(d, a, b, c);
            case Lane::min_f:
            case Lane::max_f:
                return extreme(d, a, b, op.lane == Lane::max_f);
            case Lane::round_f:
                return wide_ ? vrndscaleps(d, a, op.code) : vroundps(d, a, op.code);
            case Lane::convert_i:
                return vcvtdq2ps(d, a);
            case Lane::convert_u:
                return vcvtudq2ps(d, a);
            case Lane::add:
                return vpaddd(d, a, b);
            case Lane::sub:
                return vpsubd(d, a, b);
            case Lane::bit_and:
                return vandps(d, a, b);
            case Lane::bit_or:
                return vorps(d, a, b);
            case Lane::bit_xor:
                return vxorps(d, a, b);
            case Lane::min_i:
                return vpminsd(d, a, b);
            case Lane::max_i:
                return vpmaxsd(d, a, b);
            case Lane::min_u:
                return vpminud(d, a, b);
            case Lane::max_u:
                return vpmaxud(d, a, b);
            case Lane::shift_right:
                return shift(Shift::right, op.source[1], d, a, b);
            case Lane::shift_right_signed:
                return shift(Shift::right_signed, op.source[1], d, a, b);
            case Lane::shift_left:
                return shift(Shift::left, op.source[1], d, a, b);
            case Lane::mul_low:
                return vpmulld(d, a, b);
            case Lane::mul_high:
                return multiply_high(d, a, b);
            case Lane::add_16:
                vpaddd(d, a, b);
                return vandps(d, d, constant(0xffff));
            case Lane::sub_16:
                vpsubd(d, a, b);
                return vandps(d, d, constant(0xffff));
            case Lane::mul_16:
                vpmulld(d, a, b);
                return vandps(d, d, constant(0xffff));
            case Lane::mul_u24:
                return multiply_24(d, a, b);
            case Lane::mad_u24:
                multiply_24(d, a, b);
                return vpaddd(d, d, c);
            case Lane::align_bits:
                return align_bits(op, d, a, b, c);
            case Lane::insert_bits:
                return insert_bits(d, a, b, c);
            case Lane::extract:
                return extract(op, d, a, b, c);
            case Lane::shift_left_add:
                shift(Shift::left, op.source[1], d, a, b);
                return vpaddd(d, d, c);
            case Lane::add_shift_left:
                vpaddd(d, a, b);
                return shift(Shift::left, op.source[2], d, d, c);
            case Lane::add3:
                vpaddd(d, a, b);
                return vpaddd(d, d, c);
            case Lane::shift_left_or:
                shift(Shift::left, op.source[1], d, a, b);
                return vorps(d, d, c);
            case Lane::and_or:
                vandps(d, a, b);
                return vorps(d, d, c);
            case Lane::or3:
                vorps(d, a, b);
                return vorps(d, d, c);
            case Lane::xor3:
                vxorps(d, a, b);
                return vxorps(d, d, c);
            case Lane::xor_add:
                vxorps(d, a, b);
                return vpaddd(d, d, c);
            case Lane::add_carry:
                vpaddd(d, a, b);
                return put_mask(op.mask_out, less_unsigned(d, a));
            case Lane::sub_carry:
                vpsubd(d, a, b);
                return put_mask(op.mask_out, less_unsigned(a, b));
            case Lane::add_with_carry:
                return add_with_carry(op, d, a, b);
            case Lane::sub_with_carry:
                return sub_with_carry(op, d, a, b);
        }
    }
};

}  // namespace kfdemu::jit
