#include "tools/kfdemu/check/init/shadow_wave.hpp"

#include <immintrin.h>

#include "tools/kfdemu/isa/encodings/decode.hpp"

namespace kfdemu::check {

using namespace isa;

ShadowWave::ShadowWave() : registers_(96) { wave_.v = wave_.acc = registers_.front().lane; }

void ShadowWave::prepare(const Wave& wave) {
    wave_.width = wave.width;
    wave_.set_s64(kExec, wave.exec());
    set_mode(wave_, wave.mode);
}

void ShadowWave::run(const Inst& inst, Op op) {
    Inst executed = inst;
    executed.row = static_cast<std::uint16_t>(index(op));
    const unsigned csr = _mm_getcsr();
    wave_.mxcsr_now = csr;
    handlers(best_level(), wave_.width).general[index(op)](wave_, executed);
    _mm_setcsr(csr);
}

}  // namespace kfdemu::check
