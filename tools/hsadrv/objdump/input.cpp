#include "tools/hsadrv/objdump/input.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "hsadrv/error.hpp"
#include "hsadrv/file_bytes.hpp"

namespace hsadrv_tool::objdump {
namespace {

Bytes read_standard_input() {
    constexpr std::size_t part = 1 << 20;
    Bytes bytes;
    for (;;) {
        const std::size_t done = bytes.size();
        if (done > hsadrv::max_code_file_bytes)
            throw hsadrv::Error(fmt::format("more than the limit of {} bytes", hsadrv::max_code_file_bytes));
        bytes.resize(done + part);
        const ssize_t got = read(STDIN_FILENO, bytes.data() + done, part);
        bytes.resize(done + static_cast<std::size_t>(got > 0 ? got : 0));
        if (got < 0 && errno != EINTR) throw hsadrv::Error(fmt::format("cannot be read: {}", std::strerror(errno)));
        if (got == 0) return bytes;
    }
}

}  // namespace

std::string input_name(const std::string& file) { return file == "-" ? "standard input" : file; }

Bytes read_input(const std::string& file) {
    if (file == "-") return read_standard_input();
    try {
        return hsadrv::read_file(file);
    } catch (const hsadrv::Error& error) {
        // The caller adds the file's name.
        const std::string said = error.what(), name = fmt::format("file '{}': ", file);
        throw hsadrv::Error(said.starts_with(name) ? said.substr(name.size()) : said, error.status());
    }
}

}  // namespace hsadrv_tool::objdump
