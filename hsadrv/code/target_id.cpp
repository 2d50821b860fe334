#include "hsadrv/target_id.hpp"

#include <algorithm>
#include <array>

#include "hsadrv/error.hpp"

namespace hsadrv {
namespace {

struct Processor {
    std::uint8_t mach;  // EF_AMDGPU_MACH, the low byte of e_flags
    std::string_view name;
    bool xnack, sramecc;  // has the feature as a choice
};

// LLVM AMDGPUUsage, table "AMDGPU ELF Header e_flags for Code Object V3 …", and which features each processor has.
constexpr Processor processors[] = {
    {0x20, "gfx600", false, false},         {0x21, "gfx601", false, false},
    {0x22, "gfx700", false, false},         {0x23, "gfx701", false, false},
    {0x24, "gfx702", false, false},         {0x25, "gfx703", false, false},
    {0x26, "gfx704", false, false},         {0x28, "gfx801", true, false},
    {0x29, "gfx802", false, false},         {0x2a, "gfx803", false, false},
    {0x2b, "gfx810", true, false},          {0x2c, "gfx900", true, false},
    {0x2d, "gfx902", true, false},          {0x2e, "gfx904", true, false},
    {0x2f, "gfx906", true, true},           {0x30, "gfx908", true, true},
    {0x31, "gfx909", true, false},          {0x32, "gfx90c", true, false},
    {0x33, "gfx1010", true, false},         {0x34, "gfx1011", true, false},
    {0x35, "gfx1012", true, false},         {0x36, "gfx1030", false, false},
    {0x37, "gfx1031", false, false},        {0x38, "gfx1032", false, false},
    {0x39, "gfx1033", false, false},        {0x3a, "gfx602", false, false},
    {0x3b, "gfx705", false, false},         {0x3c, "gfx805", false, false},
    {0x3d, "gfx1035", false, false},        {0x3e, "gfx1034", false, false},
    {0x3f, "gfx90a", true, true},           {0x40, "gfx940", true, true},
    {0x41, "gfx1100", false, false},        {0x42, "gfx1013", true, false},
    {0x43, "gfx1150", false, false},        {0x44, "gfx1103", false, false},
    {0x45, "gfx1036", false, false},        {0x46, "gfx1101", false, false},
    {0x47, "gfx1102", false, false},        {0x48, "gfx1200", false, false},
    {0x4a, "gfx1151", false, false},        {0x4b, "gfx941", true, true},
    {0x4c, "gfx942", true, true},           {0x4e, "gfx1201", false, false},
    {0x4f, "gfx950", true, true},           {0x51, "gfx9-generic", true, false},
    {0x52, "gfx10-1-generic", true, false}, {0x53, "gfx10-3-generic", false, false},
    {0x54, "gfx11-generic", false, false},  {0x55, "gfx1152", false, false},
    {0x58, "gfx1153", false, false},        {0x59, "gfx12-generic", false, false},
    {0x5f, "gfx9-4-generic", true, true},
};

TargetFeature feature_v3(bool supported, bool set) {
    if (!supported) return TargetFeature::any;
    return set ? TargetFeature::on : TargetFeature::off;
}

// V4 and later: two bits a feature, 0 not supported, 1 any, 2 off, 3 on.
TargetFeature feature_v4(std::uint32_t bits) {
    if (bits == 2) return TargetFeature::off;
    if (bits == 3) return TargetFeature::on;
    return TargetFeature::any;
}

bool is_processor_name(std::string_view name) {
    return name.starts_with("gfx") && name.size() > 3 && std::all_of(name.begin(), name.end(), [](char c) {
               return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
           });
}

/// Reads a target ID, or says why it cannot.
class Parser {
  public:
    explicit Parser(std::string_view text) : text_(text) {}

    std::optional<TargetId> parse() {
        std::string_view rest = after_triple();
        TargetId target;
        target.processor = rest.substr(0, rest.find(':'));
        if (why_.empty() && !is_processor_name(target.processor))
            why_ = "'" + target.processor + "' is not a processor name such as gfx90a";
        while (why_.empty() && rest.find(':') != std::string_view::npos) {
            rest.remove_prefix(rest.find(':') + 1);
            parse_feature(target, rest.substr(0, rest.find(':')));
        }
        if (!why_.empty()) return std::nullopt;
        return target;
    }
    std::string message() const { return "target ID '" + std::string(text_) + "': " + why_; }

  private:
    /// What follows the triple: "hipv4-amdgcn-amd-amdhsa-unknown-gfx90a:xnack-" → "gfx90a:xnack-".
    std::string_view after_triple() {
        constexpr std::string_view arch = "amdgcn-", vendor_os = "amd-amdhsa-";
        const auto start = text_.find(arch);
        if (start == std::string_view::npos) return text_;
        std::string_view rest = text_.substr(start + arch.size());
        if (start != 0 && text_[start - 1] != '-')
            why_ = "no triple 'amdgcn-amd-amdhsa' in it";
        else if (!rest.starts_with(vendor_os))
            why_ = "wanted the triple 'amdgcn-amd-amdhsa', found '" + std::string(text_.substr(start)) + "'";
        if (!why_.empty()) return {};
        rest.remove_prefix(vendor_os.size());
        // The environment: empty in "amdhsa--gfx90a", "unknown" in newer clangs' spelling. A processor may hold
        // hyphens itself (gfx9-generic), so only what precedes the first "gfx" is the environment.
        const auto hyphen = rest.find('-');
        if (hyphen != std::string_view::npos && !rest.starts_with("gfx")) rest.remove_prefix(hyphen + 1);
        return rest;
    }

    void parse_feature(TargetId& target, std::string_view part) {
        if (part.size() < 2 || (part.back() != '+' && part.back() != '-')) {
            why_ = "feature '" + std::string(part) + "' ends in neither + nor -";
            return;
        }
        const std::string_view name = part.substr(0, part.size() - 1);
        const std::string quoted = "feature '" + std::string(name) + "'";
        TargetFeature* feature = name == "xnack" ? &target.xnack : name == "sramecc" ? &target.sramecc : nullptr;
        if (!feature)
            why_ = "unknown " + quoted + "; known are sramecc and xnack";
        else if (*feature != TargetFeature::any)
            why_ = "duplicate " + quoted;
        else
            *feature = part.back() == '+' ? TargetFeature::on : TargetFeature::off;
    }

    std::string_view text_;
    std::string why_;
};

std::string feature_mismatch(const TargetId& code, const TargetId& agent, const char* remedy) {
    return "code object is for " + code.name() + ", this agent is " + agent.name() +
           ": compile with -mcpu=" + agent.processor + " (which runs with either setting)" + remedy;
}

bool compatible(TargetFeature code, TargetFeature agent) { return code == TargetFeature::any || code == agent; }

void append_feature(std::string& text, const char* name, TargetFeature feature) {
    if (feature == TargetFeature::any) return;
    text += name;
    text += feature == TargetFeature::on ? '+' : '-';
}

}  // namespace

TargetId TargetId::parse(std::string_view text) {
    Parser parser(text);
    if (auto target = parser.parse()) return *std::move(target);
    throw InvalidArgument(parser.message());
}

std::optional<TargetId> TargetId::try_parse(std::string_view text, std::string* why) {
    Parser parser(text);
    auto target = parser.parse();
    if (!target && why) *why = parser.message();
    return target;
}

std::optional<TargetId> TargetId::from_elf_flags(std::uint8_t abi_version, std::uint32_t e_flags) {
    const auto found = std::find_if(std::begin(processors), std::end(processors),
                                    [&](const Processor& p) { return p.mach == (e_flags & 0xff); });
    if (found == std::end(processors)) return std::nullopt;

    TargetId target{std::string(found->name)};
    if (abi_version <= 1) {
        target.xnack = feature_v3(found->xnack, e_flags & 0x100);
        target.sramecc = feature_v3(found->sramecc, e_flags & 0x200);
    } else {
        target.xnack = feature_v4(e_flags >> 8 & 3);
        target.sramecc = feature_v4(e_flags >> 10 & 3);
    }
    return target;
}

std::string TargetId::name() const {
    std::string text = processor;
    append_feature(text, ":sramecc", sramecc);
    append_feature(text, ":xnack", xnack);
    return text;
}

std::string TargetId::isa_name() const { return "amdgcn-amd-amdhsa--" + name(); }

std::optional<std::string> mismatch(const TargetId& code, const TargetId& agent) {
    if (code.processor != agent.processor) {
        return "code object is for " + code.processor + ", this agent is " + agent.processor +
               ": compile with -mcpu=" + agent.processor;
    }
    if (!compatible(code.xnack, agent.xnack)) {
        return feature_mismatch(
            code, agent, code.xnack == TargetFeature::on ? ", or run with HSA_XNACK=1 where the device allows it" : "");
    }
    if (!compatible(code.sramecc, agent.sramecc)) return feature_mismatch(code, agent, "");
    return std::nullopt;
}

std::optional<std::string> mismatch(const TargetId& code, std::span<const TargetId> agent) {
    std::optional<std::string> first;
    for (const TargetId& isa : agent) {
        std::optional<std::string> why = mismatch(code, isa);
        if (!why) return std::nullopt;
        if (!first) first = std::move(why);
    }
    return first ? first : "code object is for " + code.name() + ", this agent names no ISA it runs";
}

}  // namespace hsadrv
