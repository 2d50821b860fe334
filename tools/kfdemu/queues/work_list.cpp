#include "tools/kfdemu/queues/work_list.hpp"

#include <utility>

namespace kfdemu {

void WorkList::add(std::shared_ptr<Work> work, std::uint32_t priority, unsigned passed_over) {
    const Work* key = work.get();
    std::list<Job*>& turns = turns_[priority];
    Job& job = jobs_[key];
    job = {std::move(work), priority, passed_over, all_.size(), turns.insert(turns.end(), &job)};
    all_.push_back(&job);
}

void WorkList::remove(const Work& work) {
    const auto at = jobs_.find(&work);
    const Job& job = at->second;
    all_[job.place] = all_.back();
    all_[job.place]->place = job.place;
    all_.pop_back();
    const auto turns = turns_.find(job.priority);
    turns->second.erase(job.in_turn);
    if (turns->second.empty()) turns_.erase(turns);
    jobs_.erase(at);
}

std::shared_ptr<Work> WorkList::next(From from) {
    if (empty()) return nullptr;
    if (from == From::all) return all_[next_++ % all_.size()]->work;
    std::list<Job*>& turns = turns_.begin()->second;
    turns.splice(turns.end(), turns, turns.begin());
    return turns.back()->work;
}

std::shared_ptr<Work> WorkList::drawn(From from, Random& random) {
    if (empty()) return nullptr;
    const std::uint32_t lowest = from == From::all ? turns_.rbegin()->first : turns_.begin()->first;
    for (;;) {
        Job& job = *all_[random.below(all_.size())];
        if (job.priority < lowest) continue;
        if (job.passed_over == 0) return job.work;
        --job.passed_over;
        return nullptr;
    }
}

}  // namespace kfdemu
