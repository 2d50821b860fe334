// The GPU resources that kernels use, as the tools print them: table cells and JSON.
//
//     Table table(resource_columns());
//     table.add(resource_cells(kernel));
//     auto held = occupancy_of(code, kernel, stated_workgroup(kernel, 256));
//     Json json = resources_json(kernel);   json["occupancy"] = occupancy_json(held, 256);
//
// Pure functions. Thread safety: no state. Source of the figures: the code object's metadata, and shared/occupancy.hpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "hsadrv/code_object.hpp"
#include "shared/occupancy.hpp"
#include "tools/common/json.hpp"
#include "tools/common/table.hpp"

namespace tools {

/// The work-group size for which a kernel's occupancy is reported: its required size, or else `wanted`, limited to its
/// maximum.
std::uint32_t stated_workgroup(const hsadrv::KernelMetadata& kernel, std::uint32_t wanted);

/// std::nullopt for processors whose compute units are not in the table. `group_segment_bytes`: static and dynamic LDS.
std::optional<hsadrv::shared::Occupancy> occupancy_of(const hsadrv::CodeObject& code,
                                                      const hsadrv::KernelMetadata& kernel,
                                                      std::uint32_t workgroup_workitems,
                                                      std::uint32_t group_segment_bytes);
/// With static LDS only.
std::optional<hsadrv::shared::Occupancy> occupancy_of(const hsadrv::CodeObject& code,
                                                      const hsadrv::KernelMetadata& kernel,
                                                      std::uint32_t workgroup_workitems);

/// "4 of 8 waves a SIMD, by vector registers (256 work-items)"
std::string occupancy_text(const std::optional<hsadrv::shared::Occupancy>& occupancy,
                           std::uint32_t workgroup_workitems);

bool requires_workgroup(const hsadrv::KernelMetadata& kernel);
bool has_dynamic_lds(const hsadrv::KernelMetadata& kernel);        ///< through pointers that the launch sets
std::string workgroup_text(const hsadrv::KernelMetadata& kernel);  ///< "64x1x1", "1 to 1024"
std::string size_text(std::size_t bytes);                          ///< "3984 bytes", "11 KiB"

/// Columns from the kernel's name to its work-group size; the caller appends the occupancy.
std::vector<Column> resource_columns();
std::vector<std::string> resource_cells(const hsadrv::KernelMetadata& kernel);

/// The same as a JSON object, plus the size of the kernel's arguments.
Json resources_json(const hsadrv::KernelMetadata& kernel);
Json occupancy_json(const std::optional<hsadrv::shared::Occupancy>& occupancy, std::uint32_t workgroup_workitems);

}  // namespace tools
