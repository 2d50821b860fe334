// Executor selection: one table of handlers for each executor that is built.
#include <algorithm>
#include <cstdint>
#include <stdexcept>

#include "tools/kfdemu/isa/encodings/decode.hpp"
#include "tools/kfdemu/isa/execution/executors.hpp"
#include "tools/kfdemu/isa/wave/wave.hpp"

namespace kfdemu::isa {

extern std::int32_t unknown_zero;
std::int32_t unknown_zero = 0;  // of float_math.hpp: defined where no executor sees it

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

#define KFDEMU_TABLE(executor)                                                                                        \
    filled(executor::fill_sop, executor::fill_vop1, executor::fill_vop2, executor::fill_vopc, executor::fill_vop3,    \
           executor::fill_vop3p, executor::fill_mfma, executor::fill_smem, executor::fill_flat, executor::fill_mubuf, \
           executor::fill_ds, executor::fill_wmma, executor::fill_vopd) /* after the VOP1 and VOP2 that it executes */

}  // namespace

Handler illegal_handler() { return &illegal; }
Handler page_end_handler() { return &page_end; }

namespace {

bool cpu_has(Level level) {
    __builtin_cpu_init();  // a preloaded library may be called before its constructors run
    switch (level) {
        case Level::V2:
            return __builtin_cpu_supports("sse4.2") && __builtin_cpu_supports("popcnt");
        case Level::V3:
            return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi") &&
                   __builtin_cpu_supports("bmi2");
        case Level::V4:
            return cpu_has(Level::V3) && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                   __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
                   __builtin_cpu_supports("avx512vl");
    }
    return false;
}

}  // namespace

std::span<const Level> built_levels() {
#define KFDEMU_ENTRY(Name) Level::Name,
    static constexpr Level all[] = {KFDEMU_EACH_LEVEL(KFDEMU_ENTRY)};
#undef KFDEMU_ENTRY
    return all;
}

bool is_built(unsigned width) {
#define KFDEMU_IS(Name, lanes, executor) width == lanes ||
    return KFDEMU_EACH_EXECUTOR(KFDEMU_IS) false;
#undef KFDEMU_IS
}

bool supported(Level level) {
    const auto built = built_levels();
    return std::find(built.begin(), built.end(), level) != built.end() && cpu_has(level);
}

Level best_level() {
    for (const Level level : {Level::V4, Level::V3, Level::V2})
        if (supported(level)) return level;
    return built_levels().front();
}

const char* name(Level level) {
    return level == Level::V4 ? "x86-64-v4" : level == Level::V3 ? "x86-64-v3" : "x86-64-v2";
}

std::string no_level_message() {
    if (supported(best_level())) return {};
    if (!cpu_has(Level::V2))
        return "this CPU has no SSE4.2 (x86-64-v2), which the emulated GPU needs: run it on a newer CPU";
    std::string built;
    for (const Level level : built_levels()) built += (built.empty() ? "" : ", ") + std::string{name(level)};
    return "this CPU has none of the levels that kfdemu was built for (" + built + "): build it with -Dlevels=v2,v3,v4";
}

const Handlers& handlers(Level level, unsigned width) {
    // Each table is filled on first use: the code that fills it is compiled for its level and would fault on a CPU
    // below it.
#define KFDEMU_CASE(Name, lanes, executor)                    \
    if (level == Level::Name && width == lanes) {             \
        static const Handlers table = KFDEMU_TABLE(executor); \
        return table;                                         \
    }
    KFDEMU_EACH_EXECUTOR(KFDEMU_CASE)
#undef KFDEMU_CASE
    throw std::logic_error{std::string{"kfdemu: no executor is built for waves of "} + std::to_string(width) +
                           " lanes on " + name(level) + " (-Dlevels=, -Dwidths=)"};
}

}  // namespace kfdemu::isa
