// The runtime's own functions, as they were in the table before ours: what the trace itself calls.
#pragma once

#include "tools/trace/record/api_table.hpp"

namespace trace {

struct Runtime {
    CoreApiTable* core = nullptr;
    AmdExtTable* amd = nullptr;

    decltype(hsa_system_get_info)* system_info = nullptr;
    decltype(hsa_iterate_agents)* iterate_agents = nullptr;
    decltype(hsa_agent_get_info)* agent_info = nullptr;
    decltype(hsa_agent_iterate_regions)* iterate_regions = nullptr;
    decltype(hsa_queue_load_write_index_relaxed)* write_index = nullptr;
    decltype(hsa_queue_load_read_index_relaxed)* read_index = nullptr;
    decltype(hsa_signal_load_relaxed)* signal_load = nullptr;
    decltype(hsa_signal_store_relaxed)* signal_store = nullptr;
    decltype(hsa_signal_destroy)* signal_destroy = nullptr;
    decltype(hsa_executable_iterate_agent_symbols)* agent_symbols = nullptr;
    decltype(hsa_executable_symbol_get_info)* symbol_info = nullptr;
    decltype(hsa_amd_profiling_set_profiler_enabled)* profile_queue = nullptr;
    decltype(hsa_amd_profiling_async_copy_enable)* profile_copies = nullptr;
    decltype(hsa_amd_profiling_get_dispatch_time)* dispatch_time = nullptr;
    decltype(hsa_amd_profiling_get_async_copy_time)* copy_time = nullptr;
    decltype(hsa_amd_agent_iterate_memory_pools)* iterate_pools = nullptr;
    decltype(hsa_amd_signal_create)* amd_signal_create = nullptr;

    explicit Runtime(HsaApiTable& table)
        : core{table.core_},
          amd{table.amd_ext_},
          system_info{core->hsa_system_get_info_fn},
          iterate_agents{core->hsa_iterate_agents_fn},
          agent_info{core->hsa_agent_get_info_fn},
          iterate_regions{core->hsa_agent_iterate_regions_fn},
          write_index{core->hsa_queue_load_write_index_relaxed_fn},
          read_index{core->hsa_queue_load_read_index_relaxed_fn},
          signal_load{core->hsa_signal_load_relaxed_fn},
          signal_store{core->hsa_signal_store_relaxed_fn},
          signal_destroy{core->hsa_signal_destroy_fn},
          agent_symbols{core->hsa_executable_iterate_agent_symbols_fn},
          symbol_info{core->hsa_executable_symbol_get_info_fn},
          profile_queue{amd->hsa_amd_profiling_set_profiler_enabled_fn},
          profile_copies{amd->hsa_amd_profiling_async_copy_enable_fn},
          dispatch_time{amd->hsa_amd_profiling_get_dispatch_time_fn},
          copy_time{amd->hsa_amd_profiling_get_async_copy_time_fn},
          iterate_pools{amd->hsa_amd_agent_iterate_memory_pools_fn} {
        const std::size_t at = amd_offset(offsetof(AmdExtTable, hsa_amd_signal_create_fn), amd->version.minor_id);
        std::memcpy(&amd_signal_create, reinterpret_cast<const std::byte*>(amd) + at, sizeof amd_signal_create);
    }
};

}  // namespace trace
