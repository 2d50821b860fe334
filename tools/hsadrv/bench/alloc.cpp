// hsadrv bench alloc: allocating and freeing, locking and unlocking, over the size.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "hsadrv/allocator.hpp"
#include "hsadrv/copy.hpp"
#include "hsadrv/error.hpp"
#include "tools/hsadrv/bench/declare.hpp"
#include "tools/hsadrv/bench/report_text.hpp"
#include "tools/hsadrv/bench/run.hpp"
#include "tools/hsadrv/bench/sizes.hpp"

namespace hsadrv_bench {
namespace {

using namespace hsadrv;

constexpr const char* malloc_name = "malloc";

/// The cases that are measured, each for one size.
class Allocations {
  public:
    Allocations(BenchRun& run, const AllocOptions& options, std::uint64_t largest)
        : run_(run),
          options_(options),
          stream_(run.gpu(), {.name = "hsadrv bench", .drain = std::chrono::seconds(1)}),
          allocator_(hsadrv::device_pool(run.gpu())),
          host_(require(run.gpu(), largest)) {
        fill_pattern(host_.data(), host_.size(), 1);
    }

    std::vector<Case> cases(std::size_t size) {
        return {make_case(
                    malloc_name, size, 100,
                    [size] {
                        void* volatile memory = std::malloc(size);
                        std::free(memory);
                    },
                    [] { return std::optional<Mismatch>(); }),
                make_case(
                    "allocator, from its cache", size, 100, [this, size] { allocator_.allocate(size, stream_); },
                    [this, size] { return copied(allocator_.allocate(size, stream_).data(), size); }),
                make_case(
                    "device memory, from the pool", size, 1, [this, size] { Allocation::from_pool(pool(), size); },
                    [this, size] { return copied(Allocation::from_pool(pool(), size).data(), size); }),
                make_case(
                    "pinned host memory, from the pool", size, 1, [size] { Allocation::from_pool(host_pool(), size); },
                    [this, size] { return copied(Allocation::from_pool(host_pool(), size).data(), size); }),
                make_case(
                    "locking host memory", size, 1, [this, size] { Registration(host_.data(), size, {run_.gpu()}); },
                    [this, size] { return locked(size); })};
    }

  private:
    /// Refuses sizes that do not fit before they are allocated.
    static std::size_t require(AgentRef gpu, std::uint64_t largest) {
        const std::string what = "allocating " + size_text(largest);
        const MemPool device = device_pool(gpu);
        require_pool(device, largest, what);
        if (largest > device.alloc_max_bytes())
            throw tools::Failure(tools::ExitStatus::usage,
                                 fmt::format("{}: {} gives {} at once at most", what, device.label(),
                                             size_text(device.alloc_max_bytes())));
        require_host(largest > UINT64_MAX / 4 ? UINT64_MAX : 4 * largest, what + ", and verifying it,");
        return largest;
    }

    MemPool pool() const { return hsadrv::device_pool(run_.gpu()); }

    template <class Pair, class Verify>
    Case make_case(const char* name, std::size_t size, unsigned pairs, Pair pair, Verify verify) {
        Case made;
        made.row.group = size_text(size);
        made.row.name = name;
        made.row.size_bytes = size;
        made.row.work = Work::pairs;
        made.row.work_per_sample = pairs;
        made.row.reading = Reading::time;
        made.sample = [pair, pairs] {
            return time_ns([&] {
                for (unsigned i = 0; i < pairs; ++i) pair();
            });
        };
        made.verify = [this, verify, title = "alloc " + title_of(made.row)] {
            try {
                return verify();
            } catch (const Timeout& error) {
                throw tools::Failure(hsadrv_tool::exit_status::runtime,
                                     fmt::format("{}: a copy there is not complete after {} s, the device hangs: {}",
                                                 title, options_.timeout_seconds, error.what()));
            }
        };
        return made;
    }

    /// Into the memory and out of it again.
    std::optional<Mismatch> copied(void* memory, std::size_t size) {
        std::vector<std::byte> back(size);
        copy(stream_, memory, host_.data(), size, options_.timeout());
        copy(stream_, back.data(), memory, size, options_.timeout());
        return compare("what was copied there and back", back.data(), host_.data(), size);
    }

    /// The GPU reads locked memory at its address there.
    std::optional<Mismatch> locked(std::size_t size) {
        const Registration registration(host_.data(), size, {run_.gpu()});
        const Allocation device = Allocation::from_pool(pool(), size);
        std::vector<std::byte> back(size);
        copy(stream_, device.data(), registration.device_address(), size, options_.timeout());
        copy(stream_, back.data(), device.data(), size, options_.timeout());
        return compare("what the GPU read from locked memory", back.data(), host_.data(), size);
    }

    BenchRun& run_;
    const AllocOptions& options_;
    Stream stream_;
    Allocator allocator_;
    std::vector<std::byte> host_;
};

int run_alloc(const AllocOptions& options, hsadrv_tool::Session& session) {
    check(options);
    const std::vector<std::uint64_t> sizes = parse_sizes(options.sizes);
    BenchRun run(session, options, "alloc");
    run.report().baseline = malloc_name;
    run.report().notes.push_back(
        "A pair of calls: allocating and freeing, or locking and unlocking, of memory that is not "
        "touched in between; malloc, too, only reserves addresses.");
    Allocations allocations(run, options, *std::max_element(sizes.begin(), sizes.end()));
    run.expect_rows(sizes.size() * allocations.cases(sizes.front()).size());
    for (const std::uint64_t size : sizes) run.measure_group(allocations.cases(size));
    std::vector<Row>& rows = run.report().rows;
    std::vector<Row> sorted;
    for (const Case& one : allocations.cases(sizes.front()))
        std::copy_if(rows.begin(), rows.end(), std::back_inserter(sorted),
                     [&](const Row& row) { return row.name == one.row.name; });
    rows = sorted;
    return run.finish();
}

}  // namespace

hsadrv_tool::Run declare_alloc(tools::CommandSyntax& command) { return declare_as(command, run_alloc); }

}  // namespace hsadrv_bench
