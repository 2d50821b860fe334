// Shared virtual memory (SVM): attributes of the program's own pages, and GPU access to them at the same addresses.
//
//     int error = svm.run(request, attributes);          // AMDKFD_IOC_SVM
//
// As in the kernel's kfd_svm.c for a GPU without retryable page faults (XNACK off): a GPU can access pages exactly
// while an attribute grants access. Pages do not migrate; the location is only visible as an attribute, and in event
// files. Pages that the program unmaps are not mapped on the GPU. In the kernel, new pages at the same address have no
// attributes; here they have the old ones until forget(),
// which sees no pages that libc itself unmaps, as free() does. For that reason pages with attributes may also become
// user pages of an allocation, which the kernel refuses (EADDRINUSE).
//
// Thread safety: every function, any thread. Changes of access wait for the GPUs' running quanta.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <set>
#include <span>
#include <vector>

#include "tools/kfdemu/base/abi.hpp"
#include "tools/kfdemu/base/address_space.hpp"
#include "tools/kfdemu/base/topology.hpp"
#include "tools/kfdemu/resources/smi_events.hpp"

namespace kfdemu {

class Svm {
  public:
    /// `spaces`: one address space per GPU. `smi`: receives events. Borrows: all, until destroyed.
    Svm(const Topology& topology, std::vector<AddressSpace*> spaces, SmiEvents& smi)
        : topology_{topology}, spaces_{std::move(spaces)}, smi_{smi} {}

    /// Sets the attributes, or fills in the queried ones; 0 or an errno value.
    int run(const abi::Svm& request, std::span<abi::SvmAttribute> attributes);
    /// Removes attributes and access of [begin, end), which the program has unmapped or remapped. Costs one load if no
    /// attribute was ever set.
    void forget(std::uint64_t begin, std::uint64_t end);

  private:
    struct Attributes {
        std::uint32_t preferred = abi::kSvmUndefined, prefetch = abi::kSvmUndefined;
        std::uint32_t flags = abi::kSvmHostAccess | abi::kSvmCoherent;
        std::uint32_t granularity = 9;            // 2 MiB
        std::set<unsigned> access{}, in_place{};  // GPU indices; a GPU is in at most one
        /// A set of Access; 0: none.
        std::uint32_t granted(unsigned gpu) const;
    };
    struct Range {
        std::uint64_t end;
        Attributes attributes;
        bool mapped = false;  // as the attributes say
        std::uint32_t location = abi::kSvmSystem;
    };
    using Ranges = std::map<std::uint64_t, Range>;  // by first address, disjoint

    int check_pages(std::uint64_t begin, std::uint64_t end) const;
    int check(std::span<const abi::SvmAttribute> attributes) const;
    int set(std::uint64_t begin, std::uint64_t end, std::span<const abi::SvmAttribute> attributes);
    int get(std::uint64_t begin, std::uint64_t end, std::span<abi::SvmAttribute> attributes) const;
    void apply(Attributes& to, const abi::SvmAttribute& attribute) const;
    void split(std::uint64_t at);
    int map(std::uint64_t begin, const Range& range, const Attributes* before);
    void prefetch(std::uint64_t begin, Range& range);

    const Topology& topology_;
    const std::vector<AddressSpace*> spaces_;
    SmiEvents& smi_;
    std::atomic<bool> used_{false};  // relaxed: a thread that unmaps pages has seen their attributes set
    mutable std::mutex mutex_;
    Ranges ranges_;
};

}  // namespace kfdemu
