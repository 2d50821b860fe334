// Internal: destroyed streams whose packets are still in a running ring, or whose copies an engine still has. Memory
// and signals that those may write to are not freed until they have ended, or never will.
//
//   remains.departure.begin();
//   departures::note_created(address);
//   if (!departures::defer(free_memory, address)) free_memory(address);
//   departures::hold(code);
//
// Only what existed when the stream was destroyed is kept: packets and engines name no other. So a departure that never
// ends, as that of an engine that hangs, does not keep what is created later.
//
// Thread safety: any thread; a Departure by one. Costs one relaxed load if there are no departures.
#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <vector>

namespace hsadrv::detail {

/// Ends with its life.
class Departure {
  public:
    Departure() : own_(1) {}
    Departure(const Departure&) = delete;
    Departure& operator=(const Departure&) = delete;
    ~Departure();
    void begin() noexcept;

    struct Kept {
        std::uint64_t number = 0;  // of the departure, from one on
        std::vector<std::shared_ptr<const void>> objects;
    };

  private:
    std::list<Kept> own_;  // one element, which is in the list of all while the departure lasts
    std::list<Kept>::iterator in_all_;
};

namespace departures {

/// Something was created at that address: memory, a signal, or the object passed to hold(). Without this call it counts
/// as older than every departure.
void note_created(std::uint64_t address) noexcept;

/// Keeps the object until all departures that have begun during its life have ended. Throws std::bad_alloc.
void hold(const std::shared_ptr<const void>& object);

/// Calls end(address) when all departures that have begun during its life have ended; never if there is no memory to
/// record it. Returns false, with no effect, if there are none.
bool defer(void (*end)(std::uint64_t), std::uint64_t address) noexcept;

}  // namespace departures
}  // namespace hsadrv::detail
