#include "tools/kfdemu/check/race/shadow_conflicts.hpp"

#include <set>

namespace kfdemu::check {
namespace {

using Cell = MemoryShadow::Cell;
using Kind = MemoryShadow::Kind;
using Record = MemoryShadow::Record;

bool is_plain(const Record& record) { return record.is_set() && !record.is(Kind::Atomic); }
bool looks(const Cell& cell) {
    const auto atomic = [](const Record& record) { return record.is_set() && record.is(Kind::Atomic); };
    return atomic(cell.write) || atomic(cell.read[0]) || atomic(cell.read[1]);
}
bool communicate(const Cell& a, const Cell& b) {
    return (a.write.is_set() && looks(b)) || (b.write.is_set() && looks(a));
}

bool store_the_same(const Cell& a, const Cell& b) {
    return ((a.value ^ b.value) & MemoryShadow::bits_of(a.write.bytes & b.write.bytes)) == 0;
}

/// Calls found(first, second, first_writes, second_writes) for each pair that conflicts.
template <class Found>
void compare(const Cell& a, const Cell& b, Found&& found) {
    if (is_plain(a.write) && is_plain(b.write) && a.write.overlaps(b.write) && !store_the_same(a, b))
        found(a.write, b.write, true, true);
    for (const Record& read : b.read)
        if (is_plain(a.write) && is_plain(read) && a.write.overlaps(read)) found(a.write, read, true, false);
    for (const Record& read : a.read)
        if (is_plain(b.write) && is_plain(read) && b.write.overlaps(read)) found(read, b.write, false, true);
}

/// The bytes of a dword that are in the box.
unsigned bytes_in(const Box& box, std::uint64_t va) {
    unsigned bytes = 0;
    for (unsigned n = 0; n < 4; ++n) bytes |= static_cast<unsigned>(box.contains(va + n)) << n;
    return bytes;
}

}  // namespace

namespace {

/// Calls visit(va, a, b) for each dword of pages that both have, until it returns false.
template <class Visit>
void each_common(MemoryShadow& first, MemoryShadow& second, Visit&& visit) {
    // Through the smaller one: many short kernels may run beside one that has accessed gigabytes.
    const bool swapped = second.bytes() < first.bytes();
    MemoryShadow &smaller = swapped ? second : first, &larger = swapped ? first : second;
    for (const auto& [va, page] : smaller.pages()) {
        const MemoryShadow::Page* other = larger.find(va);
        if (other == nullptr) continue;
        for (std::uint64_t at = va; at < va + MemoryShadow::Page::kBytes; at += 4)
            if (!visit(at, (swapped ? other : page)->cell(at), (swapped ? page : other)->cell(at))) return;
    }
}

}  // namespace

std::vector<ShadowConflict> conflicts(MemoryShadow& first, MemoryShadow& second) {
    std::vector<ShadowConflict> result;
    std::set<std::uint16_t> sites;
    each_common(first, second, [&](std::uint64_t at, const Cell& a, const Cell& b) {
        if (communicate(a, b)) return result.clear(), false;
        compare(a, b, [&](const Record& from, const Record& to, bool from_writes, bool to_writes) {
            if (sites.insert(to.site).second) result.push_back({from, to, from_writes, to_writes, at});
        });
        return true;
    });
    return result;
}

namespace {

/// Whether the kernel may have written what it reads before it reads it.
bool reads_own(const Record& write, const Record& read) {
    const bool same_wave = write.group == read.group && write.wave == read.wave;
    return write.overlaps(read) && !(same_wave && read.number < write.number);
}

}  // namespace

std::vector<ShadowConflict> reads_of_writes(MemoryShadow& first, MemoryShadow& second, const Matters& matters) {
    std::vector<ShadowConflict> result;
    std::set<std::uint16_t> sites;
    each_common(first, second, [&](std::uint64_t at, const Cell& a, const Cell& b) {
        if (!a.write.is_set()) return true;
        if (looks(b)) return result.clear(), false;
        for (const Record& read : b.read)
            if (is_plain(read) && a.write.overlaps(read) && !reads_own(b.write, read) && !sites.contains(read.site) &&
                matters(at) && sites.insert(read.site).second)
                result.push_back({a.write, read, true, false, at});
        return true;
    });
    return result;
}

std::vector<BoxConflict> conflicts(MemoryShadow& shadow, const Box& box, bool box_is_written, const Matters& matters) {
    std::vector<BoxConflict> result;
    std::set<std::uint16_t> sites;
    for (const auto& [va, page] : shadow.pages()) {
        if (va + MemoryShadow::Page::kBytes <= box.address || va >= box.end()) continue;
        for (std::uint64_t at = va; at < va + MemoryShadow::Page::kBytes; at += 4) {
            const Cell& cell = page->cell(at);
            const auto test = [&](const Record& record, bool writes) {
                if (!is_plain(record) || (record.bytes & bytes_in(box, at)) == 0) return;
                if (!sites.contains(record.site) && matters(at) && sites.insert(record.site).second)
                    result.push_back({record, writes, at});
            };
            test(cell.write, true);
            if (!box_is_written) continue;
            for (const Record& read : cell.read) test(read, false);
        }
    }
    return result;
}

}  // namespace kfdemu::check
