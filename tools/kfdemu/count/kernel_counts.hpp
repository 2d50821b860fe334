// What the kernels of a process have executed.
//
//     KernelCounts counts;
//     KernelCounts::Kernel& kernel = counts.begin({kernel_object, entry, target, lanes, code});   // a dispatch of it
//     counts.add(kernel, groups, waves, counted);                                        // by its workers
//     for (const KernelTotal& total : counts.totals()) …
//
// A kernel is its address and its code: another one may be loaded there later. When it is first dispatched, its code
// object is copied, for names and source lines: the program may unload it before the end. A thread of its own does it,
// for which the dispatch waits, but not for long (see check/report/code_objects.hpp).
//
// Thread safety: every function, any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include <time.h>
#include <unistd.h>

#include "tools/kfdemu/check/report/code_objects.hpp"
#include "tools/kfdemu/count/kinds.hpp"
#include "tools/kfdemu/count/sums.hpp"
#include "tools/kfdemu/isa/encodings/inst.hpp"
#include "tools/kfdemu/isa/rows/row.hpp"

namespace kfdemu::count {

/// An instruction, and how it was executed.
struct Counted {
    isa::Inst inst;
    Kind kind;
    Sums sums;
};

/// A kernel as a dispatch knows it.
struct Launched {
    std::uint64_t kernel_object = 0, entry = 0;  ///< addresses of its descriptor and its first instruction
    isa::Target target{};
    unsigned lanes = isa::kMostLanes;  ///< of its waves
    std::span<const std::byte> code;   ///< its beginning
};

struct KernelTotal {
    std::uint64_t kernel_object = 0, entry = 0;
    isa::Target target{};
    unsigned lanes = isa::kMostLanes;
    std::uint64_t dispatches = 0, groups = 0, waves = 0;
    std::vector<Counted> instructions;                  ///< by address
    std::shared_ptr<const check::LoadedObject> object;  ///< null: not known
};

class KernelCounts {
  public:
    class Kernel;

    KernelCounts();
    ~KernelCounts();
    KernelCounts(const KernelCounts&) = delete;
    KernelCounts& operator=(const KernelCounts&) = delete;

    static Lines lines_of(const Kernel& kernel);
    /// Lives as long as this.
    Kernel& begin(const Launched& launched);
    void add(Kernel& kernel, std::uint64_t groups, std::uint64_t waves, std::span<const Counted> counted);
    /// In the order of their first dispatches.
    std::vector<KernelTotal> totals() const;

    const pid_t owner = getpid();
    const timespec began;  ///< as file systems count

  private:
    struct Objects;

    void find_object(Kernel& kernel);

    mutable std::mutex mutex_;
    std::vector<std::unique_ptr<Kernel>> kernels_;
    std::map<std::pair<std::uint64_t, std::size_t>, Kernel*> by_code_;  // by kernel object and hash
    const std::shared_ptr<Objects> objects_;                            // also of threads that outlive this
};

/// Those of this process; null: nothing is counted. A child of fork() has its own.
KernelCounts* process_counts();
/// From now on, kernels are counted.
void count_kernels();
void in_child();

}  // namespace kfdemu::count
