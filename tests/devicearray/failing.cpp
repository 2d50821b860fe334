// Every call of the HSA runtime fails once in every kind of transfer and memory of arrays: a typed error
// or the right result, an unchanged source, no leak, and the same operation succeeds afterwards.
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "devicearray/devicearray.hpp"
#include "tests/hsadrv/failing/failing.hpp"
#include "tests/hsadrv/failing/remains.hpp"
#include "tests/support/turn.hpp"

using namespace hsadrv;
using namespace device_test;

struct Sample {
    float at[3];
    double weight;
};
HSADRV_RECORD(Sample, at, weight);

namespace {

constexpr std::int64_t side = 160;  // 100 KiB of floats: more than the CPU copies at once
const Dims square{side, side};
const Slice every_second{{}, {}, 2}, backwards{{}, {}, -1};
constexpr std::size_t many = 1500000;  // 6 MB: more than one staging buffer

using Floats = std::vector<float>;

Floats counting(std::size_t count = side * side) {
    Floats values(count);
    std::iota(values.begin(), values.end(), 1.0f);
    return values;
}

/// The operations' inputs; made without failures.
class Scene {
  public:
    Scene() {
        locked.copy_from(host_view(host, square));
        array.copy_to_device(host_view(host, square), stream());
        stream().synchronize(patience);
    }

    Stream& stream() { return *stream_; }
    /// Waits until no work is in flight. A failed stream is replaced.
    void settle() {
        for (const AgentRef agent : driver.gpus()) {
            const Context context(agent);
            try {
                context.thread_stream().synchronize(patience);
            } catch (const Error&) {
                context.close_thread_stream(patience);
            }
        }
        try {
            stream_->synchronize(patience);
        } catch (const Error&) {
            stream_.reset();
            stream_.emplace(gpu.stream());
        }
    }
    bool intact() {
        return host == counting() && locked.equal(host_view(host, square)) &&
               array.copy_to_host<float>(stream()) == host;
    }
    std::size_t used_bytes() const { return array_memory(gpu).used_bytes; }

    HostNDArray pageable() const { return as_host_array(host_view(host, square)); }
    DeviceNDArray device(const Dims& shape) { return device_array<float>(shape, stream()); }

    Driver driver;
    Context gpu{driver.gpus().front()};
    const Floats host = counting();

  private:
    std::optional<Stream> stream_{gpu.stream()};

  public:
    HostNDArray locked = pinned_array(square, dtypes::float32);
    DeviceNDArray array = device_array<float>(square, *stream_);
};

/// True if the results were right. Every failure throws an Error.
using Operation = std::function<bool(Scene&)>;

enum class Outcome { right, wrong, error, other_exception };

Outcome run(const Operation& operation, Scene& scene, std::string& said) {
    try {
        return operation(scene) ? Outcome::right : Outcome::wrong;
    } catch (const Error& error) {
        said = error.what();
        return Outcome::error;
    } catch (const std::exception& error) {
        said = error.what();
        return Outcome::other_exception;
    }
}

/// Fails the n-th call of the operation. Returns the outcome; checks everything else.
struct Attempt {
    Outcome outcome;
    failing::Report report;
};
Attempt attempt(const Operation& operation, std::uint64_t nth, hsa_status_t status) {
    std::string said, said_again;
    Scene scene;
    const std::size_t used_before = scene.used_bytes();
    failing::begin(nth, status);
    const Outcome outcome = run(operation, scene, said);
    const failing::Report report = failing::end();
    CAPTURE(nth, report.calls, report.failed, said);
    CHECK((outcome == Outcome::right || (outcome == Outcome::error && !said.empty())));
    scene.settle();
    CHECK(scene.intact());
    CHECK(eventually([&] { return scene.used_bytes() == used_before; }));
    const Outcome again = run(operation, scene, said_again);
    CAPTURE(said_again);
    CHECK(again == Outcome::right);
    scene.settle();
    CHECK(eventually([&] { return scene.used_bytes() == used_before; }));
    return {outcome, report};
}

/// Of its calls, every `step`-th fails once: others in other turns. `way`: which of several ways to fail this is.
void fail_each_call(const char* what, const Operation& operation, hsa_status_t status, unsigned way,
                    std::uint64_t step) {
    if (std::getenv("HSADRV_LONG_TESTS") != nullptr) step = 1;
    const std::uint64_t first = 1 + (test_support::test_turn() + way * (step / 2)) % step;
    attempt(operation, 0, status);
    // The last owner may be a callback, which ends on its own thread.
    REQUIRE(eventually([] { return !runtime_is_up(); }));
    const Remains before = Remains::now();
    const std::uint64_t calls = attempt(operation, 0, status).report.calls;
    REQUIRE(calls > 0);
    std::uint64_t failures = 0, errors = 0;
    for (std::uint64_t nth = first; nth <= calls; nth += step) {
        ::alarm(60);
        const Attempt result = attempt(operation, nth, status);
        ::alarm(0);
        failures += result.report.failed != nullptr;
        errors += result.outcome == Outcome::error;
        INFO(nth << " of " << calls << " calls: " << (result.report.failed ? result.report.failed : "none failed"));
        REQUIRE(Remains::soon(before));
    }
    // The calls of other threads differ slightly between runs.
    CHECK(failures >= (calls - std::min(first - 1, calls)) / step * 9 / 10);
    if (step == 1) CHECK(errors > 0);
    std::printf("%-60s %3llu calls failed with 0x%x: %llu errors\n", what, static_cast<unsigned long long>(failures),
                static_cast<unsigned>(status), static_cast<unsigned long long>(errors));
}

struct Row {
    const char* what;
    Operation operation;
};

void fail_each_call(const Row& row) {
    CAPTURE(row.what);
    const std::uint64_t step = sanitizer ? 8 : 4;
    fail_each_call(row.what, row.operation, HSA_STATUS_ERROR_OUT_OF_RESOURCES, 0, step);
    fail_each_call(row.what, row.operation, HSA_STATUS_ERROR, 1, step);
}

/// Copies `from` into a new array on the device; true if the contents are equal.
bool goes_up(Scene& scene, const HostNDArray& from) {
    DeviceNDArray to = scene.device(from.shape());
    to.copy_to_device(from, scene.stream());
    return from.equal(host_view(to.copy_to_host<float>(scene.stream()), from.shape()));
}

/// Copies `from` into a new host array; true if its contents equal `like`.
bool comes_down(Scene& scene, const DeviceNDArray& from, HostNDArray to, const HostNDArray& like) {
    from.copy_to_host(to, scene.stream());
    scene.stream().synchronize(patience);
    return to.equal(like);
}

HostNDArray rows_of(const HostNDArray& array) { return array.slice({every_second}); }

/// The same transfers of pageable and of pinned memory.
std::vector<Row> transfers() {
    return {
        {"up, contiguous, pageable", [](Scene& s) { return goes_up(s, s.pageable()); }},
        {"up, contiguous, pinned", [](Scene& s) { return goes_up(s, s.locked); }},
        {"up, every second row, pageable", [](Scene& s) { return goes_up(s, rows_of(s.pageable())); }},
        {"up, every second row, pinned", [](Scene& s) { return goes_up(s, rows_of(s.locked)); }},
        {"up, transposed, pageable", [](Scene& s) { return goes_up(s, s.pageable().transpose()); }},
        {"up, transposed, pinned", [](Scene& s) { return goes_up(s, s.locked.transpose()); }},
        {"up, few of many elements, pageable",
         [](Scene& s) { return goes_up(s, s.pageable().slice({Slice{{}, {}, 40}, Slice{150, 3, -30}})); }},
        {"up, several staging buffers",
         [](Scene& s) {
             const Floats large = counting(many);
             return to_device(large, s.stream()).copy_to_host<float>(s.stream()) == large;
         }},
        {"down, contiguous, pageable",
         [](Scene& s) { return comes_down(s, s.array, host_array<float>(square), s.locked); }},
        {"down, contiguous, pinned",
         [](Scene& s) { return comes_down(s, s.array, pinned_array(square, dtypes::float32), s.pageable()); }},
        {"down, every second row, pageable",
         [](Scene& s) {
             const DeviceNDArray from = s.array.slice({every_second});
             return comes_down(s, from, host_array<float>(from.shape()), rows_of(s.locked));
         }},
        {"down, into every second row, pinned",
         [](Scene& s) {
             const HostNDArray to = pinned_array({2 * side, side}, dtypes::float32);
             return comes_down(s, s.array, rows_of(to), s.pageable());
         }},
        {"down, transposed, pageable",
         [](Scene& s) { return comes_down(s, s.array.transpose(), host_array<float>(square), s.locked.transpose()); }},
        {"down, transposed, pinned",
         [](Scene& s) {
             return comes_down(s, s.array.transpose(), pinned_array(square, dtypes::float32), s.pageable().transpose());
         }},
    };
}

}  // namespace

TEST_CASE("each call fails: arrays from host to device and back", "[failing]") {
    NEEDS_DEVICE();
    for (const Row& row : transfers()) fail_each_call(row);
}

TEST_CASE("each call fails: arrays copied in pieces", "[failing]") {
    NEEDS_DEVICE();
    constexpr std::int64_t rows = 17 << 10, columns = 256;  // 17 MiB
    const Floats values = counting(static_cast<std::size_t>(2 * rows * columns));
    const HostNDArray all = as_host_array(host_view(values, {2 * rows, columns}));
    const Row large[] = {
        {"up in pieces, arranged by a kernel",
         [&](Scene& s) { return goes_up(s, all.slice({Slice{rows - 1, {}, -1}})); }},
        {"up in pieces, packed by the CPU", [&](Scene& s) { return goes_up(s, all.slice({Slice{{}, {}, -2}})); }},
    };
    for (const Row& row : large) fail_each_call(row.what, row.operation, HSA_STATUS_ERROR, 0, 10);
}

TEST_CASE("each call fails: arrays on the device", "[failing]") {
    NEEDS_DEVICE();
    const Row rows[] = {
        {"arrays of every form",
         [](Scene& s) {
             const DeviceNDArray a = device_array<float>(square, s.stream(), Order::F),
                                 b = device_array_like(a, s.stream()),
                                 c = device_array({3, 4}, dtypes::float32, Dims{-4096, 16}, s.stream()),
                                 d = device_array(square, dtypes::float64, Order::C, s.gpu);
             return b.layout() == a.layout() && c.data() != nullptr && d.data() != nullptr;
         }},
        {"from array to array",
         [](Scene& s) {
             DeviceNDArray to = s.device(square);
             to.copy_to_device(s.array, s.stream());
             return to.copy_to_host<float>(s.stream()) == s.host;
         }},
        {"from array to array, transposed",
         [](Scene& s) {
             DeviceNDArray to = s.device(square);
             to.transpose().copy_to_device(s.array, s.stream());
             return to.transpose().get<float>({3, 77}, s.stream()) == s.host[3 * side + 77];
         }},
        {"within one array, overlapping",
         [](Scene& s) {
             DeviceNDArray line = to_device(s.host, s.stream());
             line.slice({Slice{100, {}}}).copy_to_device(line.slice({Slice{0, -100}}), s.stream());
             line.copy_to_device(line.slice({backwards}), s.stream());
             const Floats all = line.copy_to_host<float>(s.stream());
             return all.front() == s.host[side * side - 101] && all.back() == s.host[0];
         }},
        {"fill, contiguous and not",
         [](Scene& s) {
             DeviceNDArray to = s.device(square);
             to.fill(2.5f, s.stream());
             to.slice({every_second, backwards}).fill(-1.0f, s.stream());
             Floats expected(side * side, 2.5f);
             for (std::size_t i = 0; i < expected.size(); ++i)
                 if (i / side % 2 == 0) expected[i] = -1.0f;
             return to.copy_to_host<float>(s.stream()) == expected;
         }},
        {"one element",
         [](Scene& s) {
             DeviceNDArray to = s.device({3});
             to.set({1}, 7.0f, s.stream());
             return to.get<float>({-2}, s.stream()) == 7.0f;
         }},
        {"a record and its fields",
         [](Scene& s) {
             DeviceRecord record = to_device(Sample{{1, 2, 3}, 0.5}, s.stream());
             record.set("weight", 2.0, s.stream());
             const Sample sample = record.copy_to_host<Sample>(s.stream());
             return sample.at[2] == 3 && sample.weight == 2.0;
         }},
        {"without a stream",
         [](Scene& s) {
             return to_device(s.host).copy_to_host<float>() == s.host && s.array.get<float>({0, 1}) == 2.0f;
         }},
        {"from another device's memory",
         [](Scene& s) {
             if (s.driver.gpus().size() < 2) return to_device(s.host, s.stream()).size() == side * side;
             Stream there(s.driver.gpus()[1]);
             DeviceNDArray to = device_array<float>(square, there);
             to.copy_to_device(s.array.transpose(), there);
             const bool right = to.get<float>({3, 77}, there) == s.host[77 * side + 3];
             there.synchronize(patience);
             return right;
         }},
    };
    for (const Row& row : rows) fail_each_call(row);
}

TEST_CASE("each call fails: host memory for arrays", "[failing]") {
    NEEDS_DEVICE();
    const auto holds = [](HostNDArray array, Scene& s) {
        array.copy_from(s.pageable());
        return goes_up(s, array);
    };
    const Row rows[] = {
        {"pinned_array, coarsegrain_array, finegrain_array",
         [&](Scene& s) {
             return holds(pinned_array(square, dtypes::float32), s) &&
                    holds(coarsegrain_array(square, dtypes::float32), s) &&
                    holds(finegrain_array(square, dtypes::float32), s);
         }},
        {"mapped_array",
         [](Scene& s) {
             const MappedNDArray mapped = mapped_array(square, dtypes::float32);
             mapped.device().copy_to_device(s.array.transpose(), s.stream());
             s.stream().synchronize(patience);
             return mapped.equal(s.pageable().transpose());
         }},
        {"pinned, for a scope",
         [](Scene& s) {
             Floats there(side * side);
             const auto scope = pinned(s.host, there);
             const auto done_before_that_ends = s.stream().auto_synchronize(patience);
             s.array.copy_to_host(there, s.stream());
             const bool right = goes_up(s, s.pageable());
             s.stream().synchronize(patience);
             return right && there == s.host;
         }},
        {"mapped, for a scope",
         [](Scene& s) {
             Floats here(side * side), there(side * side);
             const auto done_before_these_end = s.stream().auto_synchronize(patience);
             const auto [a, b] = mapped(here, there);
             a.device().copy_to_device(s.array.ravel(), s.stream());
             b.device().copy_to_device(a.device().slice({backwards}), s.stream());
             s.stream().synchronize(patience);
             return here == s.host && there.front() == s.host.back();
         }},
        {"register_memory and deregister_memory",
         [](Scene& s) {
             const HostNDArray other = host_array<float>(square);
             register_memory(s.host, other).until_deregistered();
             deregister_memory(s.host, other);
             return pointer_info(other.data()).kind == PointerInfo::Kind::pageable;
         }},
    };
    for (const Row& row : rows) fail_each_call(row);
}

#if defined(WITH_DLPACK)
TEST_CASE("each call fails: arrays as DLPack tensors", "[failing]") {
    NEEDS_DEVICE();
    fail_each_call({"export and import", [](Scene& s) {
                        Stream consumer = s.gpu.stream();
                        DlpackTensor tensor = to_dlpack(s.array.slice({backwards}), s.stream(), &consumer);
                        const auto array = std::get<DeviceNDArray>(from_dlpack(std::move(tensor)));
                        const auto host = std::get<HostNDArray>(from_dlpack(to_dlpack(s.locked)));
                        return array.get<float>({0, 0}, consumer) == s.host[(side - 1) * side] && host.equal(s.locked);
                    }});
}
#endif
