#include "tools/hsadrv-cc/report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tools/common/json_lines.hpp"

namespace hsadrv_cc {
namespace {

using hsadrv::CodeObject;
using hsadrv::KernelMetadata;
using tools::Json;

std::string table_of(const CodeObject& code, std::uint32_t wanted) {
    auto columns = tools::resource_columns();
    columns.push_back({"occupancy"});
    tools::Table table(std::move(columns));
    for (const KernelMetadata& kernel : code.kernels) {
        const std::uint32_t workgroup = stated_workgroup(kernel, wanted);
        auto cells = tools::resource_cells(kernel);
        cells.push_back(tools::occupancy_text(tools::occupancy_of(code, kernel, workgroup), workgroup));
        table.add(std::move(cells));
    }
    return table.empty() ? "  no kernels\n" : table.text();
}

Json json_of(const Made::Object& object, std::uint32_t wanted) {
    Json kernels = Json::array();
    for (const KernelMetadata& kernel : object.code.kernels) {
        const std::uint32_t workgroup = stated_workgroup(kernel, wanted);
        kernels.push_back(tools::resources_json(kernel));
        kernels.back()["occupancy"] =
            tools::occupancy_json(tools::occupancy_of(object.code, kernel, workgroup), workgroup);
    }
    return {{"target", object.code.target.name()},
            {"code_object_version", object.code.version},
            {"bytes", object.size_bytes},
            {"needs", object.code.undefined},
            {"kernels", std::move(kernels)}};
}

}  // namespace

std::string as_table(const Made& made, std::uint32_t workgroup) {
    std::string text;
    for (const Made::Object& object : made.objects) {
        text += fmt::format("{} for {}: {}, code object V{}\n", made.output, object.code.target.name(),
                            tools::size_text(object.size_bytes), object.code.version);
        text += table_of(object.code, workgroup);
        if (!object.code.undefined.empty())
            text += fmt::format("  needs {}, which no source defines\n", fmt::join(object.code.undefined, ", "));
    }
    if (made.bundle)
        text += fmt::format("{}: {}, {}\n", made.output, made.compressed ? "a compressed bundle" : "a bundle",
                            tools::size_text(made.size_bytes));
    return text;
}

std::string as_json(const Made& made, std::uint32_t workgroup) {
    Json objects = Json::array();
    for (const Made::Object& object : made.objects) objects.push_back(json_of(object, workgroup));
    return tools::json_lines({{"output", made.output},
                              {"bytes", made.size_bytes},
                              {"bundle", made.bundle},
                              {"compressed", made.compressed},
                              {"clang", made.clang},
                              {"clang_version", made.clang_version},
                              {"code_objects", std::move(objects)}});
}

}  // namespace hsadrv_cc
