#include "tools/hsadrv/terminal.hpp"

#include <langinfo.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <charconv>
#include <clocale>
#include "tools/common/environment.hpp"

namespace hsadrv_tool {
namespace {

unsigned columns_of(int stream) {
    winsize size{};
    if (ioctl(stream, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
    unsigned columns = 0;
    const std::string said = tools::variable("COLUMNS");
    std::from_chars(said.data(), said.data() + said.size(), columns);
    return columns >= 20 && columns <= 1000 ? columns : 80;
}

const char* code_of(Ink ink) {
    switch (ink) {
        case Ink::good:
            return "\033[32m";
        case Ink::warning:
            return "\033[33m";
        case Ink::bad:
            return "\033[1;31m";
        case Ink::heading:
            return "\033[1m";
        case Ink::faint:
            return "\033[2m";
    }
    return "";
}

}  // namespace

std::string Terminal::paint(Ink ink, std::string_view text) const {
    if (!colour || text.empty()) return std::string(text);
    return std::string(code_of(ink)).append(text).append("\033[0m");
}

Terminal terminal_of_output() {
    std::setlocale(LC_CTYPE, "");
    Terminal terminal;
    terminal.utf8 = std::string_view(nl_langinfo(CODESET)) == "UTF-8";
    terminal.columns = columns_of(STDOUT_FILENO);
    terminal.colour = isatty(STDOUT_FILENO) && tools::variable("NO_COLOR").empty() && tools::variable("TERM") != "dumb";
    return terminal;
}

}  // namespace hsadrv_tool
