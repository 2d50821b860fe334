// A BenchReport as JSON: docs/schema/bench.v1.json.
//
//     session.print(json_text(as_json(report)));
//
// A pure function.
#pragma once

#include "tools/hsadrv/bench/report.hpp"
#include "tools/hsadrv/json.hpp"

namespace hsadrv_bench {

hsadrv_tool::Json as_json(const BenchReport& report);

}  // namespace hsadrv_bench
