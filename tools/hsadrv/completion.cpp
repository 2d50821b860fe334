#include "completion.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include <vector>

#include "command_line.hpp"
#include "subcommands.hpp"

namespace hsadrv_tool {
namespace {

/// What may stand behind an option, or in an argument's place.
struct Values {
    bool files = false;
    std::vector<std::string> words;
};

struct Word {
    std::vector<std::string> names;  ///< "-f", "--format"; none: an argument
    std::string description;
    bool takes_value = false;
    Values values;
};

struct Node {
    std::string path;                                           ///< "bench copy"; empty: hsadrv itself
    std::vector<std::pair<std::string, std::string>> children;  ///< names and summaries
    std::vector<Word> words;
};

/// CLI11 writes the words of an IsMember check into the type: "TEXT:{a,b}".
Values values_of(const CLI::Option& option) {
    const std::string type = option.get_type_name();
    Values values;
    values.files = type.find("FILE") != type.npos || type.find("FOLDER") != type.npos;
    const std::size_t begin = type.find('{'), end = type.find('}');
    if (begin == type.npos || end == type.npos) return values;
    for (const std::string& word : CLI::detail::split(type.substr(begin + 1, end - begin - 1), ','))
        values.words.push_back(word);
    return values;
}

Word word_of(const CLI::Option& option) {
    Word word;
    for (const std::string& name : option.get_snames()) word.names.push_back("-" + name);
    for (const std::string& name : option.get_lnames()) word.names.push_back("--" + name);
    word.description = option.get_description();
    word.takes_value = option.get_items_expected_max() > 0 && option.get_type_size_max() > 0;
    word.values = values_of(option);
    return word;
}

void collect(const CLI::App& app, const std::string& path, std::vector<Node>& nodes) {
    Node node;
    node.path = path;
    for (const CLI::Option* option : app.get_options())
        if (!option->get_group().empty()) node.words.push_back(word_of(*option));  // without: hidden
    const auto children = app.get_subcommands([](const CLI::App*) { return true; });
    for (const CLI::App* child : children)
        node.children.emplace_back(child->get_name(), child->get_description());
    nodes.push_back(node);
    for (const CLI::App* child : children)
        collect(*child, path.empty() ? child->get_name() : path + " " + child->get_name(), nodes);
}

std::vector<Node> nodes_of(const CLI::App& app) {
    std::vector<Node> nodes;
    collect(app, "", nodes);
    return nodes;
}

std::string bash_values(const Values& values) {
    if (!values.words.empty())
        return fmt::format("mapfile -t COMPREPLY < <(compgen -W '{}' -- \"$word\")",
                           fmt::join(values.words, " "));
    if (values.files)
        return "mapfile -t COMPREPLY < <(compgen -f -- \"$word\"); compopt -o filenames 2>/dev/null";
    return "COMPREPLY=()";
}

/// In single quotes inside a specification of _arguments, where brackets and colons mean something.
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

std::string bash_completion(const CLI::App& app) {
    std::string values, names, paths;
    for (const Node& node : nodes_of(app)) {
        std::vector<std::string> all;
        std::string arguments = "COMPREPLY=()";
        for (const auto& [name, summary] : node.children) {
            all.push_back(name);
            paths +=
                fmt::format("            '{}{}') path='{}' ;;\n", node.path.empty() ? "" : node.path + " ",
                            name, node.path.empty() ? name : node.path + " " + name);
        }
        for (const Word& word : node.words) {
            for (const std::string& name : word.names) {
                all.push_back(name);
                if (word.takes_value)
                    values += fmt::format("        '{} {}') {}; return ;;\n", node.path, name,
                                          bash_values(word.values));
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

std::string zsh_completion(const CLI::App& app) {
    std::string functions;
    const std::vector<Node> nodes = nodes_of(app);
    for (auto node = nodes.rbegin(); node != nodes.rend(); ++node) {
        const auto function = [](std::string path) {
            for (char& c : path) c = c == ' ' ? '_' : c;
            return path.empty() ? std::string("_hsadrv") : "_hsadrv_" + path;
        };
        std::string specs, children, cases;
        for (const Word& word : node->words) specs += zsh_spec(word);
        for (const auto& [name, summary] : node->children) {
            children += fmt::format(" {}\\:\"{}\"", name, zsh_text(summary));
            cases += fmt::format("        {}) {} ;;\n", name,
                                 function(node->path.empty() ? name : node->path + " " + name));
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
        "#compdef hsadrv\n# zsh completion of hsadrv; made by: hsadrv completion zsh\n\n{}_hsadrv \"$@\"\n",
        functions);
}

Run declare_completion(CLI::App& app) {
    auto shell = std::make_shared<std::string>();
    app.add_option("SHELL", *shell, "the shell")->required()->check(CLI::IsMember({"bash", "zsh"}));
    app.footer(
        "In ~/.bashrc: source <(hsadrv completion bash). For zsh: hsadrv completion zsh "
        ">FOLDER-OF-$fpath/_hsadrv");
    return [shell](Session& session) {
        CLI::App whole{"", "hsadrv"};
        Session ignored;
        declare_all(whole, ignored, [](CLI::App&, Run) {});
        session.print(*shell == "bash" ? bash_completion(whole) : zsh_completion(whole));
        return exit_status::done;
    };
}

}  // namespace hsadrv_tool
