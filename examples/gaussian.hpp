// The weights of blur's kernel, and the reference result on the CPU.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernels/blur_shape.hpp"
#include "pnm.hpp"

/// A Gaussian with a standard deviation of half the radius, summing to 1.
inline std::vector<float> gaussian() {
    std::vector<double> exact(blur_taps);
    double sum = 0;
    for (uint32_t i = 0; i < blur_taps; ++i)
        sum += exact[i] = std::exp(-2.0 * std::pow(double(i) / blur_radius - 1.0, 2));
    std::vector<float> weights;
    for (const double weight : exact) weights.push_back(static_cast<float>(weight / sum));
    return weights;
}

/// The largest difference between `out` and the blur of `in` computed in double, in one pass instead of the kernel's
/// two, without rounding.
inline double worst_error(const Picture& in, const Picture& out, const std::vector<float>& weights) {
    const auto near = [](uint32_t at, uint32_t tap, uint32_t size) {
        return static_cast<std::size_t>(std::clamp<int64_t>(int64_t{at} + tap - blur_radius, 0, int64_t{size} - 1));
    };
    double worst = 0;
    for (uint32_t at = 0; at < out.samples.size(); ++at) {
        const uint32_t channel = at % in.channels, x = at / in.channels % in.width, y = at / in.channels / in.width;
        double sum = 0;
        for (uint32_t j = 0; j < blur_taps; ++j) {
            const std::size_t row = near(y, j, in.height) * in.width;
            for (uint32_t i = 0; i < blur_taps; ++i)
                sum +=
                    double(weights[j]) * weights[i] * in.samples[(row + near(x, i, in.width)) * in.channels + channel];
        }
        worst = std::max(worst, std::abs(out.samples[at] - sum));
    }
    return worst;
}
