// Tests under kfdemu's checks (kfdemu run --check): what they find, and what cannot be tested under them.
//
//     NEEDS_EXACT_FREES();                       // skips: the check "memory" keeps freed memory for a while
//     NEEDS_LEAKS_UNSEEN();                      // skips: what leaks on purpose is a finding of the check "leak"
//     TEST_CASE("a fault …", "[queue][defect]")  // its kernels are wrong on purpose: findings are no failure
//
// Without the emulator, or without checks, nothing is found and nothing is skipped.
#pragma once

#include <cstdlib>
#include <string>

#include "tests/support/control.hpp"

namespace test_support {

/// True if freed memory stays allocated for a while.
inline bool keeps_freed_memory() {
    const auto is_checked = reinterpret_cast<int (*)()>(dlsym(RTLD_DEFAULT, "kfdemu_pool_is_checked"));
    return is_checked != nullptr && is_checked() != 0;
}

/// True if what is never freed is a finding: KFDEMU=on,check=memory+leak.
inline bool sees_leaks() {
    const char* const said = std::getenv("KFDEMU");
    const std::string text = said == nullptr ? "" : said;
    const std::size_t checks = text.find("check=");
    if (checks == text.npos) return false;
    const std::string names = text.substr(checks, text.find(',', checks) - checks);
    return names.find("leak") != names.npos || names.find("all") != names.npos;
}

/// Null on hardware, and for an emulator without checks.
inline const kfdemu_control* control_with_checks() {
    const kfdemu_control* control = kfdemu_find_control();
    const bool has = control != nullptr && control->size_bytes >= offsetof(kfdemu_control, suppress);
    return has ? control : nullptr;
}

/// Until check_again(), or the end of the process.
inline void check_nothing() {
    if (const kfdemu_control* control = control_with_checks()) control->check(0);
}

inline void check_again() {
    if (const kfdemu_control* control = control_with_checks()) control->reset();
}

/// What was found since the last call, as text. Forgets it.
inline std::string take_findings() {
    std::string all;
    const kfdemu_control* control = control_with_checks();
    if (control == nullptr) return all;
    for (std::uint64_t n = 0; n < control->findings(); ++n) {
        std::string text(control->finding(n, nullptr, 0), 0);
        control->finding(n, text.data(), text.size() + 1);
        all += text;
    }
    control->forget_findings();
    return all;
}

}  // namespace test_support

#define NEEDS_EXACT_FREES()                                                                                        \
    do {                                                                                                           \
        if (::test_support::keeps_freed_memory()) SKIP_BECAUSE("the memory check keeps freed memory for a while"); \
    } while (false)

#define NEEDS_LEAKS_UNSEEN()                                                                              \
    do {                                                                                                  \
        if (::test_support::sees_leaks()) SKIP_BECAUSE("the leak check finds what is leaked on purpose"); \
    } while (false)
