#include "tools/hsadrv/bench/sampler.hpp"

#include <utility>

namespace hsadrv_bench {
namespace {

/// A case's samples so far.
class Taken {
  public:
    void take(const Case& one) {
        double ns = 0;
        spent_ns_ += time_ns([&] { ns = one.sample(); });
        ns_.push_back(ns);
    }
    bool wants_more(const Sampling& sampling) const {
        if (ns_.size() >= sampling.samples) return false;
        return ns_.size() < Sampling::least_samples || spent_ns_ < sampling.seconds * 1e9;
    }
    Summary summary() const { return summarize(ns_); }

  private:
    std::vector<double> ns_;
    double spent_ns_ = 0;
};

}  // namespace

std::vector<Row> measure(const std::vector<Case>& cases, const Sampling& sampling, const Between& between) {
    for (unsigned i = 0; i < sampling.warmup; ++i)
        for (const Case& one : cases) {
            between(one.row, Stage::warmup);
            one.sample();
        }
    std::vector<Taken> taken(cases.size());
    bool forward = true, more = true;
    while (std::exchange(more, false)) {
        for (std::size_t turn = 0; turn < cases.size(); ++turn) {
            const std::size_t i = forward ? turn : cases.size() - 1 - turn;
            if (!taken[i].wants_more(sampling)) continue;
            between(cases[i].row, Stage::sampling);
            taken[i].take(cases[i]);
            more = true;
        }
        forward = !forward;
    }
    std::vector<Row> rows;
    for (std::size_t i = 0; i < cases.size(); ++i) {
        Row row = cases[i].row;
        between(row, Stage::verifying);
        row.time_ns = taken[i].summary();
        row.mismatch = cases[i].verify();
        rows.push_back(std::move(row));
    }
    return rows;
}

}  // namespace hsadrv_bench
