// The DMA engines of copies: their dependencies, and the copies queued after them. The runtime has an engine for each
// direction, which takes its packets in order, and waits for a dependency by polling both halves of the signal's value
// until they equal 0 (ROCR: amd_blit_sdma.cpp). From ROCR 5.6 on copies may use other engines, which are not tested
// here.
#include <dlfcn.h>

#include "tests/kfdemu/hsa/kernel.hpp"
#include "tests/support/catch.hpp"

using namespace hsa_test;

namespace {

// Long enough that a copy which did not wait would have completed.
constexpr Duration kCopyTime = 50ms;

struct Copies {
    Machine machine;
    const Gpu& gpu = machine.gpu();
    Memory host{machine.cpu().fine, 4096, machine.agents()}, back{machine.cpu().fine, 4096, machine.agents()};
    Memory device{gpu.coarse, 4096, {}}, other{gpu.coarse, 4096, {}};

    void up(const Memory& to, const Signal& done, const std::vector<hsa_signal_t>& after = {}) const {
        HSA_CHECK(hsa_amd_memory_async_copy(to.data(), gpu.agent, host.data(), machine.cpu().agent, 4096,
                                            static_cast<std::uint32_t>(after.size()),
                                            after.empty() ? nullptr : after.data(), done));
    }
    void down(const Signal& done) const {
        HSA_CHECK(hsa_amd_memory_async_copy(back.data(), machine.cpu().agent, other.data(), gpu.agent, 4096, 0, nullptr,
                                            done));
    }
};

/// Why this runtime is not tested, or "".
std::string runtime_has_more_engines() {
    return dlsym(RTLD_DEFAULT, "hsa_amd_memory_copy_engine_status") ? "this runtime chooses among engines" : "";
}

}  // namespace

TEST_CASE("a copy waits until all 64 bits of its dependency are zero", "[device][copies]") {
    NEEDS_GPUS(1);
    const hsa_signal_value_t value =
        GENERATE(hsa_signal_value_t{-1}, hsa_signal_value_t{1}, hsa_signal_value_t{1} << 32,
                 hsa_signal_value_t{-1} << 32, hsa_signal_value_t{INT64_MIN}, -(hsa_signal_value_t{1} << 62));
    CAPTURE(value);
    const Copies copies;
    const Signal dependency{value}, done;
    copies.up(copies.device, done, {dependency});
    CHECK_FALSE(done.completed(kCopyTime));
    dependency.store(0);
    CHECK(done.completed());
}

TEST_CASE("a copy that waits holds up the copies of its direction, and no others", "[device][copies]") {
    NEEDS_GPUS(1);
    if (const std::string why = runtime_has_more_engines(); !why.empty()) SKIP_BECAUSE(why);
    const Copies copies;
    // Below zero, as left by a stream that decrements its gate once too often.
    const Signal dependency{GENERATE(hsa_signal_value_t{1}, hsa_signal_value_t{-1})};
    const Signal first, next, opposite;
    copies.up(copies.device, first, {dependency});
    copies.up(copies.other, next);
    copies.down(opposite);
    CHECK(opposite.completed());
    CHECK_FALSE(next.completed(kCopyTime));
    CHECK(first.load() == 1);
    dependency.store(0);
    CHECK(first.completed());
    CHECK(next.completed());
}
