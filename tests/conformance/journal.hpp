// The journal of a run of the suite: a line of JSON at each beginning and end of a test case, and at each
// failure, written at once, so that after a crash or in a hang the journal names the test case that it was in.
//
//     conformance::open_journal(path, "gfx906");
//     session.run();
//     conformance::note_round(seed);
//
// Lines: {"begin": NAME, "output": BYTES} {"failure": TEXT} {"fatal": TEXT}
// {"end": NAME, "outcome": "passed" | "failed" | "skipped", "reason": TEXT, "seconds": S, "output": BYTES}
// {"round": SEED, "resident_kb": N, "descriptors": N}. "output" is where standard output stands.
// Thread safety: one thread. Throws std::system_error from open_journal().
#pragma once

#include <string>

namespace conformance {

/// `foreign`: the GPU's name if the suite's kernels were not compiled for it, or empty. Where a test case
/// fails for want of such a kernel, it is skipped.
void open_journal(const std::string& path, const std::string& foreign);

/// After all test cases have run once more.
void note_round(unsigned long seed);

}  // namespace conformance
