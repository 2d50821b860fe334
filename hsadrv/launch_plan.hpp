// LaunchPlan: everything about launching one kernel that is known before the launch, as small tables.
//
//     LaunchPlan plan(kernel_metadata, limits);
//     plan.check_arguments(shapes);                      // InvalidArgument: which argument, wanted and given
//     LaunchShape shape = plan.shape(config);            // InvalidArgument: which limit, with the numbers
//     plan.fill_implicit(kernarg, shape, queue_facts);   // hidden arguments and LDS pointers
//
// Pure: metadata and numbers in, bytes out. Checks and fill functions allocate nothing and make no runtime call unless
// they fail. Owns: a copy of the kernel's metadata. Thread safety: const functions from any thread. Source: LLVM
// AMDGPUUsage, Code Object V5 Metadata (value kinds); OpenCL 2.0 for partial work-groups.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "hsadrv/hidden_arguments.hpp"
#include "hsadrv/kernel_args.hpp"
#include "hsadrv/launch.hpp"
#include "hsadrv/launch_argument.hpp"
#include "hsadrv/metadata.hpp"
#include "hsadrv/stream.hpp"

namespace hsadrv {

/// One checked launch.
struct LaunchShape {
    Dim3 grid, workgroup;
    std::uint32_t group_segment_bytes = 0;    ///< static and dynamic
    std::uint32_t private_segment_bytes = 0;  ///< per work-item
    std::uint32_t lds_base_bytes = 0;         ///< offset of the dynamic part
    const shared::LdsDemand* lds = nullptr;   ///< Borrows: the LaunchConfig's, during the launch
    std::uint64_t grid_state = 0;             ///< address of a cooperative launch's shared::GridState
    std::uint64_t printf_buffer = 0;          ///< address of the buffer of OpenCL C's printf
};

class LaunchPlan {
  public:
    /// `services`: the buffers that ServiceNeeds::of(kernel) names.
    LaunchPlan(KernelMetadata kernel, const LaunchLimits& limits, const ServiceAddresses& services = {});

    const KernelMetadata& kernel() const noexcept { return kernel_; }
    std::size_t kernarg_bytes() const noexcept { return kernel_.kernarg_size_bytes; }

    /// Throws InvalidArgument for a wrong count, or naming the argument of wrong size or kind.
    void check_arguments(std::span<const ArgumentShape> given) const;
    /// The same for arguments described at run time, one shape each.
    void check_arguments(std::span<const LaunchArgument> given) const;
    /// Throws InvalidArgument if pointer `index` is to elements of another type. The arguments were checked before.
    void check_element(std::size_t index, ElementType given) const {
        if (!accepts(parameters_[index].element, given)) [[unlikely]]
            refuse_element(index, given);
    }
    /// True if every argument is at the offset of its ArgumentShape. The arguments were checked before.
    bool lie_in_order(std::span<const ArgumentShape> given) const noexcept;

    /// The explicit arguments: those that a launch gives, without hidden ones and LDS pointers.
    std::size_t argument_count() const noexcept { return parameters_.size(); }
    /// `index` is below argument_count().
    const ArgumentMetadata& argument(std::size_t index) const noexcept {
        return kernel_.arguments[parameters_[index].argument];
    }
    ArgumentClass argument_class(std::size_t index) const noexcept { return parameters_[index].accepts; }
    ElementType element(std::size_t index) const noexcept { return parameters_[index].element; }

    /// Offset of explicit argument `index` in the kernarg segment. The arguments were checked before.
    std::uint32_t offset_bytes(std::size_t index) const noexcept { return parameters_[index].offset_bytes; }
    std::uint32_t size_bytes(std::size_t index) const noexcept { return parameters_[index].size_bytes; }

    /// Checks grid, work-group and LDS against the kernel and the agent. Throws InvalidArgument. The result
    /// borrows `config`.
    LaunchShape shape(const LaunchConfig& config) const;
    /// The same for what shape() refuses: cooperative launches, and kernels that need one or print. Does not compare
    /// the grid with the device.
    LaunchShape prepared_shape(const LaunchConfig& config) const;
    /// True if the host prepares memory for the launch, as only Kernel::launch and the streams' captures do.
    bool needs_preparation(const LaunchConfig& config) const noexcept { return config.cooperative || prints_; }
    /// True if the kernel uses grid_barrier(); false also if the compiler has not found out (-O0).
    bool needs_cooperation() const noexcept { return needs_cooperation_; }
    /// True if it may call OpenCL C's printf.
    bool prints() const noexcept { return prints_; }
    /// True if shape() would accept it. Ignores stack_bytes.
    bool fits(const LaunchConfig& config) const noexcept;
    // The stricter of the kernel's and the agent's limit, and the agent's limit.
    std::uint32_t workgroup_max_workitems() const noexcept { return max_flat_; }
    std::size_t group_segment_max_bytes() const noexcept { return limits_.group_segment_max_bytes; }

    /// True if the launch has only a grid and a work-group, both within every limit, as most launches do. Takes a few
    /// instructions; if false, call shape().
    bool is_plain(const LaunchConfig& config) const noexcept {
        const Dim3 &grid = config.grid, &workgroup = config.workgroup;
        // Zero wraps to the largest value and so fails like a size that is too large.
        const std::uint32_t largest_workgroup = (workgroup.x - 1) | (workgroup.y - 1) | (workgroup.z - 1);
        const std::uint32_t large = ((grid.y - 1) | (grid.z - 1)) >> 16;  // or zero
        const std::uint64_t volume = std::uint64_t{grid.x} * grid.y * grid.z;
        return (config.lds.count | config.lds.size_bytes | large | config.cooperative | config.groups.x) == 0 &&
               largest_workgroup < plain_workgroup_ && volume - 1 < plain_volume_ &&
               workgroup.x * workgroup.y * workgroup.z <= max_flat_ && workgroup.x <= grid.x && workgroup.y <= grid.y &&
               workgroup.z <= grid.z;
    }
    /// The shape of such a launch.
    LaunchShape plain_shape(const LaunchConfig& config) const noexcept {
        return {.grid = config.grid,
                .workgroup = config.workgroup,
                .group_segment_bytes = kernel_.group_segment_fixed_bytes,
                .private_segment_bytes = kernel_.private_segment_fixed_bytes,
                .lds_base_bytes = kernel_.group_segment_fixed_bytes};
    }

    /// The argument of Stream::dispatch.
    DispatchSpec dispatch(std::uint64_t kernel_object, const LaunchShape& shape) const noexcept {
        return {shape.grid,      shape.workgroup, shape.private_segment_bytes, shape.group_segment_bytes, kernel_object,
                kernarg_bytes(), needs_queue()};
    }

    bool has_implicit() const noexcept { return has_implicit_; }
    bool needs_queue() const noexcept { return hidden_.needs_queue(); }

    /// Writes every hidden argument and LDS pointer. `kernarg` has kernarg_bytes().
    void fill_implicit(std::byte* kernarg, const LaunchShape& shape, const QueueFacts& queue) const noexcept;

  private:
    struct Parameter {
        std::uint32_t offset_bytes, size_bytes;
        ArgumentClass accepts;
        std::uint32_t argument;  // index into the metadata
        ElementType element;     // of a pointer, if the metadata state it
    };
    struct LdsPointer {
        std::uint32_t offset_bytes, align_bytes, argument;
    };

    void add(const ArgumentMetadata& argument, std::uint32_t index);
    void add_lds_pointer(const ArgumentMetadata& argument, std::uint32_t index);
    std::uint32_t private_bytes_with_stack(std::uint32_t stack_bytes) const;
    bool sizes_within_limits(const Dim3& grid, const Dim3& workgroup) const noexcept;
    Dim3 workgroup_of(const LaunchConfig& config) const noexcept;
    std::optional<Dim3> grid_of(const LaunchConfig& config, const Dim3& workgroup) const noexcept;
    bool sizes_fit(const Dim3& grid, const Dim3& workgroup) const noexcept;
    bool workgroups_fit(const Dim3& grid, const Dim3& workgroup) const noexcept;
    bool lds_pointers_fit(const shared::LdsDemand& lds) const noexcept;
    /// Offset of the dynamic part.
    std::uint64_t lds_base_bytes(const shared::LdsDemand& lds) const noexcept {
        const std::uint64_t align = lds_align_bytes_ > lds.align_bytes ? lds_align_bytes_ : lds.align_bytes;
        return (std::uint64_t{kernel_.group_segment_fixed_bytes} + align - 1) & ~(align - 1);
    }
    std::string argument_text(std::size_t position) const;
    std::string signature() const;

    bool fits_argument(std::size_t index, const ArgumentShape& given) const noexcept {
        const Parameter& wanted = parameters_[index];
        return given.size_bytes == wanted.size_bytes && accepts(wanted.accepts, given.what) &&
               accepts(wanted.element, given.element);
    }
    [[noreturn]] void refuse_element(std::size_t index, ElementType given) const;
    [[noreturn]] void refuse_arguments(std::span<const ArgumentShape> given) const;
    [[noreturn]] void refuse_groups(const LaunchConfig& config, const Dim3& workgroup) const;
    [[noreturn]] void refuse_sizes(const Dim3& grid, const Dim3& workgroup) const;
    [[noreturn]] void refuse_lds(const shared::LdsDemand& lds) const;
    [[noreturn]] void refuse_lds_pointers(const shared::LdsDemand& lds) const;
    [[noreturn]] void refuse(const std::string& why) const;

    KernelMetadata kernel_;
    LaunchLimits limits_;
    bool has_max_workgroups_ = false;
    bool has_implicit_ = false;
    bool needs_cooperation_ = false, prints_ = false;
    // For is_plain(). Zero for a kernel with its own limits, LDS pointers or a dynamic stack; else a power of two:
    // extents up to it are within every dimension's limit.
    std::uint32_t plain_workgroup_ = 0;
    std::uint64_t plain_volume_ = 0;     // grids of up to this many work-items are within every limit
    std::uint32_t max_flat_ = 0;         // of a work-group: the kernel's and the agent's limit
    std::uint32_t lds_align_bytes_ = 1;  // the strictest of the LDS pointers
    std::vector<Parameter> parameters_;
    std::vector<LdsPointer> lds_pointers_;
    HiddenArguments hidden_;
};

}  // namespace hsadrv
