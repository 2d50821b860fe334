// Deadlines: from durations and time points, shared and sliced.
#include "hsadrv/deadline.hpp"

#include "tests/support/catch.hpp"

using namespace hsadrv;
using namespace std::chrono_literals;

TEST_CASE("deadlines are made from durations, and print the given duration", "[deadline]") {
    CHECK(Deadline().is_never());
    CHECK_FALSE(Deadline().passed());
    CHECK(Deadline().text() == "no deadline");
    CHECK(Deadline(250ms).text() == "250 ms");
    CHECK_FALSE(Deadline(1h).passed());
    CHECK(Deadline(0ms).passed());
    CHECK(Deadline(-5s).passed());
    CHECK(Deadline(-5s).remaining() == 0ns);
    CHECK(Deadline(std::chrono::hours::max()).is_never());
    CHECK(Deadline(std::chrono::nanoseconds::max()).is_never());
    CHECK(Deadline(1h).remaining() > 59min);
}

TEST_CASE("a slice of a deadline is never later than the deadline", "[deadline]") {
    CHECK(Deadline().sliced(10ms).remaining() <= 10ms);
    CHECK(Deadline(1h).sliced(10ms).remaining() <= 10ms);
    CHECK(Deadline(0ms).sliced(1h).passed());
}

TEST_CASE("several calls share a deadline", "[deadline]") {
    const auto now = Deadline::Clock::now();
    const Deadline past = Deadline::at(now - 1s), later = Deadline::at(now + 1h);
    CHECK(past.passed());
    CHECK(past.remaining() == 0ns);
    CHECK_FALSE(later.passed());
    CHECK(later.remaining() <= 1h);
    CHECK(later.remaining() > 59min);
    CHECK(later.text() == "a deadline");
    CHECK(Deadline::at(Deadline::Clock::time_point::max()).is_never());
    CHECK(Deadline::at(Deadline::Clock::time_point::max() - 1ns).is_never());
    CHECK(Deadline::at(Deadline::Clock::time_point::max() - 1ns).sliced(1ms).remaining() <= 1ms);
    const Deadline first = Deadline::at(Deadline::Clock::time_point::min());
    CHECK(first.passed());
    CHECK(first.remaining() == 0ns);
    CHECK(first.sliced(1h).passed());
    CHECK(Deadline().sliced(std::chrono::nanoseconds::max()).remaining() > 1h);
    CHECK(Deadline::never().is_never());
    CHECK(Deadline::never().remaining() == std::chrono::nanoseconds::max());
}
