#include "devicearray/copy_kernels.hpp"

#include <algorithm>
#include <bit>
#include <functional>
#include <numeric>

#include "hsadrv/error.hpp"

namespace hsadrv::detail {

// The bundle, written by tools/embed_kernels.py; empty if the library was built without a kernel compiler.
extern const unsigned char copy_kernels_bundle[];
extern const unsigned long copy_kernels_bundle_size;

namespace {

constexpr std::uint32_t workgroup_items = 256;
// About the capacity of the largest GPUs; beyond it work-items loop.
constexpr std::uint64_t most_grid_items = 1u << 18;

Executable load(AgentRef gpu) {
    if (copy_kernels_bundle_size == 0) {
        throw Error("devicearray: strided copies on " + gpu.label() +
                    " need kernels, but this library was built without them: install clang and lld and rebuild it");
    }
    return Executable::load(gpu, std::as_bytes(std::span(copy_kernels_bundle, copy_kernels_bundle_size)),
                            "devicearray's copy kernels");
}

std::uint64_t magnitude(std::int64_t value) {
    return value < 0 ? std::uint64_t{0} - static_cast<std::uint64_t>(value) : static_cast<std::uint64_t>(value);
}

/// The largest power of two, at most 16, that divides all addresses, strides and item sizes.
std::uint64_t access_bytes(const StridedCopy& copy, const unsigned char* to, const unsigned char* from) {
    std::uint64_t all = 16 | reinterpret_cast<std::uintptr_t>(to) | reinterpret_cast<std::uintptr_t>(from) |
                        static_cast<std::uint64_t>(copy.item_bytes);
    for (int i = 0; i < copy.shape.rank(); ++i) all |= magnitude(copy.to_strides[i]) | magnitude(copy.from_strides[i]);
    return all & (~all + 1);
}

void add_axis(StridedCopyArguments& a, std::int64_t extent, std::int64_t to_stride, std::int64_t from_stride) {
    if (a.rank == StridedCopyArguments::max_rank)
        throw InvalidArgument("devicearray: a strided copy of more than " + std::to_string(a.rank) + " loops");
    a.shape[a.rank] = static_cast<std::uint64_t>(extent);
    a.to_strides[a.rank] = to_stride;
    a.from_strides[a.rank++] = from_stride;
}

std::uint32_t at_most(std::uint64_t extent, std::uint64_t most) {
    return static_cast<std::uint32_t>(std::min(extent, std::max<std::uint64_t>(most, 1)));
}

}  // namespace

CopyLaunch plan_copy_launch(const StridedCopy& copy, void* to, const void* from) {
    CopyLaunch launch{};
    StridedCopyArguments& a = launch.arguments;
    a.to = static_cast<unsigned char*>(to) + copy.to_offset;
    a.from = static_cast<const unsigned char*>(from) + copy.from_offset;
    const auto access = static_cast<std::int64_t>(access_bytes(copy, a.to, a.from));
    launch.kernel = static_cast<std::size_t>(std::countr_zero(static_cast<std::uint64_t>(access)));
    if (copy.item_bytes != access) add_axis(a, copy.item_bytes / access, access, access);
    for (int i = copy.shape.rank() - 1; i >= 0; --i)
        add_axis(a, copy.shape[i], copy.to_strides[i], copy.from_strides[i]);
    while (a.rank < 3) add_axis(a, 1, 0, 0);
    a.outer = std::accumulate(a.shape + 2, a.shape + a.rank, std::uint64_t{1}, std::multiplies<>());

    const std::uint64_t extents[] = {a.shape[0], a.shape[1], a.outer};
    std::uint32_t workgroup[3];
    std::uint64_t items = 1, group_items = 1;
    for (int i = 0; i < 3; ++i) {
        a.grid[i] = at_most(extents[i], most_grid_items / items);
        workgroup[i] = at_most(std::bit_ceil(a.grid[i]), workgroup_items / group_items);
        items *= a.grid[i];
        group_items *= workgroup[i];
    }
    launch.grid = {a.grid[0], a.grid[1], a.grid[2]};
    launch.workgroup = {workgroup[0], workgroup[1], workgroup[2]};
    return launch;
}

CopyKernels::CopyKernels(AgentRef gpu)
    : code_(load(gpu)),
      kernels_{code_.kernel("copy_1"), code_.kernel("copy_2"), code_.kernel("copy_4"), code_.kernel("copy_8"),
               code_.kernel("copy_16")} {}

void CopyKernels::copy(Stream& stream, const StridedCopy& copy, void* to, const void* from, Deadline deadline) const {
    const CopyLaunch launch = plan_copy_launch(copy, to, from);
    kernels_[launch.kernel].launch(stream, {.grid = launch.grid, .workgroup = launch.workgroup, .deadline = deadline},
                                   launch.arguments);
}

}  // namespace hsadrv::detail
