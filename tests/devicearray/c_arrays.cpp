// The C interface of arrays: creation, transfers, views, and exchange with other processes and libraries.
#include <algorithm>
#include <cstring>
#include <numeric>
#include <string>
#include <vector>

#include "devicearray/devicearray.h"
#include "tests/devicearray/array_fixture.hpp"

using namespace hsadrv;

namespace {

constexpr std::uint64_t wait_ns = 60'000'000'000;

hsadrv_array described(const char* dtype, std::vector<std::int64_t> shape, void* data = nullptr) {
    hsadrv_array array{};
    array.struct_size = sizeof array;
    array.dtype = dtype;
    array.data = data;
    array.rank = static_cast<std::uint32_t>(shape.size());
    std::copy(shape.begin(), shape.end(), array.shape);
    return array;
}

hsadrv_array result() {
    hsadrv_array array{};
    array.struct_size = sizeof array;
    return array;
}

std::string said() { return hsadrv_last_error_message(); }

struct Arrays {
    hsadrv_driver driver = nullptr;
    hsadrv_device gpu = nullptr;
    hsadrv_stream stream = nullptr;

    Arrays() {
        REQUIRE(hsadrv_driver_create(&driver) == HSADRV_SUCCESS);
        REQUIRE(hsadrv_driver_device(driver, 0, &gpu) == HSADRV_SUCCESS);
        REQUIRE(hsadrv_stream_create(gpu, nullptr, &stream) == HSADRV_SUCCESS);
    }
    ~Arrays() {
        hsadrv_stream_destroy(stream, wait_ns);
        hsadrv_driver_destroy(driver);
    }
    /// On the GPU, with the numbers 0, 1, 2, …
    hsadrv_array counting(std::vector<std::int64_t> shape) const {
        hsadrv_array array = described("<f4", shape);
        REQUIRE(hsadrv_array_create(stream, &array) == HSADRV_SUCCESS);
        std::vector<float> numbers(static_cast<std::size_t>(
            std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>())));
        std::iota(numbers.begin(), numbers.end(), 0.0f);
        const hsadrv_array host = described("<f4", shape, numbers.data());
        REQUIRE(hsadrv_array_copy_and_wait(stream, &array, &host, wait_ns) == HSADRV_SUCCESS);
        return array;
    }
    /// In C order.
    std::vector<float> read(const hsadrv_array& array) const {
        std::vector<std::int64_t> shape(array.shape, array.shape + array.rank);
        std::vector<float> numbers(static_cast<std::size_t>(
            std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>())));
        const hsadrv_array host = described("<f4", shape, numbers.data());
        CHECK(hsadrv_array_copy_and_wait(stream, &host, &array, wait_ns) == HSADRV_SUCCESS);
        return numbers;
    }
};

using Floats = std::vector<float>;

}  // namespace

TEST_CASE("C arrays: made on a GPU, copied there and back, sliced, transposed and reshaped", "[c][array]") {
    NEEDS_DEVICE();
    const Arrays f;
    hsadrv_array a = f.counting({2, 3}), view = result();
    CHECK((a.flags & HSADRV_ARRAY_ON_GPU) != 0);
    CHECK(f.read(a) == Floats{0, 1, 2, 3, 4, 5});
    const hsadrv_index last_columns[] = {{HSADRV_INDEX_ELLIPSIS, 0, 0, 0, 0},
                                         {HSADRV_INDEX_SLICE, HSADRV_INDEX_STEP, 0, 0, -2}};
    REQUIRE(hsadrv_array_slice(&a, last_columns, 2, &view) == HSADRV_SUCCESS);
    CHECK(f.read(view) == Floats{2, 0, 5, 3});
    REQUIRE(hsadrv_array_transpose(&a, nullptr, &view) == HSADRV_SUCCESS);
    CHECK(f.read(view) == Floats{0, 3, 1, 4, 2, 5});
    REQUIRE(hsadrv_array_transpose(&view, nullptr, &view) == HSADRV_SUCCESS);  // in place
    CHECK(f.read(view) == Floats{0, 1, 2, 3, 4, 5});
    const std::int64_t three_rows[] = {3, -1};
    REQUIRE(hsadrv_array_reshape(&a, three_rows, 2, 'F', &view) == HSADRV_ERROR_INVALID_ARGUMENT);
    REQUIRE(hsadrv_array_reshape(&a, three_rows, 2, 'C', &view) == HSADRV_SUCCESS);
    CHECK(view.shape[1] == 2);
    const std::int64_t wide[] = {2, 2, 3};
    REQUIRE(hsadrv_array_broadcast(&a, wide, 3, &view) == HSADRV_SUCCESS);
    CHECK(f.read(view) == Floats{0, 1, 2, 3, 4, 5, 0, 1, 2, 3, 4, 5});
    const float seven = 7;
    CHECK(hsadrv_array_fill(f.stream, &view, &seven, wait_ns) == HSADRV_ERROR_INVALID_ARGUMENT);
    REQUIRE(hsadrv_array_slice(&a, last_columns, 2, &view) == HSADRV_SUCCESS);
    REQUIRE(hsadrv_array_fill(f.stream, &view, &seven, wait_ns) == HSADRV_SUCCESS);
    CHECK(f.read(a) == Floats{7, 1, 7, 7, 4, 7});
    std::int64_t begin = 0;
    std::size_t size = 0;
    REQUIRE(hsadrv_array_extent(&view, &begin, &size) == HSADRV_SUCCESS);
    CHECK(begin == -8);
    CHECK(size == 24);
    CHECK(hsadrv_memory_destroy(a.memory) == HSADRV_SUCCESS);
}

TEST_CASE("C arrays: an assignment broadcasts, converts where that is allowed, and may overlap", "[c][array]") {
    NEEDS_DEVICE();
    const Arrays f;
    hsadrv_array a = f.counting({2, 3});
    std::int16_t row[] = {10, -20, 30};
    hsadrv_array host = described("<i2", {3}, row);
    CHECK(hsadrv_array_assign(f.stream, &a, &host, HSADRV_CASTING_NO, wait_ns) == HSADRV_ERROR_INVALID_ARGUMENT);
    CHECK(said().find("not allowed by the casting 'no'") != std::string::npos);
    REQUIRE(hsadrv_array_assign(f.stream, &a, &host, HSADRV_CASTING_SAFE, wait_ns) == HSADRV_SUCCESS);
    CHECK(f.read(a) == Floats{10, -20, 30, 10, -20, 30});
    std::uint8_t bytes[6];
    host = described("u1", {2, 3}, bytes);
    CHECK(hsadrv_array_assign(f.stream, &host, &a, HSADRV_CASTING_SAME_KIND, wait_ns) == HSADRV_ERROR_INVALID_ARGUMENT);
    REQUIRE(hsadrv_array_assign(f.stream, &host, &a, HSADRV_CASTING_UNSAFE, wait_ns) == HSADRV_SUCCESS);
    CHECK(std::vector<int>(bytes, bytes + 3) == std::vector<int>{10, 236, 30});
    host = described("<i2", {2}, row);
    CHECK(hsadrv_array_assign(f.stream, &a, &host, HSADRV_CASTING_UNSAFE, wait_ns) == HSADRV_ERROR_INVALID_ARGUMENT);
    CHECK(hsadrv_array_assign(f.stream, &a, &host, 4, wait_ns) == HSADRV_ERROR_INVALID_ARGUMENT);

    hsadrv_array line = f.counting({1000}), to = result(), from = result();
    const hsadrv_index tail{HSADRV_INDEX_SLICE, HSADRV_INDEX_START, 1, 0, 0},
        head{HSADRV_INDEX_SLICE, HSADRV_INDEX_STOP, 0, -1, 0};
    REQUIRE(hsadrv_array_slice(&line, &tail, 1, &to) == HSADRV_SUCCESS);
    REQUIRE(hsadrv_array_slice(&line, &head, 1, &from) == HSADRV_SUCCESS);
    REQUIRE(hsadrv_array_assign(f.stream, &to, &from, HSADRV_CASTING_NO, wait_ns) == HSADRV_SUCCESS);
    const Floats moved = f.read(line);
    for (std::size_t i = 1; i < moved.size(); ++i) REQUIRE(moved[i] == float(i - 1));
    hsadrv_memory_destroy(a.memory);
    hsadrv_memory_destroy(line.memory);
}

TEST_CASE("C arrays: fields of records, and bytes as another type", "[c][array]") {
    NEEDS_DEVICE();
    const Arrays f;
    struct Point {
        float x[2];
        std::int32_t id;
    };
    Point points[] = {{{1, 2}, 7}, {{3, 4}, 8}};
    const char* const dtype = "[('x', '<f4', (2,)), ('id', '<i4')]";
    const hsadrv_array host = described(dtype, {2}, points);
    hsadrv_array a = described(dtype, {2}), x = result(), id = result();
    REQUIRE(hsadrv_array_create(f.stream, &a) == HSADRV_SUCCESS);
    REQUIRE(hsadrv_array_copy_and_wait(f.stream, &a, &host, wait_ns) == HSADRV_SUCCESS);
    REQUIRE(hsadrv_array_field(&a, "x", &x) == HSADRV_SUCCESS);
    CHECK(x.rank == 2);
    CHECK(std::string(x.dtype) == "<f4");
    CHECK(f.read(x) == Floats{1, 2, 3, 4});
    REQUIRE(hsadrv_array_field(&a, "id", &id) == HSADRV_SUCCESS);
    std::int32_t ids[2];
    const hsadrv_array to = described("<i4", {2}, ids);
    REQUIRE(hsadrv_array_copy_and_wait(f.stream, &to, &id, wait_ns) == HSADRV_SUCCESS);
    CHECK(ids[1] == 8);
    CHECK(hsadrv_array_field(&a, "z", &id) == HSADRV_ERROR_INVALID_ARGUMENT);
    CHECK(said().find("z") != std::string::npos);
    REQUIRE(hsadrv_array_view(&x, "<i8", &x) == HSADRV_SUCCESS);
    CHECK(x.shape[1] == 1);
    hsadrv_memory_destroy(a.memory);
}

TEST_CASE("C arrays: what is wrong is refused by name", "[c][array]") {
    NEEDS_DEVICE();
    const Arrays f;
    float numbers[6] = {};
    hsadrv_array a = f.counting({2, 3}), good = described("<f4", {2, 3}, numbers), view = result();
    const auto refused = [&](hsadrv_array bad, const char* why) {
        INFO(why);
        const hsadrv_result result = hsadrv_array_copy(f.stream, &a, &bad, wait_ns);
        CHECK((result == HSADRV_ERROR_INVALID_ARGUMENT || result == HSADRV_ERROR_INVALID_HANDLE));
        INFO(said());
        CHECK(said().find(why) != std::string::npos);
    };
    hsadrv_array bad = good;
    bad.dtype = "<q9";
    refused(bad, "<q9");
    (bad = good).dtype = nullptr;
    refused(bad, "dtype is null");
    (bad = good).data = nullptr;
    refused(bad, "data is null");
    (bad = good).rank = 65;
    refused(bad, "65 axes");
    (bad = good).shape[0] = -1;
    refused(bad, "-1");
    (bad = good).shape[0] = INT64_MAX / 2;
    refused(bad, "shape");
    (bad = good).flags = 64;
    refused(bad, "flags");
    (bad = good).struct_size = 8;
    refused(bad, "8");
    (bad = good).memory = reinterpret_cast<hsadrv_memory>(f.stream);
    refused(bad, "a stream, not memory");
    (bad = a).data = static_cast<float*>(a.data) + 1;
    refused(bad, "the memory has");
    (bad = good).dtype = "<f8";
    refused(bad, "float64");
    (bad = good).shape[1] = 2;
    refused(bad, "(2, 2)");
    good.flags = HSADRV_ARRAY_READ_ONLY;
    CHECK(hsadrv_array_copy(f.stream, &good, &a, wait_ns) == HSADRV_ERROR_INVALID_ARGUMENT);
    CHECK(hsadrv_array_copy(nullptr, &a, &good, wait_ns) == HSADRV_ERROR_INVALID_HANDLE);
    CHECK(hsadrv_array_copy(f.stream, nullptr, &good, wait_ns) == HSADRV_ERROR_INVALID_ARGUMENT);
    const hsadrv_index beyond{HSADRV_INDEX_INTEGER, 0, 2, 0, 0}, unknown{9, 0, 0, 0, 0};
    CHECK(hsadrv_array_slice(&a, &beyond, 1, &view) == HSADRV_ERROR_INVALID_ARGUMENT);
    CHECK(hsadrv_array_slice(&a, &unknown, 1, &view) == HSADRV_ERROR_INVALID_ARGUMENT);
    CHECK(hsadrv_array_slice(&a, nullptr, 1, &view) == HSADRV_ERROR_INVALID_ARGUMENT);
    CHECK(hsadrv_array_slice(&a, &beyond, 1, nullptr) == HSADRV_ERROR_INVALID_ARGUMENT);
    CHECK(hsadrv_array_reshape(&a, nullptr, 1, 'C', &view) == HSADRV_ERROR_INVALID_ARGUMENT);
    CHECK(hsadrv_array_reshape(&a, a.shape, 2, 'K', &view) == HSADRV_ERROR_INVALID_ARGUMENT);
    CHECK(f.read(a) == Floats{0, 1, 2, 3, 4, 5});
    hsadrv_memory_destroy(a.memory);
}

TEST_CASE("C arrays: empty and without axes", "[c][array]") {
    NEEDS_DEVICE();
    const Arrays f;
    hsadrv_array empty = described("<f4", {0, 3}), scalar = f.counting({});
    REQUIRE(hsadrv_array_create(f.stream, &empty) == HSADRV_SUCCESS);
    CHECK(empty.memory == nullptr);
    const hsadrv_array host = described("<f4", {0, 3});
    CHECK(hsadrv_array_copy_and_wait(f.stream, &empty, &host, wait_ns) == HSADRV_SUCCESS);
    CHECK(hsadrv_array_assign(f.stream, &empty, &scalar, HSADRV_CASTING_NO, wait_ns) == HSADRV_SUCCESS);
    CHECK(f.read(scalar) == Floats{0});
    hsadrv_memory_destroy(scalar.memory);
}

TEST_CASE("C arrays: DLPack shares the memory, which outlives either side", "[c][array][dlpack]") {
    NEEDS_DEVICE();
    if (!dlpack_offered()) return;
    const Arrays f;
    for (const std::uint32_t versioned : {0u, 1u}) {
        if (versioned && !dlpack_versioned_offered()) continue;
        CAPTURE(versioned);
        hsadrv_array a = f.counting({2, 3}), again = result();
        void* tensor = nullptr;
        REQUIRE(hsadrv_array_export_dlpack(&a, versioned, &tensor) == HSADRV_SUCCESS);
        hsadrv_memory_destroy(a.memory);
        REQUIRE(hsadrv_array_import_dlpack(tensor, versioned, &again) == HSADRV_SUCCESS);
        CHECK(again.data == a.data);
        CHECK((again.flags & HSADRV_ARRAY_READ_ONLY) == 0);
        CHECK(f.read(again) == Floats{0, 1, 2, 3, 4, 5});
        hsadrv_memory_destroy(again.memory);
        a = f.counting({2});
        REQUIRE(hsadrv_array_export_dlpack(&a, versioned, &tensor) == HSADRV_SUCCESS);
        CHECK(hsadrv_array_release_dlpack(tensor, versioned) == HSADRV_SUCCESS);
        hsadrv_memory_destroy(a.memory);
    }
    const hsadrv_array record = described("[('a', '<i4')]", {0});
    void* tensor = nullptr;
    CHECK(hsadrv_array_export_dlpack(&record, 0, &tensor) == HSADRV_ERROR_INVALID_ARGUMENT);
    CHECK(tensor == nullptr);
}

TEST_CASE("C arrays: a line of text names an array for another process", "[c][array][ipc]") {
    NEEDS_DEVICE();
    const Arrays f;
    hsadrv_array a = f.counting({2, 3});
    std::size_t size = 0;
    REQUIRE(hsadrv_array_export_ipc(&a, nullptr, 0, &size) == HSADRV_SUCCESS);
    std::string text(size, '\0');
    CHECK(hsadrv_array_export_ipc(&a, text.data(), size - 1, &size) == HSADRV_ERROR_INVALID_ARGUMENT);
    REQUIRE(hsadrv_array_export_ipc(&a, text.data(), size, &size) == HSADRV_SUCCESS);
    CHECK(text.find("'shape': (2, 3)") != std::string::npos);
    hsadrv_array again = result();
    CHECK(hsadrv_array_attach_ipc(f.gpu, "{}", &again) == HSADRV_ERROR_INVALID_ARGUMENT);
    REQUIRE(hsadrv_array_attach_ipc(f.gpu, text.c_str(), &again) == HSADRV_SUCCESS);
    CHECK(f.read(again) == Floats{0, 1, 2, 3, 4, 5});
    hsadrv_memory_destroy(again.memory);
    hsadrv_memory_destroy(a.memory);
}
