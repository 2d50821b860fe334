#include "tools/kfdemu/check/flow/access.hpp"

#include <algorithm>
#include <vector>

#include "tools/kfdemu/isa/memory/buffer_resource.hpp"

namespace kfdemu::check {
namespace {

using namespace isa;

/// How an instruction accesses memory.
struct Shape {
    std::uint8_t bytes = 0;  ///< of one lane's access; 0: accesses nothing that is checked
    bool reads = false, writes = false, two_offsets = false;
    std::uint16_t stride = 0;  ///< of OFFSET0 and OFFSET1
};

/// The registers that are as wide as what is accessed, or as both of them.
unsigned dwords_of(const Row& row) {
    if (row.format == Format::Smem) return dwords(row.dst);
    if (row.is(kToLds)) return 1;
    const Type data = row.src[1], result = row.dst;
    if (row.format != Format::Ds) return dwords(result != Type::none ? result : data);
    return data != Type::none ? dwords(data) : dwords(result) / (row.is(kTwoOffsets) ? 2 : 1);
}

Shape shape_of(const Row& row) {
    const Element element = row.shape.element;
    if (element == Element::nothing || is_converted(element)) return {};
    const bool halved = row.is(kPair) && row.format == Format::Smem;  // its operand and result are in one place
    Shape shape;
    const unsigned narrow = narrow_bytes(element);
    shape.bytes = static_cast<std::uint8_t>(narrow != 0 ? narrow : dwords_of(row) * 4 / (halved ? 2 : 1));
    shape.reads = !row.is(kStore), shape.writes = row.is(kStore) || row.is(kAtomic);
    shape.two_offsets = row.is(kTwoOffsets);
    if (shape.two_offsets) shape.stride = static_cast<std::uint16_t>(shape.bytes * (row.is(kStride64) ? 64 : 1));
    return shape;
}

const Shape& shape_of(const Inst& inst) {
    static const std::vector<Shape> shapes = [] {
        std::vector<Shape> all;
        for (const Row& row : rows()) all.push_back(shape_of(row));
        return all;
    }();
    return shapes[inst.row];
}

Access& add(Segments& out, const Shape& shape, Place place, std::uint64_t lanes) {
    Access& access = out.access[out.count++];
    access.lanes = lanes, access.bytes = shape.bytes, access.place = place;
    access.scalar = false, access.reads = shape.reads, access.writes = shape.writes;
    return access;
}

const std::uint32_t* registers(const Wave& wave, Operand operand) { return const_cast<Wave&>(wave).lanes(operand); }

/// Relative to M0: a counter of the wave, or a dword for each lane.
bool relative_to_m0(const Wave& wave, const Inst& inst, const Shape& shape, Segments& out) {
    const bool counts = rows()[inst.row].is(kCountsLanes), by_lane = rows()[inst.row].is(kByLane);
    if (!counts && !by_lane) return false;
    Access& access = add(out, shape, Place::Lds, wave.exec());
    const std::uint32_t base = (wave.s[kM0] & 0xffff) + (static_cast<std::uint32_t>(inst.offset) & 0xffff);
    for (unsigned l = 0; l < kMostLanes; ++l) access.at[l] = base + (by_lane ? l * 4 : 0);
    return true;
}

void data_share(const Wave& wave, const Inst& inst, const Shape& shape, Segments& out) {
    if (relative_to_m0(wave, inst, shape, out)) return;
    const std::uint32_t* address = registers(wave, inst.src[0]);
    const auto offset = static_cast<std::uint32_t>(inst.offset);
    const auto with = [&](std::uint32_t added) {
        Access& access = add(out, shape, Place::Lds, wave.exec());
        for (unsigned l = 0; l < kMostLanes; ++l) access.at[l] = address[l] + added;  // wraps, as the hardware's does
    };
    if (!shape.two_offsets) return with(offset & 0xffff);
    with((offset & 0xff) * shape.stride);
    with((offset >> 8 & 0xff) * shape.stride);
}

/// Offsets in the lane's private segment, which `base` moves as a whole.
void to_scratch(const Wave& wave, std::uint64_t base, Access& access) {
    const auto moved = static_cast<std::uint32_t>((base - wave.scratch_va) / wave.width);
    for (unsigned l = 0; l < kMostLanes; ++l) access.at[l] = static_cast<std::uint32_t>(access.at[l]) + moved;
}

void scratch(const Wave& wave, const Inst& inst, const Shape& shape, Segments& out) {
    Access& access = add(out, shape, Place::Scratch, wave.exec());
    const auto offset = static_cast<std::uint32_t>(inst.offset);
    const std::uint32_t base = (inst.src[2] != kNoOperand ? wave.s[inst.src[2]] : 0) + offset;
    const std::uint32_t* vector = inst.src[0] != kNoOperand ? registers(wave, inst.src[0]) : nullptr;
    for (unsigned l = 0; l < kMostLanes; ++l) access.at[l] = base + (vector != nullptr ? vector[l] : 0);
    to_scratch(wave, wave.s64(wave.flat_scratch), access);
}

void flat(const Wave& wave, const Inst& inst, const Shape& shape, Segments& out) {
    if (inst.segment == Segment::Scratch) return scratch(wave, inst, shape, out);
    Access& memory = add(out, shape, Place::Memory, wave.exec());
    const auto offset = static_cast<std::uint64_t>(std::int64_t{inst.offset});
    if (rows()[inst.row].is(kByLane)) {
        const std::uint64_t base = (inst.src[2] != kNoOperand ? wave.s64(inst.src[2]) : 0) + offset;
        for (unsigned l = 0; l < kMostLanes; ++l) memory.at[l] = base + 4 * l;
        return;
    }
    const std::uint32_t *low = registers(wave, inst.src[0]), *high = low + wave.width;
    if (inst.src[2] != kNoOperand) {
        const std::uint64_t base = wave.s64(inst.src[2]) + offset;
        for (unsigned l = 0; l < kMostLanes; ++l) memory.at[l] = base + low[l];
    } else {
        for (unsigned l = 0; l < kMostLanes; ++l) memory.at[l] = (low[l] | std::uint64_t{high[l]} << 32) + offset;
    }
    if (inst.segment == Segment::Global) return;
    std::uint64_t lds = 0, own = 0;
    for (unsigned l = 0; l < kMostLanes; ++l) {
        lds |= std::uint64_t{(memory.at[l] ^ wave.shared_base) >> 32 == 0} << l;
        own |= std::uint64_t{(memory.at[l] ^ wave.private_base) >> 32 == 0} << l;
    }
    const auto move_to = [&](Place place, std::uint64_t lanes) -> Access& {
        Access& part = add(out, shape, place, lanes & wave.exec());
        for (unsigned l = 0; l < kMostLanes; ++l) part.at[l] = static_cast<std::uint32_t>(memory.at[l]);
        return part;
    };
    if ((lds & wave.exec()) != 0) move_to(Place::Lds, lds);
    if ((own & wave.exec()) != 0) to_scratch(wave, wave.s64(wave.flat_scratch), move_to(Place::Scratch, own));
    memory.lanes &= ~(lds | own);
}

void buffer(const Wave& wave, const Inst& inst, const Shape& shape, Segments& out) {
    const std::uint32_t *vector = registers(wave, inst.src[0]), soffset = wave.s[inst.sdst];
    const bool idxen = inst.has(kIdxen), offen = inst.has(kOffen);
    const isa::Resource r = isa::resource_of(wave.s + inst.src[2], idxen, {wave.unified_formats, wave.fewer_formats});
    const auto offset_of = [&](unsigned l) {
        return (offen ? vector[(idxen ? wave.width : 0) + l] : 0) + static_cast<std::uint32_t>(inst.offset);
    };
    if (r.element_bytes != 0) {  // the runtime's scratch; other swizzled buffers are not judged
        if (!r.add_lane || idxen) return;
        Access& access = add(out, shape, Place::Scratch, wave.exec());
        for (unsigned l = 0; l < kMostLanes; ++l) access.at[l] = offset_of(l);
        return to_scratch(wave, r.base + soffset, access);
    }
    Access& access = add(out, shape, Place::Memory, wave.exec());
    Access& cut = add(out, shape, Place::Memory, 0);  // lanes that the buffer's end cuts: their last dword inside
    cut.bytes = 4;
    for (unsigned l = 0; l < kMostLanes; ++l) {
        const std::uint32_t index = (idxen ? vector[l] : 0) + (r.add_lane ? l : 0);
        const std::uint64_t from_base = std::uint64_t{r.stride} * index + offset_of(l);
        access.at[l] = r.base + soffset + from_base;
        // Lanes outside of the buffer do not access it.
        const std::uint32_t left = bytes_left(r, soffset, index, offset_of(l));
        if (left >= shape.bytes) continue;
        const std::uint64_t lane = std::uint64_t{1} << l;
        access.lanes &= ~lane;
        if (left < 4) continue;
        cut.lanes |= lane & wave.exec();
        cut.at[l] = access.at[l] + (left - 4) / 4 * 4;
    }
}

void scalar(const Wave& wave, const Inst& inst, const Shape& shape, Segments& out) {
    Access& access = add(out, shape, Place::Memory, 1);
    access.scalar = true;
    std::uint64_t offset = inst.has(kImm) ? static_cast<std::uint64_t>(std::int64_t{inst.offset}) : 0;
    if (inst.src[1] != kNoOperand) offset += wave.s[inst.src[1]];
    const std::uint64_t ignored = shape.bytes < 4 ? shape.bytes - 1u : 3;  // of the address
    if (rows()[inst.row].src[0] == Type::b64) {
        access.at[0] = (wave.s64(inst.src[0]) + offset) & ~ignored;
        return;
    }
    const isa::Resource r = isa::resource_of(wave.s + inst.src[0], false, {wave.unified_formats, wave.fewer_formats});
    offset &= ~ignored;
    const std::uint64_t size = r.stride == 0 ? r.records : std::uint64_t{r.records} * r.stride;
    access.at[0] = (r.base & ~std::uint64_t{3}) + offset;
    access.bytes = static_cast<std::uint32_t>(std::min<std::uint64_t>(shape.bytes, offset < size ? size - offset : 0));
    if (shape.bytes >= 4) access.bytes &= ~3u;
    if (access.bytes < std::min<std::uint32_t>(shape.bytes, 4)) access.bytes = 0;
    if (access.bytes == 0) access.lanes = 0;
}

}  // namespace

bool accesses_memory(const Inst& inst) { return shape_of(inst).bytes != 0; }

void find_accesses(const Wave& wave, const Inst& inst, Segments& out) {
    const Shape& shape = shape_of(inst);
    out.count = 0;
    if (shape.bytes == 0) return;
    if (inst.format == Format::Smem) return scalar(wave, inst, shape, out);
    if (wave.exec() == 0) return;
    if (inst.format == Format::Ds) return inst.has(kLds) ? void() : data_share(wave, inst, shape, out);
    if (inst.format == Format::Flat) return flat(wave, inst, shape, out);
    buffer(wave, inst, shape, out);
}

}  // namespace kfdemu::check
