#include "tools/hsadrv/completion.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <vector>

#include "tools/common/split.hpp"
#include "tools/hsadrv/command_line.hpp"
#include "tools/hsadrv/subcommands.hpp"

namespace hsadrv_tool {
namespace {

/// The values that complete an option or an argument.
struct Values {
    bool files = false;
    std::vector<std::string> words;
};

struct Word {
    std::vector<std::string> names;  ///< "-f", "--format"; empty: an argument
    std::string description;
    bool takes_value = false;
    Values values = {};
};

struct CommandNode {
    std::string path;                                           ///< "bench copy"; empty: hsadrv itself
    std::vector<std::pair<std::string, std::string>> children;  ///< names and summaries
    std::vector<Word> words;
};

Values values_of(const tools::OptionTraits& traits) {
    return {traits.value.find("FILE") != std::string::npos || traits.value.find("FOLDER") != std::string::npos,
            traits.words.empty() ? traits.hints : traits.words};
}

Word word_of(const tools::Option& option) {
    Word word;
    if (option.names.starts_with('-')) word.names = tools::split(option.names, ',');
    word.description = option.help;
    word.takes_value =
        !std::holds_alternative<bool*>(option.target) && !std::holds_alternative<tools::Version>(option.target);
    word.values = values_of(option.traits);
    return word;
}

void collect(const tools::CommandSyntax& command, const std::string& path, std::vector<CommandNode>& nodes) {
    CommandNode node;
    node.path = path;
    node.words.push_back({tools::split(tools::help_option_names, ','), tools::help_option_help});
    for (const tools::Option& option : command.options)
        if (!option.traits.hidden) node.words.push_back(word_of(option));
    for (const tools::CommandSyntax& child : command.subcommands) node.children.emplace_back(child.name, child.summary);
    nodes.push_back(node);
    for (const tools::CommandSyntax& child : command.subcommands)
        collect(child, path.empty() ? child.name : path + " " + child.name, nodes);
}

std::vector<CommandNode> nodes_of(const tools::CommandSyntax& command) {
    std::vector<CommandNode> nodes;
    collect(command, "", nodes);
    return nodes;
}

std::string bash_values(const Values& values) {
    if (!values.words.empty())
        return fmt::format("mapfile -t COMPREPLY < <(compgen -W '{}' -- \"$word\")", fmt::join(values.words, " "));
    if (values.files) return "mapfile -t COMPREPLY < <(compgen -f -- \"$word\"); compopt -o filenames 2>/dev/null";
    return "COMPREPLY=()";
}

/// Escapes text for a single-quoted specification of _arguments, where brackets and colons are special.
std::string zsh_text(std::string_view text) {
    std::string quoted;
    for (char c : text) {
        if (c == '\'') quoted += "'\\'";
        if (c == '[' || c == ']' || c == ':' || c == '\\') quoted += '\\';
        quoted += c;
    }
    return quoted;
}

std::string zsh_action(const Word& word) {
    if (!word.values.words.empty()) return fmt::format("({})", fmt::join(word.values.words, " "));
    return word.values.files ? "_files" : " ";
}

std::string zsh_spec(const Word& word) {
    const std::string value = word.takes_value ? fmt::format(":value:{}", zsh_action(word)) : "";
    if (word.names.empty())
        return fmt::format(" \\\n            '*:{}:{}'", zsh_text(word.description), zsh_action(word));
    std::string specs;
    for (const std::string& name : word.names)
        specs += fmt::format(" \\\n            '({}){}[{}]{}'", fmt::join(word.names, " "), name,
                             zsh_text(word.description), value);
    return specs;
}

}  // namespace

std::string bash_completion(const tools::CommandSyntax& command) {
    std::string values, names, paths;
    for (const CommandNode& node : nodes_of(command)) {
        std::vector<std::string> all;
        std::string arguments = "COMPREPLY=()";
        for (const auto& [name, summary] : node.children) {
            all.push_back(name);
            paths += fmt::format("            '{}{}') path='{}' ;;\n", node.path.empty() ? "" : node.path + " ", name,
                                 node.path.empty() ? name : node.path + " " + name);
        }
        for (const Word& word : node.words) {
            for (const std::string& name : word.names) {
                all.push_back(name);
                if (word.takes_value)
                    values +=
                        fmt::format("        '{} {}') {}; return ;;\n", node.path, name, bash_values(word.values));
            }
            if (word.names.empty()) arguments = bash_values(word.values);
        }
        names += fmt::format(
            "        '{}')\n"
            "            if [[ $word == -* ]] || {}; then\n"
            "                mapfile -t COMPREPLY < <(compgen -W '{}' -- \"$word\")\n"
            "            else\n                {}\n            fi ;;\n",
            node.path, arguments == "COMPREPLY=()" ? "true" : "false", fmt::join(all, " "), arguments);
    }
    return fmt::format(R"(# bash completion of hsadrv; made by: hsadrv completion bash
_hsadrv() {{
    local word=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD - 1]}} path='' i
    for ((i = 1; i < COMP_CWORD; i++)); do
        case "${{path:+$path }}${{COMP_WORDS[i]}}" in
{}        esac
    done
    case "$path $before" in
{}    esac
    case "$path" in
{}    esac
}}
complete -F _hsadrv hsadrv
)",
                       paths, values, names);
}

std::string zsh_completion(const tools::CommandSyntax& command) {
    std::string functions;
    const std::vector<CommandNode> nodes = nodes_of(command);
    for (auto node = nodes.rbegin(); node != nodes.rend(); ++node) {
        const auto function = [](std::string path) {
            for (char& c : path) c = c == ' ' ? '_' : c;
            return path.empty() ? std::string("_hsadrv") : "_hsadrv_" + path;
        };
        std::string specs, children, cases;
        for (const Word& word : node->words) specs += zsh_spec(word);
        for (const auto& [name, summary] : node->children) {
            children += fmt::format(" {}\\:\"{}\"", name, zsh_text(summary));
            cases +=
                fmt::format("        {}) {} ;;\n", name, function(node->path.empty() ? name : node->path + " " + name));
        }
        if (node->children.empty()) {
            functions += fmt::format("{}() {{\n    _arguments{}\n}}\n\n", function(node->path), specs);
            continue;
        }
        functions += fmt::format(
            "{}() {{\n    local curcontext=$curcontext state line\n    _arguments -C{} \\\n            "
            "'1:subcommand:(({}))' "
            "\\\n            '*::argument:->rest'\n    [[ $state == rest ]] || return\n    case $line[1] "
            "in\n{}    esac\n}}\n\n",
            function(node->path), specs, children.substr(1), cases);
    }
    return fmt::format(
        "#compdef hsadrv\n# zsh completion of hsadrv; made by: hsadrv completion zsh\n\n{}_hsadrv \"$@\"\n", functions);
}

Run declare_completion(tools::CommandSyntax& command) {
    auto shell = std::make_shared<std::string>();
    command.options = {{"SHELL", shell.get(), "the shell", {.required = true, .words = {"bash", "zsh"}}}};
    command.footer =
        "In ~/.bashrc: source <(hsadrv completion bash). For zsh: hsadrv completion zsh "
        ">FOLDER-OF-$fpath/_hsadrv";
    return [shell](Session& session) {
        Session ignored;
        Run none;
        const tools::CommandSyntax whole = whole_command(ignored, none);
        session.print(*shell == "bash" ? bash_completion(whole) : zsh_completion(whole));
        return exit_status::done;
    };
}

}  // namespace hsadrv_tool
