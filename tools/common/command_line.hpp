// Command line: a command's options as data, and their parser.
//
//     bool json = false;
//     std::string output;
//     const CommandSyntax command{.name = "report", .summary = "report: prints a report", .options = {
//         {"-o,--output", &output, "the file to write", {.value = "FILE"}},
//         {"--json", &json, "print JSON"},
//     }};
//     const std::string text = parse_command_line(command, argc, argv);   // throws Failure(usage)
//     if (!text.empty()) …                                                // --help or --version: print it and exit
//
// Every command has -h and --help. Only command_line.cpp includes the parser library. Borrows: the targets, which must
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

/// The variable that an option sets. A bool is a flag; a vector takes several values.
using OptionTarget = std::variant<bool*, unsigned*, std::optional<std::uint32_t>*, double*, std::string*,
                                  std::vector<std::string>*, Version>;

/// Inclusive bounds of a number.
struct OptionRange {
    double least, most;
};

/// An option's value, for --help and the parser, and the options that it excludes.
struct OptionTraits {
    std::string value = {};      ///< the value's name in --help, such as FILE; empty: its type
    bool shows_default = false;  ///< --help prints the target's initial value
    bool required = false;
    bool hidden = false;                  ///< left out of --help and completion
    std::vector<std::string> words = {};  ///< the only values accepted
    std::vector<std::string> hints = {};  ///< values that --help lists; others are accepted too
    std::optional<OptionRange> range = {};
    std::string without_value = {};          ///< set if the value is omitted; empty: the value is required
    char separator = 0;                      ///< separates values in one word
    bool takes_following_words = false;      ///< a vector: --area copies queues
    std::vector<std::string> excludes = {};  ///< names of conflicting options
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
    std::size_t names_columns = 30;          ///< width of the option names in --help; only the program's is used
    std::vector<std::string>* others = {};   ///< receives words that match no option or argument; null: they are errors
    std::vector<std::string>* program = {};  ///< receives the words after --, as they are: a program and its arguments
    std::function<void()> when_chosen =
        {};  ///< called if the command line names this command, after all targets are set
};

inline constexpr const char* help_option_names = "-h,--help";
inline constexpr const char* help_option_help = "Print this help message and exit";
inline constexpr const char* version_option_help = "Display program version information and exit";

/// Sets the targets. Returns the text of --help or --version, otherwise an empty string.
/// Throws Failure(usage) with CLI11's message and the name of the command whose --help to read.
std::string parse_command_line(const CommandSyntax& command, int argc, const char* const* argv);

}  // namespace tools
