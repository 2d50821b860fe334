#include "tools/common/command_line.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <sstream>

#include "tools/common/failure.hpp"

namespace tools {
namespace {

template <class T>
constexpr bool is_number = std::is_same_v<T, unsigned> || std::is_same_v<T, double>;

/// Adds an option with a target of type T.
struct Adder {
    CLI::App& app;
    const Option& option;

    CLI::Option* operator()(bool* target) const { return app.add_flag(option.names, *target, option.help); }
    CLI::Option* operator()(const Version& version) const {
        return app.set_version_flag(option.names, version.text, option.help);
    }
    CLI::Option* operator()(std::vector<std::string>* target) const {
        CLI::Option* const added = app.add_option(option.names, *target, option.help);
        if (!added->get_positional() && !option.traits.takes_following_words)
            added->allow_extra_args(false)->take_all();
        if (option.traits.separator) added->delimiter(option.traits.separator);
        return added;
    }
    template <class T>
    CLI::Option* operator()(T* target) const {
        CLI::Option* const added = app.add_option(option.names, *target, option.help);
        if constexpr (is_number<T>)
            if (const auto& range = option.traits.range)
                added->check(CLI::Range(static_cast<T>(range->least), static_cast<T>(range->most)));
        return added;
    }
};

CLI::Option* add(CLI::App& app, const Option& option) {
    const OptionTraits& traits = option.traits;
    CLI::Option* const added = std::visit(Adder{app, option}, option.target);
    if (!traits.hints.empty()) added->type_name(fmt::format("TEXT:{{{}}}", fmt::join(traits.hints, ",")));
    if (!traits.value.empty()) added->type_name(traits.value);
    if (!traits.words.empty()) added->check(CLI::IsMember(traits.words));
    if (traits.shows_default) added->capture_default_str();
    if (traits.required) added->required();
    if (traits.hidden) added->group("");
    if (!traits.without_value.empty()) added->expected(0, 1);
    return added;
}

/// A command and its CLI11 counterpart.
struct Bound {
    const CommandSyntax* command;
    CLI::App* app;
};

void declare(const CommandSyntax& program, const CommandSyntax& command, CLI::App& app, std::vector<Bound>& all) {
    all.push_back({&command, &app});
    app.set_help_flag(help_option_names, help_option_help);
    app.get_formatter()->column_width(program.names_columns);
    for (const Option& option : command.options) add(app, option);
    for (const Option& option : command.options)
        for (const std::string& other : option.traits.excludes)
            app.get_option(option.names)->excludes(app.get_option(other));
    app.footer(command.footer.empty() ? program.footer : command.footer);
    app.allow_extras(command.others != nullptr);  // CLI11 would inherit it from the parent command
    if (command.subcommands.empty()) return;
    app.require_subcommand(0, 1);  // the caller's message lists them
    for (const CommandSyntax& subcommand : command.subcommands)
        declare(program, subcommand, *app.add_subcommand(subcommand.name, subcommand.summary), all);
}

/// CLI11 sets an empty value if an optional value is omitted; this sets the one to use.
void set_left_out(const Bound& bound) {
    for (const Option& option : bound.command->options) {
        if (option.traits.without_value.empty()) continue;
        std::string& value = *std::get<std::string*>(option.target);
        if (bound.app->count(option.names) > 0 && value.empty()) value = option.traits.without_value;
    }
}

/// Whether the word is an option of the command whose value is the next word.
bool takes_next_word(const CommandSyntax& command, std::string_view word) {
    for (const Option& option : command.options) {
        if (std::holds_alternative<bool*>(option.target) || !option.traits.without_value.empty()) continue;
        for (std::string_view rest = option.names; !rest.empty();) {
            const std::string_view name = rest.substr(0, rest.find(','));
            rest.remove_prefix(std::min(rest.size(), name.size() + 1));
            if (name == word && word.starts_with('-')) return true;
        }
    }
    return false;
}

/// Where the words of a program begin, if the command that is named takes one: at its --.
int begin_of_program(const CommandSyntax& command, int argc, const char* const* argv) {
    const CommandSyntax* named = &command;
    for (int n = 1; n < argc; ++n) {
        const std::string_view word = argv[n];
        if (word == "--") return named->program ? n : argc;
        if (takes_next_word(*named, word)) ++n;
        for (const CommandSyntax& subcommand : named->subcommands)
            if (subcommand.name == word) {
                named = &subcommand;
                break;
            }
    }
    return argc;
}

/// "hsadrv bench copy": the command and the subcommands parsed so far.
std::string name_of_parsed(const CLI::App& app) {
    std::string name = app.get_name();
    for (const CLI::App* parsed = &app; !parsed->get_subcommands().empty();) {
        parsed = parsed->get_subcommands().front();
        name += " " + parsed->get_name();
    }
    return name;
}

}  // namespace

std::string parse_command_line(const CommandSyntax& command, int argc, const char* const* argv) {
    CLI::App app{command.summary, command.name};
    std::vector<Bound> all;
    declare(command, command, app, all);
    const int options_end = begin_of_program(command, argc, argv);
    try {
        app.parse(options_end, argv);
    } catch (const CLI::ParseError& error) {
        if (error.get_exit_code() != 0)
            throw Failure(ExitStatus::usage,
                          fmt::format("{}\n{} --help lists the options", error.what(), name_of_parsed(app)));
        std::ostringstream text;
        app.exit(error, text, text);
        return text.str();
    }
    for (const Bound& bound : all) {
        if (!bound.app->parsed()) continue;
        set_left_out(bound);
        if (bound.command->others) *bound.command->others = bound.app->remaining();
        if (bound.command->program && options_end < argc)
            bound.command->program->assign(argv + options_end + 1, argv + argc);
        if (bound.command->when_chosen) bound.command->when_chosen();
    }
    return {};
}

}  // namespace tools
