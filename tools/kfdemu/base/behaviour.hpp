// Named strict behaviours of real GPUs, which expose errors that a lenient device hides.
//
//     strict                                 all but torn-packet     strict=barrier-value+seeded-order   these as well
//     strict=no-fault-stops-all              defaults without it     strict=none                         none
//
// Pure except for the process-wide set: text in, value or error text out.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>

namespace kfdemu {

enum class Behaviour : std::uint8_t {
    fault_stops_all,  ///< a memory fault evicts all queues of the process on that GPU
    doorbell,         ///< packets beyond the doorbell's value are not taken
    invalid_headers,  ///< a packet's header in the ring becomes INVALID when the packet is taken
    barrier_value,    ///< BARRIER_VALUE exists on few models; holds only under every known comparison
    seeded_garbage,   ///< LDS, scratch, registers and new VRAM hold arbitrary values
    seeded_order,     ///< packets without the barrier bit overlap and finish in any order
    private_vram,     ///< the host cannot access VRAM
    write_index,      ///< slots below a ring's write index are looked at, and have to be written
    torn_packet,      ///< a packet that is written after that runs with the second half of what was there
};

class Behaviours {
  public:
    /// The behaviours that cost nothing and that every real GPU has.
    static constexpr Behaviours defaults() {
        Behaviours result;
        for (const Behaviour what : {Behaviour::fault_stops_all, Behaviour::doorbell, Behaviour::invalid_headers})
            result.set(what);
        return result;
    }
    /// Without torn_packet, under which programs fail that most hosts run.
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

/// Applies "NAME+no-NAME+…" to `behaviours` from left to right. Returns "" or an error text that lists the names.
std::string change(Behaviours& behaviours, std::string_view text);
/// The text with which change() turns the defaults into `behaviours`; "" for the defaults.
std::string to_string(const Behaviours& behaviours);
/// "fault-stops-all, doorbell, …", for error texts.
std::string behaviour_names();

/// The behaviours of this process's device. Relaxed: set once, before the device is created, which may be before static
/// constructors run.
constinit inline std::atomic<Behaviours> behaviours{Behaviours::defaults()};
inline bool shows(Behaviour what) { return behaviours.load(std::memory_order_relaxed).has(what); }

}  // namespace kfdemu
