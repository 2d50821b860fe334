// Layouts of every kind, chosen and sized by numbers: host and device compute the same ones from the same numbers.
#pragma once

#include <shared/lds_layout.hpp>

struct LayoutOrder {
    uint32_t kind, n, m, k, padding;
};

/// The properties of a layout.
struct LayoutFacts {
    uint32_t offsets_bytes[hsadrv::shared::max_lds_arrays], row_pitches[hsadrv::shared::max_lds_arrays];
    uint32_t size_bytes, align_bytes, overflowed, base_bytes, total_bytes;
};

namespace layouts {

using namespace hsadrv::shared;

struct Pair {
    float left, right;
};
struct alignas(16) Quad {
    uint32_t words[4];
};
struct Triple {
    uint16_t x, y, z;
};

template <uint32_t I, class Layout>
constexpr void row_pitches(const Layout& layout, LayoutFacts& facts) {
    if constexpr (I < Layout::count) {
        facts.row_pitches[I] = layout.template array<I>().row_pitch();
        row_pitches<I + 1>(layout, facts);
    }
}

template <class... Arrays>
constexpr void describe(LayoutFacts& facts, uint32_t fixed_bytes, Arrays... arrays) {
    const auto layout = lds_layout(arrays...);
    for (uint32_t i = 0; i < max_lds_arrays; ++i) {
        facts.offsets_bytes[i] = i < layout.count ? layout.offset_bytes(i) : 0;
        facts.row_pitches[i] = 0;
    }
    row_pitches<0>(layout, facts);
    facts.size_bytes = layout.size_bytes();
    facts.align_bytes = layout.align_bytes();
    facts.overflowed = layout.overflowed();
    const LdsPlacement placed = place_after(fixed_bytes, layout);
    facts.base_bytes = placed.base_bytes;
    facts.total_bytes = placed.total_bytes;
}

inline constexpr uint32_t kinds = 12;

constexpr void describe(const LayoutOrder& order, LayoutFacts& facts) {
    const uint32_t n = order.n, m = order.m, k = order.k, p = order.padding;
    switch (order.kind % kinds) {
        case 0:
            return describe(facts, n, lds_array<float>(n));
        case 1:
            return describe(facts, m, lds_array<unsigned char>(n), lds_array<double>(m));
        case 2:
            return describe(facts, k, lds_array<float>(n, m).padded(p), lds_array<float>(m, k).conflict_free());
        case 3:
            return describe(facts, p, lds_array<Pair>(n).template aligned<64>(), lds_array<char>(m),
                            lds_array<Quad>(k));
        case 4:
            return describe(facts, n, lds_array<uint16_t>(n, m).conflict_free(),
                            lds_array<uint64_t>(k, 3).conflict_free());
        case 5:
            return describe(facts, m, lds_array<float, 16, 16>().conflict_free(), lds_array<int>(n),
                            lds_array<char, 3>());
        case 6:
            return describe(facts, k, lds_array<Triple>(n, m, k).padded(p), lds_array<Triple>(m));
        case 7:
            return describe(facts, p, lds_array<char>(n), lds_array<char>(m), lds_array<char>(k),
                            lds_array<uint64_t>(p));
        case 8:
            return describe(facts, n, lds_array<int>(n, m, k, p), lds_array<uint16_t>(k).template aligned<32>());
        case 9:
            return describe(facts, m, lds_array<Quad>(n, m).padded(p), lds_array<unsigned char>(k, n).conflict_free());
        case 10:
            return describe(facts, k, lds_array<char>(n), lds_array<uint16_t>(m), lds_array<float>(k),
                            lds_array<double>(p), lds_array<char>(p), lds_array<Pair>(k), lds_array<Quad>(m),
                            lds_array<Triple>(n));
        default:
            return describe(facts, p, lds_array<char, 1>(), lds_array<char>(n), lds_array<uint16_t>(1),
                            lds_array<char>(m), lds_array<float, 1>(), lds_array<char>(k), lds_array<double, 1>(),
                            lds_array<char>(p), lds_array<char>(1), lds_array<uint16_t>(n), lds_array<char>(1),
                            lds_array<float>(m), lds_array<char>(1), lds_array<double>(k), lds_array<char>(1),
                            lds_array<Quad>(1));
    }
}

}  // namespace layouts
