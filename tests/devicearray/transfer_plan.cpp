// Plans of transfers: the choice and its reason; and 10,000 random plans executed byte by byte, with checks of the
// accessible memory and the number of bytes moved.
#include "devicearray/transfer_plan.hpp"

#include <cstring>
#include <map>

#include "devicearray/slice.hpp"
#include "hsadrv/error.hpp"
#include "tests/devicearray/naive_array.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/sanitizer.hpp"

using namespace hsadrv;
using naive::Random;
using naive::Shape;
using test_support::Contains;

namespace {

using Form = StridedCopy::Form;

const DType type = dtypes::float32;
const Layout c = Layout::contiguous({64, 32}, 4), f = Layout::contiguous({64, 32}, 4, Order::F);
const Layout window = slice(Layout::contiguous({64, 100}, 4), {Slice{}, Slice{0, 32}}).layout;
const Layout every_second = Layout::strided({64, 32}, {256, 8}, 4);
const Layout column = Layout::contiguous({64, 1}, 4).broadcast_to({64, 32});
const Layout row = Layout::contiguous({32}, 4).broadcast_to({64, 32});

/// Distant addresses: plans are only inspected, memory is not accessed.
const auto* const here = reinterpret_cast<const std::byte*>(0x10000000);
const auto* const there = reinterpret_cast<const std::byte*>(0x20000000);

TransferPlan plan(const Layout& to, Where to_where, const Layout& from, Where from_where) {
    return plan_transfer("test", {here, type, to, to_where}, {there, type, from, from_where});
}

/// "copy line", "cpu elements, copy line", …
std::string summary(const TransferPlan& plan) {
    constexpr const char* forms[] = {"line", "rectangle", "elements"};
    std::string text;
    for (const TransferStep& step : plan.steps) {
        text += (text.empty() ? "" : ", ") + std::string(name_of(step.mover)) + " " +
                forms[static_cast<int>(step.copy.form())];
    }
    return text;
}

/// Memory of both arrays, and the execution of a plan on it.
class Execution {
  public:
    Execution(const TransferPlan& plan, const TransferSide& to, const TransferSide& from)
        : plan_(plan),
          to_(to),
          from_(from),
          temporary_(static_cast<std::size_t>(plan.staging_bytes + plan.scratch_bytes)) {}

    void run(bool backwards) {
        for (const TransferStep& step : plan_.steps) {
            require_reach(step);
            std::byte* const to = address(step.to) + step.copy.to_offset;
            const std::byte* const from = address(step.from) + step.copy.from_offset;
            const Shape shape = naive::list(step.copy.shape);
            for (std::int64_t n = 0; n < step.copy.count(); ++n) {
                const Shape index = naive::index_at(backwards ? step.copy.count() - 1 - n : n, shape);
                std::int64_t to_at = 0, from_at = 0;
                for (std::size_t i = 0; i < index.size(); ++i) {
                    to_at += index[i] * step.copy.to_strides[static_cast<int>(i)];
                    from_at += index[i] * step.copy.from_strides[static_cast<int>(i)];
                }
                require_inside(step.to, to + to_at, step.copy.item_bytes);
                require_inside(step.from, from + from_at, step.copy.item_bytes);
                std::memcpy(to + to_at, from + from_at, static_cast<std::size_t>(step.copy.item_bytes));
            }
        }
    }

  private:
    std::byte* address(Place place) {
        if (place == Place::destination) return static_cast<std::byte*>(const_cast<void*>(to_.data));
        if (place == Place::source) return static_cast<std::byte*>(const_cast<void*>(from_.data));
        return temporary_.data();
    }

    void require_reach(const TransferStep& step) const {
        for (const Place place : {step.from, step.to}) {
            const Where where = place == Place::source        ? from_.where
                                : place == Place::destination ? to_.where
                                : place == Place::staging     ? Where::pinned
                                                              : Where::device;
            if (step.mover == Mover::cpu && where == Where::device) FAIL("the CPU cannot: " << plan_.to_string());
            if (step.mover == Mover::kernel && where == Where::host) FAIL("the GPU cannot: " << plan_.to_string());
        }
        if (step.mover == Mover::copy && step.copy.form() == Form::elements) FAIL("no copy: " << plan_.to_string());
    }

    void require_inside(Place place, const std::byte* at, std::int64_t bytes) {
        const bool temporary = place == Place::staging || place == Place::scratch;
        const TransferSide& side = place == Place::destination ? to_ : from_;
        const ByteRange range =
            temporary ? ByteRange{0, static_cast<std::int64_t>(temporary_.size())} : side.layout.extent();
        const std::int64_t offset = at - address(place);
        if (offset < range.begin || offset + bytes > range.end)
            FAIL("beyond the " << name_of(place) << ": " << plan_.to_string());
    }

    const TransferPlan& plan_;
    const TransferSide &to_, &from_;
    std::vector<std::byte> temporary_;
};

DType raw_or_scalar(std::int64_t itemsize) { return DType::raw(static_cast<std::size_t>(itemsize)); }

}  // namespace

TEST_CASE("a transfer's plan follows from both layouts and the accessible memory", "[transfer]") {
    constexpr Where host = Where::host, pinned = Where::pinned, device = Where::device;
    struct Row {
        const char* what;
        Layout to;
        Where to_where;
        Layout from;
        Where from_where;
        const char* chosen;
        std::int64_t moved;
        const char* why;
    };
    const std::int64_t n = 64 * 32 * 4;
    const Row rows[] = {
        {"C to C", c, device, c, host, "copy line", n, "without gaps"},
        {"F to F", f, host, f, device, "copy line", n, "without gaps"},
        {"a transposed pair", c.transpose(), device, c.transpose(), host, "copy line", n, "without gaps"},
        {"both reversed", slice(c, {Slice{{}, {}, -1}}).layout, device, slice(c, {Slice{{}, {}, -1}}).layout, host,
         "copy line", n, "without gaps"},
        {"into a window", window, device, c, host, "copy rectangle", n, "rows of 128 B"},
        {"out of a window", c, host, window, device, "copy rectangle", n, "rows of 128 B"},
        {"every second element", c, device, every_second, host, "copy rectangle", n, "rows of 4 B"},
        {"to another order, on the device", f, device, c, device, "kernel elements", n, "GPU reaches both"},
        {"to another order, from pinned memory", f, device, c, pinned, "kernel elements", n, "GPU reaches both"},
        {"to another order, on the host", f, host, c, host, "cpu elements", n, "CPU reaches both"},
        {"to another order, from the host", f, device, c, host, "cpu elements, copy line", 2 * n, "the CPU packs"},
        {"to another order, to the host", f, host, c, device, "kernel elements, copy line", 2 * n, "a kernel packs"},
        {"transposed window, from the host", c.transpose(), device, Layout::strided({32, 64}, {400, 4}, 4), host,
         "cpu elements, copy line", 2 * n, "the CPU packs"},
        {"a row repeated, from the host", c, device, row, host, "copy line, kernel elements", n + 128,
         "a kernel arranges"},
        {"a column repeated, to the host", c, host, column, device, "copy line, cpu elements", n + 256, ""},
    };
    for (const Row& row : rows) {
        CAPTURE(row.what);
        const TransferPlan made = plan(row.to, row.to_where, row.from, row.from_where);
        CAPTURE(made.to_string());
        CHECK(summary(made) == row.chosen);
        CHECK(made.moved_bytes == row.moved);
        CHECK(made.minimum_bytes == n);
        CHECK_THAT(made.why, Contains(row.why));
    }
}

TEST_CASE("empty arrays and copies to the same elements move no bytes", "[transfer]") {
    const Layout empty = Layout::contiguous({0, 3}, 4);
    CHECK(plan(empty, Where::device, empty, Where::host).steps.empty());
    CHECK(
        plan_transfer("test", {nullptr, type, empty, Where::host}, {nullptr, type, empty, Where::host}).steps.empty());
    const TransferPlan same = plan_transfer("test", {here, type, c, Where::device}, {here, type, c, Where::device});
    CHECK(same.steps.empty());
    CHECK_THAT(same.to_string(), Contains("nothing to copy") && Contains("same elements"));
}

TEST_CASE("overlapping arrays go through a temporary, interleaved ones need none", "[transfer]") {
    const Layout line = Layout::contiguous({100}, 4), half = Layout::strided({50}, {8}, 4);
    const auto at = [](const Layout& layout, std::ptrdiff_t offset, Where where) {
        return TransferSide{here + offset, type, layout, where};
    };
    const TransferPlan shifted = plan_transfer("test", at(line, 4, Where::device), at(line, 0, Where::device));
    CHECK(summary(shifted) == "copy line, copy line");
    CHECK(shifted.scratch_bytes == 400);
    CHECK(shifted.moved_bytes == 800);
    CHECK_THAT(shifted.why, Contains("overlap"));
    CHECK(plan_transfer("test", at(line, 4, Where::host), at(line, 0, Where::host)).staging_bytes == 400);
    const Layout reversed = slice(line, {Slice{{}, {}, -1}}).layout;
    CHECK(summary(plan_transfer("test", at(line, 0, Where::device), at(reversed, 396, Where::device))) ==
          "kernel elements, copy line");
    CHECK(summary(plan_transfer("test", at(half, 4, Where::device), at(half, 0, Where::device))) == "copy rectangle");
    CHECK(summary(plan_transfer("test", at(line, 400, Where::device), at(line, 0, Where::device))) == "copy line");
    // The left and the right half of one matrix.
    const Layout part = Layout::strided({10, 8}, {64, 4}, 4);
    CHECK(summary(plan_transfer("test", at(part, 32, Where::device), at(part, 0, Where::device))) == "copy rectangle");
    CHECK(plan_transfer("test", at(part, 28, Where::device), at(part, 0, Where::device)).steps.size() == 2);
    // With different pitches, which the stream's copies treat as overlapping: a[0:20:2] = a[1:41:4].
    const Layout even = Layout::strided({10}, {8}, 4), fourth = Layout::strided({10}, {16}, 4);
    const TransferPlan gaps = plan_transfer("test", at(even, 0, Where::device), at(fourth, 4, Where::device));
    CHECK(summary(gaps) == "kernel rectangle");
    CHECK(gaps.moved_bytes == 40);
    CHECK_THAT(gaps.why, Contains("gaps"));
    CHECK(summary(plan_transfer("test", at(even, 0, Where::pinned), at(fourth, 4, Where::pinned))) ==
          "kernel rectangle");
    CHECK(summary(plan_transfer("test", at(even, 0, Where::host), at(fourth, 4, Where::host))) == "cpu rectangle");
    CHECK(summary(plan_transfer("test", at(even, 0, Where::peer), at(fourth, 4, Where::peer))) ==
          "copy rectangle, copy rectangle");
    CHECK(summary(plan_transfer("test", at(even, 0, Where::device), at(fourth, 164, Where::device))) ==
          "copy rectangle");
}

TEST_CASE("an invalid transfer is refused with the call and both sides", "[transfer]") {
    const auto refused = [](const DType& to_type, const Layout& to, const DType& from_type, const Layout& from) {
        plan_transfer("some_call", {here, to_type, to, Where::device}, {there, from_type, from, Where::host});
    };
    CHECK_THROWS_AS(refused(dtypes::int32, c, type, c), InvalidArgument);
    CHECK_THROWS_WITH(refused(dtypes::int32, c, type, c),
                      Contains("some_call: the element types differ: source is float32") &&
                          Contains("destination is int32") && Contains("pageable host") && Contains("device memory"));
    CHECK_THROWS_WITH(refused(type, c.ravel(), type, c), Contains("shapes differ") && Contains("(2048,)"));
    CHECK_THROWS_WITH(refused(type, row, type, c), Contains("share memory"));
    CHECK_THROWS_WITH(refused(type, Layout::strided({5}, {2}, 4), type, Layout::contiguous({5}, 4)),
                      Contains("share memory"));
    CHECK_THROWS_WITH(refused(type, Layout::contiguous({5}, 8), type, Layout::contiguous({5}, 8)),
                      Contains("element size differs"));
}

TEST_CASE("10,000 random transfers: as if copied by index, with at most twice the minimum of bytes", "[transfer]") {
    Random random(21);
    std::map<std::string, int> chosen;
    constexpr Where wheres[] = {Where::host, Where::pinned, Where::device};
    std::vector<std::byte> memory(200000);
    for (auto& byte : memory) byte = static_cast<std::byte>(random.between(0, 255));
    for (int n = 0; n < test_support::some_of(10000); ++n) {
        const Shape shape = random.shape(300);
        const std::int64_t itemsize = random.itemsize();
        const Layout to_layout = random.layout(shape, itemsize, false);
        const Layout from_layout = random.one_in(6) ? to_layout : random.layout(shape, itemsize);
        const ByteRange to_range = to_layout.extent(), from_range = from_layout.extent();
        if (std::max(to_range.size_bytes(), from_range.size_bytes()) > 40000) continue;
        const bool overlap = random.one_in(3);
        // Adjacent, or in separate halves of the memory.
        const std::int64_t to_at = -to_range.begin + (overlap ? random.between(0, 64) : 0);
        const std::int64_t from_at = -from_range.begin + (overlap ? random.between(0, 64) : 100000);
        const Where to_where = wheres[random.between(0, 2)];
        const TransferSide to{memory.data() + to_at, raw_or_scalar(itemsize), to_layout, to_where};
        const TransferSide from{memory.data() + from_at, raw_or_scalar(itemsize), from_layout,
                                overlap ? to_where : wheres[random.between(0, 2)]};

        std::vector<std::byte> wanted = memory;
        const naive::Array to_all = naive::array(to_layout, to_at), from_all = naive::array(from_layout, from_at);
        for (std::size_t i = 0; i < to_all.offsets.size(); ++i)
            std::memcpy(&wanted[static_cast<std::size_t>(to_all.offsets[i])],
                        &memory[static_cast<std::size_t>(from_all.offsets[i])], static_cast<std::size_t>(itemsize));

        const TransferPlan made = plan_transfer("test", to, from);
        Execution(made, to, from).run(random.one_in(2));
        if (memory != wanted)
            FAIL(made.to_string() << "\nto " << to_layout.to_string() << "\nfrom " << from_layout.to_string());
        std::int64_t moved = 0;
        for (const TransferStep& step : made.steps) moved += step.copy.bytes();
        if (moved != made.moved_bytes || moved > 2 * made.minimum_bytes || made.minimum_bytes != to_layout.size_bytes())
            FAIL("too many bytes: " << made.to_string());
        if (made.steps.size() > 2 || made.why.empty()) FAIL(made.to_string());
        ++chosen[summary(made)];
    }
    // Every kind of plan occurred.
    for (const char* kind :
         {"", "copy line", "copy rectangle", "kernel elements", "cpu elements", "copy line, kernel elements",
          "cpu elements, copy line", "cpu elements, copy rectangle", "cpu elements, kernel elements",
          "kernel elements, copy line", "kernel elements, copy rectangle", "kernel elements, cpu elements",
          "copy line, cpu elements", "copy line, copy line", "copy rectangle, copy line"}) {
        CAPTURE(kind);
        CHECK(chosen[kind] > 0);
    }
}
