// An array goes round the processes of an MPI program, and the GPU of each adds one:
//     mpirun -n 2 ./mpi_ring            MPI gets device memory if it says that it is ROCm-aware, else pinned memory
//     mpirun -n 2 ./mpi_ring --device   MPI gets device memory: Open MPI 4 with a UCX that has ROCm does not say it
#define OMPI_SKIP_MPICXX 1
#include <devicearray/devicearray.hpp>

#include <mpi.h>
#if __has_include(<mpi-ext.h>)
#include <mpi-ext.h>
#endif

#include <cstdio>
#include <numeric>
#include <string_view>

using namespace hsadrv;
using namespace std::chrono_literals;

namespace {

bool mpi_knows_rocm() {
#ifdef OMPI_HAVE_MPI_EXT_ROCM
    return MPIX_Query_rocm_support() == 1;
#else
    return false;
#endif
}

/// An array of floats on its way from the process before to the process after this one.
class Ring {
  public:
    Ring(DeviceNDArray array, bool on_device) : array_(std::move(array)) {
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
        MPI_Comm_size(MPI_COMM_WORLD, &size);
        if (!on_device) pinned_ = pinned_array(array_.shape(), array_.dtype());
    }
    void receive(Stream& stream) {
        stream.synchronize(1min);  // MPI knows no stream: nothing may use the memory meanwhile
        MPI_Recv(memory(), count(), MPI_FLOAT, (rank + size - 1) % size, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (pinned_) array_.copy_to_device(*pinned_, stream);
    }
    void send(Stream& stream) {
        if (pinned_) array_.copy_to_host(*pinned_, stream);
        stream.synchronize(1min);
        MPI_Send(memory(), count(), MPI_FLOAT, (rank + 1) % size, 0, MPI_COMM_WORLD);
    }
    int rank = 0, size = 1;

  private:
    void* memory() { return pinned_ ? pinned_->writable_data() : array_.data(); }
    int count() const { return static_cast<int>(array_.size()); }

    DeviceNDArray array_;
    std::optional<HostNDArray> pinned_;
};

int run(bool on_device) {
    Driver driver;
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    Context gpu{driver.gpus()[static_cast<std::size_t>(rank) % driver.gpus().size()]};
    Stream stream = gpu.stream();
    auto code = Executable::load(gpu, "vector_add.hsaco");
    auto add = code.kernel("vector_add");

    std::vector<float> values(1 << 20);
    std::iota(values.begin(), values.end(), 0.0f);
    const auto array = to_device(values, stream);
    const auto ones = to_device(std::vector<float>(values.size(), 1.0f), stream);
    Ring ring(array, on_device);
    if (ring.size == 1) throw Error("a ring needs two processes or more: mpirun -n 2 ./mpi_ring");
    if (rank != 0) ring.receive(stream);
    add.launch(stream, {.grid = 1 << 20, .workgroup = 256}, array, ones, array, 1u << 20);
    ring.send(stream);
    if (rank != 0) return 0;

    ring.receive(stream);
    const auto around = array.copy_to_host<float>(stream);
    std::size_t right = 0;
    for (std::size_t i = 0; i < around.size(); ++i) right += around[i] == values[i] + static_cast<float>(ring.size);
    std::printf("%d processes, %s memory: %zu of %zu elements are right\n", ring.size, on_device ? "device" : "pinned",
                right, around.size());
    return right == around.size() ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int status = 1;
    try {
        status = run(mpi_knows_rocm() || (argc > 1 && argv[1] == std::string_view{"--device"}));
    } catch (const std::exception& error) {
        std::fprintf(stderr, "mpi_ring: %s\n", error.what());
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    MPI_Finalize();
    return status;
}
