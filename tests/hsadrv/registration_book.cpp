// The book of locked host ranges: how often and by which address; numbers only.
#include "hsadrv/memory/registration_book.hpp"

#include <map>
#include <random>
#include <set>

#include "tests/support/catch.hpp"

using hsadrv::detail::HostLock;
using hsadrv::detail::HostRange;
using hsadrv::detail::RegistrationBook;

namespace {

constexpr std::uintptr_t base = 0x7f0000000000;
constexpr std::uintptr_t agents_offset = 0x100000000000;  // between the host's view and the agents'

HostRange range(std::uintptr_t begin, std::size_t size_bytes, std::vector<std::uint64_t> agents = {1}) {
    return {begin, size_bytes, 0, std::move(agents)};
}

/// As register_memory, with a runtime that locks every range.
RegistrationBook::Id enter(RegistrationBook& book, const HostRange& wanted, bool scoped = false) {
    if (const auto entry = book.share(wanted, scoped)) return entry->id;
    const auto name = book.reserve_name(wanted.begin);
    REQUIRE(name);
    return book.add({wanted, *name, wanted.begin + agents_offset}, scoped);
}

}  // namespace

TEST_CASE("the same range twice is one lock, unlocked with the last registration", "[memory][register]") {
    RegistrationBook book;
    const auto first = enter(book, range(base, 4096)), second = enter(book, range(base, 4096));
    CHECK(first != second);
    CHECK(book.locks() == 1);
    CHECK(book.registrations() == 2);
    CHECK_FALSE(book.remove(first));
    const auto last = book.remove(second);
    REQUIRE(last);
    CHECK(last->name == base);
    CHECK(book.locks() == 0);
}

TEST_CASE("a registration ends once", "[memory][register]") {
    RegistrationBook book;
    const auto id = enter(book, range(base, 64));
    CHECK(book.remove(id));
    CHECK_FALSE(book.remove(id));
    CHECK_FALSE(book.remove(0));
    CHECK_FALSE(book.remove(77));
}

TEST_CASE("ranges that overlap, contain each other or touch are separate locks", "[memory][register]") {
    struct Row {
        const char* what;
        HostRange a, b;
        bool same_name;  // do both begin at one address?
    };
    const Row rows[] = {
        {"overlapping", range(base, 5 * 4096), range(base + 3 * 4096, 5 * 4096), false},
        {"contained", range(base, 8 * 4096), range(base + 4096, 4096), false},
        {"contained, from the beginning", range(base, 8 * 4096), range(base, 4096), true},
        {"containing, from the beginning", range(base, 4096), range(base, 8 * 4096), true},
        {"touching", range(base, 4096), range(base + 4096, 4096), false},
        {"touching within a page", range(base + 10, 100), range(base + 110, 50), false},
        {"the same for more agents", range(base, 4096, {1}), range(base, 4096, {1, 2}), true},
        {"the same for another agent", range(base, 4096, {1}), range(base, 4096, {2}), true},
        {"the same of another kind", {base, 4096, 0, {1}}, {base, 4096, 1, {1}}, true},
    };
    for (const Row& row : rows) {
        CAPTURE(row.what);
        RegistrationBook book;
        const auto a = enter(book, row.a), b = enter(book, row.b);
        CHECK(book.locks() == 2);
        const auto lock_a = book.remove(a), lock_b = book.remove(b);
        REQUIRE(lock_a);
        REQUIRE(lock_b);
        CHECK(lock_a->name == row.a.begin);
        CHECK((lock_b->name == row.b.begin) == !row.same_name);
        CHECK(lock_b->name / 4096 == row.b.begin / 4096);
        CHECK(lock_a->name != lock_b->name);
    }
}

TEST_CASE("the lock for more agents serves fewer agents", "[memory][register]") {
    RegistrationBook book;
    enter(book, range(base, 4096, {1, 2, 3}));
    enter(book, range(base, 4096, {2}));
    enter(book, range(base, 4096, {1, 3}));
    CHECK(book.locks() == 1);
    enter(book, range(base, 4096, {1, 4}));
    CHECK(book.locks() == 2);
}

TEST_CASE("a page has one name per byte, and a released name is reused", "[memory][register]") {
    RegistrationBook book;
    std::set<std::uintptr_t> names;
    for (int i = 0; i < 4096; ++i) names.insert(book.reserve_name(base + 100).value_or(0));
    CHECK(names.size() == 4096);
    CHECK(*names.begin() == base);
    CHECK(*names.rbegin() == base + 4095);
    CHECK_FALSE(book.reserve_name(base + 5));
    CHECK(book.reserve_name(base + 4096));
    book.release_name(base + 17);
    CHECK(book.reserve_name(base + 5) == base + 17);
}

TEST_CASE("the latest registration of an address is found, scoped ones are not", "[memory][register]") {
    RegistrationBook book;
    const auto small = enter(book, range(base, 100)), large = enter(book, range(base, 200));
    const auto scoped = enter(book, range(base, 300), true);
    CHECK(book.latest(base) == large);
    CHECK(book.latest(base, 100) == small);
    CHECK_FALSE(book.latest(base, 300));
    CHECK_FALSE(book.latest(base + 1));
    book.remove(large);
    CHECK(book.latest(base) == small);
    const auto again = enter(book, range(base, 300));  // shares the scoped one's lock
    CHECK(book.latest(base, 300) == again);
    CHECK_FALSE(book.remove(again));
    CHECK_FALSE(book.latest(base, 300));
    CHECK(book.remove(scoped));
}

TEST_CASE("an address belongs to the lock that extends furthest after it", "[memory][register]") {
    RegistrationBook book;
    const auto large = enter(book, range(base, 1000));
    enter(book, range(base + 200, 100));
    enter(book, range(base + 900, 500));
    const auto at = [&](std::uintptr_t address) {
        const HostLock* lock = book.covering(address);
        return lock ? lock->range.begin - base : 0xdead;
    };
    CHECK(at(base) == 0);
    CHECK(at(base + 250) == 0);
    CHECK(at(base + 950) == 900);
    CHECK(at(base + 1399) == 900);
    CHECK(at(base + 1400) == 0xdead);
    CHECK(at(base - 1) == 0xdead);
    CHECK(at(base + agents_offset + 250) == 0);  // the agents' address
    book.remove(large);
    CHECK(at(base + 250) == 200);
    CHECK(at(base + 310) == 0xdead);
}

TEST_CASE("any() returns registrations until the book is empty", "[memory][register]") {
    RegistrationBook book;
    for (std::uintptr_t i = 0; i < 10; ++i) enter(book, range(base + i, 50), i % 2 == 0);
    int unlocked = 0;
    while (const auto id = book.any()) unlocked += book.remove(*id).has_value();
    CHECK(unlocked == 10);
    CHECK(book.registrations() == 0);
}

TEST_CASE("any order of registrations agrees with a list of them", "[memory][register]") {
    std::minstd_rand random(5);
    const auto up_to = [&](unsigned most) { return random() / 7 % (most + 1); };
    RegistrationBook book;
    struct Expected {
        HostRange range;
        std::uintptr_t name = 0;
    };
    std::map<RegistrationBook::Id, Expected> expected;
    for (int step = 0; step < 4000; ++step) {
        if (expected.empty() || up_to(9) < 5) {
            const HostRange wanted = range(base + 512 * up_to(20), 1 + 512 * up_to(8),
                                           up_to(1) ? std::vector<std::uint64_t>{1} : std::vector<std::uint64_t>{1, 2});
            expected[enter(book, wanted)] = {wanted};
        } else {
            const auto victim = std::next(expected.begin(), up_to(static_cast<unsigned>(expected.size()) - 1));
            book.remove(victim->first);
            expected.erase(victim);
        }
        REQUIRE(book.registrations() == expected.size());
        const std::uintptr_t probe = base + 256 * up_to(60);
        std::size_t furthest = 0;
        for (const auto& [id, one] : expected)
            if (probe >= one.range.begin && probe - one.range.begin < one.range.size_bytes)
                furthest = std::max(furthest, one.range.begin + one.range.size_bytes - probe);
        const HostLock* lock = book.covering(probe);
        REQUIRE((lock ? lock->range.begin + lock->range.size_bytes - probe : 0) == furthest);
    }
    for (const auto& [id, one] : expected) book.remove(id);
    CHECK(book.locks() == 0);
}
