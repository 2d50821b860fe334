// Facts: everything that hsadrv objdump reports about its files, independent of the output format.
//
// Plain values. Borrows: KernelFacts point to the kernels of their Contents, which must outlive them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "hsadrv/packet.hpp"
#include "shared/occupancy.hpp"
#include "tools/hsadrv/objdump/contents.hpp"

namespace hsadrv_tool::objdump {

struct KernelFacts {
    const hsadrv::KernelMetadata* kernel = nullptr;
    hsadrv::Dim3 workgroup;                              ///< for which the occupancy is computed
    std::uint32_t dynamic_lds_bytes = 0;                 ///< likewise
    std::optional<hsadrv::shared::Occupancy> occupancy;  ///< std::nullopt: unknown GPU, or refused
    std::string refused;                                 ///< why a launch would refuse that work-group or LDS
    std::string cannot_launch;                           ///< why hsadrv cannot launch it with any work-group
};

/// Whether one agent loads a code object.
struct Answer {
    std::size_t agent = 0;  ///< index into Facts::agents
    std::string why_not;    ///< empty: it does
};

/// The instructions of one symbol.
struct Listing {
    std::string symbol;
    std::vector<std::string> lines;
};

struct EntryFacts {
    const Entry* entry = nullptr;
    std::vector<KernelFacts> kernels;
    std::vector<Answer> answers;
    std::vector<Listing> disassembly;
    std::string written_to;  ///< empty: not written
};

struct FileFacts {
    Contents contents;
    std::vector<EntryFacts> entries;  ///< the requested ones
};

struct AgentFacts {
    std::string label;  ///< "gpu0 gfx90a"
    std::string uuid;
    std::vector<std::string> isas;  ///< "amdgcn-amd-amdhsa--gfx90a:sramecc+:xnack-"
};

struct Facts {
    std::vector<FileFacts> files;
    std::vector<AgentFacts> agents;
    std::string no_agent;  ///< why no agent could try; empty: agents did
    bool disassembled = false;
};

}  // namespace hsadrv_tool::objdump
