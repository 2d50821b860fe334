// The emulator's options, parsed from the environment variable KFDEMU, which `kfdemu run` sets.
//
//     KFDEMU=auto | on | off [,gpu=gfx90a] [,gpus=2] [,vram=8G] [,vram-access=host|private] [,workers=2]
//            [,kfd=1.15] [,jit=off] [,waits=spin] [,log=info] [,seed=7] [,hide=0]… [,fail=allocation:3:ENOMEM]…
//            [,defect=interrupts:1-]… [,strict] [,strict=NAME+NAME] [,check] [,check=NAME+NAME] [,check-report=FILE]
//            [,check-first=PID] [,suppress=FILE]… [,check-limit=100] [,check-stop] [,counters=FILE]
//
// A backslash takes a comma or a backslash into a value: suppress=a\,b.
//
// Pure: text in, value or error text out.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "tools/kfdemu/base/abi.hpp"
#include "tools/kfdemu/base/behaviour.hpp"
#include "tools/kfdemu/base/checks.hpp"
#include "tools/kfdemu/base/defect.hpp"
#include "tools/kfdemu/base/failure.hpp"
#include "tools/kfdemu/base/model.hpp"

namespace kfdemu {

enum class Mode {
    automatic,  ///< emulate if /dev/kfd cannot be opened
    on,         ///< emulate even if there is a real device
    off,        ///< do not emulate
};

enum class LogLevel { off, error, warning, info, debug };

struct Options {
    Mode mode = Mode::automatic;
    std::string model = "gfx90a";
    unsigned gpus = 1;
    Partition partition = Partition::spx;
    std::uint64_t vram_bytes = 0;                                             ///< of each GPU; 0: as the model has
    unsigned kfd_major = abi::kVersionMajor, kfd_minor = abi::kVersionMinor;  ///< the version of the driver's interface
    unsigned workers = 0;  ///< threads that execute waves; 0: one per host core
    LogLevel log = LogLevel::error;
    bool jit = true;               ///< hot vector code is translated to the host's
    bool waits_sleep = true;       ///< also those that ask the HSA runtime to spin
    std::uint64_t seed = 0;        ///< decides the order of all work, on one thread; 0: unordered
    std::vector<unsigned> hidden;  ///< GPUs that the device cgroup denies
    std::vector<Failure> failures;
    std::vector<Defect> defects;
    Behaviours behaviours = Behaviours::defaults();
    Checks checks;                          ///< that kernels run under
    std::string check_report;               ///< the file for findings as JSON; empty: none
    std::vector<std::string> suppressions;  ///< files that say which findings are not reported
    unsigned check_limit = 100;             ///< distinct findings that are printed
    bool check_stop = false;                ///< the first finding ends the process
    std::int64_t check_first = 0;           ///< the process that `kfdemu run` becomes, if it checks or counts
    std::string counters;                   ///< the file for what kernels execute; empty: it is not counted

    /// An APU has no memory that the host cannot access.
    bool private_vram() const { return behaviours.has(Behaviour::private_vram) && !find_model(model)->integrated; }
};

inline constexpr unsigned kMaxGpus = 8;

/// Parses a KFDEMU value. The second alternative is an error text with the accepted values.
std::variant<Options, std::string> parse_options(std::string_view text);

/// The options in this process's environment: `strict=` with KFDEMU_STRICT if set, then KFDEMU.
std::string options_of_environment();

/// The KFDEMU value that parse_options() parses to `options`.
std::string to_string(const Options& options);

/// A value as KFDEMU has it: with backslashes before commas and backslashes.
std::string escaped(std::string_view value);

/// Parses "8G", "512M" or "65536" to bytes. False for anything else.
bool parse_size(std::string_view text, std::uint64_t& bytes);

}  // namespace kfdemu
