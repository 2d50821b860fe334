// TraceWriter: events as Perfetto's packets, in one sequence of a process.
//
//     TraceWriter writer{{.pid = getpid(), .command = {"a.out"}}};
//     std::string packets = writer.begin();                                // first, and again in each new file
//     writer.slice(packets, writer.thread(packets, tid, "main"), {"hsa_init", begin_ns, end_ns});
//     file.append(packets);
//
// Each function appends whole packets: the event, and before it the names and tracks that it is the first to use. Times
// are nanoseconds of CLOCK_BOOTTIME. Calls of the host are track events; work of a GPU is a GpuRenderStageEvent, with a
// ComputeKernelLaunch if it is a kernel. Pure. Thread safety: none.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "tools/trace/format/annotation.hpp"
#include "tools/trace/format/proto_writer.hpp"

namespace trace {

struct Process {
    std::uint32_t pid = 0;
    std::vector<std::string> command;
    std::uint32_t sequence = 0;  ///< different for each file that is joined to a trace; 0: made of the pid
};

/// A track of events, by its number in the trace.
using Track = std::uint64_t;

struct Slice {
    std::string_view name;
    std::uint64_t begin_ns = 0, end_ns = 0;
    std::span<const Annotation> annotations = {};
    std::span<const std::uint64_t> submitted = {};   ///< the GPU's work that it enqueued: Work::id
    std::span<const std::uint64_t> waited_for = {};  ///< and whose end it waited for
};

enum class Stage : std::uint8_t { kernel, copy };

struct KernelLaunch {
    std::string_view target;  ///< "gfx90a"
    std::array<std::uint32_t, 3> groups{}, workgroup{};
    std::uint32_t lds_bytes = 0, scratch_bytes = 0;
    std::uint64_t kernarg_bytes = 0;
};

/// What a GPU or a DMA engine did.
struct Work {
    std::uint64_t id = 0;  ///< unique in the trace, not 0
    Stage stage = Stage::kernel;
    std::string_view name;
    std::uint64_t begin_ns = 0, end_ns = 0;
    std::uint32_t gpu = 0;
    std::string_view queue;                ///< its track, of this name in the process: "queue 1"
    const KernelLaunch* launch = nullptr;  ///< of Stage::kernel
    std::span<const Annotation> annotations = {};
};

class TraceWriter {
  public:
    explicit TraceWriter(Process process);

    /// The first packets of a file. Names and tracks are introduced again after it.
    std::string begin();

    Track thread(std::string& packets, std::uint32_t tid, std::string_view name);
    /// Of bytes, under the process.
    Track counter(std::string& packets, std::string_view name);

    void slice(std::string& packets, Track track, const Slice& slice);
    void instant(std::string& packets, Track track, std::string_view name, std::uint64_t at_ns,
                 std::span<const Annotation> annotations);
    void count(std::string& packets, Track track, std::uint64_t at_ns, std::int64_t value);
    void work(std::string& packets, const Work& work);

  private:
    struct Hash {
        using is_transparent = void;
        std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>{}(text); }
    };
    using Names = std::unordered_map<std::string, std::uint64_t, Hash, std::equal_to<>>;
    struct Name {
        std::uint64_t iid;
        bool is_new;
    };

    static Name intern(Names& names, std::string_view name);
    template <class Fill>
    void packet(std::string& packets, std::uint64_t at_ns, Fill&& fill);
    /// Introduces the event's name and its annotations' in the packet. Sets annotation_iids_; returns the name's.
    std::uint64_t introduce(ProtoWriter& packet, std::string_view name, std::span<const Annotation> annotations);
    void annotate(ProtoWriter& event, std::span<const Annotation> annotations) const;
    struct WorkNames {
        Name event, queue, kernel;
    };
    WorkNames introduce_work(ProtoWriter& packet, const Work& work);
    static void put_launch(ProtoWriter& event, const KernelLaunch& launch);
    Track process_track() const;

    const Process process_;
    const std::uint32_t sequence_;
    Names event_names_, annotation_names_, queues_, kernels_, counters_;
    std::vector<std::uint64_t> annotation_iids_;  // of the event that is written
    std::unordered_set<Track> tracks_;
    bool gpu_introduced_ = false;
};

}  // namespace trace
