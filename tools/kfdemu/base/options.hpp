// What the user asked of the emulator: the value of the environment variable KFDEMU, which `kfdemu run` also sets.
//
//     KFDEMU=auto | on | off [,gpu=gfx90a] [,gpus=2] [,vram=8G] [,vram-access=host|private] [,workers=2]
//            [,kfd=1.15] [,log=info] [,seed=7] [,hide=0]… [,fail=allocation:3:ENOMEM]… [,defect=interrupts:1-]…
//            [,strict] [,strict=NAME+NAME]
//
// Pure: text in, value or error text out.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/abi.hpp"
#include "base/behaviour.hpp"
#include "base/defect.hpp"
#include "base/failure.hpp"

namespace kfdemu {

enum class Mode {
    automatic,  ///< emulate where /dev/kfd cannot be opened
    on,         ///< emulate even where there is a real device
    off,        ///< stay out of the way
};

enum class LogLevel { off, error, warning, info, debug };

struct Options {
    Mode mode = Mode::automatic;
    std::string model = "gfx90a";
    unsigned gpus = 1;
    std::uint64_t vram_bytes = std::uint64_t{8} << 30;                        ///< of each GPU
    unsigned kfd_major = abi::kVersionMajor, kfd_minor = abi::kVersionMinor;  ///< the version of the driver's interface
    unsigned workers = 0;  ///< threads that execute waves; 0: one a host core
    LogLevel log = LogLevel::error;
    std::uint64_t seed = 0;        ///< decides the order of all work, on one thread; 0: unordered
    std::vector<unsigned> hidden;  ///< GPUs that the cgroup does not allow: KFD does not tell of them
    std::vector<Failure> failures;
    std::vector<Defect> defects;
    Behaviours behaviours = Behaviours::defaults();

    bool private_vram() const { return behaviours.has(Behaviour::private_vram); }
};

inline constexpr unsigned kMaxGpus = 8;

/// Reads a KFDEMU value; the second alternative is an error text that says what is wrong and what is possible.
std::variant<Options, std::string> parse_options(std::string_view text);

/// What this process's environment says: KFDEMU, after `strict=` of what KFDEMU_STRICT says.
std::string options_of_environment();

/// The KFDEMU value that parse_options() reads back as `options`.
std::string to_string(const Options& options);

/// "8G", "512M", "65536": bytes, or nothing.
bool parse_size(std::string_view text, std::uint64_t& bytes);

}  // namespace kfdemu
