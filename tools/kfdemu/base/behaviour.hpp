// Hard behaviours of real GPUs that programs may not notice on a forgiving device, each by its name.
//
//     strict                                 all of them             strict=barrier-value+seeded-order   these as well
//     strict=no-fault-stops-all              all but that default    strict=none                         not one
//
// Pure but for the process's set: text in, value or error text out.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>

namespace kfdemu {

enum class Behaviour : std::uint8_t {
    fault_stops_all,  ///< a memory fault evicts all queues of the process on that GPU
    doorbell,         ///< packets beyond the doorbell's value are not taken
    invalid_headers,  ///< a slot's header is INVALID from the moment that its packet is read
    barrier_value,    ///< BARRIER_VALUE exists on few models, and compares as every known implementation would
    seeded_garbage,   ///< LDS, registers and fresh VRAM hold anything
    seeded_order,     ///< packets without the barrier bit overlap and finish in any order
    private_vram,     ///< the host cannot touch VRAM
};

class Behaviours {
  public:
    /// What costs nothing and every real GPU shows.
    static constexpr Behaviours defaults() {
        Behaviours result;
        for (const Behaviour what : {Behaviour::fault_stops_all, Behaviour::doorbell, Behaviour::invalid_headers})
            result.set(what);
        return result;
    }
    static Behaviours all();

    constexpr bool has(Behaviour what) const { return bits_ >> static_cast<unsigned>(what) & 1; }
    constexpr void set(Behaviour what, bool on = true) {
        const auto bit = static_cast<std::uint32_t>(1u << static_cast<unsigned>(what));
        bits_ = on ? bits_ | bit : bits_ & ~bit;
    }
    bool operator==(const Behaviours&) const = default;

  private:
    std::uint32_t bits_ = 0;
};

/// Changes `behaviours` as "NAME+no-NAME+…" says, from left to right; an error text that says what is possible, or "".
std::string change(Behaviours& behaviours, std::string_view text);
/// What change() makes `behaviours` of from the defaults; "" for the defaults.
std::string to_string(const Behaviours& behaviours);
/// "fault-stops-all, doorbell, …", for messages.
std::string behaviour_names();

/// What this process's device does. Relaxed: set once, before there is a device; which may be before constructors run.
constinit inline std::atomic<Behaviours> behaviours{Behaviours::defaults()};
inline bool shows(Behaviour what) { return behaviours.load(std::memory_order_relaxed).has(what); }

}  // namespace kfdemu
