#include "tools/hsadrv/bench/report.hpp"

namespace hsadrv_bench {

const char* text_of(Work work) {
    switch (work) {
        case Work::bytes:
            return "bytes";
        case Work::operations:
            return "operations";
        case Work::launches:
            return "launches";
        case Work::pairs:
            return "pairs";
    }
    return "";
}

const Row* BenchReport::baseline_of(const Row& row) const {
    for (const Row& other : rows)
        if (other.name == baseline && other.group == row.group && other.size_bytes == row.size_bytes) return &other;
    return nullptr;
}

std::optional<double> BenchReport::beside_baseline(const Row& row) const {
    const Row* const base = baseline_of(row);
    if (!base || base == &row) return std::nullopt;
    const double ours = row.reading == Reading::rate ? row.rate().median : row.time_each_ns().median;
    const double theirs = base->reading == Reading::rate ? base->rate().median : base->time_each_ns().median;
    if (theirs <= 0) return std::nullopt;
    return ours / theirs;
}

}  // namespace hsadrv_bench
