// What the calls that the tool wraps ask and tell the checks of this process.
//
//     if (wants_allocations(options.checks)) add_tool(path);
//     allocations().allocated(va, bytes, stack_of_caller());
//     if (finds_leaks()) objects().made({kind, handle}, {bytes, stack_of_caller()});
//
// Thread safety: every function, any thread.
#pragma once

#include "tools/kfdemu/check/process.hpp"

namespace kfdemu {

/// Whether one of these checks needs to know of allocations.
bool wants_allocations(const Checks& checks);
/// Whether --check=leak is on.
bool finds_leaks();
/// The caller's stack if a check that shows it is on.
check::StackId stack_of_caller();

inline check::Allocations& allocations() { return check::process_checks().allocations; }
inline check::LiveObjects& objects() { return check::process_checks().objects; }

}  // namespace kfdemu
