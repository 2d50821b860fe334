#include "tools/hsadrv/json.hpp"

namespace hsadrv_tool {

Json json_report(std::string_view subject, unsigned version) {
    return {{"schema", std::string("hsadrv.").append(subject)},
            {"schema_version", version},
            {"hsadrv_version", HSADRV_VERSION_TEXT}};
}

std::string json_text(const Json& json) { return json.dump(2) + "\n"; }

std::string json_line(const Json& json) { return json.dump(); }

}  // namespace hsadrv_tool
