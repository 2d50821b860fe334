// The options of hsadrv-cc's command line.
//
//     const Options options = parse_options(argc, argv);   // throws Failure, or Finished after --help and --version
//
// Pure, except that --help prints. Thread safety: a plain value.
#pragma once

#include <string>
#include <vector>

#include "hsadrv/compile.hpp"

namespace hsadrv_cc {

struct Options {
    std::vector<std::string> sources;
    std::string output;
    std::vector<std::string> targets;  ///< as given; none: this machine's GPUs
    std::string language;              ///< as -x gives it; empty: by the names of the sources
    std::string level = "2";           ///< optimisation level
    bool debug = false;
    std::vector<std::string> defines, includes;
    unsigned code_object_version = 5;
    bool assembly = false;
    bool compress = false;
    std::string depfile;
    unsigned workgroup = 256;  ///< size for which the occupancy is computed
    bool json = false, quiet = false, verbose = false;
    std::string clang;
    bool print_clang = false;
    std::vector<std::string> clang_options;  ///< after --
};

/// Thrown after --help or --version has printed.
struct Finished {};

Options parse_options(int argc, char** argv);

/// Whether the result goes to standard output, and whether a source comes from standard input.
bool to_standard_output(const Options& options);
bool from_standard_input(const Options& options);

/// As -x says, else by the end of the name; C++ for "-". Throws Failure for other names.
hsadrv::Language language_of(const Options& options, const std::string& source);

}  // namespace hsadrv_cc
