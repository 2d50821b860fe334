// The works that a scheduler's workers run, in turn or in a drawn order. Every operation takes constant time, however
// many works there are.
//
//     works.add(work, priority);
//     auto work = works.next(WorkList::From::highest);    // the worker runs it; others may get it, too
//     works.remove(*work);                                // it has ended
//
// Works of one priority take turns, first come first. Thread safety: none, the scheduler's mutex guards it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <unordered_map>
#include <vector>

#include "tools/kfdemu/base/order.hpp"
#include "tools/kfdemu/base/work.hpp"

namespace kfdemu {

class WorkList {
  public:
    enum class From { highest, all };  ///< those of the highest priority, or of every priority

    /// Adds `work`, which must not be in the list. `passed_over`: draws that it skips before it runs.
    void add(std::shared_ptr<Work> work, std::uint32_t priority, unsigned passed_over = 0);
    void remove(const Work& work);
    /// The next in turn. Null: the list is empty.
    std::shared_ptr<Work> next(From from);
    /// A random one. Null: the list is empty, or the drawn work skips this turn so that later ones run first.
    std::shared_ptr<Work> drawn(From from, Random& random);

    std::size_t size() const { return all_.size(); }
    bool empty() const { return all_.empty(); }

  private:
    struct Job {
        std::shared_ptr<Work> work;
        std::uint32_t priority;
        unsigned passed_over;
        std::size_t place;                  // in all_
        std::list<Job*>::iterator in_turn;  // in turns_[priority]
    };

    std::unordered_map<const Work*, Job> jobs_;
    std::vector<Job*> all_;  // in no order
    std::size_t next_ = 0;
    std::map<std::uint32_t, std::list<Job*>, std::greater<>> turns_;  // by priority, without empty ones
};

}  // namespace kfdemu
