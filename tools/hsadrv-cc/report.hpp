// Report: the resources that the kernels of code objects use, as a table or as JSON.
//
//     fmt::print("{}", as_table(made, 256));
//
// Pure functions of the code objects. Thread safety: no state. Source of the figures: tools/common/kernel_report.hpp.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "hsadrv/code_object.hpp"
#include "tools/common/kernel_report.hpp"

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

using tools::stated_workgroup;

std::string as_table(const Made& made, std::uint32_t workgroup);
std::string as_json(const Made& made, std::uint32_t workgroup);

}  // namespace hsadrv_cc
