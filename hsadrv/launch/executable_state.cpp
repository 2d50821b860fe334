#include "hsadrv/launch/executable_state.hpp"

#include <mutex>
#include <optional>
#include <utility>

#include "hsadrv/base/attempt.hpp"
#include "hsadrv/base/runtime.hpp"
#include "hsadrv/error.hpp"
#include "hsadrv/launch/loadable_version.hpp"
#include "hsadrv/queue/fault.hpp"
#include "hsadrv/queue/known_kernels.hpp"

namespace hsadrv::detail {
namespace {

template <class T>
T symbol_info(hsa_executable_symbol_t symbol, hsa_executable_symbol_info_t what, const std::string& text) {
    T value{};
    check(hsa_executable_symbol_get_info(symbol, what, &value),
          [&] { return "hsa_executable_symbol_get_info(" + text + ")"; });
    return value;
}

std::string symbol_name(hsa_executable_symbol_t symbol) {
    const auto length = symbol_info<std::uint32_t>(symbol, HSA_EXECUTABLE_SYMBOL_INFO_NAME_LENGTH, "NAME_LENGTH");
    std::string name(length, '\0');
    check(hsa_executable_symbol_get_info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_NAME, name.data()),
          "hsa_executable_symbol_get_info(NAME)");
    return name;
}

void check_agrees(const CodePart& part, const KernelMetadata& kernel, const char* what, std::uint32_t metadata,
                  std::uint32_t loaded) {
    if (metadata == loaded) return;
    throw InvalidCodeObject("'" + part.name + "': kernel '" + kernel.name + "': " + what + " is " +
                            std::to_string(metadata) + " in the metadata, " + std::to_string(loaded) + " as loaded");
}

}  // namespace

ExecutableState::~ExecutableState() {
    for (const std::uint64_t object : noted) forget_kernel(object);
}

void ExecutableState::open() {
    hsa_executable_t native{};
    check(hsa_executable_create_alt(HSA_PROFILE_FULL, HSA_DEFAULT_FLOAT_ROUNDING_MODE_DEFAULT, nullptr, &native),
          "hsa_executable_create_alt(full profile)");
    executable.reset(native);
}

void ExecutableState::define(const Definition& definition) {
    check(hsa_executable_agent_global_variable_define(executable.get(), agent.native(), definition.name.c_str(),
                                                      definition.address),
          [&] { return "hsa_executable_agent_global_variable_define(" + definition.name + ")"; });
}

void ExecutableState::load(CodePart& part) {
    faults::refuse_lost(agent, "Executable::load");  // freezing it would wait for a copy for ever
    hsa_code_object_reader_t native_reader{};
    check(hsa_code_object_reader_create_from_memory(part.bytes.data(), part.bytes.size(), &native_reader), [&] {
        return "hsa_code_object_reader_create_from_memory(" + part.name + ", " + std::to_string(part.bytes.size()) +
               " B)";
    });
    part.reader.reset(native_reader);

    const hsa_status_t status =
        hsa_executable_load_agent_code_object(executable.get(), agent.native(), native_reader, nullptr, nullptr);
    if (status == HSA_STATUS_SUCCESS) return;
    const std::string version = "code object V" + std::to_string(part.code.version);
    const std::string call =
        "hsa_executable_load_agent_code_object(" + agent.label() + ", " + part.name + ", " + version + ")";
    if (status == HSA_STATUS_ERROR_OUT_OF_RESOURCES) throw_status(status, call);
    std::string remedy;
    if (const auto newest = newest_loadable_version(agent, part.bytes, part.code)) {
        const std::string loaded = std::to_string(*newest);
        remedy =
            "; " + version + ", this ROCR loads up to V" + loaded + ": rebuild with -mcode-object-version=" + loaded;
    }
    throw InvalidCodeObject(call + ": " + status_name(status) + remedy, status);
}

void ExecutableState::freeze(const std::shared_ptr<ExecutableState>& self) {
    const auto status = attempt<hsa_status_t>([self] { return hsa_executable_freeze(self->executable.get(), nullptr); },
                                              {}, [&] { return faults::of(self->agent).has_value(); });
    if (!status) throw faults::of(self->agent)->lost("Executable::load(" + self->names() + ")");
    check(*status, [&] { return "hsa_executable_freeze(" + self->names() + ")"; });
}

const CodePart* ExecutableState::part_with_kernel(std::string_view kernel_name) const {
    for (const CodePart& part : parts) {
        if (part.code.find(kernel_name)) return &part;
    }
    return nullptr;
}

const VariableFacts* ExecutableState::find_variable(std::string_view name) const {
    for (const CodePart& part : parts) {
        for (const VariableFacts& variable : part.code.variables) {
            if (variable.name == name) return &variable;
        }
    }
    return nullptr;
}

std::uint64_t ExecutableState::kernel_object(const CodePart& part, const KernelMetadata& kernel) const {
    const auto symbol = find_symbol(kernel.symbol);
    if (!symbol) {
        throw InvalidCodeObject(
            "'" + part.name + "': kernel '" + kernel.name + "': " +
                (part.code.has_symbol_table ? "the runtime does not find its symbol '" + kernel.symbol + "'"
                                            : "this runtime finds kernels through .symtab, which was stripped: link "
                                              "without -s"),
            HSA_STATUS_ERROR_INVALID_SYMBOL_NAME);
    }
    const auto info = [&](hsa_executable_symbol_info_t what, const char* text) {
        return symbol_info<std::uint32_t>(symbol->native, what, std::string(text) + ", " + kernel.symbol);
    };
    check_agrees(part, kernel, "the group segment size", kernel.group_segment_fixed_bytes,
                 info(HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_GROUP_SEGMENT_SIZE, "GROUP_SEGMENT_SIZE"));
    check_agrees(part, kernel, "the private segment size", kernel.private_segment_fixed_bytes,
                 info(HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_PRIVATE_SEGMENT_SIZE, "PRIVATE_SEGMENT_SIZE"));
    const std::uint32_t kernarg = info(HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_KERNARG_SEGMENT_SIZE, "KERNARG_SEGMENT_SIZE");
    // 0 in the descriptor: not given by the compiler.
    if (kernarg) check_agrees(part, kernel, "the kernarg segment size", kernel.kernarg_size_bytes, kernarg);
    return symbol_info<std::uint64_t>(symbol->native, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_OBJECT,
                                      "KERNEL_OBJECT, " + kernel.symbol);
}

void ExecutableState::record(std::uint64_t object, const KernelMetadata& kernel, std::weak_ptr<const void> code) {
    const std::lock_guard lock(mutex);
    if (noted.insert(object).second) note_kernel(object, kernel.name, kernel.arguments, std::move(code));
}

std::optional<FoundSymbol> ExecutableState::find_symbol(const std::string& name) const {
    const hsa_agent_t native_agent = agent.native();
    // Agent scope first: loaders of AMDGPU code objects use it.
    for (const auto scope : {Symbol::Scope::agent, Symbol::Scope::program}) {
        hsa_executable_symbol_t symbol{};
        const hsa_status_t status = hsa_executable_get_symbol_by_name(
            executable.get(), name.c_str(), scope == Symbol::Scope::agent ? &native_agent : nullptr, &symbol);
        if (status == HSA_STATUS_SUCCESS) return FoundSymbol{symbol, scope};
        if (status != HSA_STATUS_ERROR_INVALID_SYMBOL_NAME)
            throw_status(status, "hsa_executable_get_symbol_by_name(" + name + ", " + names() + ")");
    }
    return std::nullopt;
}

Symbol ExecutableState::symbol_facts(const FoundSymbol& found) const {
    const auto u64 = [&](hsa_executable_symbol_info_t what, const char* text, const std::string& name) {
        return symbol_info<std::uint64_t>(found.native, what, std::string(text) + ", " + name);
    };
    Symbol facts;
    facts.name = symbol_name(found.native);
    facts.scope = found.scope;
    const auto kind = symbol_info<hsa_symbol_kind_t>(found.native, HSA_EXECUTABLE_SYMBOL_INFO_TYPE, "TYPE");
    if (kind == HSA_SYMBOL_KIND_INDIRECT_FUNCTION) {
        facts.kind = Symbol::Kind::indirect_function;
        facts.address =
            u64(HSA_EXECUTABLE_SYMBOL_INFO_INDIRECT_FUNCTION_OBJECT, "INDIRECT_FUNCTION_OBJECT", facts.name);
        return facts;
    }
    if (kind == HSA_SYMBOL_KIND_KERNEL) {
        facts.kind = Symbol::Kind::kernel;
        facts.address = u64(HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_OBJECT, "KERNEL_OBJECT", facts.name);
        return facts;
    }
    facts.address = u64(HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_ADDRESS, "VARIABLE_ADDRESS", facts.name);
    facts.size_bytes = symbol_info<std::uint32_t>(found.native, HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_SIZE,
                                                  "VARIABLE_SIZE, " + facts.name);
    // The query cannot report 4 GiB or more, and the runtime knows no size of variables that the program defines.
    if (const VariableFacts* variable = find_variable(facts.name)) facts.size_bytes = variable->size_bytes;
    for (const Definition& definition : definitions) {
        if (definition.name == facts.name) facts.size_bytes = definition.size_bytes;
    }
    return facts;
}

std::vector<Symbol> ExecutableState::symbols() const {
    struct List {
        std::vector<hsa_executable_symbol_t> found;
        hsa_status_t add(hsa_executable_symbol_t symbol) noexcept {  // no exception may pass through the runtime
            try {
                found.push_back(symbol);
            } catch (const std::bad_alloc&) {
                return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
            }
            return HSA_STATUS_SUCCESS;
        }
    } of_agent, of_program;
    check(hsa_executable_iterate_agent_symbols(
              executable.get(), agent.native(),
              [](hsa_executable_t, hsa_agent_t, hsa_executable_symbol_t symbol, void* list) {
                  return static_cast<List*>(list)->add(symbol);
              },
              &of_agent),
          "hsa_executable_iterate_agent_symbols");
    check(hsa_executable_iterate_program_symbols(
              executable.get(),
              [](hsa_executable_t, hsa_executable_symbol_t symbol, void* list) {
                  return static_cast<List*>(list)->add(symbol);
              },
              &of_program),
          "hsa_executable_iterate_program_symbols");
    std::vector<Symbol> facts;
    facts.reserve(of_agent.found.size() + of_program.found.size());
    for (const auto symbol : of_agent.found) facts.push_back(symbol_facts({symbol, Symbol::Scope::agent}));
    for (const auto symbol : of_program.found) facts.push_back(symbol_facts({symbol, Symbol::Scope::program}));
    return facts;
}

std::string ExecutableState::names() const {
    std::string text;
    for (const CodePart& part : parts) text += (text.empty() ? "'" : ", '") + part.name + "'";
    return text;
}

void ExecutableState::copy(void* to, const void* from, std::size_t size_bytes, Deadline deadline) {
    const std::lock_guard lock(mutex);
    if (stream && stream->failed()) stream.reset();
    if (!stream) stream.emplace(agent, StreamOptions{.packets = 64, .kernarg_bytes = 4096});
    stream->copy_async(to, from, size_bytes, deadline);
    stream->synchronize(deadline);
}

}  // namespace hsadrv::detail
