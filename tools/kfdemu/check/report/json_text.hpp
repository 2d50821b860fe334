// Text as a JSON string.
//
//     out += json_string(file);       // "\"a.cpp\""
//
// Names of functions and files are any bytes: those that are not UTF-8 become U+FFFD. Pure. Thread safety: any thread.
#pragma once

#include <string>
#include <string_view>

namespace kfdemu::check {

std::string json_string(std::string_view text);

}  // namespace kfdemu::check
