// The control interface for one test case, which leaves nothing behind.
//
//     NEEDS_CONTROL(control);
//     control->fail(KFDEMU_ALLOCATION, 1, 1, ENOMEM);
#pragma once

#include <kfdemu.h>

#include "hsa/machine.hpp"

namespace control_test {

class Control {
  public:
    Control() : control_{kfdemu_find_control()} {}
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

  private:
    const kfdemu_control* control_;
};

}  // namespace control_test

#define NEEDS_CONTROL(name)           \
    const control_test::Control name; \
    if (!name) SKIP_BECAUSE("wants a GPU that can be made to fail: kfdemu")
