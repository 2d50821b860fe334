#include "tools/hsadrv/objdump/report_json.hpp"

#include "tools/common/kernel_report.hpp"
#include "tools/hsadrv/objdump/words.hpp"

namespace hsadrv_tool::objdump {
namespace {

using hsadrv::ArgumentMetadata;
using hsadrv::CodeObject;
using hsadrv::KernelMetadata;

Json or_null(std::string_view text) { return text.empty() ? Json(nullptr) : Json(std::string(text)); }

Json or_null(const std::array<std::uint32_t, 3>& sizes) {
    return sizes == std::array<std::uint32_t, 3>{} ? Json(nullptr) : Json(sizes);
}

template <class T, class Function>
Json list_of(const std::vector<T>& values, const Function& json) {
    Json all = Json::array();
    for (const T& value : values) all.push_back(json(value));
    return all;
}

Json argument_json(const ArgumentMetadata& argument) {
    return {{"name", or_null(argument.name)},
            {"type", or_null(argument.type_name)},
            {"offset_bytes", argument.offset_bytes},
            {"size_bytes", argument.size_bytes},
            {"kind", kind_text(argument)},
            {"hidden", hsadrv::is_hidden(argument.kind)},
            {"address_space", or_null(to_string(argument.address_space))},
            {"access", or_null(to_string(argument.access))},
            {"actual_access", or_null(to_string(argument.actual_access))},
            {"pointee_align_bytes", argument.pointee_align_bytes ? Json(argument.pointee_align_bytes) : Json(nullptr)},
            {"const", argument.is_const},
            {"restrict", argument.is_restrict},
            {"volatile", argument.is_volatile},
            {"pipe", argument.is_pipe}};
}

Json occupancy_json(const KernelFacts& facts) {
    const auto workitems = static_cast<std::uint32_t>(facts.refused.empty() ? facts.workgroup.volume() : 0);
    Json json = tools::occupancy_json(facts.occupancy, workitems);
    if (!json.is_null()) json["dynamic_lds_bytes"] = facts.dynamic_lds_bytes;
    return json;
}

Json language_version(const KernelMetadata& kernel) {
    return kernel.language.empty() ? Json(nullptr) : Json(kernel.language_version);
}

Json kernel_json(const KernelFacts& facts) {
    const KernelMetadata& kernel = *facts.kernel;
    Json json = tools::resources_json(kernel);
    json["kernarg_align_bytes"] = kernel.kernarg_align_bytes;
    json["symbol"] = kernel.symbol;
    json["demangled"] = or_null(demangled(kernel.name));
    json["kind"] = to_string(kernel.kind);
    json["language"] = or_null(kernel.language);
    json["language_version"] = language_version(kernel);
    json["workgroup_size_hint"] = or_null(kernel.workgroup_size_hint);
    json["vec_type_hint"] = or_null(kernel.vec_type_hint);
    json["max_workgroups"] = or_null(kernel.max_workgroups);
    json["cluster_workgroups"] = or_null(kernel.cluster_workgroups);
    json["uniform_workgroups"] = kernel.uniform_workgroups;
    json["workgroup_processor_mode"] = kernel.workgroup_processor_mode;
    json["device_enqueue_symbol"] = or_null(kernel.device_enqueue_symbol);
    json["occupancy"] = occupancy_json(facts);
    json["refused"] = or_null(facts.refused);
    json["cannot_launch"] = or_null(facts.cannot_launch);
    json["arguments"] = list_of(kernel.arguments, argument_json);
    return json;
}

Json variable_json(const hsadrv::VariableFacts& variable) {
    return {{"name", variable.name}, {"size_bytes", variable.size_bytes}, {"read_only", variable.read_only}};
}

Json listing_json(const Listing& listing) { return {{"symbol", listing.symbol}, {"lines", listing.lines}}; }

Json answer_json(const Facts& facts, const Answer& answer) {
    const AgentFacts& agent = facts.agents[answer.agent];
    return {{"agent", agent.label},
            {"uuid", agent.uuid},
            {"loads", answer.why_not.empty()},
            {"why_not", or_null(answer.why_not)}};
}

Json entry_json(const Facts& facts, const EntryFacts& entry) {
    static const CodeObject unread;  // keeps all keys present
    const bool read = entry.entry->code.has_value();
    const CodeObject& code = read ? *entry.entry->code : unread;
    return {{"bundle", entry.entry->bundle ? Json(*entry.entry->bundle) : Json(nullptr)},
            {"id", or_null(entry.entry->id)},
            {"size_bytes", entry.entry->bytes.size()},
            {"error", or_null(entry.entry->error)},
            {"written_to", or_null(entry.written_to)},
            {"target", or_null(code.target.name())},
            {"isa", read ? Json(code.target.isa_name()) : Json(nullptr)},
            {"code_object_version", read ? Json(code.version) : Json(nullptr)},
            {"loadable", list_of(entry.answers, [&](const Answer& answer) { return answer_json(facts, answer); })},
            {"variables", list_of(code.variables, variable_json)},
            {"functions", code.functions},
            {"undefined", code.undefined},
            {"printf_formats", code.printf_formats},
            {"stripped", !code.has_symbol_table},
            {"calls_hostcall", code.calls_hostcall},
            {"calls_device_malloc", code.calls_device_malloc},
            {"kernels", list_of(entry.kernels, kernel_json)},
            {"disassembly", facts.disassembled ? list_of(entry.disassembly, listing_json) : Json(nullptr)}};
}

const char* kind_of(Bundle::Kind kind) {
    switch (kind) {
        case Bundle::Kind::plain:
            return "plain";
        case Bundle::Kind::compressed:
            return "compressed";
        case Bundle::Kind::offload_binary:
            return "offload_binary";
    }
    return "";
}

Json bundle_json(const Bundle& bundle) {
    return {{"kind", kind_of(bundle.kind)},
            {"section", or_null(bundle.section)},
            {"offset_bytes", bundle.offset_bytes},
            {"size_bytes", bundle.size_bytes},
            {"compression", or_null(bundle.compression)},
            {"unpacked_bytes", bundle.unpacked_bytes ? Json(bundle.unpacked_bytes) : Json(nullptr)},
            {"other_entries", bundle.others}};
}

Json file_json(const Facts& facts, const FileFacts& file) {
    return {{"file", file.contents.name},
            {"size_bytes", file.contents.size_bytes},
            {"error", or_null(file.contents.error)},
            {"host", or_null(file.contents.host)},
            {"bundles", list_of(file.contents.bundles, bundle_json)},
            {"code_objects", list_of(file.entries, [&](const EntryFacts& entry) { return entry_json(facts, entry); })}};
}

Json agent_json(const AgentFacts& agent) {
    return {{"label", agent.label}, {"uuid", agent.uuid}, {"isas", agent.isas}};
}

}  // namespace

Json as_json(const Facts& facts) {
    Json json = json_report("objdump");
    json["agents"] = list_of(facts.agents, agent_json);
    json["no_agent"] = or_null(facts.no_agent);
    json["files"] = list_of(facts.files, [&](const FileFacts& file) { return file_json(facts, file); });
    return json;
}

}  // namespace hsadrv_tool::objdump
