// What the program has created through the HSA runtime and not destroyed yet: for `--check=leak`.
//
//     objects.made({ObjectKind::Signal, handle}, 0, capture_stack());
//     if (auto object = objects.take({ObjectKind::Signal, handle})) …      // destroyed
//     report_leaks(objects, report);                                       // at the end of the process
//
// Thread safety: every function, any thread.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <vector>

#include "tools/kfdemu/check/report/host_stack.hpp"

namespace kfdemu::check {

class Report;

enum class ObjectKind : std::uint8_t {
    Memory,
    Signal,
    Queue,
    Executable,
    CodeObjectReader,
    LockedRange,     ///< of host memory
    Attachment,      ///< of another process's memory
    GraphicsBuffer,  ///< mapped by the interop calls
    AddressRange,    ///< this and the following: of hsa_amd_vmem
    MemoryHandle,
    Mapping,
};

struct ObjectName {
    ObjectKind kind;
    std::uint64_t handle;
    auto operator<=>(const ObjectName&) const = default;
};

struct LiveObject {
    std::uint64_t bytes = 0;  ///< of memory
    StackId made = kNoStack;
};

class LiveObjects {
  public:
    /// Memory that is locked several times has to be unlocked as often; other objects replace those of their name.
    void made(const ObjectName& name, const LiveObject& object);
    /// Forgets it, of several the last; std::nullopt if it is not known.
    std::optional<LiveObject> take(const ObjectName& name);
    void clear();

    /// Objects of one kind that were made at one place.
    struct Group {
        ObjectKind kind;
        StackId made;
        std::uint64_t count = 0, bytes = 0;
    };
    /// The largest first: by memory, then by number.
    std::vector<Group> groups() const;

  private:
    mutable std::mutex mutex_;
    std::multimap<ObjectName, LiveObject> all_;
};

/// What a runtime library made, and where.
struct Kept {
    LiveObjects::Group group;
    std::vector<HostFrame> frames;
};
/// A note for each, up to eight a library, and one for its others.
void note_kept(const std::vector<Kept>& kept, Report& report);
/// A finding for each group that the program made, and a note for each that a runtime library keeps: HIP's, OpenCL's
/// and OpenMP's create queues, signals and memory at their first use and keep them until the process ends.
void report_leaks(const LiveObjects& objects, Report& report);

/// Whether a file of that name is such a library.
bool is_runtime_library(std::string_view file);

}  // namespace kfdemu::check
