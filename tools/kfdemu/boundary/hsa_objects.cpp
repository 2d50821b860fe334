#include "tools/kfdemu/boundary/hsa_objects.hpp"

#include <unistd.h>

#include <atomic>
#include <tuple>

#include "tools/kfdemu/boundary/hsa_tool.hpp"
#include "tools/kfdemu/check/process.hpp"

namespace kfdemu {
namespace {

using check::ObjectKind;

/// A call that creates an object. Its last argument is where the handle is stored; handles are 64 bits wide.
template <int kNumber, ObjectKind kKind, class... Arguments>
struct Creation {
    static void wrap(std::byte* table, std::size_t offset) { hsa::wrap(table, offset, &call, next); }

  private:
    static hsa::Status call(Arguments... arguments) {
        const hsa::Status status = next(arguments...);
        const std::uint64_t* handle = std::get<sizeof...(Arguments) - 1>(std::tuple{arguments...});
        if (status == hsa::kSuccess) objects().made({kKind, *handle}, {.made = stack_of_caller()});
        return status;
    }
    static inline hsa::Status (*next)(Arguments...) = nullptr;
};

/// A call that destroys the object that is its only argument.
template <ObjectKind kKind>
struct Destruction {
    static void wrap(std::byte* table, std::size_t offset) { hsa::wrap(table, offset, &call, next); }

  private:
    /// Forgotten first: the handle may be another thread's new object as soon as it is destroyed.
    static hsa::Status call(std::uint64_t handle) {
        const auto object = objects().take({kKind, handle});
        const hsa::Status status = next(handle);
        if (status != hsa::kSuccess && object) objects().made({kKind, handle}, *object);
        return status;
    }
    static inline hsa::Status (*next)(std::uint64_t) = nullptr;
};

using Word = std::uint64_t;    ///< a handle, a size, or a signal's value
using Number = std::uint32_t;  ///< also an enumeration
using Pointer = const void*;

constexpr auto kSignal = ObjectKind::Signal;
constexpr auto kQueue = ObjectKind::Queue;
constexpr auto kExecutable = ObjectKind::Executable;
constexpr auto kReader = ObjectKind::CodeObjectReader;

// A number distinguishes functions with the same arguments.
using SignalCreate = Creation<0, kSignal, Word, Number, Pointer, Word*>;
using AmdSignalCreate = Creation<0, kSignal, Word, Number, Pointer, Word, Word*>;
using SignalAttach = Creation<0, kSignal, Pointer, Word*>;
template <int kNumber>
using QueueCreate = Creation<kNumber, kQueue, Word, Number, Number, Pointer, Pointer, Number, Number, Word*>;
using SoftQueueCreate = Creation<0, kQueue, Word, Number, Number, Number, Word, Word*>;
template <int kNumber>
using ExecutableCreate = Creation<kNumber, kExecutable, Number, Number, Pointer, Word*>;
using ReaderFromFile = Creation<0, kReader, Number, Word*>;
using ReaderFromMemory = Creation<0, kReader, Pointer, Word, Word*>;

std::atomic<pid_t> owner{0};  // relaxed: set before the objects exist

}  // namespace

void wrap_objects(hsa::Table& table) {
    owner = getpid();
    SignalCreate::wrap(table.core, hsa::kSignalCreate);
    AmdSignalCreate::wrap(table.amd, hsa::later(table.amd, hsa::Later::amd_signal_create));
    SignalAttach::wrap(table.amd, hsa::later(table.amd, hsa::Later::ipc_signal_attach));
    Destruction<kSignal>::wrap(table.core, hsa::kSignalDestroy);
    QueueCreate<0>::wrap(table.core, hsa::kQueueCreate);
    QueueCreate<1>::wrap(table.amd, hsa::later(table.amd, hsa::Later::queue_intercept_create));
    SoftQueueCreate::wrap(table.core, hsa::kSoftQueueCreate);
    Destruction<kQueue>::wrap(table.core, hsa::kQueueDestroy);
    ExecutableCreate<0>::wrap(table.core, hsa::kExecutableCreate);
    ExecutableCreate<1>::wrap(table.core, hsa::kExecutableCreateAlt);
    Destruction<kExecutable>::wrap(table.core, hsa::kExecutableDestroy);
    ReaderFromFile::wrap(table.core, hsa::kReaderFromFile);
    ReaderFromMemory::wrap(table.core, hsa::kReaderFromMemory);
    Destruction<kReader>::wrap(table.core, hsa::kReaderDestroy);
}

void report_leaks_now() {
    check::ProcessChecks& process = check::process_checks();
    if (finds_leaks() && getpid() == owner) report_leaks(process.objects, process.report);
    process.objects.clear();
}

}  // namespace kfdemu
