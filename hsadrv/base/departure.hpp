// Internal: destroyed streams whose packets are still in a running ring, or whose copies an engine still has. Memory
// and signals that those may write to are not freed until they have ended, or never will.
//
//   remains.departure.begin();
//   if (!departures::defer(free_memory, address)) free_memory(address);
//   departures::hold(code);
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

    using Held = std::list<std::vector<std::shared_ptr<const void>>>;

  private:
    Held own_;  // one element, which is in the list of all while the departure lasts
    Held::iterator in_all_;
};

namespace departures {

/// Keeps the object until all departures that have begun have ended. Throws std::bad_alloc.
void hold(const std::shared_ptr<const void>& object);

/// Calls end(argument) when all departures that have begun have ended; never if there is no memory to record it.
/// Returns false, with no effect, if there are none.
bool defer(void (*end)(std::uint64_t), std::uint64_t argument) noexcept;

}  // namespace departures
}  // namespace hsadrv::detail
