#include "hsadrv/c/compile.h"

#include <string_view>

#include "hsadrv/c/call.hpp"
#include "hsadrv/c/objects.hpp"
#include "hsadrv/c/structures.hpp"
#include "hsadrv/compile.hpp"

using namespace hsadrv;
using namespace hsadrv::c;

namespace {

std::vector<std::string> words_of(const char* call, const char* name, const char* const* words, size_t count) {
    std::vector<std::string> copied;
    if (count) required(call, name, words);
    for (size_t i = 0; i < count; ++i) {
        if (!words[i]) throw InvalidArgument(std::string(call) + ": " + name + "[" + std::to_string(i) + "] is null");
        copied.emplace_back(words[i]);
    }
    return copied;
}

CompileOptions options_of(const char* call, const hsadrv_compile_options* options) {
    CompileOptions made;
    if (!options) return made;
    const auto given = read_structure(call, "options", options, sizeof *options);
    if (given.language > HSADRV_LANGUAGE_ASSEMBLY)
        throw InvalidArgument(std::string(call) + ": language " + std::to_string(given.language) +
                              " is no hsadrv_language");
    made.language = static_cast<Language>(given.language);
    if (given.code_object_version) made.code_object_version = given.code_object_version;
    made.line_numbers = given.line_numbers != 0;
    made.cache = given.no_cache == 0;
    if (given.target) made.target = TargetId::parse(given.target);
    if (given.name) made.name = given.name;
    if (given.level) made.level = given.level;
    if (given.clang) made.clang = given.clang;
    made.defines = words_of(call, "defines", given.defines, given.define_count);
    made.folders = words_of(call, "folders", given.folders, given.folder_count);
    made.clang_options = words_of(call, "clang_options", given.clang_options, given.clang_option_count);
    return made;
}

}  // namespace

hsadrv_result hsadrv_compile(hsadrv_device device, const void* source, size_t size_bytes,
                             const hsadrv_compile_options* options, uint64_t timeout_ns,
                             hsadrv_compiled* compiled) noexcept {
    return call("hsadrv_compile", [&](const char* name) {
        output(name, "compiled", compiled) = nullptr;
        const std::string_view text(static_cast<const char*>(required(name, "source", source)), size_bytes);
        const CompileOptions wanted = options_of(name, options);
        const Deadline deadline = deadline_of(timeout_ns);
        auto made = std::make_shared<CompiledObject>();
        made->compiled = device || !wanted.target
                             ? compile(object<DeviceObject>(name, "device", device)->agent, text, wanted, deadline)
                             : compile(text, wanted, deadline);
        *compiled = handle_of<hsadrv_compiled>(std::move(made));
    });
}

hsadrv_result hsadrv_compiled_code(hsadrv_compiled compiled, const void** code, size_t* size_bytes) noexcept {
    return call("hsadrv_compiled_code", [&](const char* name) {
        output(name, "code", code) = nullptr;
        output(name, "size_bytes", size_bytes) = 0;
        const auto found = object<CompiledObject>(name, "compiled", compiled);
        *code = found->compiled.code_object.data();
        *size_bytes = found->compiled.code_object.size();
    });
}

hsadrv_result hsadrv_compiled_messages(hsadrv_compiled compiled, const char** text) noexcept {
    return call("hsadrv_compiled_messages", [&](const char* name) {
        output(name, "text", text) = nullptr;
        *text = object<CompiledObject>(name, "compiled", compiled)->compiled.printed.c_str();
    });
}

hsadrv_result hsadrv_compiled_destroy(hsadrv_compiled compiled) noexcept {
    return call("hsadrv_compiled_destroy",
                [&](const char* name) { take_object<CompiledObject>(name, "compiled", compiled).reset(); });
}
