// What the command line asks for.
//
//     const Options options = parse_options(argc, argv);   // throws Failure, or Finished after --help and --version
//
// Pure but for the print of --help. Thread safety: a plain value.
#pragma once

#include <string>
#include <vector>

namespace hsadrv_cc {

struct Options {
    std::vector<std::string> sources;
    std::string output;
    std::vector<std::string> targets;  ///< as given; none: this machine's GPUs
    std::string level = "2";           ///< of optimisation
    bool debug = false;
    std::vector<std::string> defines, includes;
    unsigned code_object_version = 5;
    bool assembly = false;
    bool compress = false;
    std::string depfile;
    unsigned workgroup = 256;  ///< that the occupancy is stated for
    bool json = false, quiet = false, verbose = false;
    std::string clang;
    bool print_clang = false;
    std::vector<std::string> clang_options;  ///< behind --
};

/// --help or --version has been answered.
struct Finished {};

Options parse_options(int argc, char** argv);

/// Whether the result goes to standard output, and whether a source comes from standard input.
bool to_standard_output(const Options& options);
bool from_standard_input(const Options& options);

/// Whether the file is OpenCL C by its name; otherwise it is C++. Throws Failure for names that are neither.
bool is_opencl(const std::string& source);

}  // namespace hsadrv_cc
