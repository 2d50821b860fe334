// Every instruction of the scalar and vector units on undefined bits, against its own executor: whatever differs when
// the undefined bits have other values has to be undefined.
#include "tools/kfdemu/check/init/flow.hpp"

#include <immintrin.h>

#include <algorithm>
#include <optional>
#include <string_view>

#include "tests/kfdemu/dispatch/machine.hpp"
#include "tests/support/turn.hpp"
#include "tools/kfdemu/check/init/init_plan.hpp"
#include "tools/kfdemu/check/init/scalar_flow.hpp"
#include "tools/kfdemu/check/init/vector_flow.hpp"
#include "tools/kfdemu/isa/encodings/decode.hpp"
#include "tools/kfdemu/isa/rows/traits.hpp"

namespace flow_test {
namespace {

using namespace kfdemu::check;
using namespace kfdemu::isa;
using dispatch_test::Numbers;

// Sources are v0, v4, v8 and s20, s24; results v16 and following, s40 and following, masks s[44:45]; carry in s[28:29].
constexpr unsigned kResult = 16, kScalarResult = 40, kMask = 44, kCarry = 28;
constexpr unsigned kVectors = 24, kScalars = 64;

/// What has effects other than on its results, and what is tested with kernels of its own.
bool is_left_out(std::string_view name) {
    constexpr std::string_view kParts[] = {"branch", "setpc",     "swappc",    "getpc",       "rfe",    "exec",
                                           "movrel", "gpr_idx",   "setreg",    "getreg",      "call",   "setvskip",
                                           "cmpx",   "readfirst", "readlane",  "writelane",   "acc",    "mfma",
                                           "screen", "swaprel",   "subvector", "sendmsg_rtn", "barrier"};
    return std::any_of(std::begin(kParts), std::end(kParts),
                       [&](std::string_view part) { return name.find(part) != name.npos; });
}

class Encoder {
  public:
    Encoder(const Row& row, Target target, Numbers& random)
        : row_{row}, target_{target}, family_{family_of(target)}, random_{random} {}

    using Words = std::optional<std::array<std::uint32_t, 3>>;

    /// Two dwords, and a third for control dwords and literals; empty if the row has no such form.
    Words encode(Form form) {
        const unsigned op = opcode_of(row_, target_);
        switch (row_.format) {
            case Format::Sop1:
                return words(0xbe800000 | kScalarResult << 16 | op << 8 | scalar(20));
            case Format::Sop2:
                return words(0x80000000 | op << 23 | kScalarResult << 16 | scalar(24) << 8 | scalar(20));
            case Format::Sopc:
                return words(0xbf000000 | op << 16 | scalar(24) << 8 | scalar(20));
            case Format::Sopk:
                return words(0xb0000000 | op << 23 | kScalarResult << 16 | below(0x10000));
            case Format::Vop1:
                return of_form(form, 0x7e000000 | (kResult + half(row_.dst)) << 17 | op << 9,
                               family_.vop1_in_vop3 + op);
            case Format::Vop2:
                return of_form(form, op << 25 | (kResult + half(row_.dst)) << 17 | (4 + half(row_.src[1])) << 9,
                               family_.vop2_in_vop3 + op);
            case Format::Vopc:
                return of_form(form, 0x7c000000 | op << 17 | (4 + half(row_.src[1])) << 9, family_.vopc_in_vop3 + op);
            case Format::Vop3:
                return form == Form::Plain || form == Form::Sdwa ? std::nullopt : vop3(form, op);
            case Format::Vop3p:
                if (form == Form::Plain || form == Form::Sdwa) return std::nullopt;
                return moved(form,
                             (is_rdna() ? 0xcc000000 : 0xd3800000) | op << 16 | below(2) << 15 | below(2) << 14 |
                                 halves() << 11 | kResult,
                             256 | 260 << 9 | 264u << 18 | below(4) << 27);
            case Format::Vopd:
                return form == Form::Plain ? dual(op) : std::nullopt;
            default:
                return std::nullopt;
        }
    }

  private:
    static Words words(std::uint32_t first, std::uint32_t second = 0, std::uint32_t third = 0) {
        return std::array{first, second, third};
    }
    std::uint32_t below(std::uint32_t count) { return static_cast<std::uint32_t>(random_.next() >> 16) % count; }
    /// The register, or an inline constant.
    unsigned scalar(unsigned number) { return below(5) == 0 ? 128 + below(64) : number; }
    unsigned source0() {
        const unsigned which = below(6);
        return which == 0 ? 128 + below(64) : which == 1 ? 20 : 256 + half(row_.src[0]);
    }
    bool is_rdna() const { return traits_of(target_).unified_formats; }
    bool moves_everywhere() const { return traits_of(target_).dpp_everywhere; }
    /// OP_SEL; of tiles of 32 bits there is none.
    unsigned halves() { return row_.dst == Type::tile || row_.dst == Type::tile128 ? 0 : below(8); }
    /// Of a short format: it may be the upper half of a register.
    unsigned half(Type type) {
        return traits_of(target_).register_halves && kfdemu::isa::is_half(type) ? below(2) << 7 : 0;
    }
    bool has_signs() const { return is_float(row_.src[0]); }
    bool has_halves() const {
        return traits_of(target_).register_halves && !row_.is(kVop3b) &&
               (kfdemu::isa::is_half(row_.dst) || kfdemu::isa::is_half(row_.src[0]));
    }

    Words of_form(Form form, std::uint32_t base, unsigned vop3_opcode) {
        const bool modified = form == Form::Sdwa || form == Form::Dpp || form == Form::Dpp8;
        if (modified && row_.is(kNoModifiers)) return std::nullopt;
        switch (form) {
            case Form::Plain:
                return words(base | source0(), below(~0u));
            case Form::Vop3:
                return row_.is(kNoVop3) ? std::nullopt : vop3(form, vop3_opcode);
            case Form::Sdwa:
                return row_.is(kNoSdwa) ? std::nullopt : words(base | 249, sdwa());
            case Form::Dpp:
                if (moves_everywhere() && !row_.is(kNoVop3) && below(2) == 0) return vop3(form, vop3_opcode);
                if (row_.format == Format::Vopc && !moves_everywhere()) return std::nullopt;
                return words(base | 250, dpp());
            case Form::Dpp8:
                if (!is_rdna() || (row_.format == Format::Vopc && !moves_everywhere())) return std::nullopt;
                return words(base | (233 + below(2)), below(1 << 24) << 8);
        }
        return std::nullopt;
    }
    /// VOP3 and VOP3P, whose source 0 DPP moves.
    Words moved(Form form, std::uint32_t first, std::uint32_t second) {
        if (form == Form::Vop3) return words(first, second);
        if (!moves_everywhere()) return std::nullopt;
        second &= ~0x1ffu;
        if (form == Form::Dpp) return words(first, second | 250, dpp());
        return words(first, second | (233 + below(2)), below(1 << 24) << 8);
    }
    /// The row's operation is the first, if it can be; each may read what the other writes.
    Words dual(unsigned op) {
        constexpr unsigned kOnlySecond = 16, kOfBoth = 13;
        const unsigned any = below(kOfBoth + 3), other = any < kOfBoth ? any : any - kOfBoth + kOnlySecond;
        const unsigned first = op < kOnlySecond ? op : below(kOfBoth), second = op < kOnlySecond ? other : op;
        const auto source = [&] { return below(3) == 0 ? 256 + kResult + below(2) : source0(); };
        return words(0xc8000000 | first << 22 | second << 17 | 4 << 9 | source(),
                     kResult << 24 | kResult / 2 << 17 | 8 << 9 | source(), below(~0u));
    }
    Words vop3(Form form, unsigned opcode) {
        const bool carries = row_.is(kCarryOut) || row_.is(kVop3b);
        const unsigned result = row_.format == Format::Vopc ? kMask : kResult;
        std::uint32_t first = (is_rdna() ? 0xd4000000 : 0xd0000000) | opcode << 16 | result, second = 0;
        if (carries) first |= kMask << 8;
        if (has_signs() && !carries) first |= below(4) << 8, second |= below(4) << 29;
        if (row_.is(kOpSel) || has_halves()) first |= below(16) << 11;
        if (below(4) == 0) first |= 1u << 15;  // CLAMP
        if (row_.is(kPermutes)) return words(first, 256 | 20 << 9 | 24 << 18);
        second |= source0() | 260 << 9 | (row_.is(kCarryIn) ? kCarry : 264u) << 18;
        return moved(form, first, second);
    }
    std::uint32_t sdwa() {
        const std::uint32_t extend = has_signs() ? 0 : below(2) << 19 | below(2) << 27;
        const std::uint32_t sources = below(7) << 16 | below(7) << 24 | extend;
        return sources | (row_.format == Format::Vopc ? 1u << 15 | kMask << 8 : below(7) << 8 | below(3) << 11);
    }
    std::uint32_t dpp() {
        constexpr std::uint32_t kControls[] = {0x1b,  0x4e,  0xb1,  0x101, 0x111, 0x112, 0x11f, 0x121,
                                               0x130, 0x134, 0x138, 0x13c, 0x140, 0x141, 0x142, 0x143};
        return kControls[below(16)] << 8 | below(2) << 19 | below(16) << 24 | below(16) << 28;
    }

    const Row& row_;
    const Target target_;
    const Family& family_;
    Numbers& random_;
};

/// Registers and SCC.
struct Registers {
    std::uint32_t vectors[kVectors * kMostLanes], scalars[kScalars], vcc[2], scc;
    static constexpr std::size_t kCount = kVectors * kMostLanes + kScalars + 3;

    std::uint32_t* all() { return vectors; }
};
static_assert(sizeof(Registers) == Registers::kCount * 4);

std::uint32_t random_value(Numbers& random) {
    const auto any = static_cast<std::uint32_t>(random.next() >> 16);
    constexpr std::uint32_t kOthers[] = {0, ~0u, 0x3f800000, 0x3c003c00};
    const unsigned which = random.next() >> 20 & 15;
    return which < 4 ? kOthers[which] : which < 7 ? any % 40 : which < 9 ? 0u - any % 40 : any;
}
std::uint32_t random_mask(Numbers& random) {
    const auto any = static_cast<std::uint32_t>(random.next() >> 16);
    constexpr std::uint32_t kOthers[] = {0, 0, 0, 0, 0, ~0u, 0xff, 0xffff, 0xffff0000};
    const unsigned which = random.next() >> 20 & 15;
    return which < 9 ? kOthers[which] : which < 12 ? 1u << any % 32 : any & any >> 7;
}

class Experiment {
  public:
    Experiment(Target target, unsigned width)
        : target_{target}, width_{width}, decoder_{target, best_level(), width}, storage_(600) {
        wave_.width = static_cast<std::uint8_t>(width);
        wave_.v = storage_.front().lane, wave_.acc = wave_.v + 256 * kMostLanes;
        wave_.fetch = [](Wave&, std::uint64_t) -> const Inst* { return nullptr; };
        set_constants(wave_);
        set_mode(wave_, 0xf0);
        scene_.session.report = &report_;
        scene_.session.checks.set(kfdemu::Check::init);
    }

    void run_all() {
        for (const Row& row : rows()) {
            if (!row.on(target_) || is_left_out(row.name)) continue;
            Numbers random{row.opcodes.gfx9.number + 1000u * static_cast<unsigned>(row.format)};
            if (row.format <= Format::Sopk)
                for (unsigned n = 0; n < 60; ++n) run(row, Form::Plain, random);
            else
                for (const Form form : {Form::Plain, Form::Vop3, Form::Sdwa, Form::Dpp, Form::Dpp8})
                    for (unsigned n = 0; n < 2; ++n) run(row, form, random);
        }
        REQUIRE(executed_ > 4000);
    }

  private:
    void run(const Row& row, Form form, Numbers& random) {
        const auto encoded = Encoder{row, target_, random}.encode(form);
        if (!encoded) return;
        const Inst inst = decoder_.decode(0x1000, *encoded);
        if (inst.row != static_cast<std::size_t>(&row - rows().data())) return;  // not on this target
        ++executed_;
        begin(random);
        fill(random, 2);
        flow(inst);
        compare(inst, random);
    }
    void begin(Numbers& random) {
        for (std::size_t n = 0; n < Registers::kCount; ++n)
            value_.all()[n] = random_value(random), undefined_.all()[n] = random_mask(random);
        undefined_.scc &= 1;
        exec_ = (random.next() >> 9 & 1) != 0 ? ~std::uint64_t{0} : random.next();
        DefinedRegisters& registers = own_.registers;
        registers.begin({});
        for (unsigned n = 0; n < kAcc0 + 256u; ++n) registers.define(static_cast<Operand>(n), ~std::uint64_t{0});
        for (unsigned n = 0; n < kVectors * width_; ++n)
            registers.set(static_cast<Operand>(kVgpr0 + n / width_), n % width_, {undefined_.vectors[n], 0});
        for (unsigned n = 0; n < kScalars; ++n) registers.set(static_cast<Operand>(n), 0, {undefined_.scalars[n], 0});
        for (unsigned n = 0; n < 2; ++n) registers.set(static_cast<Operand>(kVcc + n), 0, {undefined_.vcc[n], 0});
        registers.scc = {undefined_.scc, 0};
    }
    /// Gives the undefined bits values: zeros, ones, then any.
    void fill(Numbers& random, unsigned number) {
        Registers now;
        for (std::size_t n = 0; n < Registers::kCount; ++n) {
            const std::uint32_t bits = number == 0 ? 0 : number == 1 ? ~0u : random_value(random);
            const std::uint32_t undefined = undefined_.all()[n];
            now.all()[n] = (value_.all()[n] & ~undefined) | (bits & undefined);
        }
        std::copy_n(now.vectors, kVectors * kMostLanes, wave_.v);
        std::copy_n(now.scalars, kScalars, wave_.s);
        std::copy_n(now.vcc, 2, wave_.s + kVcc);
        wave_.scc = (now.scc & 1) != 0;
        wave_.set_s64(kExec, exec_);
    }
    void flow(const Inst& inst) {
        InitPlans plans;
        plans.begin();
        const Flow flow{scene_, shared_, own_, wave_, inst};
        switch (plans.of(inst).kind) {
            case InitPlan::Scalar:
                return flow_scalar(flow);
            case InitPlan::Packed:
                return flow_packed(flow);
            default:
                return flow_vector(flow);
        }
    }
    Registers execute(const Inst& inst) {
        const unsigned csr = _mm_getcsr();
        _mm_setcsr(wave_.mxcsr_now = wave_.mxcsr_f32);
        wave_.stop = Stop::Running;
        inst.handler(wave_, inst);
        _mm_setcsr(csr);
        Registers result;
        std::copy_n(wave_.v, kVectors * kMostLanes, result.vectors);
        std::copy_n(wave_.s, kScalars, result.scalars);
        std::copy_n(wave_.s + kVcc, 2, result.vcc);
        result.scc = wave_.scc;
        return result;
    }
    void compare(const Inst& inst, Numbers& random) {
        Registers first, differs{};
        for (unsigned number = 0; number < 12; ++number) {
            fill(random, number);
            Registers now = execute(inst);
            if (wave_.stop == Stop::Illegal) return;  // refused
            if (number == 0) first = now;
            for (std::size_t n = 0; n < Registers::kCount; ++n) differs.all()[n] |= now.all()[n] ^ first.all()[n];
        }
        INFO(rows()[inst.row].name << " " << std::hex << inst.dwords[0] << " " << inst.dwords[1]);
        for (unsigned n = 0; n < kVectors * width_; ++n)
            require_undefined("v", n / width_, n % width_, differs.vectors[n],
                              own_.registers.at(static_cast<Operand>(kVgpr0 + n / width_), n % width_));
        for (unsigned n = 0; n < kScalars; ++n)
            require_undefined("s", n, 0, differs.scalars[n], own_.registers.at(static_cast<Operand>(n), 0));
        for (unsigned n = 0; n < 2; ++n)
            require_undefined("vcc", n, 0, differs.vcc[n], own_.registers.at(static_cast<Operand>(kVcc + n), 0));
        require_undefined("scc", 0, 0, differs.scc, own_.registers.scc);
    }
    void require_undefined(const char* kind, unsigned number, unsigned lane, std::uint32_t differs, Undefined marked) {
        if ((differs & ~marked.bits) == 0) return;
        INFO(kind << number << " in lane " << lane << ": " << std::hex << differs << " differ, " << marked.bits
                  << " are undefined; v0 " << value_.vectors[lane] << "/" << undefined_.vectors[lane] << " v4 "
                  << value_.vectors[4 * width_ + lane] << "/" << undefined_.vectors[4 * width_ + lane] << " v8 "
                  << value_.vectors[8 * width_ + lane] << "/" << undefined_.vectors[8 * width_ + lane] << " s20 "
                  << value_.scalars[20] << "/" << undefined_.scalars[20] << " s24 " << value_.scalars[24] << "/"
                  << undefined_.scalars[24]);
        FAIL("");
    }

    const Target target_;
    const unsigned width_;
    const Decoder decoder_;
    std::vector<Lanes> storage_;
    Wave wave_{};
    Report report_;
    Scene scene_{};
    GroupShadow shared_;
    WaveShadow own_;
    Registers value_, undefined_;
    std::uint64_t exec_ = 0;
    unsigned executed_ = 0;
};

}  // namespace

TEST_CASE("what differs when undefined bits do is undefined, for every instruction", "[check][init]") {
    std::vector<Target> targets = dispatch_test::targets();
    for (const Target other : {Target::gfx1100, Target::gfx1151, Target::gfx1201})
        if (std::ranges::find(targets, other) == targets.end()) targets.push_back(other);
    unsigned long number = 0;
    for (const Target target : targets)
        for (const unsigned width : {kMostLanes, 32u}) {
            if (width != kMostLanes && (!traits_of(target).wave32 || !is_built(width))) continue;
            if (!test_support::has_turn(number++, 4)) continue;
            std::make_unique<Experiment>(target, width)->run_all();
        }
}

TEST_CASE("what a condition chooses has the condition as its origin", "[check][init]") {
    constexpr std::uint32_t kSelect[] = {0x85008884 | kScalarResult << 16, 0};  // s_cselect_b32 s40, 4, 8
    const Inst inst = Decoder{Target::gfx900}.decode(0x1000, kSelect);
    Scene scene{};
    GroupShadow shared;
    WaveShadow own;
    own.registers.begin({});  // the destination is undefined, too
    Wave wave{};
    set_constants(wave);
    flow_scalar({scene, shared, own, wave, inst});
    const Undefined chosen = own.registers.at(kScalarResult, 0);
    REQUIRE(chosen.bits == 12);
    REQUIRE(shared.origins.at(chosen.origin).source == Source::Scc);
}

}  // namespace flow_test
