// Choosing a GPU by a text, tested on names without a device.
#include "hsadrv/base/gpu_choice.hpp"

#include <string>
#include <vector>

#include "hsadrv/error.hpp"
#include "tests/support/catch.hpp"

using namespace hsadrv;
using test_support::Contains;

namespace {
const std::vector<detail::GpuNames> machine = {
    {"gfx90a", "AMD Instinct MI250X", "GPU-0123456789abcdef", "0000:03:00.0"},
    {"gfx90a", "AMD Instinct MI250X", "GPU-0123456789abcdff", "0000:04:00.0"},
    {"gfx906", "Radeon VII", "GPU-ffff456789abcdef", "0000:83:00.0"},
    {"gfx900", "", "GPU-XX", "0001:03:00.0"},
};
}  // namespace

TEST_CASE("a text that matches one GPU chooses it", "[driver]") {
    struct Row {
        const char* text;
        std::size_t gpu;
    };
    const Row rows[] = {
        {"0", 0},      {"3", 3},      {"GPU-0123456789abcdef", 0}, {"gpu-0123456789ABCDFF", 1}, {"GPU-ffff", 2},
        {"gfx906", 2}, {"GFX900", 3}, {"radeon vii", 2},           {"0000:04:00.0", 1},         {"0001:03:00.0", 3},
    };
    for (const Row& row : rows) {
        CAPTURE(row.text);
        CHECK(detail::choose_gpu(row.text, machine, "") == row.gpu);
    }
}

TEST_CASE("a text that matches several GPUs is refused with a list of them", "[driver]") {
    for (const char* text : {"gfx90a", "AMD Instinct MI250X", "GPU-0123456789"}) {
        CAPTURE(text);
        CHECK_THROWS_AS(detail::choose_gpu(text, machine, ""), InvalidArgument);
        CHECK_THROWS_WITH(detail::choose_gpu(text, machine, ""),
                          Contains("each of 0, 1") && Contains("GPU-0123456789abcdff") && Contains("Radeon VII"));
    }
}

TEST_CASE("a text that matches no GPU is refused with the existing GPUs and the variables that hide others",
          "[driver]") {
    for (const char* text :
         {"", "4", "-1", "99999999999999999999999", "gfx", "GPU-9999", "GPU-", "0x1", " 0", "nothing"}) {
        CAPTURE(text);
        CHECK_THROWS_AS(detail::choose_gpu(text, machine, ""), NoDevice);
        CHECK_THROWS_WITH(detail::choose_gpu(text, machine, "ROCR_VISIBLE_DEVICES=0,1"),
                          Contains("there are the GPUs 0 gfx90a GPU-0123456789abcdef") &&
                              Contains("hidden by ROCR_VISIBLE_DEVICES=0,1"));
    }
    CHECK_THROWS_WITH(detail::choose_gpu("0", {}, ""), Contains("there are none"));
}
