// A BenchReport as JSON: docs/schema/bench.v1.json.
//
//     session.print(json_text(as_json(report)));
//
// A pure function.
#pragma once

#include "json.hpp"
#include "report.hpp"

namespace hsadrv_bench {

hsadrv_tool::Json as_json(const BenchReport& report);

}  // namespace hsadrv_bench
