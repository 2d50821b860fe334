// kfdemu's control interface for one test case, reset at its end. Absent on hardware.
//
//     const test_support::Control control;
//     if (control) control->fail(KFDEMU_ALLOCATION, 1, 1, ENOMEM);
#pragma once

#include "tools/kfdemu/kfdemu.h"

#include <cstdint>
#include <string>
#include <vector>

#include "tests/support/catch.hpp"

namespace test_support {

class Control {
  public:
    Control() : control_(kfdemu_find_control()) {}
    ~Control() {
        if (control_) control_->reset();
    }
    Control(const Control&) = delete;
    Control& operator=(const Control&) = delete;

    explicit operator bool() const { return control_ != nullptr; }
    const kfdemu_control* operator->() const { return control_; }
    kfdemu_counters counters() const {
        kfdemu_counters now{};
        control_->counters(&now, sizeof now);
        return now;
    }
    /// The text of a finding of the checks.
    std::string finding(std::uint64_t index) const {
        std::string text(control_->finding(index, nullptr, 0), 0);
        control_->finding(index, text.data(), text.size() + 1);
        return text;
    }
    /// Those of all that are kept.
    std::vector<std::string> findings() const {
        std::vector<std::string> all;
        for (std::uint64_t n = 0; n < control_->findings(); ++n) all.push_back(finding(n));
        return all;
    }

  private:
    const kfdemu_control* control_;
};

}  // namespace test_support

#define NEEDS_CONTROL_AS(type, name) \
    const type name;                 \
    if (!name) SKIP_BECAUSE("only kfdemu can inject failures")
