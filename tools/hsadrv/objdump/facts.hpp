// Facts: all that hsadrv objdump tells of its files, before it is text or JSON.
//
// Plain values. KernelFacts point to the kernels of their Contents: Borrows them for as long as both are used.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "contents.hpp"
#include "hsadrv/packet.hpp"
#include "shared/occupancy.hpp"

namespace hsadrv_tool::objdump {

struct KernelFacts {
    const hsadrv::KernelMetadata* kernel = nullptr;
    hsadrv::Dim3 workgroup;                              ///< that the occupancy is stated for
    std::uint32_t dynamic_lds_bytes = 0;                 ///< likewise
    std::optional<hsadrv::shared::Occupancy> occupancy;  ///< nothing: no table of that GPU's compute units, or refused
    std::string refused;                                 ///< why a launch would refuse that work-group or LDS
    std::string cannot_launch;                           ///< why hsadrv launches it with no work-group at all
};

/// Whether one agent loads a code object.
struct Answer {
    std::size_t agent = 0;  ///< index into Facts::agents
    std::string why_not;    ///< empty: it does
};

/// The instructions behind one symbol.
struct Listing {
    std::string symbol;
    std::vector<std::string> lines;
};

struct EntryFacts {
    const Entry* entry = nullptr;
    std::vector<KernelFacts> kernels;
    std::vector<Answer> answers;
    std::vector<Listing> disassembly;
    std::string written_to;  ///< empty: nothing was
};

struct FileFacts {
    Contents contents;
    std::vector<EntryFacts> entries;  ///< those that were asked for
};

struct AgentFacts {
    std::string label;  ///< "gpu0 gfx90a"
    std::string uuid;
    std::vector<std::string> isas;  ///< "amdgcn-amd-amdhsa--gfx90a:sramecc+:xnack-"
};

struct Facts {
    std::vector<FileFacts> files;
    std::vector<AgentFacts> agents;
    std::string no_agent;  ///< why none could be asked; empty: they were
    bool disassembled = false;
};

}  // namespace hsadrv_tool::objdump
