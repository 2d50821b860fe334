// The doctor's report: for people and for programs.
//
//     session.print(report_text(diagnosis, session.terminal, verbose));
//     session.print(json_text(report_json(diagnosis)));
//
// Pure functions. Thread safety: no state. Schema: docs/schema/doctor.v1.json.
#pragma once

#include "tools/hsadrv/doctor/row.hpp"
#include "tools/hsadrv/json.hpp"
#include "tools/hsadrv/terminal.hpp"

namespace hsadrv_tool::doctor {

/// `verbose`: includes the evidence.
std::string report_text(const Diagnosis& diagnosis, const Terminal& terminal, bool verbose);
Json report_json(const Diagnosis& diagnosis);

}  // namespace hsadrv_tool::doctor
