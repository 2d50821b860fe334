// What a kernel's printf becomes on the host, from the words that it sends.
#include "hsadrv/services/printf_text.hpp"

#include <bit>
#include <cstring>
#include <type_traits>
#include <vector>

#include "hsadrv/services/kernel_messages.hpp"
#include "tests/support/catch.hpp"

using namespace hsadrv::detail;

namespace {

class Words {
  public:
    explicit Words(std::string_view format) { text(format); }
    Words& text(std::string_view text) {
        std::string padded(text);
        padded.resize(padded.size() / 8 * 8 + 8, '\0');
        const std::size_t before = words_.size();
        words_.resize(before + padded.size() / 8);
        std::memcpy(words_.data() + before, padded.data(), padded.size());
        return *this;
    }
    template <class T>
    Words& number(T number) {
        if constexpr (std::is_same_v<T, double>)
            words_.push_back(std::bit_cast<std::uint64_t>(number));
        else
            words_.push_back(number);
        return *this;
    }
    std::string printed() const { return printf_text(words_); }

  private:
    std::vector<std::uint64_t> words_;
};

}  // namespace

TEST_CASE("integers have the width of their conversion", "[printf_text]") {
    CHECK(Words("%d").number(0xffffffffu).printed() == "-1");  // HIP extends with zeros
    CHECK(Words("%d").number(~0ull).printed() == "-1");
    CHECK(Words("%ld").number(0xffffffffu).printed() == "4294967295");
    CHECK(Words("%u").number(~0ull).printed() == "4294967295");
    CHECK(Words("%zu").number(~0ull).printed() == "18446744073709551615");
    CHECK(Words("%hhd %hd").number(0x1ffull).number(0x1ffffull).printed() == "-1 -1");
    CHECK(Words("%#x|%08X|%+d|% d").number(255ull).number(255ull).number(5ull).number(5ull).printed() ==
          "0xff|000000FF|+5| 5");
}

TEST_CASE("texts, characters, pointers and numbers follow one another", "[printf_text]") {
    CHECK(Words("%s=%.2f, %c%%\n").text("a longer name").number(2.5).number(std::uint64_t{'x'}).printed() ==
          "a longer name=2.50, x%\n");
    CHECK(Words("%10s|%-5s|%.3s").text("right").text("l").text("abcdef").printed() == "     right|l    |abc");
    CHECK(Words("%p").number(std::uint64_t{0x1234}).printed() == "0x1234");
    CHECK(Words("").printed().empty());
}

TEST_CASE("widths and precisions may be arguments", "[printf_text]") {
    CHECK(Words("%*d|%-*d|%.*f")
              .number(4ull)
              .number(1ull)
              .number(4ull)
              .number(2ull)
              .number(1ull)
              .number(0.25)
              .printed() == "   1|2   |0.2");
    CHECK(Words("%*d|").number(0xfffffffcull).number(3ull).printed() == "3   |");    // -4: left
    CHECK(Words("%.*f").number(0xffffffffull).number(0.5).printed() == "0.500000");  // -1: not given
}

TEST_CASE("what a kernel sends wrongly is not trusted", "[printf_text]") {
    CHECK(Words("%d %s").number(1ull).printed() == "1 %s");  // no argument left
    CHECK(Words("%n%d").number(1ull).printed() == "%n1");
    CHECK(Words("%y %").number(1ull).printed() == "%y %");
    CHECK(Words("%5").number(1ull).printed() == "%5");
    CHECK(Words("%999999999d").number(1ull).printed().size() == 4096);
    CHECK(Words("%*d").number(0x80000000ull).number(1ull).printed().size() == 4096);
    const std::uint64_t endless[] = {0x2525252525252525, 0x7373737373737373};  // no zero: "%%%%%%%%ssssssss"
    CHECK(printf_text(endless) == "%%%%ssssssss");
    CHECK(printf_text({}).empty());
    const std::uint64_t unended[] = {0x7325, 0x6161616161616161};  // "%s", "aaaaaaaa"
    CHECK(printf_text(unended) == "aaaaaaaa");
}

TEST_CASE("a message is put together from requests by its number", "[printf_text]") {
    KernelMessages messages;
    HostcallSlot first = {1 | 2 << 5, 10, 11}, second = {1 | 1 << 5, 20}, whole = {3 | 3 << 5, 30, 31, 32};
    CHECK_FALSE(messages.add(first));
    CHECK_FALSE(messages.add(second));
    CHECK(first[0] >> 8 != second[0] >> 8);
    CHECK(messages.add(whole) == KernelMessage{30, 31, 32});
    HostcallSlot last = {first[0] | 2 | 1 << 5, 12};
    CHECK(messages.add(last) == KernelMessage{10, 11, 12});
    HostcallSlot again = {first[0] | 2 | 1 << 5, 13};
    CHECK_FALSE(messages.add(again));  // no longer known
}
