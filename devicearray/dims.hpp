// A short list of integers: an array's shape, its strides, a choice of axes. At most 64, NumPy 2's number of axes. Up
// to eight are stored in place; longer lists are allocated.
//
//     Dims shape{480, 640, 3};     Dims line = 1000;     shape.rank();  shape[1];
//
// Values: any thread may use any object. Throws InvalidArgument for a 65th dimension and for integers that int64_t
// cannot hold, std::bad_alloc for more than eight.
#pragma once

#include "shared/cpp20.hpp"

#include <concepts>
#include <cstdint>
#include <span>
#include <string>
#include <utility>

namespace hsadrv {

class Dims {
  public:
    static constexpr int max_rank = 64;

    /// Rank 0: the shape of a scalar.
    constexpr Dims() noexcept {}

    template <std::integral... Integers>
        requires(sizeof...(Integers) > 0 && sizeof...(Integers) <= std::size_t{max_rank})
    constexpr Dims(Integers... values) : Dims() {
        std::int64_t* to = make_room(sizeof...(Integers));
        ((*to++ = checked(values)), ...);
    }

    constexpr explicit Dims(std::span<const std::int64_t> values) { copy(values); }

    constexpr Dims(const Dims& other) { copy(other); }
    constexpr Dims(Dims&& other) noexcept { take(other); }
    constexpr Dims& operator=(const Dims& other) {
        if (this == &other) return *this;
        if (other.rank_ > in_place && rank_ != other.rank_) return *this = Dims(other);
        if (rank_ != other.rank_) clear();
        copy(other);
        return *this;
    }
    constexpr Dims& operator=(Dims&& other) noexcept {
        if (this == &other) return *this;
        clear();
        take(other);
        return *this;
    }
    constexpr ~Dims() { clear(); }

    /// `rank` copies of `value`.
    static constexpr Dims filled(int rank, std::int64_t value) {
        Dims dims;
        std::int64_t* const to = dims.make_room(static_cast<std::size_t>(rank));
        for (int i = 0; i < rank; ++i) to[i] = value;
        return dims;
    }

    constexpr int rank() const { return rank_; }
    constexpr std::int64_t operator[](int i) const { return begin()[i]; }
    constexpr std::int64_t& operator[](int i) { return rank_ <= in_place ? few_[i] : many_[i]; }
    constexpr const std::int64_t* begin() const { return rank_ <= in_place ? few_ : many_; }
    constexpr const std::int64_t* end() const { return begin() + rank_; }
    constexpr std::size_t size() const { return static_cast<std::size_t>(rank_); }

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

    static constexpr int in_place = 8;

    /// Sets the rank, of an empty list or of one of that rank. The values are the caller's to write.
    constexpr std::int64_t* make_room(std::size_t rank) {
        if (rank > std::size_t{max_rank}) throw_too_many(rank);
        if (rank > std::size_t{in_place} && rank_ == 0) many_ = new std::int64_t[rank];
        rank_ = static_cast<int>(rank);
        return rank_ <= in_place ? few_ : many_;
    }
    constexpr void copy(std::span<const std::int64_t> values) {
        std::int64_t* to = make_room(values.size());
        for (const std::int64_t value : values) *to++ = value;
    }
    constexpr void take(Dims& other) noexcept {
        if (other.rank_ <= in_place) {
            rank_ = other.rank_;
            for (int i = 0; i < rank_; ++i) few_[i] = other.few_[i];
        } else {
            many_ = std::exchange(other.many_, nullptr);
            rank_ = std::exchange(other.rank_, 0);
        }
    }
    constexpr void clear() noexcept {
        if (rank_ > in_place) delete[] many_;
        rank_ = 0;
    }

    std::int64_t few_[in_place] = {};
    std::int64_t* many_ = nullptr;  ///< if the rank is greater
    int rank_ = 0;
};

}  // namespace hsadrv
