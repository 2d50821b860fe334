// xml_text(): text as it is written in XML, such as SVG; control characters become blanks. Thread safety: a function.
#pragma once

#include <string>
#include <string_view>

namespace tools {

std::string xml_text(std::string_view text);

}  // namespace tools
