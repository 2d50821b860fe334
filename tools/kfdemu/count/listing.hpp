// The counters of a process as people and programs read them: with names, source lines and sums.
//
//     Listing listing = list(pid, program, counts.totals());
//     std::string text = to_text(listing);         // or to_json(), to_html()
//
// list() reads the code objects, and loads libkfdemu-lines.so; the others are pure. Thread safety: any thread.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tools/kfdemu/check/report/finding.hpp"
#include "tools/kfdemu/count/kernel_counts.hpp"

namespace kfdemu::count {

struct ListedInstruction {
    std::uint64_t offset = 0;  ///< its address in the code object's ELF file; without one, from the kernel's entry
    std::string text;
    Kind kind{};
    std::string function;              ///< that holds it; empty: not known
    std::vector<check::Frame> source;  ///< the innermost first; empty: not known
    Sums sums;
};

/// All instructions of a source line.
struct ListedLine {
    std::string file;
    std::uint32_t line = 0;
    Sums sums;
};

struct ListedKernel {
    std::string name;  ///< as in its source; "kernel object 0x…" if it is not known
    std::uint64_t kernel_object = 0;
    std::uint64_t dispatches = 0, groups = 0, waves = 0;
    unsigned lanes = 0;                            ///< of a wave
    Sums total, vector;                            ///< vector: of instructions that are executed for each lane
    std::array<std::uint64_t, kKinds> executed{};  ///< by Kind
    std::vector<ListedLine> lines;                 ///< by file and line
    std::vector<ListedInstruction> instructions;   ///< by address
};

struct Listing {
    std::int64_t process = 0;
    std::string program;
    std::vector<ListedKernel> kernels;
};

Listing list(std::int64_t process, const std::string& program, const std::vector<KernelTotal>& totals);

std::string to_text(const Listing& listing);
/// One line; docs/schema/counters.v1.json describes the members.
std::string to_json(const Listing& listing);
/// A page that needs no other file.
std::string to_html(const Listing& listing);

/// "matmul.cpp:12"; empty if the line is not known.
std::string place(const std::vector<check::Frame>& source);
/// Empty for zero: what an instruction cannot do would hide what others did.
std::string some(std::uint64_t count);
std::string rounded(const std::optional<double>& value);
/// The path without its folders.
std::string short_name(const std::string& file);

}  // namespace kfdemu::count
