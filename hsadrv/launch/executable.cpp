#include "hsadrv/executable.hpp"

#include <utility>

#include "hsadrv/base/runtime.hpp"
#include "hsadrv/error.hpp"
#include "hsadrv/executable_builder.hpp"
#include "hsadrv/launch/executable_state.hpp"
#include "hsadrv/services/kernel_services.hpp"

namespace hsadrv {
namespace {

std::string kernel_names(const detail::ExecutableState& state) {
    std::string text;
    for (const detail::CodePart& part : state.parts) {
        if (!part.code.kernels.empty()) text += (text.empty() ? "" : ", ") + part.code.kernel_names();
    }
    return text.empty() ? "none" : text;
}

std::string variable_names(const detail::ExecutableState& state) {
    std::string text;
    for (const Symbol& symbol : state.symbols()) {
        if (symbol.kind == Symbol::Kind::variable) text += (text.empty() ? "'" : ", '") + symbol.name + "'";
    }
    return text.empty() ? "none" : text;
}

}  // namespace

std::string_view to_string(Symbol::Kind kind) {
    if (kind == Symbol::Kind::kernel) return "kernel";
    return kind == Symbol::Kind::variable ? "variable" : "indirect function";
}

Executable Executable::load(AgentRef gpu, const FilePath& file) { return ExecutableBuilder(gpu).add(file).build(); }

Executable Executable::load(AgentRef gpu, std::span<const std::byte> bytes, std::string name) {
    return ExecutableBuilder(gpu).add(bytes, name).build();
}

Kernel Executable::kernel(std::string_view name) const {
    const detail::CodePart* part = state_->part_with_kernel(name);
    if (!part) {
        throw InvalidArgument(state_->names() + ": no kernel '" + std::string(name) +
                              "'; there are: " + kernel_names(*state_));
    }
    const KernelMetadata& metadata = *part->code.find(name);
    if (const auto why = cannot_launch(metadata)) throw InvalidCodeObject("'" + part->name + "': " + *why);
    const std::uint64_t object = state_->kernel_object(*part, metadata);
    state_->record(object, metadata, state_);
    const ServiceAddresses services =
        Driver::current().runtime().services().of(state_->agent, ServiceNeeds::of(metadata));
    return Kernel(std::make_shared<detail::KernelRecord>(LaunchPlan(metadata, state_->limits, services), object,
                                                         state_->agent, state_->agent.name(), state_,
                                                         part->printf_formats));
}

DeviceGlobal Executable::global(std::string_view name) const {
    const auto found = state_->find_symbol(std::string(name));
    if (found) {
        Symbol symbol = state_->symbol_facts(*found);
        const VariableFacts* facts = state_->find_variable(name);
        if (symbol.kind == Symbol::Kind::variable)
            return DeviceGlobal(state_, std::move(symbol), facts && facts->read_only);
    }
    throw InvalidArgument(state_->names() + ": no variable '" + std::string(name) +
                          "'; there are: " + variable_names(*state_));
}

std::vector<Symbol> Executable::symbols() const { return state_->symbols(); }

const CodeObject& Executable::code_object(std::size_t index) const {
    if (index < state_->parts.size()) return state_->parts[index].code;
    throw InvalidArgument(state_->names() + ": code object " + std::to_string(index) + " of " +
                          std::to_string(state_->parts.size()));
}

std::size_t Executable::code_object_count() const noexcept { return state_->parts.size(); }
AgentRef Executable::agent() const noexcept { return state_->agent; }

}  // namespace hsadrv
