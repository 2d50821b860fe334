// Shared virtual memory: attributes of the program's own pages, and the GPUs that reach them by the program's
// addresses.
//
//     int error = svm.run(request, attributes);          // AMDKFD_IOC_SVM
//
// As the kernel's kfd_svm.c does for a GPU without retryable page faults (XNACK off): a GPU reaches pages as
// soon as, and only if, an attribute gives it access. Pages do not migrate: where they are cannot be observed
// here but by the attribute. Pages that the program unmaps are not there for the GPU; new ones at the same
// place are a matter of new attributes in the kernel, here of the old ones until forget().
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

#include "base/abi.hpp"
#include "base/address_space.hpp"
#include "base/topology.hpp"

namespace kfdemu {

class Svm {
  public:
    /// `spaces` has an address space for each GPU. Both must outlive this.
    Svm(const Topology& topology, std::vector<AddressSpace*> spaces)
        : topology_{topology}, spaces_{std::move(spaces)} {}

    /// Sets the attributes, or fills in those asked for; 0 or an errno value.
    int run(const abi::Svm& request, std::span<abi::SvmAttribute> attributes);
    /// The program has unmapped [begin, end), or put something else there: attributes and access are gone. Costs one
    /// load where no attribute was ever set.
    void forget(std::uint64_t begin, std::uint64_t end);

  private:
    struct Attributes {
        std::uint32_t preferred = abi::kSvmUndefined, prefetch = abi::kSvmUndefined;
        std::uint32_t flags = abi::kSvmHostAccess | abi::kSvmCoherent;
        std::uint32_t granularity = 9;            // 2 MiB
        std::set<unsigned> access{}, in_place{};  // GPUs by index; a GPU is in one at most
    };
    struct Range {
        std::uint64_t end;
        Attributes attributes;
    };
    using Ranges = std::map<std::uint64_t, Range>;  // by first address, disjoint

    int check(std::span<const abi::SvmAttribute> attributes) const;
    int set(std::uint64_t begin, std::uint64_t end, std::span<const abi::SvmAttribute> attributes);
    int get(std::uint64_t begin, std::uint64_t end, std::span<abi::SvmAttribute> attributes) const;
    void apply(Attributes& to, const abi::SvmAttribute& attribute) const;
    void split(std::uint64_t at);
    int map(std::uint64_t begin, const Range& range);

    const Topology& topology_;
    const std::vector<AddressSpace*> spaces_;
    std::atomic<bool> used_{false};  // relaxed: whoever unmaps pages has seen their attributes set
    mutable std::mutex mutex_;
    Ranges ranges_;
};

}  // namespace kfdemu
