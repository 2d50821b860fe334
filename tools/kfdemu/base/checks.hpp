// The checks that kernels can run under: `kfdemu run --check=wait,memory`.
//
//     Checks checks;
//     if (auto error = add(checks, "wait+memory"); !error.empty()) …
//     if (checks.has(Check::wait)) …
//
// Pure: text in, value or error text out.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace kfdemu {

/// The numbers are those of kfdemu.h's bits.
enum class Check : std::uint8_t {
    memory = 0,    ///< accesses outside of allocations, LDS, scratch and arguments; use after free
    wait = 1,      ///< a register used before the s_waitcnt that its load requires
    race = 2,      ///< unordered accesses of LDS and of memory by two waves
    init = 3,      ///< a value never written that is an address, decides a branch, or is stored
    fence = 4,     ///< accesses that are ordered, but not visible: a cache may hold an older value
    leak = 5,      ///< what the program creates through the HSA runtime and never destroys
    lds_race = 6,  ///< the part of `race` that concerns LDS
};

class Checks {
  public:
    constexpr Checks() = default;
    static Checks all();
    /// Those that cost at most three times the time: what --check without a value enables.
    static Checks cheap();
    /// Of kfdemu.h's bits.
    static constexpr Checks of_bits(std::uint32_t bits) {
        Checks result;
        result.bits_ = bits;
        return result;
    }

    constexpr bool has(Check what) const {
        return (bits_ >> static_cast<unsigned>(what) & 1) != 0 || (what == Check::lds_race && has(Check::race));
    }
    constexpr void set(Check what) { bits_ |= 1u << static_cast<unsigned>(what); }
    constexpr bool any() const { return bits_ != 0; }
    constexpr std::uint32_t bits() const { return bits_; }
    bool operator==(const Checks&) const = default;

  private:
    std::uint32_t bits_ = 0;
};

const char* name(Check check);
/// Adds the checks that `text` names, joined with + or commas, or "all" or "cheap". Returns "" or an error text that
/// lists the names.
std::string add(Checks& checks, std::string_view text);
/// "memory+wait"; "" if there are none.
std::string to_string(const Checks& checks);
/// "memory, wait, …", for error texts.
std::string check_names();

}  // namespace kfdemu
