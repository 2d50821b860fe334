// Fixture of the tests of kernels that print.
#pragma once

#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "hsadrv/kernel_output.hpp"

namespace test_support {

/// Collects what kernels print while it lives.
class KernelTexts {
  public:
    KernelTexts() {
        hsadrv::on_kernel_output([this](hsadrv::AgentRef, hsadrv::KernelOutput where, std::string_view text) {
            const std::lock_guard lock(mutex_);
            (where == hsadrv::KernelOutput::error ? errors_ : texts_).emplace_back(text);
        });
    }
    KernelTexts(const KernelTexts&) = delete;
    KernelTexts& operator=(const KernelTexts&) = delete;
    ~KernelTexts() { hsadrv::on_kernel_output(nullptr); }

    std::vector<std::string> texts() {
        const std::lock_guard lock(mutex_);
        return texts_;
    }
    std::vector<std::string> errors() {
        const std::lock_guard lock(mutex_);
        return errors_;
    }

  private:
    std::mutex mutex_;
    std::vector<std::string> texts_, errors_;
};

}  // namespace test_support
