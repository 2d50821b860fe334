// The capabilities of standard output: colours, columns, characters.
//
//     const Terminal terminal = terminal_of_output();
//     text += terminal.paint(Ink::bad, "missing");       // plain text if colour is off
//
// Colour is on for terminals, unless $NO_COLOR is set and not empty (no-color.org) or $TERM is "dumb".
// Thread safety: a plain value.
#pragma once

#include <string>
#include <string_view>

namespace hsadrv_tool {

enum class Ink { good, warning, bad, heading, faint };

struct Terminal {
    bool colour = false;
    bool utf8 = false;      ///< box drawing and block elements can be shown
    unsigned columns = 80;  ///< of the terminal; $COLUMNS or 80 elsewhere

    std::string paint(Ink ink, std::string_view text) const;
};

/// Reads the environment and queries the terminal.
Terminal terminal_of_output();

}  // namespace hsadrv_tool
