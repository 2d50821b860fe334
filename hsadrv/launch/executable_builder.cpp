#include "hsadrv/executable_builder.hpp"

#include <algorithm>
#include <utility>

#include "hsadrv/base/call_log.hpp"
#include "hsadrv/base/departure.hpp"
#include "hsadrv/code/offload_bundle.hpp"
#include "hsadrv/error.hpp"
#include "hsadrv/file_bytes.hpp"
#include "hsadrv/launch/executable_state.hpp"
#include "hsadrv/memory.hpp"
#include "hsadrv/services/printf_formats.hpp"
#include "hsadrv/stream/live_streams.hpp"

namespace hsadrv {
namespace {

using detail::CodePart;
using detail::Definition;

std::vector<TargetId> targets_of(AgentRef gpu) {
    std::vector<TargetId> targets;
    for (const Isa& isa : gpu.isas())
        if (auto target = TargetId::try_parse(isa.name)) targets.push_back(*std::move(target));  // others match nothing
    return targets;
}

CodePart read_part(std::span<const std::byte> bytes, const std::string& name, std::span<const TargetId> targets) {
    try {
        CodePart part{name, extract_code_object(bytes, targets), {}};
        part.code = read_code_object(part.bytes);
        if (const auto why = mismatch(part.code.target, targets)) throw InvalidCodeObject(*why);
        return part;
    } catch (const InvalidCodeObject& error) {
        throw InvalidCodeObject("'" + name + "': " + error.what(), error.status());
    }
}

bool defines(const CodePart& part, const std::string& symbol) {
    const CodeObject& code = part.code;
    return std::any_of(code.variables.begin(), code.variables.end(), [&](const auto& v) { return v.name == symbol; }) ||
           std::any_of(code.kernels.begin(), code.kernels.end(), [&](const auto& k) { return k.symbol == symbol; });
}

/// A reference to the same executable. When the last copy is destroyed, the streams that may be running the executable
/// take ownership.
std::shared_ptr<detail::ExecutableState> unloaded_when_done(std::shared_ptr<detail::ExecutableState> state) {
    auto* const executable = state.get();
    detail::departures::note_created(reinterpret_cast<std::uintptr_t>(executable));
    const auto let_go = [state = std::move(state)](detail::ExecutableState*) mutable noexcept {
        if (in_forked_child()) return;  // the parent's
        state->stream.reset();          // else it would keep the state that owns it alive
        const AgentRef agent = state->agent;
        detail::live_streams::let_go(agent, std::move(state));
    };
    return {executable, let_go};
}

}  // namespace

ExecutableBuilder::ExecutableBuilder(AgentRef gpu) {
    refuse_in_forked_child("Executable::load, ExecutableBuilder");
    targets_ = targets_of(gpu);
    state_ = std::make_shared<detail::ExecutableState>();
    state_->agent = gpu;
    state_->limits = LaunchLimits::of(gpu);
}

ExecutableBuilder::ExecutableBuilder(ExecutableBuilder&&) noexcept = default;
ExecutableBuilder& ExecutableBuilder::operator=(ExecutableBuilder&&) noexcept = default;
ExecutableBuilder::~ExecutableBuilder() = default;

ExecutableBuilder& ExecutableBuilder::add(const FilePath& file) { return add(read_file(file), file.string()); }

ExecutableBuilder& ExecutableBuilder::add(std::span<const std::byte> bytes, const std::string& name) {
    CodePart part = read_part(bytes, name, targets_);
    for (const VariableFacts& variable : part.code.variables) check_free(variable.name, part.name);
    for (const KernelMetadata& kernel : part.code.kernels) check_free(kernel.symbol, part.name);
    if (!part.code.printf_formats.empty())
        part.printf_formats = std::make_shared<const detail::PrintfFormats>(part.code.printf_formats);
    state_->parts.push_back(std::move(part));
    return *this;
}

void ExecutableBuilder::check_free(const std::string& symbol, const std::string& owner) const {
    for (const CodePart& part : state_->parts) {
        if (!defines(part, symbol)) continue;
        throw InvalidCodeObject("'" + owner + "' and '" + part.name + "' both define '" + symbol +
                                "': load each into a separate Executable");
    }
    for (const Definition& definition : state_->definitions) {
        if (definition.name != symbol) continue;
        throw InvalidCodeObject("'" + owner + "' defines '" + symbol +
                                "', which the program has given an address with define()");
    }
}

ExecutableBuilder& ExecutableBuilder::define(std::string name, void* address, std::size_t size_bytes,
                                             std::shared_ptr<const void> keep_alive) {
    const std::string call = "ExecutableBuilder::define(" + name + ", " + std::to_string(size_bytes) + " B)";
    for (const CodePart& part : state_->parts) {
        if (defines(part, name)) throw InvalidArgument(call + ": '" + part.name + "' already defines it");
    }
    for (const Definition& definition : state_->definitions) {
        if (definition.name == name) throw InvalidArgument(call + ": already defined");
    }
    if (name.empty() || !address) throw InvalidArgument(call + ": no " + (name.empty() ? "name" : "address"));
    const PointerInfo info = pointer_info(address);
    if (info.kind == PointerInfo::Kind::pageable) {
        throw InvalidArgument(call + ": pageable host memory, which " + state_->agent.label() +
                              " does not reach: allocate it from a pool, or register it");
    }
    if (info.bytes_after(address) < size_bytes) {
        throw InvalidArgument(call + ": " + std::to_string(info.bytes_after(address)) + " B are left in its block of " +
                              std::to_string(info.size_bytes) + " B");
    }
    state_->definitions.push_back({std::move(name), info.agent_address(address), size_bytes, std::move(keep_alive)});
    return *this;
}

bool ExecutableBuilder::defined(const std::string& symbol, std::size_t loaded_parts) const {
    const auto& parts = state_->parts;
    const auto& definitions = state_->definitions;
    return std::any_of(parts.begin(), parts.begin() + static_cast<std::ptrdiff_t>(loaded_parts),
                       [&](const CodePart& part) { return defines(part, symbol); }) ||
           std::any_of(definitions.begin(), definitions.end(),
                       [&](const Definition& definition) { return definition.name == symbol; });
}

/// The loader binds names when it loads a code object, so definitions are loaded before their uses.
void ExecutableBuilder::sort_by_need() {
    auto& parts = state_->parts;
    for (std::size_t sorted = 0; sorted < parts.size(); ++sorted) {
        const auto first = parts.begin() + static_cast<std::ptrdiff_t>(sorted);
        const auto ready = std::find_if(first, parts.end(), [&](const CodePart& part) {
            return std::all_of(part.code.undefined.begin(), part.code.undefined.end(),
                               [&](const std::string& name) { return defined(name, sorted); });
        });
        if (ready == parts.end()) refuse_undefined(sorted);
        std::rotate(first, ready, ready + 1);
    }
}

void ExecutableBuilder::refuse_undefined(std::size_t loaded_parts) const {
    const auto& parts = state_->parts;
    for (std::size_t i = loaded_parts; i < parts.size(); ++i) {
        for (const std::string& name : parts[i].code.undefined) {
            if (defined(name, parts.size())) continue;
            throw InvalidCodeObject("'" + parts[i].name + "' needs '" + name +
                                    "', which no code object defines: define() it if it is a variable; functions of "
                                    "other code objects are not linked by HSA loaders");
        }
    }
    std::string circle;
    for (std::size_t i = loaded_parts; i < parts.size(); ++i)
        circle += (circle.empty() ? "'" : ", '") + parts[i].name + "'";
    throw InvalidCodeObject(circle +
                            ": each needs a variable of another one, and the loader loads them one by one: "
                            "link them together, or define() such a variable");
}

Executable ExecutableBuilder::build() {
    const std::shared_ptr<detail::ExecutableState> state = state_;
    if (state->parts.empty()) throw InvalidArgument("ExecutableBuilder::build: no code object was added");
    return detail::call_log::logged(
        detail::call_log::Area::code, "Executable::load", [&] { return state->names() + ", " + state->agent.label(); },
        [&] {
            sort_by_need();
            ExecutableBuilder empty(state->agent);
            std::swap(empty.state_, state_);
            state->open();
            for (const Definition& definition : state->definitions) state->define(definition);
            for (CodePart& part : state->parts) state->load(part);
            detail::ExecutableState::freeze(state);
            return Executable(unloaded_when_done(state));
        });
}

}  // namespace hsadrv
