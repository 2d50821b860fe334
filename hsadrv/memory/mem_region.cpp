#include "hsadrv/mem_region.hpp"

#include <hsa/hsa_ext_amd.h>

#include "hsadrv/error.hpp"
#include "hsadrv/memory/global_flags.hpp"

namespace hsadrv {

namespace {
template <class T, class Attribute>
T query(hsa_region_t region, Attribute attribute, const char* name) {
    T value{};
    check(hsa_region_get_info(region, static_cast<hsa_region_info_t>(attribute), &value),
          [&] { return std::string("hsa_region_get_info(") + name + ")"; });
    return value;
}
#define HSADRV_REGION_QUERY(type, attribute) query<type>(native_, attribute, #attribute)
}  // namespace

const char* segment_name(Segment segment) noexcept {
    switch (segment) {
        case Segment::global:
            return "global";
        case Segment::readonly:
            return "readonly";
        case Segment::private_segment:
            return "private";
        case Segment::group:
            return "group";
        case Segment::kernarg:
            return "kernarg";
    }
    return "unknown";
}

std::string GlobalFlags::text() const {
    std::string text = extended_scope   ? "extended-scope fine-grained"
                       : fine_grained   ? "fine-grained"
                       : coarse_grained ? "coarse-grained"
                                        : "";
    if (kernarg) text += text.empty() ? "kernarg" : " kernarg";
    return text;
}

namespace detail {
GlobalFlags global_flags(std::uint32_t bits) noexcept {
    // HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_EXTENDED_SCOPE_FINE_GRAINED, which 5.2's header lacks.
    constexpr std::uint32_t extended_scope = 8;
    return {(bits & HSA_REGION_GLOBAL_FLAG_KERNARG) != 0, (bits & HSA_REGION_GLOBAL_FLAG_FINE_GRAINED) != 0,
            (bits & HSA_REGION_GLOBAL_FLAG_COARSE_GRAINED) != 0, (bits & extended_scope) != 0};
}

Segment segment_of(std::uint32_t native) {
    switch (native) {
        case HSA_REGION_SEGMENT_GLOBAL:
            return Segment::global;
        case HSA_REGION_SEGMENT_READONLY:
            return Segment::readonly;
        case HSA_REGION_SEGMENT_PRIVATE:
            return Segment::private_segment;
        case HSA_REGION_SEGMENT_GROUP:
            return Segment::group;
        case HSA_REGION_SEGMENT_KERNARG:
            return Segment::kernarg;
    }
    throw Error("the HSA runtime reports memory of the unknown segment " + std::to_string(native));
}
}  // namespace detail

Segment MemRegion::segment() const {
    return detail::segment_of(HSADRV_REGION_QUERY(hsa_region_segment_t, HSA_REGION_INFO_SEGMENT));
}
GlobalFlags MemRegion::global_flags() const {
    if (segment() != Segment::global) return {};
    return detail::global_flags(HSADRV_REGION_QUERY(std::uint32_t, HSA_REGION_INFO_GLOBAL_FLAGS));
}
std::size_t MemRegion::size_bytes() const { return HSADRV_REGION_QUERY(std::size_t, HSA_REGION_INFO_SIZE); }
std::size_t MemRegion::alloc_max_bytes() const {
    return HSADRV_REGION_QUERY(std::size_t, HSA_REGION_INFO_ALLOC_MAX_SIZE);
}
bool MemRegion::alloc_allowed() const { return HSADRV_REGION_QUERY(bool, HSA_REGION_INFO_RUNTIME_ALLOC_ALLOWED); }
std::size_t MemRegion::alloc_granule_bytes() const {
    return HSADRV_REGION_QUERY(std::size_t, HSA_REGION_INFO_RUNTIME_ALLOC_GRANULE);
}
std::size_t MemRegion::alloc_alignment_bytes() const {
    return HSADRV_REGION_QUERY(std::size_t, HSA_REGION_INFO_RUNTIME_ALLOC_ALIGNMENT);
}
bool MemRegion::host_accessible() const { return HSADRV_REGION_QUERY(bool, HSA_AMD_REGION_INFO_HOST_ACCESSIBLE); }
std::optional<std::uint32_t> MemRegion::alloc_max_private_bytes_per_workgroup() const {
    if (segment() != Segment::private_segment) return std::nullopt;
    return HSADRV_REGION_QUERY(std::uint32_t, HSA_REGION_INFO_ALLOC_MAX_PRIVATE_WORKGROUP_SIZE);
}
void* MemRegion::base_address() const { return HSADRV_REGION_QUERY(void*, HSA_AMD_REGION_INFO_BASE); }
std::uint32_t MemRegion::bus_width_bits() const {
    return HSADRV_REGION_QUERY(std::uint32_t, HSA_AMD_REGION_INFO_BUS_WIDTH);
}
std::uint32_t MemRegion::max_clock_mhz() const {
    return HSADRV_REGION_QUERY(std::uint32_t, HSA_AMD_REGION_INFO_MAX_CLOCK_FREQUENCY);
}

}  // namespace hsadrv
