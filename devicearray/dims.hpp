// A short list of integers: an array's shape, its strides, a choice of axes. At most eight, stored in place.
//
//     Dims shape{480, 640, 3};     Dims line = 1000;     shape.rank();  shape[1];
//
// Values: any thread may use any object; nothing is allocated. Throws InvalidArgument for a ninth dimension
// and for integers that int64_t cannot hold.
#pragma once

#include <concepts>
#include <cstdint>
#include <span>
#include <string>
#include <utility>

namespace hsadrv {

class Dims {
  public:
    static constexpr int max_rank = 8;

    /// Rank 0: the shape of a scalar.
    constexpr Dims() = default;

    template <std::integral... Integers>
        requires(sizeof...(Integers) > 0 && sizeof...(Integers) <= std::size_t{max_rank})
    constexpr Dims(Integers... values) : values_{checked(values)...}, rank_(sizeof...(Integers)) {}

    constexpr explicit Dims(std::span<const std::int64_t> values) {
        if (values.size() > std::size_t{max_rank}) throw_too_many(values.size());
        for (std::int64_t value : values) values_[rank_++] = value;
    }

    /// `rank` copies of `value`.
    static constexpr Dims filled(int rank, std::int64_t value) {
        Dims dims;
        if (rank < 0 || rank > max_rank) throw_too_many(static_cast<std::size_t>(rank));
        while (dims.rank_ < rank) dims.values_[dims.rank_++] = value;
        return dims;
    }

    constexpr int rank() const { return rank_; }
    constexpr std::int64_t operator[](int i) const { return values_[i]; }
    constexpr std::int64_t& operator[](int i) { return values_[i]; }
    constexpr const std::int64_t* begin() const { return values_; }
    constexpr const std::int64_t* end() const { return values_ + rank_; }

    friend constexpr bool operator==(const Dims& a, const Dims& b) {
        if (a.rank_ != b.rank_) return false;
        for (int i = 0; i < a.rank_; ++i) {
            if (a[i] != b[i]) return false;
        }
        return true;
    }

    /// As Python prints a tuple: "(480, 640)", "(1000,)", "()".
    std::string to_string() const;

  private:
    template <std::integral Integer>
    static constexpr std::int64_t checked(Integer value) {
        if (!std::in_range<std::int64_t>(value)) throw_too_large(static_cast<std::uint64_t>(value));
        return static_cast<std::int64_t>(value);
    }
    [[noreturn]] static void throw_too_many(std::size_t count);
    [[noreturn]] static void throw_too_large(std::uint64_t value);

    std::int64_t values_[max_rank] = {};
    int rank_ = 0;
};

}  // namespace hsadrv
