// Internal: the state of an Executable, shared by its Kernels and DeviceGlobals.
//
// ExecutableBuilder creates it in four steps: open, define, load one by one, freeze. After that only `noted` and
// `stream` change, under the mutex.
#pragma once

#include <hsa/hsa.h>

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "hsadrv/agent.hpp"
#include "hsadrv/code_object.hpp"
#include "hsadrv/driver.hpp"
#include "hsadrv/handle.hpp"
#include "hsadrv/launch.hpp"
#include "hsadrv/stream.hpp"
#include "hsadrv/symbol.hpp"

namespace hsadrv::detail {

class PrintfFormats;

struct ReaderTraits {
    using Native = hsa_code_object_reader_t;
    static Native null() noexcept { return {0}; }
    static bool is_null(Native reader) noexcept { return reader.handle == 0; }
    static void destroy(Native reader) noexcept { hsa_code_object_reader_destroy(reader); }
};

struct ExecutableTraits {
    using Native = hsa_executable_t;
    static Native null() noexcept { return {0}; }
    static bool is_null(Native executable) noexcept { return executable.handle == 0; }
    static void destroy(Native executable) noexcept { hsa_executable_destroy(executable); }
};

/// One code object of an executable.
struct CodePart {
    std::string name;              // its name in messages
    std::vector<std::byte> bytes;  // the loader keeps a pointer to them for debuggers
    CodeObject code;
    UniqueHandle<ReaderTraits> reader = {};
    std::shared_ptr<const PrintfFormats> printf_formats = {};  // of its kernels that print; null: it has none
};

/// A variable that the program provides to the code objects.
struct Definition {
    std::string name;
    void* address = nullptr;
    std::size_t size_bytes = 0;
    std::shared_ptr<const void> keep_alive = {};
};

/// A symbol and the scope it was found in, which the runtime does not report for the symbol itself.
struct FoundSymbol {
    hsa_executable_symbol_t native;
    Symbol::Scope scope;
};

struct ExecutableState {
    DriverRef driver = Driver::current();  // first, so that the runtime outlives the rest
    AgentRef agent;
    std::vector<CodePart> parts;
    std::vector<Definition> definitions;
    LaunchLimits limits;
    UniqueHandle<ExecutableTraits> executable;
    std::mutex mutex;
    std::set<std::uint64_t> noted;  // kernel objects whose names are recorded for fault messages
    std::optional<Stream> stream;   // for copies outside any stream's order; created on first use

    ExecutableState() = default;
    ExecutableState(const ExecutableState&) = delete;
    ExecutableState& operator=(const ExecutableState&) = delete;
    ~ExecutableState();

    void open();
    void define(const Definition& definition);
    void load(CodePart& part);
    /// On a thread that keeps `self`: the runtime never returns if the GPU is lost meanwhile. Throws DeviceLost then.
    static void freeze(const std::shared_ptr<ExecutableState>& self);

    /// The part with that kernel, or null.
    const CodePart* part_with_kernel(std::string_view kernel_name) const;
    /// A code object's facts about that variable, or null.
    const VariableFacts* find_variable(std::string_view name) const;

    /// The address of the kernel's descriptor on the agent. Throws InvalidCodeObject if the loaded kernel disagrees
    /// with the metadata.
    std::uint64_t kernel_object(const CodePart& part, const KernelMetadata& kernel) const;
    /// Records the kernel's name for fault messages.
    void record(std::uint64_t object, const KernelMetadata& kernel, std::weak_ptr<const void> code);

    std::optional<FoundSymbol> find_symbol(const std::string& name) const;
    Symbol symbol_facts(const FoundSymbol& symbol) const;
    std::vector<Symbol> symbols() const;
    std::string names() const;  // of all parts, for messages

    /// Copies outside any stream's order; complete on return.
    void copy(void* to, const void* from, std::size_t size_bytes, Deadline deadline);
};

}  // namespace hsadrv::detail
