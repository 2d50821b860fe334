#include "hsadrv/managed_memory.hpp"

#include <hsa/hsa_ext_amd.h>
#include <sys/mman.h>

#include <memory>
#include <string>
#include <vector>

#include "hsadrv/base/call_log.hpp"
#include "hsadrv/base/departure.hpp"
#include "hsadrv/base/refuse.hpp"
#include "hsadrv/base/runtime.hpp"
#include "hsadrv/base/text.hpp"
#include "hsadrv/error.hpp"
#include "hsadrv/stream/stream_core.hpp"

namespace hsadrv {
namespace {

using detail::call_log::Area;
using detail::call_log::logged;
constexpr std::uintptr_t svm_page_bytes = 4096;
using Attribute = hsa_amd_svm_attribute_pair_t;

std::string pages_text(const void* data, std::size_t size_bytes) {
    return detail::hex(data) + ", " + std::to_string(size_bytes) + " B";
}

std::string pages_call(const char* name, const void* data, std::size_t size_bytes) {
    return std::string(name) + "(" + pages_text(data, size_bytes) + ")";
}

/// ROCR aborts the process at some queries of pages that are not mapped.
void require_mapped(const std::string& call, const void* data, std::size_t size_bytes) {
    const auto first = reinterpret_cast<std::uintptr_t>(data), end = first + size_bytes;
    const std::uintptr_t begin = first & ~(svm_page_bytes - 1);
    // Does nothing with mapped pages; fails if one is not.
    const bool mapped = data != nullptr && end > first &&  // not empty, and not past the last address
                        ::msync(reinterpret_cast<void*>(begin), end - begin, MS_ASYNC) == 0;
    if (!mapped) detail::refuse(call, "not all of the pages are mapped");
}

/// Nor does it survive a prefetch of memory that the driver allocated. This query is refused for such memory.
void require_own_pages(const std::string& call, void* data, std::size_t size_bytes) {
    require_mapped(call, data, size_bytes);
    Attribute asked{HSA_AMD_SVM_ATTRIB_READ_MOSTLY, 0};
    const hsa_status_t status = hsa_amd_svm_attributes_get(data, size_bytes, &asked, 1);
    if (status != HSA_STATUS_SUCCESS)
        detail::refuse(call,
                       "the pages must be private to the process: device memory and pinned memory stay where they "
                       "are, and take no advice (hsa_amd_svm_attributes_get: " +
                           status_name(status) + ")");
}

Driver require_svm(const char* name) {
    const Driver driver = Driver::current(name);
    if (driver.system().svm_supported) return driver;
    throw NotOffered(std::string(name) +
                     ": the system has no shared virtual memory (SystemFacts::svm_supported): it needs Linux 5.14 with "
                     "CONFIG_HSA_AMD_SVM, and GPUs from gfx900 on; use pinned memory");
}

/// Checks a call that concerns pages and an agent, or none. The result keeps the runtime for the call.
Driver require_pages(const char* name, void* data, std::size_t size_bytes, const AgentRef* agent) {
    const Driver driver = require_svm(name);
    const std::string call = pages_call(name, data, size_bytes);
    if (agent != nullptr) driver.runtime().require_known(call, {agent, 1});
    require_own_pages(call, data, size_bytes);
    return driver;
}

void set_attributes(void* data, std::size_t size_bytes, std::span<Attribute> attributes) {
    const hsa_status_t status = hsa_amd_svm_attributes_set(data, size_bytes, attributes.data(), attributes.size());
    if (status == HSA_STATUS_SUCCESS) return;
    throw_status(status, pages_call("hsa_amd_svm_attributes_set", data, size_bytes),
                 "the pages must be private to the process");
}

bool names_agent(Advice advice) {
    return advice == Advice::preferred_location || advice == Advice::accessible_by ||
           advice == Advice::accessible_in_place_by || advice == Advice::not_accessible_by;
}

Attribute attribute_of(Advice advice, AgentRef agent) {
    const std::uint64_t handle = agent.native().handle;
    switch (advice) {
        case Advice::read_mostly:
            return {HSA_AMD_SVM_ATTRIB_READ_MOSTLY, 1};
        case Advice::not_read_mostly:
            return {HSA_AMD_SVM_ATTRIB_READ_MOSTLY, 0};
        case Advice::preferred_location:
            return {HSA_AMD_SVM_ATTRIB_PREFERRED_LOCATION, handle};
        case Advice::no_preferred_location:
            return {HSA_AMD_SVM_ATTRIB_PREFERRED_LOCATION, 0};
        case Advice::accessible_by:
            return {HSA_AMD_SVM_ATTRIB_AGENT_ACCESSIBLE, handle};
        case Advice::accessible_in_place_by:
            return {HSA_AMD_SVM_ATTRIB_AGENT_ACCESSIBLE_IN_PLACE, handle};
        case Advice::not_accessible_by:
            return {HSA_AMD_SVM_ATTRIB_AGENT_NO_ACCESS, handle};
    }
    throw InvalidArgument("hsadrv::advise: no Advice has the number " + std::to_string(int(advice)));
}

ManagedFacts::Access access_of(std::uint64_t attribute) {
    if (attribute == HSA_AMD_SVM_ATTRIB_AGENT_ACCESSIBLE) return ManagedFacts::Access::migrating;
    if (attribute == HSA_AMD_SVM_ATTRIB_AGENT_ACCESSIBLE_IN_PLACE) return ManagedFacts::Access::in_place;
    return ManagedFacts::Access::none;
}

/// The runtime subtracts one from `done` when the pages were moved.
void start_prefetch(void* data, std::size_t size_bytes, AgentRef to, SignalRef done) {
    const std::string call = pages_call("hsa_amd_svm_prefetch_async", data, size_bytes) + " to " + to.label();
    require_own_pages(call, data, size_bytes);
    check(hsa_amd_svm_prefetch_async(data, size_bytes, to.native(), 0, nullptr, done.native()), call);
}

}  // namespace

void ManagedMemory::Traits::destroy(Native p) noexcept {
    const auto unmap = [](std::uint64_t address) {
        const std::unique_ptr<Pages> pages(reinterpret_cast<Pages*>(address));
        ::munmap(pages->data, pages->size_bytes);
    };
    const auto address = reinterpret_cast<std::uintptr_t>(p);
    if (!detail::departures::defer(unmap, address)) unmap(address);
}

ManagedMemory ManagedMemory::create(std::size_t size_bytes, std::span<const AgentRef> gpus) {
    static constexpr const char* name = "hsadrv::ManagedMemory::create";
    return logged(
        Area::memory, name, [&] { return std::to_string(size_bytes) + " B"; },
        [&] {
            const Driver driver = require_svm(name);
            driver.runtime().require_known(name, gpus);
            ManagedMemory memory;
            if (size_bytes == 0) return memory;
            auto pages = std::make_unique<Pages>();
            void* const data = ::mmap(nullptr, size_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
            if (data == MAP_FAILED)
                throw OutOfMemory(std::string(name) + ": mmap of " + std::to_string(size_bytes) + " B failed",
                                  HSA_STATUS_ERROR_OUT_OF_RESOURCES);
            *pages = {data, size_bytes};
            memory.pages_.reset(pages.release(), driver);
            detail::departures::note_created(reinterpret_cast<std::uintptr_t>(memory.pages_.get()));
            std::vector<Attribute> access;
            for (const AgentRef gpu : gpus) access.push_back(attribute_of(Advice::accessible_by, gpu));
            if (!access.empty()) set_attributes(data, size_bytes, access);
            return memory;
        });
}

void advise(void* data, std::size_t size_bytes, Advice advice, AgentRef agent) {
    static constexpr const char* name = "hsadrv::advise";
    logged(
        Area::memory, name, [&] { return pages_text(data, size_bytes); },
        [&] {
            const Driver driver = require_pages(name, data, size_bytes, names_agent(advice) ? &agent : nullptr);
            Attribute attribute = attribute_of(advice, agent);
            set_attributes(data, size_bytes, {&attribute, 1});
        });
}

ManagedFacts managed_facts(void* data, std::size_t size_bytes, AgentRef agent) {
    static constexpr const char* name = "hsadrv::managed_facts";
    const Driver driver = require_pages(name, data, size_bytes, &agent);
    Attribute asked[] = {{HSA_AMD_SVM_ATTRIB_READ_MOSTLY, 0},
                         {HSA_AMD_SVM_ATTRIB_PREFERRED_LOCATION, 0},
                         {HSA_AMD_SVM_ATTRIB_PREFETCH_LOCATION, 0},
                         {HSA_AMD_SVM_ATTRIB_ACCESS_QUERY, agent.native().handle}};
    check(hsa_amd_svm_attributes_get(data, size_bytes, asked, std::size(asked)),
          [&] { return pages_call("hsa_amd_svm_attributes_get", data, size_bytes); });
    return {asked[0].value != 0, AgentRef(hsa_agent_t{asked[1].value}), AgentRef(hsa_agent_t{asked[2].value}),
            access_of(asked[3].attribute)};
}

void prefetch(Stream& stream, void* data, std::size_t size_bytes, AgentRef to, Deadline deadline) {
    static constexpr const char* name = "hsadrv::prefetch";
    logged(
        Area::memory, name, [&] { return pages_text(data, size_bytes); },
        [&] {
            const Driver driver = require_pages(name, data, size_bytes, &to);
            stream.core().call(
                [=](SignalRef done) {
                    start_prefetch(data, size_bytes, to, done);
                    return detail::HostEnd::later;
                },
                deadline);
        });
}

}  // namespace hsadrv
