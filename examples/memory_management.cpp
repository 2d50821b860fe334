// Numba's documentation of memory management (numba.roc, "Memory management"; numba.cuda, 4.3) in C++: every example of
// these pages, in order and by name. Each checks its result.
#include <devicearray/devicearray.hpp>

#include <cstdint>
#include <cstdio>
#include <numeric>
#include <stdexcept>
#include <vector>

using namespace hsadrv;

struct Particle {
    float position[3];
    double mass;
};
HSADRV_RECORD(Particle, position, mass);

namespace {

using Values = std::vector<std::int64_t>;  // NumPy's integers

/// numpy.arange
Values arange(std::size_t count) {
    Values values(count);
    std::iota(values.begin(), values.end(), 0);
    return values;
}

/// The expected result of my_kernel.
Values doubled(Values values) {
    for (std::int64_t& value : values) value *= 2;
    return values;
}

/// One line of the table.
void show(bool right, const char* name, const char* what) {
    std::printf("  %-21s %s%s\n", name, what, right ? "" : ": WRONG");
    if (!right) throw std::runtime_error(std::string(name) + " gave a wrong result");
}

struct Gpu {
    Driver driver;
    Context context{driver.default_gpu()};  // used for arrays created without a stream
    Kernel my_kernel = Executable::load(context, "memory_management.hsaco").kernel("my_kernel");

    /// my_kernel[100, 100](array): a hundred groups of a hundred work-items.
    void launch(Stream& stream, const DeviceNDArray& array) const {
        my_kernel.launch(stream, {.grid = 100 * 100, .workgroup = 100}, nd_span<std::int64_t, 1>(array));
    }
};

void data_transfer() {
    std::printf("\nData transfer\n");

    // ary = np.arange(10); d_ary = cuda.to_device(ary)
    Values ary = arange(10);
    DeviceNDArray d_ary = to_device(ary);
    show(d_ary.shape() == Dims{10} && d_ary.dtype() == dtypes::int64, "to_device", "ten int64 are on the GPU");

    // hary = d_ary.copy_to_host()
    HostNDArray hary = d_ary.copy_to_host();
    show(hary.equal(host_view(ary)), "copy_to_host", "and back, in a new array");

    // ary = np.empty(shape=d_ary.shape, dtype=d_ary.dtype); d_ary.copy_to_host(ary)
    HostNDArray empty = host_array(d_ary.shape(), d_ary.dtype());
    d_ary.copy_to_host(empty);
    show(empty.equal(hary), "copy_to_host(ary)", "and into an existing one");

    // stream = cuda.stream(); d_ary = cuda.to_device(ary, stream=stream)
    Stream stream = Context::current().stream();
    ary[0] = 100;
    d_ary = to_device(ary, stream);
    // hary = d_ary.copy_to_host(stream=stream)
    hary = d_ary.copy_to_host(stream);  // into pinned memory, so the call does not wait
    stream.synchronize();
    show(hary.get<std::int64_t>({0}) == 100, "stream=stream", "both ways, in stream order");

    // cuda.to_device(obj, stream=0, copy=True, to=None)
    DeviceNDArray uninitialised = to_device(ary, stream, false);
    DeviceNDArray filled = to_device(ary, stream, true, &uninitialised);
    show(filled.data() == uninitialised.data() && filled.copy_to_host<std::int64_t>(stream) == ary,
         "copy=False, to=d_ary", "its memory alone, then filled");
}

void new_arrays(const Gpu& gpu) {
    std::printf("\nNew arrays\n");
    Stream stream = gpu.context.stream();

    // cuda.device_array(shape, dtype=np.float, strides=None, order='C', stream=0)
    DeviceNDArray fortran = device_array({20, 50}, dtypes::float64, Order::F, stream);
    DeviceNDArray rows = device_array({20, 50}, dtypes::float64, Dims{512, 8}, stream);
    show(fortran.strides_bytes() == Dims{8, 160} && rows.strides_bytes() == Dims{512, 8}, "device_array",
         "on the GPU: columns one after the other, rows 512 B apart");

    // cuda.device_array_like(ary, stream=0)
    DeviceNDArray like = device_array_like(fortran, stream);
    show(like.layout() == fortran.layout() && like.data() != fortran.data(), "device_array_like",
         "with another array's layout");

    // cuda.pinned_array(shape, dtype=np.float, strides=None, order='C')
    HostNDArray page_locked = pinned_array({1000}, dtypes::int64);
    page_locked.copy_from(host_view(arange(1000)));
    DeviceNDArray copy = to_device(page_locked, stream);  // returns before the copy completes: no staging is needed
    show(copy.copy_to_host<std::int64_t>(stream) == arange(1000), "pinned_array", "page-locked host memory");

    // cuda.mapped_array(shape, dtype=np.float, strides=None, order='C', stream=0, portable=False, wc=False)
    MappedNDArray mapped_once = mapped_array({1000}, dtypes::int64, Order::C, {.portable = true, .wc = false});
    mapped_once.copy_from(host_view(arange(1000)));
    gpu.launch(stream, mapped_once.device());
    stream.synchronize();
    show(mapped_once.equal(host_view(doubled(arange(1000)))), "mapped_array", "a kernel wrote it, the host reads it");

    // with cuda.pinned(ary): ...
    Values ary = arange(1000), other(1000);
    {
        auto scope = pinned(ary, other);
        DeviceNDArray d_ary = to_device(ary, stream);
        gpu.launch(stream, d_ary);
        d_ary.copy_to_host(other, stream);
        stream.synchronize();  // while they are pinned
    }
    show(other == doubled(ary), "pinned", "two vectors, temporarily page-locked");

    // with cuda.mapped(ary) as d_ary: ...
    {
        auto [d_ary] = mapped(ary);
        gpu.launch(stream, d_ary.device());
        stream.synchronize();
    }
    show(ary == other, "mapped", "a vector that a kernel writes in place");
}

void device_objects(const Gpu& gpu) {
    std::printf("\nDeviceNDArray\n");
    Stream stream = gpu.context.stream();

    // d_arr.copy_to_device(ary, stream=0), from an array on the host or on the GPU
    DeviceNDArray first = device_array({1000}, dtypes::int64, Order::C, stream);
    first.copy_to_device(arange(1000), stream);
    DeviceNDArray second = device_array_like(first, stream);
    second.copy_to_device(first, stream);
    show(second.copy_to_host<std::int64_t>(stream) == arange(1000), "copy_to_device",
         "from the host, and from the GPU");

    // arr = np.arange(1000); d_arr = cuda.to_device(arr)
    Values arr = arange(1000);
    DeviceNDArray d_arr = to_device(arr, stream);
    // my_kernel[100, 100](d_arr)
    gpu.launch(stream, d_arr);
    // result_array = d_arr.copy_to_host()
    Values result_array = d_arr.copy_to_host<std::int64_t>(stream);  // a vector, filled on return
    show(result_array == doubled(arr), "copy_to_host", "the result of 100 groups of my_kernel");

    // d_arr.is_c_contiguous(); d_arr.is_f_contiguous()
    DeviceNDArray matrix = d_arr.reshape({20, 50});
    show(matrix.is_c_contiguous() && !matrix.transpose().is_c_contiguous(), "is_c_contiguous",
         "20 x 50 is, its transpose is not");
    show(matrix.transpose().is_f_contiguous() && !matrix.is_f_contiguous(), "is_f_contiguous", "the other way round");

    // d_arr.ravel(order='C')
    DeviceNDArray line = matrix.ravel();
    show(line.shape() == Dims{1000} && line.data() == d_arr.data(), "ravel", "one dimension again, the same memory");

    // d_arr = d_arr.reshape(20, 50, order='F')
    d_arr = d_arr.reshape({20, 50}, Order::F);
    show(d_arr.get<std::int64_t>({3, 2}, stream) == result_array[3 + 2 * 20], "reshape(20, 50, 'F')",
         "columns of twenty");

    // d_arr.split(section)
    std::vector<DeviceNDArray> parts = line.split(300);
    show(parts.size() == 4 && parts[3].size() == 100 && parts[3].get<std::int64_t>({0}, stream) == 1800, "split(300)",
         "300, 300, 300 and what remains");
}

void device_records(const Gpu& gpu) {
    std::printf("\nDeviceRecord\n");
    Stream stream = gpu.context.stream();

    // cuda.to_device(obj), of a structured scalar
    DeviceRecord d_particle = to_device(Particle{{1, 2, 3}, 0.5}, stream);
    show(d_particle.dtype().field("mass").offset == 16, "to_device", "a struct, and its fields by name");

    d_particle.copy_to_device(Particle{{4, 5, 6}, 0.25}, stream);
    show(d_particle.get<double>("mass", stream) == 0.25, "copy_to_device", "overwritten with another struct");

    d_particle.set("mass", 8.0, stream);
    Particle particle = d_particle.copy_to_host<Particle>(stream);
    show(particle.position[2] == 6 && particle.mass == 8, "copy_to_host", "back, one of its fields changed");

    // records[-1]
    DeviceNDArray d_particles = to_device(std::vector<Particle>(10, particle), stream);
    d_particles.field("mass").fill(3.0, stream);
    DeviceRecord last(d_particles, {-1});
    show(last.get<double>("mass", stream) == 3 && last.field("position").shape() == Dims{3}, "DeviceRecord",
         "the last element of an array");
}

void mapped_arrays(const Gpu& gpu) {
    std::printf("\nMappedNDArray\n");
    Stream stream = gpu.context.stream();
    MappedNDArray array = mapped_array({1000}, dtypes::int64);

    array.copy_to_device(arange(1000), stream);
    gpu.launch(stream, array.device());
    stream.synchronize();
    show(array.equal(host_view(doubled(arange(1000)))), "copy_to_device", "the host sees it, too");

    Values host(1000);
    array.copy_to_host(host, stream);
    show(host == doubled(arange(1000)), "copy_to_host", "a separate copy");

    for (const MappedNDArray& part : array.split(500)) gpu.launch(stream, part.device());
    stream.synchronize();
    show(array.equal(host_view(doubled(host))), "split(500)", "a kernel for each half");
}

void data_registration(const Gpu& gpu) {
    std::printf("\nData registration\n");
    Stream stream = gpu.context.stream();
    Values array_a = arange(10), array_b = arange(10);

    // with roc.register(array_a, array_b): some_hsa_code(array_a, array_b)
    {
        auto scope = register_memory(array_a, array_b);
        DeviceNDArray d_a = to_device(array_a, stream);
        gpu.launch(stream, d_a);
        d_a.copy_to_host(array_b, stream);
        stream.synchronize();
    }
    show(array_b == doubled(array_a), "register", "copied without staging, for a scope");

    // roc.register(array_a, array_b); roc.deregister(array_a, array_b)
    register_memory(array_a, array_b).until_deregistered();
    to_device(array_b, stream).copy_to_host(array_a, stream);
    stream.synchronize();
    deregister_memory(array_a, array_b);
    show(array_a == array_b, "deregister", "and explicitly");
}

void streams(const Gpu& gpu) {
    std::printf("\nStreams\n");

    // stream = roc.stream()
    Stream stream = gpu.context.stream();
    HostNDArray ary = pinned_array({1000}, dtypes::int64);
    ary.copy_from(host_view(arange(1000)));
    show(stream.query(), "stream", "nothing to do yet");

    // with stream.auto_synchronize(): ...
    {
        auto synchronized = stream.auto_synchronize();
        DeviceNDArray d_ary = to_device(ary, stream);
        gpu.launch(stream, d_ary);
        d_ary.copy_to_host(ary, stream);
    }
    show(ary.equal(host_view(doubled(arange(1000)))), "auto_synchronize",
         "copied, doubled and copied back by the end of the scope");

    // stream.synchronize()
    DeviceNDArray d_ary = to_device(ary, stream);
    gpu.launch(stream, d_ary);
    d_ary.copy_to_host(ary, stream);
    stream.synchronize();
    show(ary.equal(host_view(doubled(doubled(arange(1000))))), "synchronize", "and again");
}

}  // namespace

int main() try {
    const Gpu gpu;
    std::printf("%s\n", gpu.context.agent().label().c_str());
    data_transfer();
    new_arrays(gpu);
    device_objects(gpu);
    device_records(gpu);
    mapped_arrays(gpu);
    data_registration(gpu);
    streams(gpu);
    return 0;
} catch (const std::exception& error) {
    std::fprintf(stderr, "memory_management: %s\n", error.what());
    return 1;
}
