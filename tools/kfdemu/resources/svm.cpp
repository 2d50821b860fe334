#include "tools/kfdemu/resources/svm.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "tools/kfdemu/base/log.hpp"
#include "tools/kfdemu/base/page.hpp"

namespace kfdemu {
namespace {

/// While it exists, the thread is in a function of Svm. An allocator may then map pages, and so call forget(), with the
/// mutex held; those pages are not the program's.
class Inside {
  public:
    Inside() { inside_ = true; }
    ~Inside() { inside_ = false; }
    Inside(const Inside&) = delete;
    Inside& operator=(const Inside&) = delete;
    static bool here() { return inside_; }

  private:
    static thread_local constinit inline bool inside_ = false;
};

/// Whether all of [begin, end) is mapped in the program.
bool is_mapped(std::uint64_t begin, std::uint64_t end) {
    return msync(reinterpret_cast<void*>(begin), end - begin, MS_ASYNC) == 0;
}

}  // namespace

int Svm::run(const abi::Svm& request, std::span<abi::SvmAttribute> attributes) {
    const std::uint64_t begin = request.start, end = begin + request.size;
    if (begin % kPage != 0 || request.size % kPage != 0 || begin == 0 || end <= begin) return EINVAL;
    const Inside inside;
    std::lock_guard lock{mutex_};
    switch (request.operation) {
        case abi::kSvmSet:
            if (const int error = check(attributes)) return error;
            if (const int error = check_pages(begin, end)) return error;
            return set(begin, end, attributes);
        case abi::kSvmGet:
            if (const int error = check_pages(begin, end)) return error;
            return get(begin, end, attributes);
        default:
            return EINVAL;
    }
}

/// The pages must be mapped in the program, and no allocation of KFD's (svm_range_is_valid).
int Svm::check_pages(std::uint64_t begin, std::uint64_t end) const {
    if (!is_mapped(begin, end)) return EFAULT;
    const auto allocated = [&](const AddressSpace* space) {
        return space->maps_other(begin, end, abi::kSvmAllocation);
    };
    return std::any_of(spaces_.begin(), spaces_.end(), allocated) ? EADDRINUSE : 0;
}

int Svm::check(std::span<const abi::SvmAttribute> attributes) const {
    for (const auto& [type, value] : attributes) switch (type) {
            case abi::kSvmPreferredLocation:
                if (value != abi::kSvmSystem && value != abi::kSvmUndefined && !topology_.find(value)) return EINVAL;
                break;
            case abi::kSvmPrefetchLocation:
                if (value != abi::kSvmSystem && !topology_.find(value)) return EINVAL;
                break;
            case abi::kSvmAccess:
            case abi::kSvmAccessInPlace:
            case abi::kSvmNoAccess:
                if (!topology_.find(value)) return EINVAL;
                break;
            case abi::kSvmSetFlags:
            case abi::kSvmClearFlags:
            case abi::kSvmGranularity:
                break;
            default:
                log(LogLevel::warning, "svm: unknown attribute {}", type);
                return EINVAL;
        }
    return 0;
}

void Svm::apply(Attributes& to, const abi::SvmAttribute& attribute) const {
    const auto [type, value] = attribute;
    const Gpu* gpu = topology_.find(value);
    switch (type) {
        case abi::kSvmPreferredLocation:
            to.preferred = value;
            break;
        case abi::kSvmPrefetchLocation:
            to.prefetch = value;
            break;
        case abi::kSvmAccess:
            to.in_place.erase(gpu->index);
            to.access.insert(gpu->index);
            break;
        case abi::kSvmAccessInPlace:
            to.access.erase(gpu->index);
            to.in_place.insert(gpu->index);
            break;
        case abi::kSvmNoAccess:
            to.access.erase(gpu->index);
            to.in_place.erase(gpu->index);
            break;
        case abi::kSvmSetFlags:
            to.flags |= value;
            break;
        case abi::kSvmClearFlags:
            to.flags &= ~value;
            break;
        case abi::kSvmGranularity:
            to.granularity = std::min(value, std::uint32_t{0x3f});
            break;
        default:
            break;  // rejected by check()
    }
}

/// Splits the range that crosses `at`, if any.
void Svm::split(std::uint64_t at) {
    auto after = ranges_.upper_bound(at);
    if (after == ranges_.begin()) return;
    auto& [begin, range] = *std::prev(after);
    if (begin == at || range.end <= at) return;
    ranges_.emplace(at, range);
    range.end = at;
}

int Svm::set(std::uint64_t begin, std::uint64_t end, std::span<const abi::SvmAttribute> attributes) {
    used_.store(true, std::memory_order_relaxed);
    split(begin);
    split(end);
    for (std::uint64_t at = begin; at < end;) {
        auto range = ranges_.lower_bound(at);
        if (range == ranges_.end() || range->first > at) {
            const std::uint64_t next = range == ranges_.end() ? end : std::min(end, range->first);
            range = ranges_.emplace(at, Range{next, {}}).first;
        }
        // Leaves the access of a GPU as it is if it does not change: a kernel may be using it. The runtime sets the
        // same attributes again for each copy from or to the program's pages.
        const bool mapped = std::exchange(range->second.mapped, false);
        const Attributes before = range->second.attributes;
        for (const auto& attribute : attributes) apply(range->second.attributes, attribute);
        if (const int error = map(range->first, range->second, mapped ? &before : nullptr)) return error;
        range->second.mapped = true;
        prefetch(range->first, range->second);
        at = range->second.end;
    }
    return 0;
}

std::uint32_t Svm::Attributes::granted(unsigned gpu) const {
    if (!access.count(gpu) && !in_place.count(gpu)) return 0;
    return kRead | (flags & abi::kSvmGpuReadOnly ? 0u : kWrite) | (flags & abi::kSvmGpuExecutable ? kExecute : 0u);
}

/// Gives each GPU exactly the access that the attributes grant. `before`: what is mapped, or nullptr if that is
/// unknown.
int Svm::map(std::uint64_t begin, const Range& range, const Attributes* before) {
    for (const Gpu& gpu : topology_.gpus) {
        const std::uint32_t access = range.attributes.granted(gpu.index);
        if (before && access == before->granted(gpu.index)) continue;
        AddressSpace& space = *spaces_[gpu.index];
        if (access == 0) {
            space.unmap(begin, range.end, abi::kSvmAllocation);
            continue;
        }
        // Fails if KFD has an allocation there: that is device memory, not the program's pages.
        if (!space.replace({begin, range.end, reinterpret_cast<std::byte*>(begin), access, abi::kSvmAllocation, true}))
            return EFAULT;
    }
    return 0;
}

/// Tells event files that the pages move to where the program prefetches them (svm_range_trigger_migration): from one
/// GPU to another through system memory. All GPUs are of one hive, so each can access pages on another.
void Svm::prefetch(std::uint64_t begin, Range& range) {
    const auto [prefetch, preferred] = std::pair{range.attributes.prefetch, range.attributes.preferred};
    if (prefetch == abi::kSvmUndefined || prefetch == range.location) return;
    const SmiEvents::Migration move{begin, range.end, range.location, prefetch, prefetch, preferred};
    if (move.from != abi::kSvmSystem) {
        SmiEvents::Migration back = move;
        back.to = abi::kSvmSystem;
        smi_.prefetched(move.from, back);
    }
    if (move.to != abi::kSvmSystem) {
        SmiEvents::Migration there = move;
        there.from = abi::kSvmSystem;
        smi_.prefetched(move.to, there);
    }
    range.location = prefetch;
}

int Svm::get(std::uint64_t begin, std::uint64_t end, std::span<abi::SvmAttribute> attributes) const {
    std::vector<const Attributes*> found;
    const Attributes none;
    auto range = ranges_.upper_bound(begin);
    if (range != ranges_.begin() && std::prev(range)->second.end > begin) --range;
    for (; range != ranges_.end() && range->first < end; ++range) found.push_back(&range->second.attributes);
    if (found.empty()) found.push_back(&none);

    // A location that differs between ranges is undefined. Access and flags are those common to all ranges.
    const auto place = [&](std::uint32_t Attributes::* which) -> std::uint32_t {
        for (const auto* each : found)
            if (each->*which != found.front()->*which) return abi::kSvmUndefined;
        return found.front()->*which;
    };
    const auto all_have = [&](std::set<unsigned> Attributes::* which, unsigned gpu) {
        return std::all_of(found.begin(), found.end(), [&](const auto* each) { return (each->*which).count(gpu); });
    };
    std::uint32_t flags_and = ~0u, flags_or = 0, granularity = found.front()->granularity;
    for (const auto* each : found) {
        flags_and &= each->flags;
        flags_or |= each->flags;
        granularity = std::min(granularity, each->granularity);
    }
    for (auto& [type, value] : attributes) switch (type) {
            case abi::kSvmPreferredLocation:
                value = place(&Attributes::preferred);
                break;
            case abi::kSvmPrefetchLocation:
                value = place(&Attributes::prefetch);
                break;
            case abi::kSvmAccess: {
                const Gpu* gpu = topology_.find(value);
                if (!gpu) return EINVAL;
                type = all_have(&Attributes::access, gpu->index)     ? abi::kSvmAccess
                       : all_have(&Attributes::in_place, gpu->index) ? abi::kSvmAccessInPlace
                                                                     : abi::kSvmNoAccess;
                break;
            }
            case abi::kSvmSetFlags:
                value = flags_and;
                break;
            case abi::kSvmClearFlags:
                value = ~flags_or;
                break;
            case abi::kSvmGranularity:
                value = granularity;
                break;
            default:
                return EINVAL;
        }
    return 0;
}

void Svm::forget(std::uint64_t begin, std::uint64_t end) {
    if (!used_.load(std::memory_order_relaxed) || Inside::here()) return;
    const Inside inside;
    std::lock_guard lock{mutex_};
    split(begin);
    split(end);
    const auto first = ranges_.lower_bound(begin), last = ranges_.lower_bound(end);
    if (first == last) return;
    for (auto range = first; range != last; ++range)
        for (const Gpu& gpu : topology_.gpus)
            if (range->second.mapped && range->second.attributes.granted(gpu.index))
                smi_.unmapped(gpu.gpu_id, range->first, range->second.end);
    for (AddressSpace* space : spaces_) space->unmap(begin, end, abi::kSvmAllocation);
    ranges_.erase(first, last);
}

}  // namespace kfdemu
