// What findings say of an access by a kernel that has ended.
//
//     tell_access(finding, kernel, record);                           // instruction, lane, wave, work-group, dispatch
//     finding.related.push_back(other_access(kernel, record, wrote)); // the other side
//
// Thread safety: any thread.
#pragma once

#include "tools/kfdemu/check/race/operations.hpp"
#include "tools/kfdemu/check/report/finding.hpp"

namespace kfdemu::check {

void tell_access(Finding& finding, const Operations::Kernel& kernel, const MemoryShadow::Record& access);
Related other_access(const Operations::Kernel& kernel, const MemoryShadow::Record& access, bool wrote);

}  // namespace kfdemu::check
