#include "tools/kfdemu/queues/work_list.hpp"

#include <set>

#include "tests/support/catch.hpp"

using namespace kfdemu;

namespace {
struct Nothing final : Work {
    Result run() override { return Result::done; }
};
using From = WorkList::From;
}  // namespace

TEST_CASE("works of one priority take turns, first come first", "[kfdemu][scheduler]") {
    WorkList works;
    const std::shared_ptr<Work> some[] = {std::make_shared<Nothing>(), std::make_shared<Nothing>(),
                                          std::make_shared<Nothing>()};
    for (const auto& work : some) works.add(work, 7);
    for (int turn = 0; turn < 6; ++turn) CHECK(works.next(From::highest) == some[turn % 3]);
    works.remove(*some[0]);
    CHECK(works.next(From::highest) == some[1]);
    CHECK(works.next(From::highest) == some[2]);
    CHECK(works.next(From::highest) == some[1]);
}

TEST_CASE("the highest priority runs until it is gone", "[kfdemu][scheduler]") {
    WorkList works;
    const std::shared_ptr<Work> low = std::make_shared<Nothing>(), high = std::make_shared<Nothing>();
    works.add(low, 1);
    works.add(high, 15);
    for (int turn = 0; turn < 3; ++turn) CHECK(works.next(From::highest) == high);
    works.remove(*high);
    CHECK(works.next(From::highest) == low);
    works.remove(*low);
    CHECK(works.empty());
    CHECK(works.next(From::highest) == nullptr);
    CHECK(works.next(From::all) == nullptr);
}

TEST_CASE("a turn from all reaches each work once in as many turns", "[kfdemu][scheduler]") {
    WorkList works;
    for (std::uint32_t n = 0; n < 10; ++n) works.add(std::make_shared<Nothing>(), n % 3);
    std::set<std::shared_ptr<Work>> seen;
    for (int turn = 0; turn < 10; ++turn) seen.insert(works.next(From::all));
    CHECK(seen.size() == 10);
}

TEST_CASE("a drawn work skips as many draws as it is passed over", "[kfdemu][scheduler]") {
    WorkList works;
    Random random{1};
    const std::shared_ptr<Work> work = std::make_shared<Nothing>();
    works.add(work, 0, 2);
    CHECK(works.drawn(From::highest, random) == nullptr);
    CHECK(works.drawn(From::all, random) == nullptr);
    CHECK(works.drawn(From::highest, random) == work);
}
