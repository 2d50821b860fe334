// Metadata: the compiler's description of a code object's kernels, as plain values.
//
//     Metadata metadata = read_metadata(note_bytes);  // throws InvalidCodeObject, naming the key
//     for (const KernelMetadata& kernel : metadata.kernels) use(kernel.name, kernel.arguments);
//
// Pure function of bytes. Thread safety: no state. Source: LLVM AMDGPUUsage, Code Object Metadata, V3 to V6.
#pragma once

#include "shared/cpp20.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace hsadrv {

/// `.value_kind`: an argument's kind. Hidden arguments are filled at launch, not passed by the caller.
enum class ValueKind : std::uint8_t {
    by_value,
    global_buffer,
    dynamic_shared_pointer,
    sampler,
    image,
    pipe,
    queue,
    hidden_none,
    hidden_block_count_x,
    hidden_block_count_y,
    hidden_block_count_z,
    hidden_group_size_x,
    hidden_group_size_y,
    hidden_group_size_z,
    hidden_remainder_x,
    hidden_remainder_y,
    hidden_remainder_z,
    hidden_global_offset_x,
    hidden_global_offset_y,
    hidden_global_offset_z,
    hidden_grid_dims,
    hidden_printf_buffer,
    hidden_hostcall_buffer,
    hidden_multigrid_sync_arg,
    hidden_heap_v1,
    hidden_default_queue,
    hidden_completion_action,
    hidden_dynamic_lds_size,
    hidden_private_base,
    hidden_shared_base,
    hidden_queue_ptr,
    unknown,
};

/// "global_buffer"; "unknown" for unknown.
std::string_view to_string(ValueKind kind);

inline bool is_hidden(ValueKind kind) { return kind >= ValueKind::hidden_none && kind != ValueKind::unknown; }

enum class AddressSpace : std::uint8_t { none, private_memory, global, constant, local, generic, region };
enum class Access : std::uint8_t { unstated, read_only, write_only, read_write };

struct ArgumentMetadata {
    std::string name;       ///< as in the source; empty if the compiler did not write it
    std::string type_name;  ///< "float", "uint*"; empty if the compiler did not write it
    std::uint32_t offset_bytes = 0;
    std::uint32_t size_bytes = 0;
    std::uint32_t pointee_align_bytes = 0;  ///< of dynamic_shared_pointer; 0 if not stated
    ValueKind kind = ValueKind::unknown;
    std::string kind_text;  ///< as written; for unknown kinds
    AddressSpace address_space = AddressSpace::none;
    Access access = Access::unstated;                                                  ///< as declared
    Access actual_access = Access::unstated;                                           ///< as found by the compiler
    bool is_const = false, is_restrict = false, is_volatile = false, is_pipe = false;  ///< as declared
};

/// `.kind`: a kernel's purpose. Other runtimes' loaders run init and fini kernels on one work-item when they load and
/// unload; hsadrv does not: they are launched like any kernel.
enum class KernelKind : std::uint8_t { normal, init, fini };

struct KernelMetadata {
    std::string name;                         ///< "vector_add"
    std::string symbol;                       ///< "vector_add.kd"
    std::vector<ArgumentMetadata> arguments;  ///< by ascending offset, hidden ones included
    std::uint32_t kernarg_size_bytes = 0;
    std::uint32_t kernarg_align_bytes = 0;
    std::uint32_t group_segment_fixed_bytes = 0;    ///< a work-group's static LDS
    std::uint32_t private_segment_fixed_bytes = 0;  ///< a work-item's scratch
    std::uint32_t max_flat_workgroup_size = 0;
    std::array<std::uint32_t, 3> required_workgroup_size{};  ///< 0, 0, 0: any
    std::uint32_t wavefront_size = 0;
    std::uint32_t sgpr_count = 0;
    std::uint32_t vgpr_count = 0;  ///< of the register file, AGPRs included: see shared::vgpr_count()
    std::uint32_t agpr_count = 0;
    std::uint32_t sgpr_spill_count = 0;
    std::uint32_t vgpr_spill_count = 0;
    bool uses_dynamic_stack = false;        ///< the compiler knows no bound of its scratch
    bool uniform_workgroups = false;        ///< compiled for grids that are multiples of the work-group
    bool workgroup_processor_mode = false;  ///< gfx10 and newer: a work-group runs on two compute units
    KernelKind kind = KernelKind::normal;
    std::array<std::uint32_t, 3> max_workgroups{};       ///< of the grid, in each dimension; 0: any
    std::array<std::uint32_t, 3> cluster_workgroups{};   ///< work-groups of a cluster; 0, 0, 0: none
    std::array<std::uint32_t, 3> workgroup_size_hint{};  ///< OpenCL's work_group_size_hint
    std::string vec_type_hint;                           ///< OpenCL's: "float4"
    std::string language;                                ///< "OpenCL C"; empty if the compiler did not write it
    std::array<std::uint32_t, 2> language_version{};
    std::string device_enqueue_symbol;  ///< of a block that is enqueued on the device
    // Minimum registers allocated to a wave; larger than the counts if the kernel limits its waves
    // (amdgpu_waves_per_eu). read_code_object() reads them from the kernel descriptor, and also
    // workgroup_processor_mode, which is in the metadata only since V5.
    std::uint32_t vgpr_floor = 0, sgpr_floor = 0;
};

struct Metadata {
    std::uint32_t version_major = 0, version_minor = 0;  ///< `amdhsa.version`: 1.0 is V3, 1.1 V4, 1.2 V5 and V6
    std::string target;                                  ///< `amdhsa.target`; empty in V3
    std::vector<std::string> printf_formats;             ///< `amdhsa.printf`
    std::vector<KernelMetadata> kernels;
};

/// Throws InvalidCodeObject if the bytes are not MessagePack or nested too deeply, or if a key is missing, of a wrong
/// type or out of range.
Metadata read_metadata(std::span<const std::byte> note);

}  // namespace hsadrv
