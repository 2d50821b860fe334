// The journal of a run of the suite: a line of JSON at the beginning and end of each test case, and at each
// failure, written at once, so that after a crash or a hang the journal names the running test case.
//
//     conformance::open_journal(path, "gfx906");
//     session.run();
//     conformance::note_round(seed);
//
// Lines: {"begin": NAME, "output": BYTES} {"failure": TEXT} {"fatal": TEXT}
// {"end": NAME, "outcome": "passed" | "failed" | "skipped", "reason": TEXT, "seconds": S, "output": BYTES}
// {"round": SEED, "resident_kb": N, "descriptors": N}. "output" is the position in standard output.
// Thread safety: one thread. Throws std::system_error from open_journal().
#pragma once

#include <string>

namespace conformance {

/// `foreign`: the GPU's name if the suite's kernels were not compiled for it, or empty. Where a test case
/// fails because such a kernel is missing, it is skipped.
void open_journal(const std::string& path, const std::string& foreign);

/// After all test cases have run once more.
void note_round(unsigned long seed);

}  // namespace conformance
