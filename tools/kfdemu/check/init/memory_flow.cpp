#include "tools/kfdemu/check/init/memory_flow.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "tools/kfdemu/check/flow/register_use.hpp"

namespace kfdemu::check {
namespace {

using namespace isa;

/// LDS that M0 addresses.
bool uses_m0(const Inst& inst, const Row& row) {
    return row.is(kReadsM0) || (inst.has(kLds) && inst.format != Format::Ds);
}

/// A loaded byte or half as it arrives in its register; the other half keeps what it had.
Undefined arrived(const Row& row, unsigned bytes, Undefined loaded, Undefined old) {
    if (bytes >= 4) return loaded;
    std::uint64_t bits = loaded.bits & low_bits(8 * bytes);
    if (is_signed(row.shape.element)) bits = static_cast<std::uint64_t>(sign_extended(bits, 8 * bytes));
    if (!is_half(row.shape.element)) return {static_cast<std::uint32_t>(bits), loaded.origin};
    const unsigned shift = is_high_half(row.shape.element) ? 16 : 0;
    const auto now = static_cast<std::uint32_t>((bits & 0xffff) << shift);
    return {(old.bits & ~(0xffffu << shift)) | now, now != 0 ? loaded.origin : old.origin};
}

template <class Body>
void for_each_lane(std::uint64_t lanes, Body&& body) {
    for (; lanes != 0; lanes &= lanes - 1) body(static_cast<unsigned>(std::countr_zero(lanes)));
}

}  // namespace

MemoryFlow::MemoryFlow(const Flow& flow) : flow_{flow}, inst_{flow.inst}, row_{flow.row()} {}

void MemoryFlow::run() {
    const bool scalar = inst_.format == Format::Smem;
    if (!scalar && flow_.wave.exec() == 0) return;
    if (inst_.format == Format::Ds && (inst_.has(kLds) || row_.is(kGws))) return;
    addresses();
    if (row_.is(kPermutes)) return move_between_lanes();
    if (!accesses_memory(inst_)) return unknown_access();
    if (inst_.has(kLds) && inst_.format != Format::Ds) return flow_.shared.lds.define_all();
    Segments segments;
    find_accesses(flow_.wave, inst_, segments);
    const bool writes = row_.is(kStore), updates = row_.is(kAtomic);
    std::uint64_t accessed = 0;
    for (unsigned n = 0; n < segments.count; ++n) accessed |= segments.access[n].lanes;
    // An atomic's data may be in its destination.
    if (!writes) define_results(flow_.wave.exec() & ~(updates ? accessed : 0));
    for (unsigned n = 0; n < segments.count; ++n) {
        const unsigned number = inst_.format == Format::Ds ? n : 0;
        const bool cut = inst_.format == Format::Mubuf && n == 1;  // the last dwords before the buffer's end
        if (cut && !writes && !updates)
            fresh_loads(segments.access[n], &segments.access[0]);
        else if (cut)
            continue;
        else if (updates)
            atomic(segments.access[n], number);
        else if (writes)
            stores(segments.access[n], number);
        else
            loads(segments.access[n], number);
    }
}

/// Instructions whose addresses are not known here: what they may write is taken to be defined.
void MemoryFlow::unknown_access() {
    define_results(flow_.wave.exec());
    const bool writes = row_.is(kStore) || row_.is(kAtomic) || inst_.has(kLds);
    if (inst_.format == Format::Ds || inst_.has(kLds)) {
        if (writes) flow_.shared.lds.define_all();
    } else if (writes) {
        flow_.own.scratch.define_all();
    }
}

void MemoryFlow::address_part(Operand operand, unsigned count) {
    if (operand == kNoOperand) return;
    const std::uint64_t lanes = operand < kConstants ? ~std::uint64_t{0} : flow_.wave.exec();
    for (unsigned k = 0; k < count; ++k) {
        const auto dword = static_cast<Operand>(operand + k);
        const std::uint64_t undefined = flow_.own.registers.undefined_lanes(dword) & lanes;
        if (undefined == 0) continue;
        const bool scalar = operand < kConstants;
        const unsigned lane = scalar ? 0 : static_cast<unsigned>(std::countr_zero(undefined));
        flow_.report(kAddress, "an address depends on", flow_.read(dword, lane).origin, scalar ? kWholeWave : lane);
        flow_.own.registers.define(dword, undefined);
    }
}

void MemoryFlow::addresses() {
    if (uses_m0(inst_, row_)) address_part(kM0, 1);
    switch (inst_.format) {
        case Format::Smem:
            address_part(inst_.src[0], dwords(row_.src[0]));
            return address_part(inst_.src[1], 1);
        case Format::Ds:
            if (row_.src[0] != Type::none && !row_.is(kPattern)) address_part(inst_.src[0], 1);
            return;
        case Format::Flat: {
            const bool scratch = inst_.segment == Segment::Scratch, based = inst_.src[2] != kNoOperand;
            if (scratch) address_part(inst_.sdst, 2);
            address_part(inst_.src[0], scratch || based ? 1 : 2);
            return address_part(inst_.src[2], scratch ? 1 : 2);
        }
        default:
            if (row_.src[1] == Type::none && row_.dst == Type::none && !inst_.has(kLds)) return;  // cache control
            address_part(inst_.src[0], unsigned{inst_.has(kIdxen)} + unsigned{inst_.has(kOffen)});
            address_part(inst_.src[2], 4);
            return address_part(inst_.sdst, 1);
    }
}

void MemoryFlow::define_results(std::uint64_t lanes) {
    const RegisterUse to = loaded_registers(inst_);
    const bool keeps = is_half(row_.shape.element), high = is_high_half(row_.shape.element);
    for (unsigned k = 0; k < to.count; ++k) {
        const auto dword = static_cast<Operand>(to.first + k);
        if (!keeps || to.first < kConstants) {
            flow_.own.registers.define(dword, lanes);
            continue;
        }
        for_each_lane(flow_.own.registers.undefined_lanes(dword) & lanes, [&](unsigned l) {
            Undefined what = flow_.own.registers.at(dword, l);
            what.bits &= high ? 0xffff : 0xffff0000;
            flow_.own.registers.set(dword, l, what);
        });
    }
}

void MemoryFlow::move_between_lanes() {
    ShadowWave& shadow = flow_.shared.wave;
    const bool swizzle = row_.is(kPattern);
    const Operand data = inst_.src[swizzle ? 0 : 1];
    shadow.prepare(flow_.wave);
    Inst move = inst_;
    move.src[swizzle ? 0 : 1] = ShadowWave::operand(0);
    if (!swizzle) {
        move.src[0] = ShadowWave::operand(1);
        std::copy_n(const_cast<Wave&>(flow_.wave).lanes(inst_.src[0]), shadow.width(), shadow.lanes(1));
    }
    Undefined moved[kMostLanes];
    for (unsigned part = 0; part < 2; ++part) {  // bits, then origins
        for (unsigned l = 0; l < shadow.width(); ++l) {
            const Undefined u = flow_.read(data, l);
            shadow.lanes(0)[l] = part == 0 ? u.bits : u.origin;
        }
        move.dst = ShadowWave::operand(2);
        shadow.run(move, flow_.op());
        for (unsigned l = 0; l < shadow.width(); ++l)
            (part == 0 ? moved[l].bits : moved[l].origin) = shadow.lanes(2)[l];
    }
    for_each_lane(flow_.wave.exec(), [&](unsigned l) { flow_.own.registers.set(inst_.dst, l, moved[l]); });
}

DefinedMemory* MemoryFlow::memory_of(const Access& access) {
    if (access.place == Place::Memory) return nullptr;
    if (access.place == Place::Lds) return &flow_.shared.lds;
    if (inst_.format == Format::Flat && inst_.segment == Segment::Flat) address_part(inst_.sdst, 2);
    return &flow_.own.scratch;
}
unsigned MemoryFlow::lane_in(const Access& access, unsigned lane) const {
    return access.place == Place::Scratch ? lane : 0;
}

Undefined MemoryFlow::never_written(const Access& access, unsigned lane, unsigned dword, Undefined found) {
    if (found.bits == 0 || found.origin != 0) return found;
    const Source source = access.place == Place::Lds ? Source::Lds : Source::Scratch;
    found.origin = flow_.shared.origins.add({source, access.at[lane] + 4 * dword, inst_});
    return found;
}

/// From LDS.
void MemoryFlow::transposed_loads(const Access& access) {
    const unsigned width = transposed_bits(row_.shape.element), bits = 8 * access.bytes;
    Undefined found[kMostLanes][4];
    for_each_lane(access.lanes, [&](unsigned l) {
        flow_.shared.lds.load(0, access.at[l], access.bytes, found[l]);
        for (unsigned k = 0; k < bits / 32; ++k) found[l][k] = never_written(access, l, k, found[l][k]);
    });
    for_each_lane(access.lanes, [&](unsigned l) {
        Undefined result[4];
        for (unsigned bit = 0; bit < bits; ++bit) {
            const Transposed source = transposed(bits / width, l, bit / width);
            const unsigned from = source.from_number * width + bit % width;
            const Undefined& u = found[source.from_lane][from / 32];
            if ((u.bits >> from % 32 & 1) == 0) continue;
            result[bit / 32].bits |= 1u << bit % 32;
            result[bit / 32].origin = u.origin;
        }
        for (unsigned k = 0; k < bits / 32; ++k)
            flow_.own.registers.set(static_cast<Operand>(inst_.dst + k), l, result[k]);
    });
}

void MemoryFlow::loads(const Access& access, unsigned number) {
    if (access.place == Place::Memory) return fresh_loads(access, nullptr);
    DefinedMemory* memory = memory_of(access);
    if (!memory->any()) return;
    if (transposed_bits(row_.shape.element) != 0) return transposed_loads(access);
    const unsigned count = (access.bytes + 3) / 4;
    for_each_lane(access.lanes, [&](unsigned l) {
        Undefined found[4];
        memory->load(lane_in(access, l), access.at[l], access.bytes, found);
        for (unsigned k = 0; k < count; ++k) {
            if (found[k].bits == 0) continue;
            const auto to = static_cast<Operand>(inst_.dst + number * count + k);
            const Undefined old = flow_.own.registers.at(to, l);
            flow_.own.registers.set(to, l, arrived(row_, access.bytes, never_written(access, l, k, found[k]), old));
        }
    });
}

/// At most a dword of memory, whose undefined bits are those of the dwords that hold it.
Undefined MemoryFlow::fresh(std::uint64_t va, unsigned bytes) {
    FreshMemory& memory = flow_.shared.memory;
    Undefined found;
    for (unsigned n = 0; n < bytes;) {
        const unsigned count = std::min(bytes - n, 4 - static_cast<unsigned>((va + n) % 4));
        if (memory.at(*flow_.wave.memory, va + n, bytes < 4))
            found.bits |= static_cast<std::uint32_t>(low_bits(8 * count) << 8 * n);
        n += count;
    }
    if (found.bits != 0) found.origin = flow_.shared.origins.add({Source::Memory, va, inst_});
    return found;
}

/// `whole`: of which the access is a part; null: itself.
void MemoryFlow::fresh_loads(const Access& access, const Access* whole) {
    if (!flow_.scene.session.fresh_memory) return;
    for_each_lane(access.lanes, [&](unsigned l) {
        for (unsigned k = 0; k < access.bytes; k += 4) {
            if (access.at[l] % 4 == 0 && !flow_.shared.memory.at(*flow_.wave.memory, access.at[l] + k)) continue;
            const Undefined found = fresh(access.at[l] + k, std::min(access.bytes - k, 4u));
            if (found.bits == 0) continue;
            const std::uint64_t before = whole == nullptr ? 0 : access.at[l] - whole->at[l];
            const auto to = static_cast<Operand>(inst_.dst + (before + k) / 4);
            flow_.own.registers.set(to, l, arrived(row_, access.bytes, found, flow_.own.registers.at(to, l)));
        }
    });
}

Operand MemoryFlow::data_of(unsigned number) const {
    if (inst_.format == Format::Smem) return inst_.dst;
    return inst_.format == Format::Ds ? inst_.src[1 + number] : inst_.src[1];
}

void MemoryFlow::stores(const Access& access, unsigned number) {
    const Operand data = data_of(number);
    const unsigned count = (access.bytes + 3) / 4, shift = is_high_half(row_.shape.element) ? 16 : 0;
    DefinedMemory* memory = memory_of(access);
    if (memory == nullptr) return check_stored(access, data, count, shift);
    std::uint64_t undefined = 0;
    for (unsigned k = 0; k < count; ++k)
        undefined |= flow_.own.registers.undefined_lanes(static_cast<Operand>(data + k));
    if (!memory->any() && (undefined & access.lanes) == 0) return;
    for_each_lane(access.lanes, [&](unsigned l) {
        Undefined stored[4];
        for (unsigned k = 0; k < count && (undefined >> l & 1) != 0; ++k) {
            stored[k] = flow_.read(static_cast<Operand>(data + k), l);
            stored[k].bits >>= shift;
        }
        memory->store(lane_in(access, l), access.at[l], access.bytes, stored);
    });
}

/// GCC's stack is in memory, s[16:17] is its end, and a function's entry saves registers from there on, whether or not
/// they were written. Source: GCC's gcn.h, gcn_expand_prologue.
bool MemoryFlow::is_above_gcc_stack(std::uint64_t va) const {
    constexpr std::uint64_t kMostSavedBytes = 64 << 10;
    return va - flow_.wave.s64(static_cast<Operand>(16)) < kMostSavedBytes;
}

void MemoryFlow::check_stored(const Access& access, Operand data, unsigned count, unsigned shift) {
    const auto places = static_cast<std::uint32_t>(low_bits(8 * std::min(access.bytes, 4u)) << shift);
    std::uint64_t lanes = 0;
    for (unsigned k = 0; k < count; ++k)
        lanes |= flow_.own.registers.undefined_lanes(static_cast<Operand>(data + k)) & access.lanes;
    for_each_lane(lanes, [&](unsigned l) {
        bool computed = false, whole = true;
        Origin origin = 0;
        for (unsigned k = 0; k < count; ++k) {
            const Undefined u = flow_.read(static_cast<Operand>(data + k), access.scalar ? 0 : l);
            const std::uint32_t bits = u.bits & places;
            if (bits != 0 && (origin == 0 || (u.origin & kComputed) != 0)) origin = u.origin;
            computed |= bits != 0 && (u.origin & kComputed) != 0;
            // Copies of memory that nothing wrote are reported at their use.
            const bool copied = bits != 0 && flow_.shared.origins.at(u.origin).source == Source::Memory;
            whole &= bits == places && !copied;
        }
        if (!computed && !whole) return;
        flow_.report(kStored, computed ? "what is stored was computed from" : "what is stored is", origin,
                     access.scalar ? kWholeWave : l, !computed && is_above_gcc_stack(access.at[l]));
        for (unsigned k = 0; k < count; ++k)
            flow_.own.registers.define(static_cast<Operand>(data + k), std::uint64_t{1} << l);
    });
}

void MemoryFlow::memory_atomic(const Access& access, Operand data, unsigned count) {
    check_stored(access, data, count, 0);
    define_results(access.lanes);
    if (!flow_.scene.session.fresh_memory || row_.is(kExchange)) return;
    for_each_lane(access.lanes, [&](unsigned l) {
        const Undefined old = fresh(access.at[l], 4);
        if (old.bits != 0)
            flow_.report(kStored, "what is stored was computed from", old.origin, access.scalar ? kWholeWave : l);
    });
}

/// The old value is returned; the new one is undefined if anything that it depends on is.
void MemoryFlow::atomic(const Access& access, unsigned number) {
    const bool wide = access.bytes == 8;
    const Operand data = data_of(number);
    const Type type = inst_.format == Format::Ds ? row_.src[1] : inst_.format == Format::Smem ? row_.dst : row_.src[1];
    const unsigned count = dwords(type);
    DefinedMemory* memory = memory_of(access);
    if (memory == nullptr) return memory_atomic(access, data, count);
    const RegisterUse to = loaded_registers(inst_);
    const bool second = inst_.format == Format::Ds && row_.src[2] != Type::none && !row_.is(kTwoOffsets);
    const bool exchanges = row_.is(kExchange);
    for_each_lane(access.lanes, [&](unsigned l) {
        Undefined old[4] = {}, all{}, now[4] = {};
        memory->load(lane_in(access, l), access.at[l], access.bytes, old);
        for (unsigned k = 0; k < (wide ? 2u : 1u); ++k) {
            old[k] = never_written(access, l, k, old[k]);
            if (old[k].bits != 0 && !exchanges) all = old[k];
        }
        const auto take = [&](Operand operand, unsigned dwords_of) {
            for (unsigned k = 0; k < dwords_of; ++k) {
                const Undefined u = flow_.read(static_cast<Operand>(operand + k), l);
                if (u.bits != 0) all = u;
                if (exchanges && k < 4) now[k] = u;
            }
        };
        take(data, count);
        if (second) take(inst_.src[2], dwords(row_.src[2]));
        if (!exchanges && all.bits != 0) now[0] = now[1] = {~0u, all.origin | kComputed};
        memory->store(lane_in(access, l), access.at[l], access.bytes, now);
        for (unsigned k = 0; k < to.count && k < (wide ? 2u : 1u); ++k)
            flow_.own.registers.set(static_cast<Operand>(to.first + number * (wide ? 2 : 1) + k), l, old[k]);
    });
}

}  // namespace kfdemu::check
