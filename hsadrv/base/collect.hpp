// Internal: collects what a hsa_*_iterate_* function visits.
//
//   std::vector<hsa_isa_t> isas;
//   check(hsa_agent_iterate_isas(agent, collect<hsa_isa_t>, &isas), "hsa_agent_iterate_isas()");
//
// Thread safety: the list's.
#pragma once

#include <hsa/hsa.h>

#include <vector>

namespace hsadrv::detail {

template <class Native>
hsa_status_t collect(Native native, void* list) {
    static_cast<std::vector<Native>*>(list)->push_back(native);
    return HSA_STATUS_SUCCESS;
}

}  // namespace hsadrv::detail
