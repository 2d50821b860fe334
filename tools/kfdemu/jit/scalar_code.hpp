// The operations on scalars that a stretch does first, in Wave::s and Wave::scc. Internal to translator.cpp. Thread
// safety: none.
#pragma once

#include <bit>

#include "tools/kfdemu/isa/wave/wave.hpp"
#include "tools/kfdemu/jit/global_code.hpp"

namespace kfdemu::jit {

class ScalarCode : protected GlobalCode {
  protected:
    using GlobalCode::GlobalCode;

    /// Jumps to `not_begun` from a load that is not in the Tlb.
    void scalar_operation(const LaneOp& op, const Label& not_begun) {
        const Scalar what{op.code};
        if (what == Scalar::load) return load(op, not_begun);
        fetch(r9d, op.source[0]);
        if (op.source[1].kind != Source::Kind::none) fetch(r11d, op.source[1]);
        compute(what);
        mov(dword[rsi + op.dst * 4], r9d);
        if (what == Scalar::move || what == Scalar::mul_low) return;
        if (what >= Scalar::add) return setc(scc());
        test(r9d, r9d);
        setnz(scc());
    }

  private:
    void load(const LaneOp& op, const Label& not_begun) {
        mov(r12, qword[rsi + op.base * 4]);
        if (op.offset_bytes != 0) add(r12, op.offset_bytes);
        and_(r12, -4);
        const int bytes = 4 * op.dwords;
        constexpr unsigned of_each_size = kOfEach / 4;
        const auto size = static_cast<unsigned>(std::countr_zero(unsigned{op.dwords}));
        find_host({kOfScalars + size * of_each_size + loads_++ % of_each_size, bytes, kRead}, bytes, not_begun);
        const Xbyak::Address to = ptr[rsi + op.dst * 4];
        switch (op.dwords) {
            case 1:
                mov(r9d, ptr[r14]);
                return mov(to, r9d);
            case 2:
                mov(r9, ptr[r14]);
                return mov(to, r9);
            case 4:
                vmovups(xmm0, ptr[r14]);
                return vmovups(to, xmm0);
            default:
                vmovups(ymm0, ptr[r14]);
                return vmovups(to, ymm0);
        }
    }
    void fetch(const Xbyak::Reg32& to, const Source& from) {
        if (from.kind == Source::Kind::number)
            mov(to, from.number);
        else
            mov(to, dword[rsi + from.index * 4]);
    }
    static_assert(offsetof(isa::Wave, s) == 0);
    static Xbyak::Address scc() {
        return Xbyak::util::byte[Xbyak::util::rsi + static_cast<int>(offsetof(isa::Wave, scc))];
    }
    /// r9d and r11d; CPUs that translate for have BMI2, which shifts modulo 32 as the GPU does.
    void compute(Scalar what) {
        switch (what) {
            case Scalar::load:
            case Scalar::number:
            case Scalar::move:
                return;
            case Scalar::mul_low:
                return imul(r9d, r11d);
            case Scalar::bit_and:
                return and_(r9d, r11d);
            case Scalar::bit_or:
                return or_(r9d, r11d);
            case Scalar::bit_xor:
                return xor_(r9d, r11d);
            case Scalar::shift_left:
                return shlx(r9d, r9d, r11d);
            case Scalar::shift_right:
                return shrx(r9d, r9d, r11d);
            case Scalar::shift_right_signed:
                return sarx(r9d, r9d, r11d);
            case Scalar::add:
                return add(r9d, r11d);
            case Scalar::add_with_carry:
                bt(dword[rsi + static_cast<int>(offsetof(isa::Wave, scc))], 0);
                return adc(r9d, r11d);
            case Scalar::sub:
                return sub(r9d, r11d);
        }
    }

    unsigned loads_ = 0;  // before this
};

}  // namespace kfdemu::jit
