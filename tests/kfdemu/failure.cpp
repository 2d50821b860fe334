#include "tools/kfdemu/base/failure.hpp"

#include <cerrno>

#include "tests/support/catch.hpp"

using namespace kfdemu;

TEST_CASE("a failure is read from its text and written back", "[kfdemu][options]") {
    struct Row {
        const char* text;
        Point point;
        std::uint32_t number;
        std::uint64_t nth, count;
        int error;
        const char* back;
    };
    const Row rows[] = {
        {"allocation:3:ENOMEM", Point::allocation, 0, 3, 1, ENOMEM, "allocation:3:ENOMEM"},
        {"ioctl/0x16:2-5:EIO", Point::ioctl, 0x16, 2, 4, EIO, "ioctl/22:2-5:EIO"},
        {"mmap:1-:12", Point::mapping, 0, 1, Turns::kAll, ENOMEM, "mmap:1-:ENOMEM"},
        {"open:1-:EACCES", Point::open, 0, 1, Turns::kAll, EACCES, "open:1-:EACCES"},
        {"scratch:7-7:99", Point::scratch, 0, 7, 1, 99, "scratch:7:99"},
    };
    for (const Row& row : rows) {
        INFO(row.text);
        const auto parsed = parse_failure(row.text);
        REQUIRE(std::holds_alternative<Failure>(parsed));
        const Failure& failure = std::get<Failure>(parsed);
        CHECK(failure.point == row.point);
        CHECK(failure.number == row.number);
        CHECK(failure.turns.nth == row.nth);
        CHECK(failure.turns.count == row.count);
        CHECK(failure.error == row.error);
        CHECK(to_string(failure) == row.back);
    }
}

TEST_CASE("a failure that cannot be meant is explained", "[kfdemu][options]") {
    for (const char* text :
         {"", "allocation", "allocation:3", "oops:1:EIO", "allocation/2:1:EIO", "ioctl/:1:EIO", "ioctl/0:1:EIO",
          "ioctl/256:1:EIO", "mmap:0:EIO", "mmap:3-2:EIO", "mmap:x:EIO", "mmap:1:EWHAT", "mmap:1:0", "mmap:1:EIO:"}) {
        INFO(text);
        const auto parsed = parse_failure(text);
        REQUIRE(std::holds_alternative<std::string>(parsed));
        const std::string& said = std::get<std::string>(parsed);
        CHECK((said.find(" must ") != std::string::npos || said.find("expected ") == 0));
    }
}

TEST_CASE("turns begin at the nth and last for so many", "[kfdemu][options]") {
    Turns turns{3, 2};
    std::string seen;
    for (int i = 0; i < 6; ++i) seen += turns.next() ? 'x' : '.';
    CHECK(seen == "..xx..");
}
