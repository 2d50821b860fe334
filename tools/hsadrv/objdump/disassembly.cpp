#include "tools/hsadrv/objdump/disassembly.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "hsadrv/compile/llvm_places.hpp"
#include "tools/common/pending_file.hpp"
#include "tools/hsadrv/exit_status.hpp"

namespace hsadrv_tool::objdump {
namespace {

constexpr std::chrono::seconds most_disassembling{60};

const tools::Surroundings surroundings{.variables = {{"LD_PRELOAD", ""}}, .limit = most_disassembling};

/// The newest llvm-objdump with the AMDGPU target.
std::string find_program(const tools::Interruptions& interruptions) {
    const auto where = hsadrv::detail::surroundings_of_this_process();
    std::string rejected;
    for (const std::string& program : hsadrv::detail::llvm_places("llvm-objdump", where)) {
        const tools::Captured said = tools::capture({program, "--version"}, interruptions, surroundings);
        if (said.status == 0 && said.text.find("amdgcn") != said.text.npos) return program;
        rejected += fmt::format("\n  {}: {}", program,
                                said.status == 0 ? "it has no target amdgcn"
                                                 : fmt::format("its --version ends with exit status {}: {}",
                                                               said.status, said.text.substr(0, said.text.find('\n'))));
    }
    throw tools::Failure(
        exit_status::files,
        fmt::format("--disassemble: there is no llvm-objdump with the AMDGPU target; found {}\nSearched {}, and beside "
                    "each clang.\nInstall one, on Debian for example with: apt-get install llvm-19",
                    rejected.empty() ? "none at all" : "only" + rejected,
                    hsadrv::detail::looked_at("llvm-objdump", where)));
}

/// "saxpy" of "0000000000001600 <saxpy>:"; empty for other lines.
std::string_view headed_by(std::string_view line) {
    const auto digits = line.find_first_not_of("0123456789abcdef");
    if (digits == 0 || digits == line.npos || !line.substr(digits).starts_with(" <") || !line.ends_with(">:"))
        return {};
    return line.substr(digits + 2, line.size() - digits - 4);
}

std::string_view trimmed(std::string_view text) {
    const auto begin = text.find_first_not_of(" \t"), end = text.find_last_not_of(" \t\r");
    return begin == text.npos ? std::string_view() : text.substr(begin, end - begin + 1);
}

bool fills_up(const std::string& line) {
    return line.empty() || line == "..." || line.starts_with("s_nop 0 ") || line.starts_with("s_code_end");
}

}  // namespace

std::vector<Listing> parse_listings(std::string_view printed) {
    std::vector<Listing> all;
    bool inside = false;
    while (!printed.empty()) {
        const std::string_view line = printed.substr(0, printed.find('\n'));
        printed.remove_prefix(std::min(printed.size(), line.size() + 1));
        if (const std::string_view symbol = headed_by(line); !symbol.empty()) {
            all.push_back({std::string(symbol), {}});
            inside = true;
        } else if (line.starts_with("Disassembly of section ")) {
            inside = false;
        } else if (inside) {
            all.back().lines.emplace_back(trimmed(line));
        }
    }
    for (Listing& listing : all)
        while (!listing.lines.empty() && fills_up(listing.lines.back())) listing.lines.pop_back();
    return all;
}

Disassembler::Disassembler() : program_(find_program(interruptions_)) {}

std::vector<Listing> Disassembler::list(std::span<const std::byte> code_object,
                                        const std::vector<std::string>& symbols) const {
    const std::string file = scratch_ / "code-object";
    tools::PendingFile copy(file);
    copy.write(code_object);
    copy.commit();
    const tools::Captured said = tools::capture({program_, "--disassemble", file}, interruptions_, surroundings);
    if (said.timed_out || said.status != 0)
        throw tools::Failure(
            exit_status::files,
            fmt::format("{} --disassemble: {}", program_,
                        said.timed_out ? fmt::format("did not end within {} seconds", most_disassembling.count())
                                       : fmt::format("exit status {}: {}", said.status, said.text)));
    std::vector<Listing> all = parse_listings(said.text);
    if (!symbols.empty())
        std::erase_if(all, [&](const Listing& listing) {
            return std::find(symbols.begin(), symbols.end(), listing.symbol) == symbols.end();
        });
    return all;
}

}  // namespace hsadrv_tool::objdump
