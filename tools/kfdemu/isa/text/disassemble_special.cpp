#include <cstdarg>
#include <cstdio>
#include <iterator>

#include "tools/kfdemu/isa/memory/unified_format.hpp"
#include "tools/kfdemu/isa/rows/traits.hpp"
#include "tools/kfdemu/isa/text/text.hpp"
#include "tools/kfdemu/isa/wave/wave.hpp"

namespace kfdemu::isa {
namespace {

std::string range_text(const char* letter, unsigned first, unsigned count) {
    if (count <= 1) return format_text("%s%u", letter, first);
    return format_text("%s[%u:%u]", letter, first, first + count - 1);
}

std::string half_text(const char* name, bool high, unsigned count) {
    return count >= 2 ? name : std::string(name) + (high ? "_hi" : "_lo");
}

std::string scalar_text(unsigned n, unsigned count, bool only_sgprs) {
    if (n < kFlatScratch || (only_sgprs && n < kVcc)) return range_text("s", n, count);
    if (n < kXnackMask) return half_text("flat_scratch", n & 1, count);
    if (n < kVcc) return half_text("xnack_mask", n & 1, count);
    if (n < kTtmp0) return half_text("vcc", n & 1, count);
    if (n < kM0) return range_text("ttmp", n - kTtmp0, count);
    if (n == kM0) return "m0";
    return half_text("exec", n & 1, count);
}

std::string constant_text(unsigned n, Type type) {
    if (n <= 192) return format_text("%u", n - 128);
    if (n <= 208) return format_text("-%u", n - 192);
    constexpr const char* floats[] = {"0.5", "-0.5", "1.0", "-1.0", "2.0", "-2.0", "4.0", "-4.0"};
    if (n >= kNull && n <= kDiscarded) return "null";
    if (n >= kHalfFloats && n < kHalfFloats + 9) n = n - kHalfFloats + kFloats;
    if (n >= kBrainFloats && n < kBrainFloats + 9) n = n - kBrainFloats + kFloats;
    if (n >= kFloats && n < kFloats + 8) return floats[n - kFloats];
    if (n == kFloats + 8) return dwords(type) == 2 && type != Type::pkf32 ? "0.15915494309189532" : "0.15915494";
    constexpr const char* bases[] = {"src_shared_base", "src_shared_limit", "src_private_base", "src_private_limit"};
    if (n >= kSharedBase && n <= kPrivateLimit) return bases[n - kSharedBase];
    return n == kVccz ? "src_vccz" : n == kExecz ? "src_execz" : "src_scc";
}

struct Named {
    unsigned id;
    const char* name;
};
template <std::size_t n>
const char* find_name(const Named (&names)[n], unsigned id) {
    for (const Named& entry : names) {
        if (entry.id == id) return entry.name;
    }
    return nullptr;
}

struct Waits {
    unsigned vm, exp, lgkm, most_lgkm;
};
Waits waits_of(const Traits& traits, unsigned simm) {
    if (traits.gfx11_numbers) return {simm >> 10 & 63, simm & 7, simm >> 4 & 63, 63};
    const unsigned most = traits.vscnt ? 63 : 15;
    return {(simm & 15) | (simm >> 10 & 0x30), simm >> 4 & 7, simm >> 8 & most, most};
}

std::string waitcnt_text(const Traits& traits, unsigned simm) {
    const auto [vm, exp, lgkm, most_lgkm] = waits_of(traits, simm);
    std::string text;
    const auto add = [&text](const char* name, unsigned value) {
        text += format_text("%s%s(%u)", text.empty() ? "" : " ", name, value);
    };
    const bool all = vm == 63 && exp == 7 && lgkm == most_lgkm;
    if (vm != 63 || all) add("vmcnt", vm);
    if (exp != 7 || all) add("expcnt", exp);
    if (lgkm != most_lgkm || all) add("lgkmcnt", lgkm);
    return text;
}

/// Dependences of the next instruction and of one a few later; reserved ones are not printed.
std::string delay_text(unsigned simm) {
    constexpr const char* dependences[] = {"",
                                           "VALU_DEP_1",
                                           "VALU_DEP_2",
                                           "VALU_DEP_3",
                                           "VALU_DEP_4",
                                           "TRANS32_DEP_1",
                                           "TRANS32_DEP_2",
                                           "TRANS32_DEP_3",
                                           "FMA_ACCUM_CYCLE_1",
                                           "SALU_CYCLE_1",
                                           "SALU_CYCLE_2",
                                           "SALU_CYCLE_3"};
    constexpr const char* skips[] = {"", "NEXT", "SKIP_1", "SKIP_2", "SKIP_3", "SKIP_4"};
    std::string text;
    const auto add = [&text](const char* field, auto& names, unsigned value) {
        if (value == 0) return;
        const char* const name = value < std::size(names) ? names[value] : "/* invalid value */";
        text += format_text("%s%s(%s)", text.empty() ? "" : " | ", field, name);
    };
    add("instid0", dependences, simm & 15);
    add("instskip", skips, simm >> 4 & 7);
    add("instid1", dependences, simm >> 7 & 15);
    return text.empty() ? "0" : text;
}

/// What is waited for, each in some bits; those that wait for nothing are not printed, unless all are.
std::string depctr_text(unsigned simm) {
    struct Counter {
        const char* name;
        unsigned shift, width;
    };
    constexpr Counter counters[] = {{"hold_cnt", 7, 1}, {"sa_sdst", 0, 1}, {"va_vdst", 12, 4}, {"va_sdst", 9, 3},
                                    {"va_ssrc", 8, 1},  {"va_vcc", 1, 1},  {"vm_vsrc", 2, 3}};
    unsigned known = 0;
    std::string all, some;
    for (const Counter& counter : counters) {
        const unsigned most = (1u << counter.width) - 1, value = simm >> counter.shift & most;
        known |= most << counter.shift;
        const std::string text = format_text(" depctr_%s(%u)", counter.name, value);
        all += text;
        if (value != most) some += text;
    }
    if ((simm & ~known) != 0) return format_text("0x%x", simm);
    return (some.empty() ? all : some).substr(1);
}

const char* gfx12_hwreg_name(unsigned id) {
    constexpr Named names[] = {{1, "HW_REG_WAVE_MODE"},
                               {2, "HW_REG_WAVE_STATUS"},
                               {4, "HW_REG_WAVE_STATE_PRIV"},
                               {5, "HW_REG_WAVE_GPR_ALLOC"},
                               {6, "HW_REG_WAVE_LDS_ALLOC"},
                               {7, "HW_REG_IB_STS"},
                               {10, "HW_REG_PERF_SNAPSHOT_DATA"},
                               {11, "HW_REG_PERF_SNAPSHOT_PC_LO"},
                               {12, "HW_REG_PERF_SNAPSHOT_PC_HI"},
                               {15, "HW_REG_PERF_SNAPSHOT_DATA1"},
                               {16, "HW_REG_PERF_SNAPSHOT_DATA2"},
                               {17, "HW_REG_WAVE_EXCP_FLAG_PRIV"},
                               {18, "HW_REG_WAVE_EXCP_FLAG_USER"},
                               {19, "HW_REG_WAVE_TRAP_CTRL"},
                               {20, "HW_REG_WAVE_SCRATCH_BASE_LO"},
                               {21, "HW_REG_WAVE_SCRATCH_BASE_HI"},
                               {23, "HW_REG_WAVE_HW_ID1"},
                               {24, "HW_REG_WAVE_HW_ID2"},
                               {26, "HW_REG_WAVE_SCHED_MODE"},
                               {29, "HW_REG_SHADER_CYCLES_LO"},
                               {30, "HW_REG_SHADER_CYCLES_HI"},
                               {31, "HW_REG_WAVE_DVGPR_ALLOC_LO"},
                               {32, "HW_REG_WAVE_DVGPR_ALLOC_HI"}};
    return find_name(names, id);
}

const char* hwreg_name(const Traits& traits, unsigned id) {
    if (traits.gfx12_names) return gfx12_hwreg_name(id);
    constexpr Named common[] = {{1, "HW_REG_MODE"},         {2, "HW_REG_STATUS"},    {3, "HW_REG_TRAPSTS"},
                                {5, "HW_REG_GPR_ALLOC"},    {6, "HW_REG_LDS_ALLOC"}, {7, "HW_REG_IB_STS"},
                                {15, "HW_REG_SH_MEM_BASES"}};
    constexpr Named trap_handler[] = {
        {16, "HW_REG_TBA_LO"}, {17, "HW_REG_TBA_HI"}, {18, "HW_REG_TMA_LO"}, {19, "HW_REG_TMA_HI"}};
    constexpr Named xcc[] = {{20, "HW_REG_XCC_ID"},
                             {21, "HW_REG_SQ_PERF_SNAPSHOT_DATA"},
                             {22, "HW_REG_SQ_PERF_SNAPSHOT_DATA1"},
                             {23, "HW_REG_SQ_PERF_SNAPSHOT_PC_LO"},
                             {24, "HW_REG_SQ_PERF_SNAPSHOT_PC_HI"}};
    constexpr Named rdna[] = {{20, "HW_REG_FLAT_SCR_LO"},
                              {21, "HW_REG_FLAT_SCR_HI"},
                              {23, "HW_REG_HW_ID1"},
                              {24, "HW_REG_HW_ID2"},
                              {29, "HW_REG_SHADER_CYCLES"}};
    constexpr Named gfx11[] = {
        {18, "HW_REG_PERF_SNAPSHOT_PC_LO"}, {19, "HW_REG_PERF_SNAPSHOT_PC_HI"}, {27, "HW_REG_PERF_SNAPSHOT_DATA"}};
    if (const char* const name = find_name(common, id)) return name;
    if (!traits.vscnt && id == 4) return "HW_REG_HW_ID";
    if (traits.vscnt && !traits.gfx11_numbers && id == 25) return "HW_REG_POPS_PACKER";
    if (const char* const name = traits.gfx11_numbers ? find_name(gfx11, id) : find_name(trap_handler, id)) return name;
    if (traits.vscnt) return find_name(rdna, id);
    return traits.xcc_registers ? find_name(xcc, id) : nullptr;
}

std::string hwreg_text(const Traits& traits, unsigned simm) {
    const unsigned id = simm & 63, offset = simm >> 6 & 31, size = (simm >> 11 & 31) + 1;
    const char* const name = hwreg_name(traits, id);
    std::string text = name ? name : format_text("%u", id);
    if (offset != 0 || size != 32) text += format_text(", %u, %u", offset, size);
    return "hwreg(" + text + ")";
}

/// GFX11's and GFX12's have eight bits and no operations.
std::string gfx11_message_text(const Traits& traits, unsigned simm) {
    constexpr Named messages[] = {
        {0x01, "MSG_INTERRUPT"},    {0x02, "MSG_HS_TESSFACTOR"},    {0x03, "MSG_DEALLOC_VGPRS"},
        {0x09, "MSG_GS_ALLOC_REQ"}, {0x80, "MSG_RTN_GET_DOORBELL"}, {0x81, "MSG_RTN_GET_DDID"},
        {0x82, "MSG_RTN_GET_TMA"},  {0x83, "MSG_RTN_GET_REALTIME"}, {0x84, "MSG_RTN_SAVE_WAVE"},
        {0x85, "MSG_RTN_GET_TBA"},  {0x86, "MSG_RTN_GET_TBA_TO_PC"}};
    constexpr Named gfx11[] = {{0x05, "MSG_STALL_WAVE_GEN"}, {0x06, "MSG_HALT_WAVES"}};
    constexpr Named gfx12[] = {{0x87, "MSG_RTN_GET_SE_AID_ID"}};
    const unsigned id = simm & 0xff;
    const char* const own = traits.gfx12_names ? find_name(gfx12, id) : find_name(gfx11, id);
    if (own != nullptr) return format_text("sendmsg(%s)", own);
    if (const char* const name = find_name(messages, id)) return format_text("sendmsg(%s)", name);
    return simm > 0xff ? format_text("%u", simm) : format_text("sendmsg(%u, 0, 0)", simm);
}

/// Known messages are printed with their operation (and, for GS, the stream); values that no assembler accepts are
/// printed as numbers.
std::string sendmsg_text(unsigned simm) {
    constexpr Named messages[] = {{1, "MSG_INTERRUPT"},       {2, "MSG_GS"},
                                  {3, "MSG_GS_DONE"},         {4, "MSG_SAVEWAVE"},
                                  {5, "MSG_STALL_WAVE_GEN"},  {6, "MSG_HALT_WAVES"},
                                  {7, "MSG_ORDERED_PS_DONE"}, {8, "MSG_EARLY_PRIM_DEALLOC"},
                                  {9, "MSG_GS_ALLOC_REQ"},    {10, "MSG_GET_DOORBELL"},
                                  {15, "MSG_SYSMSG"}};
    constexpr const char* gs[] = {"GS_OP_NOP", "GS_OP_CUT", "GS_OP_EMIT", "GS_OP_EMIT_CUT"};
    constexpr const char* sys[] = {"", "SYSMSG_OP_ECC_ERR_INTERRUPT", "SYSMSG_OP_REG_RD", "SYSMSG_OP_HOST_TRAP_ACK",
                                   "SYSMSG_OP_TTRACE_PC"};
    const unsigned id = simm & 15, operation = simm >> 4 & 7, stream = simm >> 8 & 3;
    const char* name = find_name(messages, id);
    const bool is_gs = id == 2 || id == 3;
    const bool gs_known =
        is_gs && operation < 4 && (operation != 0 || (id == 3 && stream == 0)) && (simm & ~0x33fu) == 0;
    const bool sys_known = id == 15 && operation >= 1 && operation <= 4 && (simm & ~0x7fu) == 0;
    if (gs_known && operation == 0) return format_text("sendmsg(%s, %s)", name, gs[0]);
    if (gs_known) return format_text("sendmsg(%s, %s, %u)", name, gs[operation], stream);
    if (sys_known) return format_text("sendmsg(%s, %s)", name, sys[operation]);
    if (name && !is_gs && id != 15 && (simm & ~15u) == 0) return format_text("sendmsg(%s)", name);
    if ((simm & ~0x37fu) == 0) return format_text("sendmsg(%u, %u, %u)", id, operation, stream);
    return format_text("%u", simm);
}

}  // namespace

std::string format_text(const char* format, ...) {
    char text[128];
    va_list arguments;
    va_start(arguments, format);
    std::vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return text;
}

std::string operand_text(Operand operand, Type type, std::uint32_t literal, RegisterNames names) {
    const unsigned count = registers(type, names.narrow ? 32 : 64);
    if (operand >= kAcc0) return range_text("a", operand - kAcc0, count);
    if (operand >= kVgpr0) return range_text("v", operand - kVgpr0, count);
    if (operand == kLiteral)
        return format_text("0x%x", is_half(type) && type != Type::bf16 ? literal & 0xffff : literal);
    return operand < kConstants ? scalar_text(operand, count, names.only_sgprs) : constant_text(operand, type);
}

std::string gpr_index_text(std::uint32_t what) {
    constexpr const char* names[] = {"SRC0", "SRC1", "SRC2", "DST"};
    if (what > 15) return format_text("0x%x", what);
    std::string text;
    for (unsigned n = 0; n < 4; ++n) {
        if (what & (1u << n)) text += (text.empty() ? "" : ",") + std::string(names[n]);
    }
    return "gpr_idx(" + text + ")";
}

std::string special_text(Target target, Type syntax, std::uint32_t simm16) {
    const Traits& traits = traits_of(target);
    if (syntax == Type::waitcnt) return waitcnt_text(traits, simm16);
    if (syntax == Type::delay) return delay_text(simm16);
    if (syntax == Type::depctr) return depctr_text(simm16);
    if (syntax == Type::message)
        return traits.gfx11_numbers ? gfx11_message_text(traits, simm16) : sendmsg_text(simm16);
    if (syntax == Type::hwreg) return hwreg_text(traits, simm16);
    return gpr_index_text(simm16);
}

namespace {

constexpr const char* kLayouts[] = {"INVALID",     "8",        "16",          "8_8",        "32",      "16_16",
                                    "10_11_11",    "11_11_10", "10_10_10_2",  "2_10_10_10", "8_8_8_8", "32_32",
                                    "16_16_16_16", "32_32_32", "32_32_32_32", "RESERVED_15"};
constexpr const char* kMeanings[] = {"UNORM", "SNORM", "USCALED", "SSCALED", "UINT", "SINT", "RESERVED_6", "FLOAT"};

}  // namespace

std::string buffer_format_text(std::uint32_t format) {
    const unsigned d = format & 15, n = format >> 4 & 7;  // 8 and UNORM are the defaults and not printed
    std::string text;
    if (d != 1) text = std::string("BUF_DATA_FORMAT_") + kLayouts[d];
    if (n != 0) text += (text.empty() ? "" : ",") + std::string("BUF_NUM_FORMAT_") + kMeanings[n];
    return text.empty() ? text : " format:[" + text + "]";
}

std::string unified_format_text(Target target, std::uint32_t format) {
    const bool fewer = traits_of(target).fewer_formats;
    if (format == 1) return "";
    if (format >= unified_formats(fewer)) return format_text(" format:%u", format);
    const unsigned separate = separate_format(format, fewer);
    const std::string meaning = separate == 0 ? "" : std::string("_") + kMeanings[separate >> 4];
    return std::string(" format:[BUF_FMT_") + kLayouts[separate & 15] + meaning + "]";
}

std::string swizzle_text(std::uint32_t offset) {
    if (offset == 0) return "";
    if (offset & 0x8000) {
        if (offset & 0x7f00) return format_text(" offset:%u", offset);
        return format_text(" offset:swizzle(QUAD_PERM,%u,%u,%u,%u)", offset & 3, offset >> 2 & 3, offset >> 4 & 3,
                           offset >> 6 & 3);
    }
    const unsigned and_mask = offset & 31, or_mask = offset >> 5 & 31, xor_mask = offset >> 10 & 31;
    if (and_mask == 31 && or_mask == 0 && xor_mask && (xor_mask & (xor_mask - 1)) == 0) {
        return format_text(" offset:swizzle(SWAP,%u)", xor_mask);
    }
    if (and_mask == 31 && or_mask == 0 && xor_mask && (xor_mask & (xor_mask + 1)) == 0) {
        return format_text(" offset:swizzle(REVERSE,%u)", xor_mask + 1);
    }
    const unsigned group = 32 - and_mask;
    if (xor_mask == 0 && group > 1 && (group & (group - 1)) == 0 && or_mask < group) {
        return format_text(" offset:swizzle(BROADCAST,%u,%u)", group, or_mask);
    }
    std::string mask;
    for (int bit = 4; bit >= 0; --bit) {
        const bool a = and_mask >> bit & 1, o = or_mask >> bit & 1, x = xor_mask >> bit & 1;
        mask += o ? (x ? '0' : '1') : a ? (x ? 'i' : 'p') : (x ? '1' : '0');
    }
    return " offset:swizzle(BITMASK_PERM,\"" + mask + "\")";
}

}  // namespace kfdemu::isa
