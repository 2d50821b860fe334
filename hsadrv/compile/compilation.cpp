#include "hsadrv/compile/compilation.hpp"

#include <algorithm>
#include <cstring>
#include <filesystem>

#include "hsadrv/code_object.hpp"
#include "hsadrv/compile/advice.hpp"
#include "hsadrv/compile/child.hpp"
#include "hsadrv/compile/depfile.hpp"
#include "hsadrv/compile/diagnostics.hpp"
#include "hsadrv/compile/memory_file.hpp"

namespace hsadrv::detail {
namespace {

constexpr std::string_view linker_prefix = "-Wl,";

void replace_all(std::string& text, std::string_view what, std::string_view with) {
    for (auto at = text.find(what); at != text.npos; at = text.find(what, at + with.size()))
        text.replace(at, what.size(), with);
}

std::vector<std::byte> bytes_of(std::string_view text) {
    std::vector<std::byte> bytes(text.size());
    if (!text.empty()) std::memcpy(bytes.data(), text.data(), text.size());
    return bytes;
}

/// LLVM's name of standard output. Never /dev/stdout: a linker that cannot tell what that is replaces it by a file.
/// LLVM also removes a file of this name, so that one in the current folder needs another name.
std::string standard_output() {
    std::error_code error;
    return std::filesystem::is_regular_file("-", error) ? "/proc/self/fd/1" : "-";
}

bool has_error(const std::vector<Diagnostic>& said) {
    return std::any_of(said.begin(), said.end(), [](const auto& d) { return d.kind == Diagnostic::Kind::error; });
}

}  // namespace

std::string Compilation::call() const {
    return "hsadrv::compile(" + options_.name + ", " + std::string(to_string(options_.language)) + ", " +
           target_.name() + ")";
}

Command Compilation::front_end_command() const {
    Command command = target_words(clang_, target_, options_.code_object_version, options_.level);
    append(command, language_words(options_.language, clang_.major));
    // A compiler that crashes would leave a report in /tmp.
    append(command, {"-fno-crash-diagnostics", "-fno-color-diagnostics"});
    // Full debug information of an LDS variable (clang 16 to 22) contains an undefined symbol, which loaders reject.
    if (options_.line_numbers) command.push_back("-gline-tables-only");
    if (options_.code_object_version < 5)
        command.push_back("-DHSADRV_CODE_OBJECT_VERSION=4");  // shared/device/grid.hpp
    for (const std::string& define : options_.defines) command.push_back("-D" + define);
    for (const std::string& folder : options_.folders) command.push_back("-I" + folder);
    if (is_preprocessed()) append(command, {"-isystem", headers_});
    for (const std::string& word : options_.clang_options)
        if (!word.starts_with(linker_prefix)) command.push_back(word);
    return command;
}

Command Compilation::preprocess_command() const {
    Command command = front_end_command();
    append(command, {"-E", "-", "-o", standard_output()});
    return command;
}

Command Compilation::compile_command(const Command& types) const {
    Command command = front_end_command();
    append(command, types);
    if (is_preprocessed()) append(command, {"-MD", "-MF", child_file(0), "-MT", "made"});
    append(command, {"-c", "-", "-o", standard_output()});
    return command;
}

Command Compilation::link_command() const {
    Command command{clang_.linker, "-shared", "--no-undefined"};
    for (const std::string& word : options_.clang_options) {
        if (!word.starts_with(linker_prefix)) continue;
        std::string_view rest = std::string_view(word).substr(linker_prefix.size());
        while (true) {
            command.emplace_back(rest.substr(0, rest.find(',')));
            if (rest.find(',') == rest.npos) break;
            rest.remove_prefix(rest.find(',') + 1);
        }
    }
    append(command, {child_file(0), "-o", standard_output()});
    return command;
}

std::string Compilation::marked_source() const {
    return line_marker(options_.language, options_.name) + std::string(source_);
}

void Compilation::fail(const std::string& program, std::optional<int> status, const std::string& printed) const {
    std::vector<Diagnostic> said = diagnostics_in(printed);
    const std::string text = printed.substr(0, printed.find_last_not_of('\n') + 1);
    if (!has_error(said)) {
        const std::string how = status ? "exit status " + std::to_string(*status) : std::string("no output");
        throw Error(call() + ": " + program + " ended with " + how + (text.empty() ? "" : ":\n" + text));
    }
    const std::string advice = advice_on(printed);
    throw CompileError(call() + ":\n" + text + (advice.empty() ? "" : "\n" + advice), std::move(said));
}

/// An option may have changed the target.
void Compilation::require_target(const std::vector<std::byte>& code_object) const {
    try {
        const TargetId made = read_code_object(code_object).target;
        if (made == target_) return;
        throw InvalidCodeObject("it is for " + made.name() + ": an option in clang_options changed the target");
    } catch (const InvalidCodeObject& error) {
        throw InvalidCodeObject(call() + ": " + clang_.path +
                                " made a code object that hsadrv does not load: " + error.what());
    }
}

Command Compilation::types_of_arguments(const Deadline& deadline) const {
    if (options_.language != Language::cpp) return {};
    const MemoryFile source("kernel source", marked_source());
    return types_words(run_child(preprocess_command(), {.input = &source}, deadline).output, headers_);
}

Output Compilation::run(const Deadline& deadline) const {
    const MemoryFile source("kernel source", marked_source()), messages("compiler messages"), used("files used");
    const Ended compiled = run_child(compile_command(types_of_arguments(deadline)),
                                     {.input = &source, .errors = &messages, .more = {&used}}, deadline);
    std::string printed = messages.content();
    if (options_.language == Language::llvm_ir) replace_all(printed, "<stdin>", options_.name);
    // Without a status, as when the program ignores SIGCHLD, the output tells: after an error there is none.
    if (compiled.status.value_or(0) != 0 || compiled.output.empty()) fail(clang_.path, compiled.status, printed);

    const MemoryFile object("object", compiled.output), linker_messages("linker messages");
    const Ended linked = run_child(link_command(), {.errors = &linker_messages, .more = {&object}}, deadline);
    std::string linker_printed = linker_messages.content();
    replace_all(linker_printed, child_file(0), options_.name);
    printed += linker_printed;
    if (linked.status.value_or(0) != 0 || linked.output.empty()) fail(clang_.linker, linked.status, printed);

    Output made{bytes_of(linked.output), std::move(printed), {}};
    require_target(made.code_object);
    if (is_preprocessed()) made.files = prerequisites_of(used.content());
    return made;
}

}  // namespace hsadrv::detail
