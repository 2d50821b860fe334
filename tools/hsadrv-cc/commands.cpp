#include "tools/hsadrv-cc/commands.hpp"

#include <fmt/format.h>

#include "hsadrv/compile/recipe.hpp"

namespace hsadrv_cc {
namespace {

using hsadrv::detail::append;

/// A file name that clang cannot mistake for an option or a response file.
std::string as_file(const std::string& name) {
    return name.starts_with('-') || name.starts_with('@') ? "./" + name : name;
}

Command begin(const Recipe& recipe, const hsadrv::TargetId& target) {
    Command command =
        hsadrv::detail::target_words(recipe.clang, target, recipe.options.code_object_version, recipe.options.level);
    if (recipe.colours) command.push_back("-fcolor-diagnostics");
    return command;
}

/// The linker only has levels 0 to 3.
char link_level(const std::string& level) {
    if (level.size() == 1 && level[0] >= '0' && level[0] <= '3') return level[0];
    return level == "fast" ? '3' : '2';
}

}  // namespace

Command compile_command(const Recipe& recipe, const hsadrv::TargetId& target, const Source& source, Product product,
                        const std::string& output, const std::string& depfile, const Command& types) {
    Command command = begin(recipe, target);
    append(command, hsadrv::detail::language_words(language_of(recipe.options, source.name), recipe.clang.major));
    // Full debug information of an LDS variable (clang 16 to 22) contains an undefined symbol, which loaders reject.
    if (recipe.options.debug) command.push_back("-gline-tables-only");
    if (recipe.options.code_object_version < 5) command.push_back("-DHSADRV_CODE_OBJECT_VERSION=4");  // grid.hpp
    for (const std::string& define : recipe.options.defines) command.push_back("-D" + define);
    for (const std::string& folder : recipe.options.includes) command.push_back("-I" + folder);
    append(command, {"-isystem", recipe.headers});
    // Standard input has been copied to a file in another folder.
    if (from_standard_input(recipe.options)) append(command, {"-iquote", "."});
    // -MQ names the build system's output, not the file that clang writes.
    if (!depfile.empty()) append(command, {"-MD", "-MF", depfile, "-MQ", recipe.options.output});
    if (product == Product::code)
        command.push_back("-Wl,--no-undefined");
    else
        command.push_back("-Wno-unused-command-line-argument");  // options after -- may be for the linker
    if (product == Product::assembly) command.push_back("-S");
    if (product == Product::bitcode) append(command, {"-c", "-flto"});
    if (product == Product::preprocessed) command.push_back("-E");
    append(command, types);
    command.insert(command.end(), recipe.options.clang_options.begin(), recipe.options.clang_options.end());
    append(command, {as_file(source.file), "-o", output});
    return command;
}

Command link_command(const Recipe& recipe, const hsadrv::TargetId& target, std::span<const std::string> bitcodes,
                     const std::string& output) {
    Command command = begin(recipe, target);
    append(command, {"-flto", "-Wno-unused-command-line-argument", "-Wl,--no-undefined"});
    // From clang 17 on, the driver passes this to the linker.
    append(command, {"-Wl,-plugin-opt=mcpu=" + target.processor,
                     fmt::format("-Wl,-plugin-opt=O{}", link_level(recipe.options.level))});
    if (recipe.clang.major < 17) {
        command.push_back(
            fmt::format("-Wl,-plugin-opt=-amdhsa-code-object-version={}", recipe.options.code_object_version));
        append(command,
               {"-Wl,-plugin-opt=-simplifycfg-hoist-common=false", "-Wl,-plugin-opt=-simplifycfg-sink-common=false"});
    }
    command.insert(command.end(), recipe.options.clang_options.begin(), recipe.options.clang_options.end());
    command.insert(command.end(), bitcodes.begin(), bitcodes.end());
    append(command, {"-o", output});
    return command;
}

Command bundle_command(const std::string& bundler, bool compress, std::span<const hsadrv::TargetId> targets,
                       std::span<const std::string> code_objects, const std::string& output) {
    // The bundler and its readers require a host entry; it is empty.
    std::string ids = "host-x86_64-unknown-linux-gnu--";
    for (const hsadrv::TargetId& target : targets) ids += ",hipv4-" + target.isa_name();
    // Whole pages, so that loaders that map the file need no copy.
    Command command{bundler, "-type=o", "-bundle-align=4096", "-targets=" + ids, "-input=/dev/null"};
    for (const std::string& object : code_objects) command.push_back("-input=" + object);
    if (compress) command.push_back("-compress");
    command.push_back("-output=" + output);
    return command;
}

}  // namespace hsadrv_cc
