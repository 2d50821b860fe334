#include "hsadrv/memory/allocation_book.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <string_view>

#include "hsadrv/base/text.hpp"

namespace hsadrv {

namespace detail {

namespace {

std::int64_t distance(const AllocationRecord& record, std::uint64_t address) noexcept {
    if (address < record.begin) return -static_cast<std::int64_t>(record.begin - address);
    const std::uint64_t into = address - record.begin;
    return into < record.size_bytes ? 0 : static_cast<std::int64_t>(into - record.size_bytes + 1);
}

std::uint64_t magnitude(std::int64_t distance) noexcept {
    return distance < 0 ? std::uint64_t{0} - static_cast<std::uint64_t>(distance)
                        : static_cast<std::uint64_t>(distance);
}

struct Noted {
    std::mutex mutex;
    AllocationBook book;
};

// Never destroyed: memory may be freed, and the report requested, at exit.
Noted& noted() {
    static auto* noted = new Noted;
    return *noted;
}

// Runs when the library is unloaded, after the program's exit handlers and static destructors, so memory that those
// free is not reported as leaked.
[[gnu::destructor]] void report_at_end() {
    const char* value = ::secure_getenv("HSADRV_LEAK_REPORT");
    if (value == nullptr || std::string_view(value) != "1") return;
    try {
        std::fputs(leak_report().c_str(), stderr);
    } catch (...) {  // not enough memory to report
    }
}

std::string place_text(const std::source_location& where) {
    return std::string(where.file_name()) + ":" + std::to_string(where.line());
}

}  // namespace

std::optional<NearestAllocation> AllocationBook::nearest(std::uint64_t address) const {
    std::optional<NearestAllocation> best;
    const auto consider = [&](const AllocationRecord& record) {
        const std::int64_t away = distance(record, address);
        if (magnitude(away) > near_bytes) return;
        if (best && magnitude(best->distance_bytes) <= magnitude(away)) return;
        best = {record, away};
    };
    // Live ranges do not overlap, so only the neighbours of the address can be nearest.
    const auto above = live_.upper_bound(address);
    if (above != live_.begin()) consider(std::prev(above)->second);
    if (above != live_.end()) consider(above->second);
    const std::size_t kept = std::min(freed_count_, remembered);
    for (std::size_t i = 1; i <= kept; ++i) consider(freed_[(freed_count_ - i) % remembered]);
    return best;
}

namespace allocations {

void enter(const void* data, std::size_t size_bytes, std::string label, const std::source_location& where) {
    Noted& known = noted();
    const std::lock_guard held(known.mutex);
    known.book.enter({reinterpret_cast<std::uintptr_t>(data), size_bytes, std::move(label), where});
}

bool is_live(const void* data) noexcept {
    Noted& known = noted();
    const std::lock_guard held(known.mutex);
    return known.book.is_live(reinterpret_cast<std::uintptr_t>(data));
}

void leave(const void* data, bool forget) noexcept {
    Noted& known = noted();
    const std::lock_guard held(known.mutex);
    known.book.leave(reinterpret_cast<std::uintptr_t>(data), forget);
}

std::optional<NearestAllocation> nearest(std::uint64_t address) {
    Noted& known = noted();
    const std::lock_guard held(known.mutex);
    return known.book.nearest(address);
}

}  // namespace allocations
}  // namespace detail

std::string NearestAllocation::text() const {
    const std::uint64_t away = detail::magnitude(distance_bytes);
    const std::string far = std::to_string(away) + " B ";
    return (distance_bytes == 0  ? "within "
            : distance_bytes < 0 ? far + "before the beginning of "
                                 : far + "past the end of ") +
           std::to_string(record.size_bytes) + " B at " + detail::hex(record.begin) + " (" + record.label +
           ", allocated at " + detail::place_text(record.where) + ")" + (record.freed ? ", which were freed" : "");
}

std::vector<AllocationRecord> live_allocations() {
    detail::Noted& known = detail::noted();
    const std::lock_guard held(known.mutex);
    return known.book.live();
}

std::string leak_report() {
    struct Site {
        std::size_t bytes = 0, count = 0;
        std::string label;
    };
    std::map<std::string, Site> sites;
    std::size_t bytes = 0, count = 0;
    for (const AllocationRecord& record : live_allocations()) {
        Site& site = sites[detail::place_text(record.where) + " in " + record.where.function_name()];
        site.bytes += record.size_bytes;
        site.label = record.label;
        ++site.count;
        bytes += record.size_bytes;
        ++count;
    }
    if (count == 0) return {};
    std::vector<std::pair<std::string, Site>> sorted(sites.begin(), sites.end());
    std::sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) {
        return a.second.bytes != b.second.bytes ? a.second.bytes > b.second.bytes : a.first < b.first;
    });
    std::string text =
        "hsadrv: " + std::to_string(count) + " allocations of " + std::to_string(bytes) + " B were not freed:\n";
    for (const auto& [place, site] : sorted)
        text += "  " + std::to_string(site.bytes) + " B in " + std::to_string(site.count) + " (" + site.label +
                ") at " + place + "\n";
    return text;
}

}  // namespace hsadrv
