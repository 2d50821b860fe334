// Report: the resources that the kernels of code objects take, as a table or as JSON.
//
//     fmt::print("{}", as_table(made, 256));
//
// Pure functions of what was read back. Thread safety: no state. Source of the figures: the code object's metadata, and
// shared/occupancy.hpp.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "hsadrv/code_object.hpp"
#include "shared/occupancy.hpp"

namespace hsadrv_cc {

struct Made {
    std::string output;
    std::size_t size_bytes = 0;
    bool bundle = false, compressed = false;
    std::string clang, clang_version;
    struct Object {
        hsadrv::CodeObject code;
        std::size_t size_bytes = 0;
    };
    std::vector<Object> objects;
};

/// The work-group size that a kernel's occupancy is stated for: the one it requires, else `wanted`, or less if it
/// takes less.
std::uint32_t stated_workgroup(const hsadrv::KernelMetadata& kernel, std::uint32_t wanted);

/// Nothing for processors whose compute units are not in our table.
std::optional<hsadrv::shared::Occupancy> occupancy_of(const hsadrv::CodeObject& code,
                                                      const hsadrv::KernelMetadata& kernel,
                                                      std::uint32_t workgroup_workitems);

std::string as_table(const Made& made, std::uint32_t workgroup);
std::string as_json(const Made& made, std::uint32_t workgroup);

}  // namespace hsadrv_cc
