#include "tools/hsadrv/progress.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

namespace hsadrv_tool {

Progress::Progress() : terminal_(isatty(STDERR_FILENO)) {}

void Progress::say(std::string_view text) noexcept {
    const auto now = std::chrono::steady_clock::now();
    if (!terminal_ || now - last_ < std::chrono::milliseconds(100)) return;
    last_ = now;
    winsize size{};
    const std::size_t columns = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1 ? size.ws_col : 80u;
    text = text.substr(0, std::min(text.size(), columns - 1));  // a wrapped line could not be erased
    std::fprintf(stderr, "\r\033[K%.*s", static_cast<int>(text.size()), text.data());
    shown_ = true;
}

void Progress::clear() noexcept {
    if (shown_) std::fputs("\r\033[K", stderr);
    shown_ = false;
    last_ = {};
}

}  // namespace hsadrv_tool
