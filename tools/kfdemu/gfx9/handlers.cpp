// Which executor serves: one table of handlers for each x86 level.
#include "decode.hpp"
#include "executors.hpp"
#include "wave.hpp"

namespace kfdemu::gfx9 {
namespace {

const Inst* illegal(Wave& wave, const Inst& inst) { return wave.stop_at(Stop::Illegal, inst); }
const Inst* page_end(Wave& wave, const Inst& inst) { return wave.fetch(wave, inst.pc); }

void enter(void (*fill)(Handler*), Handlers& table) { fill(table.general.data()); }
void enter(void (*fill)(Handler*, Handler*), Handlers& table) { fill(table.general.data(), table.plain.data()); }

template <class... Fill>
Handlers filled(Fill... fill) {
    Handlers table;
    table.general.fill(&illegal);
    table.plain.fill(nullptr);
    (enter(fill, table), ...);
    for (std::size_t row = 0; row < kRowCount; ++row)
        if (table.plain[row] == nullptr) table.plain[row] = table.general[row];
    return table;
}

#define KFDEMU_TABLE(level)                                                                         \
    filled(level::fill_sop, level::fill_vop1, level::fill_vop2, level::fill_vopc, level::fill_vop3, \
           level::fill_vop3p, level::fill_mfma, level::fill_smem, level::fill_flat, level::fill_mubuf, level::fill_ds)

}  // namespace

Handler illegal_handler() { return &illegal; }
Handler page_end_handler() { return &page_end; }

bool supported(Level level) {
    switch (level) {
        case Level::V2:
            return __builtin_cpu_supports("sse4.2") && __builtin_cpu_supports("popcnt");
        case Level::V3:
            return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
                   __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2");
        case Level::V4:
            return supported(Level::V3) && __builtin_cpu_supports("avx512f") &&
                   __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512cd") &&
                   __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
    }
    return false;
}

Level best_level() { return supported(Level::V4) ? Level::V4 : supported(Level::V3) ? Level::V3 : Level::V2; }

const Handlers& handlers(Level level) {
    // Each is filled when it is first asked for: what fills it is compiled for its level, too, and would be an illegal
    // instruction on a lesser CPU.
    switch (level) {
        case Level::V4: {
            static const Handlers v4 = KFDEMU_TABLE(v4);
            return v4;
        }
        case Level::V3: {
            static const Handlers v3 = KFDEMU_TABLE(v3);
            return v3;
        }
        default: {
            static const Handlers v2 = KFDEMU_TABLE(v2);
            return v2;
        }
    }
}

}  // namespace kfdemu::gfx9
