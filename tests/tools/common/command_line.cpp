// Options as data, and the parsing of words.
#include "tools/common/command_line.hpp"

#include <string>
#include <vector>

#include "tests/support/catch.hpp"
#include "tools/common/failure.hpp"

using namespace tools;
using test_support::Contains;

namespace {

/// A command with an option of each kind.
struct Parsed {
    bool flag = false;
    unsigned number = 5;
    std::optional<std::uint32_t> maybe;
    double seconds = 1;
    std::string text, drawing;
    std::vector<std::string> list, files, others;
    bool chosen = false;

    CommandSyntax command() {
        CommandSyntax command{.name = "tool", .summary = "tool: does it"};
        command.options = {{"FILE", &files, "files"},
                           {"-f,--flag", &flag, "a flag"},
                           {"--number", &number, "a number", {.shows_default = true, .range = {{1, 10}}}},
                           {"--maybe", &maybe, "a number, or none"},
                           {"--seconds", &seconds, "a time", {.value = "SECONDS", .excludes = {"--maybe"}}},
                           {"--text", &text, "a word", {.words = {"red", "green"}}},
                           {"--drawing", &drawing, "a drawing", {.value = "[FILE]", .without_value = "-"}},
                           {"--list", &list, "words", {.separator = ','}},
                           {"--secret", &text, "hidden", {.hidden = true}},
                           {"--version", Version{"tool 1"}, version_option_help}};
        command.subcommands = {{.name = "part", .summary = "a part"}};
        command.subcommands[0].others = &others;
        command.subcommands[0].when_chosen = [this] { chosen = true; };
        return command;
    }

    std::string take(std::vector<const char*> words) {
        words.insert(words.begin(), "tool");
        return parse_command_line(command(), static_cast<int>(words.size()), words.data());
    }

    std::string refusal(const std::vector<const char*>& words) {
        try {
            take(words);
        } catch (const Failure& failure) {
            CHECK(failure.status() == static_cast<int>(ExitStatus::usage));
            return failure.what();
        }
        return "";
    }
};

}  // namespace

TEST_CASE("options set their targets", "[command line]") {
    Parsed parsed;
    CHECK(parsed.take({"-f", "--number", "7", "--maybe=3", "--text", "red", "--list", "a,b", "--list", "c", "x", "y"})
              .empty());
    CHECK(parsed.flag);
    CHECK(parsed.number == 7);
    CHECK(parsed.maybe == 3);
    CHECK(parsed.text == "red");
    CHECK(parsed.list == std::vector<std::string>{"a", "b", "c"});
    CHECK(parsed.files == std::vector<std::string>{"x", "y"});
    CHECK(parsed.drawing.empty());
    CHECK_FALSE(parsed.chosen);
}

TEST_CASE("a value may be optional", "[command line]") {
    Parsed parsed;
    CHECK(parsed.take({"--drawing", "--flag"}).empty());
    CHECK(parsed.drawing == "-");
    CHECK(parsed.take({"--drawing", "file"}).empty());
    CHECK(parsed.drawing == "file");
}

TEST_CASE("errors are refused with a pointer to the help", "[command line]") {
    CHECK_THAT(Parsed().refusal({"--number", "11"}), Contains("--number") && Contains("11"));
    CHECK_THAT(Parsed().refusal({"--text", "blue"}), Contains("blue"));
    CHECK_THAT(Parsed().refusal({"--seconds", "1", "--maybe", "2"}), Contains("excludes"));
    CHECK_THAT(Parsed().refusal({"--frobnicate"}), Contains("\ntool --help lists the options"));
}

TEST_CASE("a subcommand is selected, and takes other words if declared", "[command line]") {
    Parsed parsed;
    CHECK(parsed.take({"part", "word"}).empty());
    CHECK(parsed.chosen);
    CHECK(parsed.others == std::vector<std::string>{"word"});
}

TEST_CASE("help and version are texts without hidden options", "[command line]") {
    const std::string help = Parsed().take({"--help"});
    CHECK_THAT(help, Contains("-f,--flag") && Contains("=5") && Contains("part") && !Contains("secret"));
    CHECK(Parsed().take({"--version"}) == "tool 1\n");
}
