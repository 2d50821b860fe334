// Reports of simulated machines, with facts that only newer runtimes report.
#include <algorithm>

#include "tests/support/catch.hpp"
#include "tests/tools/hsadrv/machine.hpp"
#include "tools/hsadrv/info/report.hpp"
#include "tools/hsadrv/info/units.hpp"

using namespace made_up;
using test_support::Contains;

namespace {

Facts newest() {
    Facts facts = machine(1, 1);
    facts.module.version = "6.10.5";
    RuntimeFacts& runtime = facts.runtime;
    runtime.amd_version_major = 1;
    runtime.amd_version_minor = 14;
    runtime.mwaitx_enabled = false;
    runtime.xnack_enabled = true;
    runtime.dmabuf_supported = runtime.virtual_memory_supported = true;
    AgentFacts& gpu = facts.agents[1];
    gpu.is_apu = true;
    gpu.nearest_cpu = 1;
    gpu.gpu->memory_available_bytes = (std::uint64_t{64} << 30) - 4096;
    gpu.gpu->firmware_version = 76;
    gpu.gpu->dma_firmware_version = 8;
    gpu.gpu->behind_iommu = true;
    gpu.gpu->dma_engines = 2;
    gpu.pools[0].flags.extended_scope = true;
    gpu.pools[0].size_bytes = std::uint64_t{5} << 42;
    return facts;
}

/// The line that begins with a label, without its indentation.
std::string line_of(const std::string& report, const std::string& label) {
    const std::size_t at = report.find(label);
    if (at == std::string::npos) return "no " + label;
    return report.substr(at, report.find('\n', at) - at);
}

}  // namespace

TEST_CASE("sizes have the largest unit not above them", "[info]") {
    CHECK(size_text(0) == "0");
    CHECK(size_text(512) == "512 B");
    CHECK(size_text(65536) == "64 KiB");
    CHECK(size_text(1536) == "1.5 KiB");
    CHECK(size_text(std::uint64_t{8} << 30) == "8.0 GiB");
    CHECK(size_text((std::uint64_t{8} << 30) - 1) == "8.0 GiB");
    CHECK(size_text(~std::uint64_t{0}) == "16.0 EiB");
    CHECK(rate_text(312) == "312 MB/s");
    CHECK(rate_text(31500) == "31.5 GB/s");
    CHECK(counted(1, "hop") == "1 hop");
    CHECK(counted(0, "GPU") == "0 GPUs");
}

TEST_CASE("facts of newer runtimes have rocminfo's labels and order", "[info]") {
    const std::string report = rocminfo_text(newest());
    CHECK(line_of(report, "ROCk") == "ROCk module version 6.10.5 is loaded");
    CHECK(line_of(report, "Runtime Ext") == "Runtime Ext Version:     1.14");
    CHECK(line_of(report, "Mwaitx") == "Mwaitx:                  DISABLED");
    CHECK(line_of(report, "XNACK") == "XNACK enabled:           YES");
    CHECK(line_of(report, "VMM") == "VMM Support:             YES");
    CHECK(line_of(report, "Packet Proc") == "Packet Processor uCode:: 76");
    CHECK(line_of(report, "SDMA") == "SDMA engine uCode::      8");
    CHECK(line_of(report, "IOMMU") == "IOMMU Support::          V2");
    CHECK(line_of(report, "Memory Prop") == "Memory Properties:       APU");
    CHECK_THAT(report, Contains("Segment:                 GLOBAL; FLAGS: EXTENDED FINE GRAINED\n"));
    CHECK_THAT(report, Contains("Size:                    21474836480(0x500000000) KB\n"));
    const char* const order[] = {"Runtime Version:",
                                 "Runtime Ext Version:",
                                 "System Timestamp",
                                 "System Endianness:",
                                 "Mwaitx:",
                                 "XNACK enabled:",
                                 "DMAbuf Support:",
                                 "VMM Support:",
                                 "HSA Agents",
                                 "Coherent Host Access:",
                                 "Memory Properties:",
                                 "Features:",
                                 "Fast F16 Operation:",
                                 "Max fbarriers/Workgrp:",
                                 "Packet Processor uCode::",
                                 "SDMA engine uCode::",
                                 "IOMMU Support::",
                                 "ISA Info:\n    ISA 1",
                                 "*** Done ***"};
    std::size_t at = 0;
    for (const char* label : order) {
        CAPTURE(label);
        const std::size_t found = report.find(label, at);
        REQUIRE(found != std::string::npos);
        at = found;
    }
}

TEST_CASE("unknown facts have no line, and are null in JSON", "[info]") {
    const Facts facts = machine(1, 1);
    const std::string report = as_full_text(facts);
    for (const char* label :
         {"Runtime Ext", "Mwaitx", "XNACK", "DMAbuf", "VMM", "Packet Processor", "Memory Properties"})
        CHECK(line_of(report, label) == std::string("no ") + label);
    const Json json = as_json(facts);
    CHECK(json["runtime"]["xnack_enabled"].is_null());
    CHECK(json["agents"][1]["gpu"]["memory_available_bytes"].is_null());
    CHECK(json["agents"][0]["gpu"].is_null());
    CHECK(json["agents"][0]["pci"].is_null());
}

TEST_CASE("a kernel driver that is built in, dying or missing", "[info]") {
    Facts facts = machine(1, 0);
    facts.module = {true, "", ""};
    CHECK_THAT(rocminfo_text(facts), Catch::Matchers::StartsWith("====="));
    facts.module = {true, "going", ""};
    CHECK_THAT(rocminfo_text(facts), Contains("ROCk module is NOT live"));
    facts.module = {};
    CHECK_THAT(rocminfo_text(facts), Contains("ROCk module is NOT loaded"));
    CHECK_THAT(as_short_text(facts, {}), Contains("ROCR 1.18.0 (HSA 1.1), Linux 6.1.0\n"));
}

TEST_CASE("free memory is in the short report if the runtime reports it", "[info]") {
    CHECK_THAT(as_short_text(newest(), {}), Contains("64.0 GiB free; LDS 64 KiB a work-group\n"));
    CHECK_THAT(as_short_text(machine(1, 1), {}), Contains("  memory    64.0 GiB; LDS 64 KiB a work-group\n"));
    CHECK_THAT(as_short_text(machine(1, 0), {}), Contains("no GPU: run hsadrv doctor"));
}

TEST_CASE("after rocminfo's report none of its labels occurs again", "[info]") {
    Facts facts = newest();
    const std::string beyond = beyond_rocminfo_text(facts);
    for (const char* label : {"Name:", "Uuid:", "Node:", "Size:", "Segment:", "Agent 2", "gfx90a", "Pool 1", "ISA 1"})
        CHECK_THAT(beyond, !Contains(label));
    CHECK_THAT(beyond, Contains("Nearest CPU:              cpu0 (agent 1)\n"));
    CHECK_THAT(beyond, Contains("    cpu0 (agent 1)  1 of 1  PCIe  15.8 GB/s to 31.5 GB/s  -        20 "));
    AgentFacts& gpu = facts.agents[1];
    using enum hsadrv::PoolAccess;
    gpu.pools[0].access = {disallowed_by_default,
                           allowed_by_default,
                           disallowed_by_default,
                           disallowed_by_default,
                           disallowed_by_default,
                           never,
                           never};
    CHECK_THAT(beyond_rocminfo_text(facts), Contains("  2 always; 1, 3 to 5 on request; 6, 7 never  global"));
}
