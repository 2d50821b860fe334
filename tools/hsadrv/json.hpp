// JSON, as every subcommand prints it with --json: one object that begins with the name of its schema.
//
//     Json report = json_report("info");  // {"schema": "hsadrv.info", "schema_version": 1, "hsadrv_version": "0.1.0"}
//     report["agents"] = …;
//     session.print(json_text(report));
//
// Keys stay in the order in which they were set. docs/schema/NAME.v1.json is the schema of each;
// docs/tools/json.md describes the compatibility within a version. Thread safety: values.
#pragma once

#include <string>
#include <string_view>

#include "tools/common/json.hpp"

namespace hsadrv_tool {

using tools::Json;

/// The head of a report; `version` of its schema.
Json json_report(std::string_view subject, unsigned version = 1);

/// Indented, with a newline at the end. Bytes that are not UTF-8 become U+FFFD.
std::string json_text(const Json& json);

/// In one line, without a newline. Bytes that are not UTF-8 become U+FFFD.
std::string json_line(const Json& json);

}  // namespace hsadrv_tool
