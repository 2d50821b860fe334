// The environment of the guide's tasks: usings, captured output, device. Included by the programs that snippets.py
// makes of the pages.
#pragma once

#include <cstdlib>
#include <cstring>
#include <future>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include "devicearray/devicearray.hpp"
#include "hsadrv/hsadrv.hpp"
#include "tests/support/device.hpp"

using namespace hsadrv;
using namespace std::chrono_literals;

namespace docs_test {

/// Captures stdout, and compares it with a page's text.
class Output {
  public:
    Output();
    ~Output();
    Output(const Output&) = delete;
    Output& operator=(const Output&) = delete;

    /// The output since the last call. "…" in `expected` stands for anything within a line.
    void expect(const char* page, int line, const std::string& expected);
    void expect_no_more(const char* page, int line);

  private:
    std::string take();

    int terminal_ = -1, file_ = -1;
};

}  // namespace docs_test

#define BEGIN_TASK() \
    NEEDS_DEVICE();  \
    docs_test::Output task_output

/// For hidden lines of tasks that need several GPUs.
#define NEEDS_GPUS(count) \
    if (Driver().gpus().size() < (count)) SKIP_BECAUSE("needs " #count " GPUs")
