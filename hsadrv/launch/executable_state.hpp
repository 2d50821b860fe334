// Internal: what an Executable is made of, shared by its Kernels and DeviceGlobals.
//
// Made in four steps by ExecutableBuilder: open, define, load one by one, freeze. After that only `noted` and
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
    std::string name;              // how messages call it
    std::vector<std::byte> bytes;  // the loader keeps a pointer to them for debuggers
    CodeObject code;
    UniqueHandle<ReaderTraits> reader = {};
};

/// A variable that the program gives the code objects.
struct Definition {
    std::string name;
    void* address = nullptr;
    std::size_t size_bytes = 0;
    std::shared_ptr<const void> keep_alive = {};
};

/// A symbol, and among whose it was found: the runtime does not say it of the symbol itself.
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
    std::set<std::uint64_t> noted;  // kernel objects whose names the runtime knows, for messages about faults
    std::optional<Stream> stream;   // for copies that are in no stream's order; made when first wanted

    ExecutableState() = default;
    ExecutableState(const ExecutableState&) = delete;
    ExecutableState& operator=(const ExecutableState&) = delete;
    ~ExecutableState();

    void open();
    void define(const Definition& definition);
    void load(CodePart& part);
    void freeze();

    /// The part with that kernel, or null.
    const CodePart* part_with_kernel(std::string_view kernel_name) const;
    /// What a code object says of that variable, or null.
    const VariableFacts* find_variable(std::string_view name) const;

    /// The address of the kernel's descriptor on the agent. Throws InvalidCodeObject if what was loaded
    /// disagrees with the metadata.
    std::uint64_t kernel_object(const CodePart& part, const KernelMetadata& kernel) const;
    /// Tells messages about faults the kernel's name.
    void record(std::uint64_t object, const KernelMetadata& kernel, std::weak_ptr<const void> code);

    std::optional<FoundSymbol> find_symbol(const std::string& name) const;
    Symbol symbol_facts(const FoundSymbol& symbol) const;
    std::vector<Symbol> symbols() const;
    std::string names() const;  // of all parts, for messages

    /// Copies in no stream's order; complete on return.
    void copy(void* to, const void* from, std::size_t size_bytes, Deadline deadline);
};

}  // namespace hsadrv::detail
