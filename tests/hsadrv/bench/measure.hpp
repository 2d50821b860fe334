// Compares two implementations of the same work.
//
//     const Ratio ratio = bench::compare([&] { theirs(); }, [&] { ours(); });
//     bench::print("pinned copy / memcpy", ratio, "goal >= 0.9");
//
// Three warm-ups, then samples in the order A B B A, so that drift affects both; medians,
// with the 5th and 95th percentile. A measurement is never a test: it prints.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <vector>

namespace bench {

struct Samples {
    std::vector<double> ns;
    double percentile(double part) const {
        std::vector<double> sorted = ns;
        std::sort(sorted.begin(), sorted.end());
        return sorted[static_cast<std::size_t>(part * static_cast<double>(sorted.size() - 1) + 0.5)];
    }
    double median() const { return percentile(0.5); }
};

struct Ratio {
    Samples a, b;
    /// B's time as a multiple of A's.
    double time() const { return b.median() / a.median(); }
    /// B's speed as a fraction of A's.
    double speed() const { return a.median() / b.median(); }
};

template <class Function>
double time_ns(Function&& function) {
    const auto start = std::chrono::steady_clock::now();
    function();
    return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - start).count();
}

/// `before` and `after` run around every B, untimed: they overwrite the previous result, and verify.
template <class A, class B, class Before, class After>
Ratio compare(A&& a, B&& b, Before&& before, After&& after, int rounds) {
    Ratio ratio;
    const auto sample_b = [&] {
        before();
        const double ns = time_ns(b);
        after();
        return ns;
    };
    for (int i = 0; i < 3; ++i) a(), sample_b();
    for (int i = 0; i < rounds; ++i) {
        ratio.a.ns.push_back(time_ns(a));
        ratio.b.ns.push_back(sample_b());
        ratio.b.ns.push_back(sample_b());
        ratio.a.ns.push_back(time_ns(a));
    }
    return ratio;
}

template <class A, class B>
Ratio compare(A&& a, B&& b, int rounds = 16) {
    const auto nothing = [] {};
    return compare(a, b, nothing, nothing, rounds);
}

inline void print(const char* what, const Ratio& ratio, double value, const char* goal) {
    std::printf("%-44s %6.3f   %-12s  A %9.1f us (%.1f-%.1f), B %9.1f us (%.1f-%.1f)\n", what, value, goal,
                ratio.a.median() / 1e3, ratio.a.percentile(0.05) / 1e3, ratio.a.percentile(0.95) / 1e3,
                ratio.b.median() / 1e3, ratio.b.percentile(0.05) / 1e3, ratio.b.percentile(0.95) / 1e3);
}

}  // namespace bench
