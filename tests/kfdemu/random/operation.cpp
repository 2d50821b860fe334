#include "tests/kfdemu/random/operation.hpp"

#include <array>

namespace random_programs {
namespace {

using enum Type;

constexpr Type kIntegers[] = {i8, u8, i16, u16, i32, u32, i64, u64};
constexpr Type kFloats[] = {f16, f32, f64};
constexpr Type kVectors[] = {u8x4, u16x2, i16x2, u32x2, u32x4, f16x2, f32x2};

bool is_signed(Type t) { return t == i8 || t == i16 || t == i32 || t == i64; }
Type unsigned_of(Type t) { return is_signed(t) ? static_cast<Type>(static_cast<unsigned>(t) + 1) : t; }
bool is_wide(Type t) { return width(t) == 64; }

class Table {
  public:
    Table() {
        for (const Type t : kIntegers) integers(t);
        for (const Type t : kFloats) floats(t);
        conversions();
        vectors();
        machine();
        conditions();
    }
    const std::vector<Operation>& giving(Type t) const { return by_result_[static_cast<unsigned>(t)]; }

  private:
    /// In texts, T is the result's name.
    void add(Type result, const std::string& text, std::vector<Type> operands, unsigned below = 1,
             bool costly = false) {
        std::string named;
        for (const char c : text)
            if (c == 'T')
                named += name(result);
            else
                named += c;
        by_result_[static_cast<unsigned>(result)].push_back({result, named, std::move(operands), below, costly});
    }
    void costly(Type result, const std::string& text, std::vector<Type> operands) {
        add(result, text, std::move(operands), 1, true);
    }

    void integers(Type t) {
        const unsigned bits = width(t);
        const std::string u = is_wide(t) ? "u64" : "u32", c = name(unsigned_of(t));
        // Functions that hide numbers from the compiler avoid its bugs, which kernels/ name.
        const std::string first = is_wide(t) ? "hidden_ones($0)" : "$0", second = is_wide(t) ? "hidden_ones($1)" : "$1";
        add(t, "T(" + u + "(" + first + ") + " + u + "(" + second + "))", {t, t});
        const std::string product = u + "(" + (is_wide(t) ? "factor($0)" : "$0") + ") * " + u + "($1)";
        add(t, "T(" + u + "($0) - " + u + "($1))", {t, t});
        add(t, "T(" + product + ")", {t, t});
        add(t, "T($0 & $1)", {t, t});
        add(t, "either<T>($0, $1)", {t, t});
        add(t, "T(" + first + " ^ " + second + ")", {t, t});
        add(t, "T(~$0)", {t});
        add(t, "T(0 - " + u + "($0))", {t});
        add(t, "T(" + product + " + " + u + "($2))", {t, t, t});
        const std::string mask = std::to_string(bits - 1);
        add(t, "T(" + c + "($0) << ($1 & " + mask + "))", {t, u32});
        add(t, "T($0 >> ($1 & " + mask + "))", {t, u32});
        add(t, "T(" + c + "($0) << #)", {t}, bits);
        add(t, "T($0 >> #)", {t}, bits);
        add(t, "T(" + u + "($0) + (" + u + "($1) << #))", {t, t}, bits);
        add(t, "T(either<T>($0, $1) & ~$2)", {t, t, t});
        add(t, "T(" + first + " ^ " + second + " ^ $2)", {t, t, t});
        add(t, "T(field(" + c + "($0), #, #))", {t}, bits);
        add(t, "T(field(" + c + "($0), $1, $2))", {t, u32, u32});
        add(t, "T(rotate(" + c + "($0), $1))", {t, u32});
        add(t, "T(funnel(" + c + "($0), " + c + "($1), $2))", {t, t, u32});
        add(t, "T(reverse(" + c + "($0)))", {t});
        if (bits > 8) add(t, "T(swap_bytes(" + c + "($0)))", {t});
        for (const char* f : {"minimum", "maximum", "distance", "add_saturated", "subtract_saturated"})
            add(t, std::string{f} + "<T>($0, $1)", {t, t});
        add(t, "median<T>($0, $1, $2)", {t, t, t});
        add(t, "insert<T>($0, $1, $2)", {t, t, t});
        if (is_signed(t)) add(t, "absolute<T>($0)", {t});
        if (bits >= 32) add(t, "multiply_high($0, $1)", {t, t});
        costly(t, "divide<T>($0, $1)", {t, t});
        costly(t, "modulo<T>($0, $1)", {t, t});
        add(t, "T(unknown<T>($0) / T(# + 3))", {t}, 100, is_wide(t));
        add(t, "T(unknown<T>($0) % T(# + 3))", {t}, 100, is_wide(t));
        add(t, "T($0 ? $1 : $2)", {b, t, t});
        add(t, "T($0)", {b});
        if (bits >= 32)
            for (const char* f : {"ones", "leading_zeros", "trailing_zeros"})
                add(u32, std::string{f} + "(" + c + "($0))", {t});
    }

    void floats(Type t) {
        for (const char* f : {"sum", "difference"}) add(t, std::string{f} + "<T>($0, $1)", {t, t});
        add(t, "T($0 * $1)", {t, t});
        add(t, "sum<T>(T($0 * $1), $2)", {t, t, t});
        add(t, "fused($0, $1, $2)", {t, t, t});
        add(t, "fused(-$0, $1, $2)", {t, t, t});
        add(t, "fused(size($0), $1, -size($2))", {t, t, t});
        add(t, "T(-$0)", {t});
        for (const char* f : {"size", "rounded_down", "rounded_up", "cut", "nearest"})
            add(t, std::string{f} + "($0)", {t});
        for (const char* f : {"lesser", "greater"}) add(t, std::string{f} + "($0, $1)", {t, t});
        add(t, "lesser(greater($0, T(0)), T(1))", {t});
        add(t, "lesser(greater($0, $1), $2)", {t, t, t});
        add(t, "T($0 ? $1 : $2)", {b, t, t});
        costly(t, "quotient($0, $1)", {t, t});
        costly(t, "root(size($0))", {t});
        if (t == f16) return;
        add(t, "with_sign($0, $1)", {t, t});
        add(t, "scale($0, $1)", {t, i32});
        add(t, "mantissa($0)", {t});
        add(i32, "exponent($0)", {t});
    }

    void conversions() {
        for (const Type to : kIntegers)
            for (const Type from : kIntegers)
                if (to != from) add(to, "T($0)", {from});
        for (const Type to : kFloats) {
            for (const Type from : kFloats)
                if (to != from) add(to, to == f16 ? "half_of($0)" : "T($0)", {from});
            for (const Type from : kIntegers) {
                add(to, "T($0)", {from}, 1, is_wide(from));
                const std::string f = name(to);
                add(from, "whole<T>($0)", {to}, 1, is_wide(from) || to == f64);
            }
        }
        add(f16, "as_f16($0)", {u16});
        add(f32, "as_f32($0)", {u32});
        add(f64, "as_f64($0)", {u64});
        add(u16, "bits($0)", {f16});
        add(u32, "bits($0)", {f32});
        add(u64, "bits($0)", {f64});
        add(f32, "f32(u8($0 >> 8 * #))", {u32}, 4);
        add(u64, "(u64($0) << 32 | $1)", {u32, u32});
        add(u32, "u32($0 >> 32)", {u64});
        add(u64, "(u64(factor($0)) * $1 + $2)", {u32, u32, u64});
        add(i64, "i64(u64(i64($0) * $1) + u64($2))", {i32, i32, i64});
        add(f32, "fused(f32($0), f32($1), $2)", {f16, f16, f32});
        add(f32, "fused(f32($0), $1, f32($2))", {f16, f32, f16});
        add(f16, "f16(fused(f32($0), f32($1), f32($2)))", {f16, f16, f16});
        add(f32, "f32(f64($0) * f64($1))", {f32, f32});
    }

    void vectors() {
        for (const Type t : kVectors) {
            const bool four = t == u8x4 || t == u32x4;
            const Type element = t == u8x4    ? u8
                                 : t == u16x2 ? u16
                                 : t == i16x2 ? i16
                                 : t == f16x2 ? f16
                                 : t == f32x2 ? f32
                                              : u32;
            if (is_float(element))
                for (const char* f : {"sum", "difference"}) add(t, std::string{f} + "<T>($0, $1)", {t, t});
            else if (t != i16x2)
                for (const char* op : {"+", "-"})
                    add(t, "(hidden_pair<T>($0) " + std::string{op} + " hidden_pair<T>($1))", {t, t});
            if (is_float(element))
                add(t, "($0 * $1)", {t, t});
            else if (t != i16x2)
                add(t, "(hidden_pair<T>($0) * hidden_pair<T>($1))", {t, t});
            if (four)
                add(t, "T{$0, $1, $2, $3}", {element, element, element, element});
            else if (t == f16x2)  // clang treats a constant -0 in the upper half as +0
                add(t, "T{hidden_zero($0), hidden_zero($1)}", {element, element});
            else
                add(t, "T{$0, $1}", {element, element});
            add(t, "($0)" + std::string{four ? ".zwxy" : ".yx"}, {t});
            add(t, "($0 ? $1 : $2)", {b, t, t});
            add(element, "($0)[#]", {t}, four ? 4 : 2);
            if (is_float(element)) {
                add(t, "fused($0, $1, $2)", {t, t, t});
                add(t, t == f32x2 ? "negated($0)" : "(-$0)", {t});
                continue;
            }
            for (const char* op : {"&", "|", "^"}) add(t, "($0 " + std::string{op} + " $1)", {t, t});
            for (const char* f : {"each_minimum", "each_maximum", "each_shift_right"})
                add(t, std::string{f} + "($0, $1)", {t, t});
            if (t != i16x2) add(t, "each_shift_left($0, $1)", {t, t});
        }
        add(f16x2, "lesser($0, $1)", {f16x2, f16x2});
        add(f16x2, "greater($0, $1)", {f16x2, f16x2});
        add(u16x2, "(hidden_pair($0) * hidden_pair($1) + hidden_pair($2))", {u16x2, u16x2, u16x2});
        add(u16x2, "add_saturated($0, $1)", {u16x2, u16x2});
        add(u16x2, "subtract_saturated($0, $1)", {u16x2, u16x2});
        add(i16x2, "add_saturated($0, $1)", {i16x2, i16x2});
        add(u16x2, "unpack_2($0)", {u32});
        add(u8x4, "unpack_4($0)", {u32});
        add(u32, "pack($0)", {u16x2});
        add(u32, "pack($0)", {u8x4});
        add(i16x2, "__builtin_convertvector($0, i16x2)", {u16x2});
        add(u16x2, "__builtin_convertvector($0, u16x2)", {i16x2});
    }

    void machine() {
        for (const char* f : {"align_bit", "align_byte", "permute", "average", "sad_8", "sad_16", "sad_high",
                              "sad_masked", "bfe", "dot_8", "dot_4"})
            add(u32, std::string{f} + "($0, $1, $2)", {u32, u32, u32});
        add(u32, "permute($0, $1, 0x0#0#0#0#u)", {u32, u32}, 10);
        add(i32, "bfe($0, $1, $2)", {i32, u32, u32});
        add(i32, "dot_8($0, $1, $2)", {i32, i32, i32});
        add(i32, "dot_4($0, $1, $2)", {i32, i32, i32});
        add(u32, "multiply_24($0, $1)", {u32, u32});
        add(i32, "multiply_24($0, $1)", {i32, i32});
        add(u32, "(multiply_24($0, $1) + $2)", {u32, u32, u32});
    }

    void conditions() {
        for (const char* op : {"<", "<=", "==", "!=", ">", ">="}) {
            for (const Type t : kIntegers) add(b, "($0 " + std::string{op} + " $1)", {t, t});
            for (const Type t : kFloats) {
                add(b, "($0 " + std::string{op} + " $1)", {t, t});
                add(b, "!($0 " + std::string{op} + " $1)", {t, t});
            }
        }
        for (const Type t : kIntegers) add(b, "(($0 >> # & 1) != 0)", {t}, width(t));
        add(b, "IS_CLASS($0, # * 4 + 3)", {f32}, 256);
        add(b, "IS_CLASS_64($0, # * 4)", {f64}, 256);
        for (const char* op : {"&&", "||", "^"}) add(b, "($0 " + std::string{op} + " $1)", {b, b});
        add(b, "!$0", {b});
    }

    std::array<std::vector<Operation>, kTypes> by_result_;
};

}  // namespace

const std::vector<Operation>& operations_giving(Type result) {
    static const Table table;
    return table.giving(result);
}

}  // namespace random_programs
