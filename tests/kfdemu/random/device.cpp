#include "tests/kfdemu/random/device.hpp"

#include "tests/kfdemu/random/unit.hpp"

namespace random_programs {
namespace {

constexpr std::size_t kMostItems = 512;
constexpr std::uint32_t kScratchBytes = 65536, kWaves = 16;  // -O0 keeps every expression's temporaries
constexpr std::uint64_t kSlice = 1'000'000, kSlices = 100;   // instructions; no program needs a tenth

void copy_in(std::byte* to, const std::vector<std::uint64_t>& words) {
    std::memcpy(to, words.data(), words.size() * sizeof words[0]);
}
void copy_out(std::vector<std::uint64_t>& words, const std::byte* from) {
    std::memcpy(words.data(), from, words.size() * sizeof words[0]);
}

}  // namespace

Device::Device(kfdemu::isa::Target target, const std::string& code_object, const std::vector<std::uint32_t>& inputs)
    : gpu_{target, kScratchBytes, kWaves},
      code_{gpu_.load_file(code_object)},
      inputs_{gpu_.copy(inputs)},
      outs_{gpu_.allocate_bytes(kMostItems * 64 * 8)},
      cells_{gpu_.allocate_bytes(kMostItems * 64)},
      sums_{gpu_.allocate_bytes(4096)},
      arguments_{gpu_.allocate_bytes(4096)} {}

std::optional<std::string> Device::run(const std::string& kernel, unsigned group, unsigned groups, Results& results) {
    copy_in(outs_, results.outs);
    copy_in(cells_, results.cells);
    copy_in(sums_, results.sums);
    const void* const arguments[] = {inputs_, cells_, sums_, outs_};
    std::memcpy(arguments_, arguments, sizeof arguments);

    kfdemu::KernelDispatchPacket packet = code_.packet(kernel, {.grid = {group * groups}, .group = {group}});
    packet.kernarg_address = reinterpret_cast<std::uint64_t>(arguments_);
    const auto dispatch = gpu_.start(packet);
    kfdemu::WorkGroup work;
    std::uint64_t slices = 0;
    while (dispatch->start_group(work) == kfdemu::Dispatch::Start::Started)
        for (;;) {
            const auto progress = work.run(kSlice);
            if (progress != kfdemu::WorkGroup::Progress::Paused && progress != kfdemu::WorkGroup::Progress::Idle) break;
            if (++slices > kSlices) {
                dispatch->abort();
                return "does not end";
            }
        }
    if (dispatch->state() == kfdemu::Dispatch::State::Failed) return kfdemu::describe(dispatch->fault());
    copy_out(results.outs, outs_);
    copy_out(results.cells, cells_);
    copy_out(results.sums, sums_);
    return std::nullopt;
}

}  // namespace random_programs
