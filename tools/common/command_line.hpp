// Command line: a command's options as data, and their parser.
//
//     bool json = false;
//     std::string output;
//     const CommandSyntax command{.name = "report", .summary = "report: prints what there is", .options = {
//         {"-o,--output", &output, "the file to write", {.value = "FILE"}},
//         {"--json", &json, "print JSON"},
//     }};
//     const std::string text = parse_command_line(command, argc, argv);   // throws Failure(usage)
//     if (!text.empty()) …                                                // --help or --version: print it and be done
//
// Every command has -h and --help. Only the source includes the library that parses. Borrows: the targets, which must
// outlive the parse. Thread safety: values.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace tools {

/// An option that prints this and ends the program.
struct Version {
    std::string text;
};

/// What an option sets. A bool is a flag; a vector takes several values.
using OptionTarget = std::variant<bool*, unsigned*, std::optional<std::uint32_t>*, double*, std::string*,
                                  std::vector<std::string>*, Version>;

/// The bounds of a number, both included.
struct OptionRange {
    double least, most;
};

/// What --help and the parser know of an option's value, and which options it refuses beside it.
struct OptionTraits {
    std::string value = {};      ///< its name in --help, such as FILE; empty: its type
    bool shows_default = false;  ///< --help prints what the target holds
    bool required = false;
    bool hidden = false;                  ///< neither in --help nor completed
    std::vector<std::string> words = {};  ///< the only ones that it takes
    std::vector<std::string> hints = {};  ///< words that --help lists; others are taken, too
    std::optional<OptionRange> range = {};
    std::string without_value = {};          ///< what is set where the value is left out; empty: it is required
    char separator = 0;                      ///< of values in one word
    bool takes_following_words = false;      ///< a vector: --area copies queues
    std::vector<std::string> excludes = {};  ///< names of options
};

struct Option {
    std::string names;  ///< "-o,--output"; without a dash: an argument
    OptionTarget target;
    std::string help = {};
    OptionTraits traits = {};
};

struct CommandSyntax {
    std::string name;
    std::string summary;
    std::vector<Option> options = {};
    std::vector<CommandSyntax> subcommands = {};
    std::string footer = {};                 ///< of --help; empty: the program's
    std::size_t names_columns = 30;          ///< of --help: what the names of options take; the program's count
    std::vector<std::string>* others = {};   ///< words that are no option or argument; null: they are refused
    std::function<void()> when_chosen = {};  ///< called where the command line names it, once all is set
};

inline constexpr const char* help_option_names = "-h,--help";
inline constexpr const char* help_option_help = "Print this help message and exit";
inline constexpr const char* version_option_help = "Display program version information and exit";

/// Sets the targets. Returns the text that --help or --version asks for, otherwise an empty one.
/// Throws Failure(usage) with the library's words and the name of the command whose --help tells more.
std::string parse_command_line(const CommandSyntax& command, int argc, const char* const* argv);

}  // namespace tools
