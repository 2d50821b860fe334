// hsadrv bench copy: copies between host, device and peer, over the size.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "hsadrv/copy.hpp"
#include "hsadrv/dma_copy.hpp"
#include "hsadrv/error.hpp"
#include "tools/hsadrv/bench/copy_buffers.hpp"
#include "tools/hsadrv/bench/declare.hpp"
#include "tools/hsadrv/bench/report_text.hpp"
#include "tools/hsadrv/bench/run.hpp"
#include "tools/hsadrv/bench/sizes.hpp"

namespace hsadrv_bench {
namespace {

using hsadrv::AgentRef;
namespace exit_status = hsadrv_tool::exit_status;

[[noreturn]] void refuse(int status, const std::string& why) { throw tools::Failure(status, why); }

/// The GPU at the other end, if there is one.
std::optional<AgentRef> peer_of(const BenchRun& run, const CopyOptions& options, const hsadrv_tool::Session& session) {
    const auto& gpus = run.driver().gpus();
    if (!options.peer.empty()) {
        if (gpus.size() < 2)
            refuse(exit_status::no_device, fmt::format("--peer {}: there is no second GPU", options.peer));
        hsadrv_tool::Session other = session;
        other.device = options.peer;
        AgentRef peer;
        try {
            peer = other.gpu(run.driver());
        } catch (const tools::Failure& failure) {
            refuse(failure.status(), std::string(failure.what()).replace(0, std::strlen("--device"), "--peer"));
        }
        if (peer == run.gpu())
            refuse(exit_status::usage,
                   fmt::format("--peer {} and --device are the same GPU, {}", options.peer, peer.label()));
        return peer;
    }
    const auto found = std::find_if(gpus.begin(), gpus.end(), [&](AgentRef gpu) { return gpu != run.gpu(); });
    return found == gpus.end() ? std::nullopt : std::optional(*found);
}

std::vector<const CopyDirection*> directions_of(const CopyOptions& options, bool with_peer) {
    std::vector<const CopyDirection*> directions;
    const bool by_engine = parse_engine(options.engine).kind != EngineChoice::Kind::runtime;
    for (const CopyDirection& direction : copy_directions()) {
        const bool named =
            std::find(options.directions.begin(), options.directions.end(), direction.word) != options.directions.end();
        if (!named && !options.directions.empty()) continue;
        if (named && direction.touches(Place::peer) && !with_peer)
            refuse(exit_status::no_device, fmt::format("--direction {}: there is no second GPU", direction.word));
        if (!named && direction.touches(Place::peer) && !with_peer) continue;
        if (!named && by_engine && !direction.by_engine) continue;
        directions.push_back(&direction);
    }
    return directions;
}

/// The copies of one run.
class Copies {
  public:
    Copies(BenchRun& run, const CopyOptions& options, std::optional<AgentRef> peer)
        : run_(run),
          options_(options),
          engine_(parse_engine(options.engine)),
          sizes_(parse_sizes(options.sizes)),
          directions_(directions_of(options, peer.has_value())),
          buffers_(run.gpu(), peer, *std::max_element(sizes_.begin(), sizes_.end()), directions_, options.timeout()) {
        for (const CopyDirection* direction : directions_) reachable_.push_back(make_reachable(*direction));
    }

    void measure() {
        run_.expect_rows(sizes_.size() * cases(sizes_.front()).size());
        for (const std::uint64_t size : sizes_) run_.measure_group(cases(size));
    }

  private:
    std::vector<Case> cases(std::size_t size) {
        std::vector<Case> cases;
        for (std::size_t i = 0; i < directions_.size(); ++i)
            for (const auto& engine : engines_of(i)) cases.push_back(make_case(i, engine, size));
        return cases;
    }

    /// Can the copying GPU access the other GPU's memory?
    bool make_reachable(const CopyDirection& direction) const {
        if (!direction.touches(Place::peer)) return true;
        const AgentRef gpu = buffers_.agent(Place::device), peer = buffers_.agent(Place::peer);
        if (hsadrv::device_pool(peer).access(gpu) == hsadrv::PoolAccess::never ||
            hsadrv::device_pool(gpu).access(peer) == hsadrv::PoolAccess::never)
            return false;
        for (const auto& [place, agent] : {std::pair{Place::peer, gpu}, std::pair{Place::device, peer}})
            for (std::byte* block : {buffers_.source(place), buffers_.sink(place)})
                hsadrv::allow_access(block, std::span(&agent, 1));
        return true;
    }

    /// std::nullopt: the runtime's choice.
    std::vector<std::optional<unsigned>> engines_of(std::size_t index) const {
        const CopyDirection& direction = *directions_[index];
        std::vector<std::optional<unsigned>> engines;
        if (engine_.kind != EngineChoice::Kind::one || !direction.by_engine) engines.push_back(std::nullopt);
        if (engine_.kind == EngineChoice::Kind::runtime || !direction.by_engine) return engines;
        const std::uint32_t mask = engines_between(direction);
        if (engine_.kind == EngineChoice::Kind::one) {
            if ((mask >> engine_.number & 1) == 0) refuse_engine(direction, mask);
            engines.push_back(engine_.number);
        } else {
            for (unsigned number = 0; number < 32; ++number)
                if (mask >> number & 1) engines.push_back(number);
        }
        return engines;
    }

    /// The engines that can do the copy; for both ways, those that can do both directions.
    std::uint32_t engines_between(const CopyDirection& direction) const try {
        AgentRef to = buffers_.agent(direction.to), from = buffers_.agent(direction.from);
        // The runtime reports no engines for copies within a GPU: they use the engines that reach the host.
        if (to == from) to = run_.driver().cpus().front();
        const std::uint32_t there = hsadrv::free_dma_engines(to, from);
        return direction.both_ways ? there & hsadrv::free_dma_engines(from, to) : there;
    } catch (const hsadrv::NotOffered& error) {
        refuse(exit_status::runtime, fmt::format("--engine {}: {}; --engine auto leaves the choice to the runtime",
                                                 options_.engine, error.what()));
    }

    [[noreturn]] void refuse_engine(const CopyDirection& direction, std::uint32_t mask) const {
        std::string numbers;
        for (unsigned number = 0; number < 32; ++number)
            if (mask >> number & 1) numbers += fmt::format("{}{}", numbers.empty() ? "" : ", ", number);
        refuse(exit_status::usage,
               fmt::format("--engine {}: not for copies {}; those have {}", engine_.number, direction.name,
                           numbers.empty() ? "none of their own" : "engine " + numbers));
    }

    Case make_case(std::size_t index, std::optional<unsigned> engine, std::size_t size) {
        const CopyDirection& direction = *directions_[index];
        Case made;
        made.row.group = size_text(size);
        made.row.name = direction.name;
        if (direction.by_engine)
            made.row.engine = !reachable_[index] ? "staged" : engine ? std::to_string(*engine) : "auto";
        made.row.size_bytes = size;
        made.row.work_per_sample = static_cast<double>(size) * (direction.both_ways ? 2 : 1);
        const std::string title = "copy " + title_of(made.row);
        if (direction.from == Place::pageable && direction.to == Place::pageable)
            made.sample = [this, size] { return host_sample(size); };
        else if (!direction.by_engine || !reachable_[index])
            made.sample = [this, &direction, size, title] { return stream_sample(direction, size, title); };
        else
            made.sample = [this, &direction, engine, size, title] {
                return dma_sample(direction, engine, size, title);
            };
        made.verify = [this, &direction, sample = made.sample, size] { return verify(direction, sample, size); };
        return made;
    }

    double host_sample(std::size_t size) const {
        std::byte* const to = buffers_.sink(Place::pageable);
        const std::byte* const from = buffers_.source(Place::pageable);
        return time_ns([&] {
            std::memcpy(to, from, size);
            asm volatile("" ::: "memory");
        });
    }

    double stream_sample(const CopyDirection& direction, std::size_t size, const std::string& title) {
        std::byte* const to = buffers_.sink(direction.to);
        std::byte* const from = buffers_.source(direction.from);
        try {
            return time_ns([&] {
                buffers_.stream().copy_async(to, from, size, options_.timeout());
                if (direction.both_ways)
                    buffers_.stream().copy_async(buffers_.sink(direction.from), buffers_.source(direction.to), size,
                                                 options_.timeout());
                buffers_.stream().synchronize(options_.timeout());
            });
        } catch (const hsadrv::Timeout& error) {
            hang(title, error.what());
        }
    }

    double dma_sample(const CopyDirection& direction, std::optional<unsigned> engine, std::size_t size,
                      const std::string& title) {
        const hsadrv::DmaEnd to{buffers_.sink(direction.to), buffers_.agent(direction.to)};
        const hsadrv::DmaEnd from{buffers_.source(direction.from), buffers_.agent(direction.from)};
        const hsadrv::DmaEnd back_to{buffers_.sink(direction.from), buffers_.agent(direction.from)};
        const hsadrv::DmaEnd back_from{buffers_.source(direction.to), buffers_.agent(direction.to)};
        done_.store(1);
        back_done_.store(direction.both_ways ? 1 : 0);
        const double ns = time_ns([&] {
            hsadrv::dma_copy(to, from, size, done_, {}, engine);
            if (direction.both_ways) hsadrv::dma_copy(back_to, back_from, size, back_done_, {}, engine);
            wait(done_, title);
            if (direction.both_ways) wait(back_done_, title);
        });
        if (done_.load() < 0 || back_done_.load() < 0)
            refuse(exit_status::runtime, fmt::format("{}: the copy engine reports an error", title));
        return ns;
    }

    void wait(hsadrv::SignalRef done, const std::string& title) const try {
        done.wait(hsadrv::Condition::less, 1, options_.timeout());
    } catch (const hsadrv::Timeout& error) {
        hang(title, error.what());
    }

    [[noreturn]] void hang(const std::string& title, const char* why) const {
        refuse(exit_status::runtime,
               fmt::format("{}: not complete after {} s, the device hangs: {}", title, options_.timeout_seconds, why));
    }

    /// Runs the copy again, into memory that holds other data.
    std::optional<Mismatch> verify(const CopyDirection& direction, const std::function<double()>& sample,
                                   std::size_t size) {
        buffers_.wipe(direction.to, size);
        if (direction.both_ways) buffers_.wipe(direction.from, size);
        sample();
        const auto wrong = buffers_.verify(direction.from, direction.to, size);
        return wrong || !direction.both_ways ? wrong : buffers_.verify(direction.to, direction.from, size);
    }

    BenchRun& run_;
    const CopyOptions& options_;
    EngineChoice engine_;
    std::vector<std::uint64_t> sizes_;
    std::vector<const CopyDirection*> directions_;
    CopyBuffers buffers_;
    std::vector<bool> reachable_;
    hsadrv::Signal done_ = hsadrv::Signal::create(0), back_done_ = hsadrv::Signal::create(0);
};

/// Sorts by direction, then by size, for the report.
void sort_for_reading(std::vector<Row>& rows) {
    std::vector<std::string> order;
    const auto key = [](const Row& row) { return row.name + "\n" + row.engine; };
    for (const Row& row : rows)
        if (std::find(order.begin(), order.end(), key(row)) == order.end()) order.push_back(key(row));
    std::vector<Row> sorted;
    for (const std::string& wanted : order)
        std::copy_if(rows.begin(), rows.end(), std::back_inserter(sorted),
                     [&](const Row& row) { return key(row) == wanted; });
    rows = std::move(sorted);
}

int run_copy(const CopyOptions& options, hsadrv_tool::Session& session) {
    check(options);
    BenchRun run(session, options, "copy");
    const std::optional<AgentRef> peer = peer_of(run, options, session);
    BenchReport& report = run.report();
    if (peer) report.peer = peer->label();
    report.baseline = memcpy_name;
    report.notes.push_back(
        "GB/s: 1e9 bytes a second, by the host's clock from the call to the end of the wait. A copy's bytes "
        "count once; of copies both ways (<->) those of both directions are added up.");
    if (!report.sdma_variable.empty())
        report.notes.push_back(
            fmt::format("HSA_ENABLE_SDMA={}: {}", report.sdma_variable,
                        report.sdma_variable == "0" ? "kernels copy, not DMA engines." : "as the runtime takes it."));
    Copies(run, options, peer).measure();
    sort_for_reading(report.rows);
    return run.finish();
}

}  // namespace

hsadrv_tool::Run declare_copy(tools::CommandSyntax& command) { return declare_as(command, run_copy); }

}  // namespace hsadrv_bench
