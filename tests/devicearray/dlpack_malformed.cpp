// DLPack tensors that are malformed, or describe their memory wrongly.
#include <limits>

#include "tests/devicearray/dlpack_fixture.hpp"

#if defined(WITH_DLPACK)
using namespace dlpack_test;

TEMPLATE_TEST_CASE("a malformed or false tensor is refused and stays with its owner", "[dlpack][device]",
                   DLPACK_FORMS) {
    NEEDS_DEVICE();
    Device device;
    const Allocation on_gpu = device.gpu.allocate(4096), pinned = device.gpu.allocate_host(4096);
    std::vector<float> pageable(1024), registered(1024);
    const Registration registration(registered.data(), 4096);
    constexpr auto huge = std::numeric_limits<std::int64_t>::max();
    using Tensor = typename TestType::Tensor;
    using Mend = void (*)(DLTensor&);
    const Mend as_it_is = [](DLTensor&) {};
    const struct {
        const char* name;
        void* data;
        int device_type, device_id;
        DLDataType type;
        std::vector<std::int64_t> shape, strides;
        Mend spoil;
        std::vector<const char*> says;
    } rows[] = {
        {"CUDA", on_gpu.data(), cuda, 0, float32, {4}, {}, as_it_is, {"kDLCUDA (2)", "device 0", "kDLROCM (10)"}},
        {"CUDA's host memory", on_gpu.data(), 3, 0, float32, {4}, {}, as_it_is, {"kDLCUDAHost (3)"}},
        {"Trainium", on_gpu.data(), 18, 2, float32, {4}, {}, as_it_is, {"kDLTrn (18)", "device 2"}},
        {"a device type of the future", on_gpu.data(), 77, 1, float32, {4}, {}, as_it_is, {"(77)"}},
        {"a device type of garbage", on_gpu.data(), -3, 1, float32, {4}, {}, as_it_is, {"(-3)"}},
        {"a missing GPU", on_gpu.data(), rocm, 99, float32, {4}, {}, as_it_is, {"kDLROCM (10) device 99", "GPUs"}},
        {"a negative GPU", on_gpu.data(), rocm, -1, float32, {4}, {}, as_it_is, {"device -1"}},
        {"65 axes", on_gpu.data(), rocm, 0, float32, std::vector<std::int64_t>(65, 1), {}, as_it_is, {"65 axes"}},
        {"negative axes", on_gpu.data(), rocm, 0, float32, {4}, {}, [](DLTensor& t) { t.ndim = -2; }, {"-2 axes"}},
        {"axes without a shape",
         on_gpu.data(),
         rocm,
         0,
         float32,
         {4},
         {},
         [](DLTensor& t) { t.shape = nullptr; },
         {"shape", "null"}},
        {"64 axes and lanes",
         on_gpu.data(),
         rocm,
         0,
         {2, 32, 4},
         std::vector<std::int64_t>(64, 1),
         {},
         as_it_is,
         {"too many axes"}},
        {"a negative extent", on_gpu.data(), rocm, 0, float32, {4, -5}, {}, as_it_is, {"(4, -5)"}},
        {"a negative extent beside a zero", on_gpu.data(), rocm, 0, float32, {0, -5}, {}, as_it_is, {"(0, -5)"}},
        {"too many elements", on_gpu.data(), rocm, 0, float32, {huge, 2}, {}, as_it_is, {"63 bits"}},
        {"too many bytes", on_gpu.data(), rocm, 0, float32, {huge / 2}, {}, as_it_is, {"63 bits"}},
        {"a stride that overflows in bytes",
         on_gpu.data(),
         rocm,
         0,
         float32,
         {2},
         {huge},
         as_it_is,
         {"stride of axis 0", "63 bits"}},
        {"strides that reach too far", on_gpu.data(), rocm, 0, float32, {huge / 8, 2}, {16, 1}, as_it_is, {"63 bits"}},
        {"the most negative stride",
         on_gpu.data(),
         rocm,
         0,
         {0, 8, 1},
         {2},
         {std::numeric_limits<std::int64_t>::min()},
         as_it_is,
         {"63 bits"}},
        {"null data", nullptr, rocm, 0, float32, {4}, {}, as_it_is, {"null", "4 elements"}},
        {"null data and an offset",
         nullptr,
         cpu,
         0,
         float32,
         {4},
         {},
         [](DLTensor& t) { t.byte_offset = 4096; },
         {"null"}},
        {"an offset that wraps",
         on_gpu.data(),
         rocm,
         0,
         float32,
         {4},
         {},
         [](DLTensor& t) { t.byte_offset = ~0ull; },
         {"byte_offset 18446744073709551615", "address space"}},
        {"strides that leave the address space",
         on_gpu.data(),
         rocm,
         0,
         float32,
         {2},
         {-(1ll << 60)},
         as_it_is,
         {"address space"}},
        {"a misaligned element",
         on_gpu.data(),
         rocm,
         0,
         float64,
         {4},
         {},
         [](DLTensor& t) { t.byte_offset = 4; },
         {"float64", "multiple of 8"}},
        {"no lanes", on_gpu.data(), rocm, 0, {2, 32, 0}, {4}, {}, as_it_is, {"lanes"}},
        {"an opaque handle", on_gpu.data(), rocm, 0, {3, 64, 1}, {4}, {}, as_it_is, {"kDLOpaqueHandle"}},
        {"a 6-bit float", on_gpu.data(), rocm, 0, {15, 6, 1}, {4}, {}, as_it_is, {"code 15"}},
        {"a 4-bit integer", on_gpu.data(), rocm, 0, {0, 4, 1}, {4}, {}, as_it_is, {"4 bits"}},
        {"one element too many", on_gpu.data(), rocm, 0, float32, {1025}, {}, as_it_is, {"4100 B", "4096 B"}},
        {"an offset too far",
         on_gpu.data(),
         rocm,
         0,
         float32,
         {1024},
         {},
         [](DLTensor& t) { t.byte_offset = 4; },
         {"4092 B"}},
        {"before the memory", on_gpu.data(), rocm, 0, float32, {2}, {-1024}, as_it_is, {"kDLROCM (10)"}},
        {"pinned memory as a GPU's",
         pinned.data(),
         rocm,
         0,
         float32,
         {4},
         {},
         as_it_is,
         {"kDLROCM (10) device 0", "memory of cpu0"}},
        {"pageable memory as a GPU's",
         pageable.data(),
         rocm,
         0,
         float32,
         {4},
         {},
         as_it_is,
         {"kDLROCM (10)", "does not know"}},
        {"registered memory as a GPU's",
         registered.data(),
         rocm,
         0,
         float32,
         {4},
         {},
         as_it_is,
         {"kDLROCM (10)", "registered"}},
        {"a GPU's memory as the CPU's",
         on_gpu.data(),
         cpu,
         0,
         float32,
         {4},
         {},
         as_it_is,
         {"kDLCPU (1)", "memory of gpu0"}},
        {"a GPU's memory as pinned",
         on_gpu.data(),
         rocm_host,
         0,
         float32,
         {4},
         {},
         as_it_is,
         {"kDLROCMHost (11)", "memory of gpu0"}},
        {"pageable memory as pinned",
         pageable.data(),
         rocm_host,
         0,
         float32,
         {4},
         {},
         as_it_is,
         {"kDLROCMHost (11)", "does not know"}},
        {"more than is registered",
         registered.data(),
         rocm_host,
         0,
         float32,
         {1025},
         {},
         as_it_is,
         {"4100 B", "4096 B"}},
        {"more than is pinned", pinned.data(), rocm_host, 0, float32, {1025}, {}, as_it_is, {"4100 B"}},
    };
    for (const auto& row : rows) {
        CAPTURE(row.name);
        Foreign<Tensor> foreign(row.data, row.device_type, row.device_id, row.type, row.shape, row.strides);
        row.spoil(foreign.tensor());
        CHECK_THROWS_AS(from_dlpack(foreign.raw()), InvalidArgument);
        for (const char* part : row.says) CHECK_THROWS_WITH(from_dlpack(foreign.raw()), Contains(part));
        CHECK(foreign.deleted == 0);
        // Passed with ownership, it is deleted.
        CHECK_THROWS_AS(from_dlpack(std::unique_ptr<Tensor, DlpackDeleter>(foreign.raw())), InvalidArgument);
        CHECK(foreign.deleted == 1);
    }
    CHECK_THROWS_AS(from_dlpack(static_cast<Tensor*>(nullptr)), InvalidArgument);
}
#endif
