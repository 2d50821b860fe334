// The control interface for one test case of raw HSA.
//
//     NEEDS_CONTROL(control);
//     control->fail(KFDEMU_ALLOCATION, 1, 1, ENOMEM);
#pragma once

#include "tests/kfdemu/hsa/machine.hpp"
#include "tests/support/control.hpp"

namespace hsa_test {
/// Of the text of findings.
inline bool has(const std::string& text, const char* part) { return text.find(part) != text.npos; }
}  // namespace hsa_test

#define NEEDS_CONTROL(name) NEEDS_CONTROL_AS(test_support::Control, name)
