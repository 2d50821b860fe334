#include "devicearray/dtype.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <limits>
#include <memory>

#include "devicearray/dtype_numpy.hpp"
#include "hsadrv/error.hpp"

namespace hsadrv {
namespace {

struct Row {
    DType type;
    std::string_view name;
};

constexpr std::array rows{
    Row{dtypes::boolean, "bool"},
    Row{dtypes::int8, "int8"},
    Row{dtypes::int16, "int16"},
    Row{dtypes::int32, "int32"},
    Row{dtypes::int64, "int64"},
    Row{dtypes::uint8, "uint8"},
    Row{dtypes::uint16, "uint16"},
    Row{dtypes::uint32, "uint32"},
    Row{dtypes::uint64, "uint64"},
    Row{dtypes::float16, "float16"},
    Row{dtypes::bfloat16, "bfloat16"},
    Row{dtypes::float32, "float32"},
    Row{dtypes::float64, "float64"},
    Row{dtypes::complex64, "complex64"},
    Row{dtypes::complex128, "complex128"},
    Row{dtypes::float8_e3m4, "float8_e3m4"},
    Row{dtypes::float8_e4m3, "float8_e4m3"},
    Row{dtypes::float8_e4m3b11fnuz, "float8_e4m3b11fnuz"},
    Row{dtypes::float8_e4m3fn, "float8_e4m3fn"},
    Row{dtypes::float8_e4m3fnuz, "float8_e4m3fnuz"},
    Row{dtypes::float8_e5m2, "float8_e5m2"},
    Row{dtypes::float8_e5m2fnuz, "float8_e5m2fnuz"},
    Row{dtypes::float8_e8m0fnu, "float8_e8m0fnu"},
};

// NumPy stores the item size in an int as well.
constexpr std::size_t most_bytes = std::numeric_limits<std::int32_t>::max();

/// The description of a type made at run time, with everything it points to.
struct OwnedStructure : detail::Structure {
    std::vector<FieldSpec> specs{};
    std::vector<Field> list{};
    std::optional<DType> element{};
    mutable std::atomic<std::size_t> shares{1};
};

const OwnedStructure& owned(const detail::Structure& structure) {
    return static_cast<const OwnedStructure&>(structure);
}

std::string in_quotes(std::string_view name) { return "'" + std::string(name) + "'"; }

std::size_t rounded_up(std::size_t bytes, std::size_t alignment) {
    return (bytes + alignment - 1) / alignment * alignment;
}

void require_distinct_names(const std::vector<FieldSpec>& fields) {
    std::vector<std::string_view> names;
    for (const FieldSpec& field : fields) {
        if (field.name.empty()) throw InvalidArgument("DType::record: a field has no name");
        names.push_back(field.name);
        if (!field.title.empty()) names.push_back(field.title);
    }
    std::sort(names.begin(), names.end());
    const auto twice = std::adjacent_find(names.begin(), names.end());
    if (twice != names.end()) throw InvalidArgument("DType::record: duplicate field name " + in_quotes(*twice));
}

/// Assigns every field's offset and returns the end of the last field.
std::size_t place(std::vector<FieldSpec>& fields, bool aligned) {
    std::size_t next = 0, end = 0;
    for (FieldSpec& field : fields) {
        const std::size_t alignment = aligned ? field.type.alignment() : 1;
        if (!field.offset) field.offset = rounded_up(next, alignment);
        if (*field.offset > most_bytes || *field.offset + field.type.itemsize() > most_bytes) {
            throw InvalidArgument("DType::record: field " + in_quotes(field.name) + " of " +
                                  std::to_string(field.type.itemsize()) + " B at offset " +
                                  std::to_string(*field.offset) + " ends after the " + std::to_string(most_bytes) +
                                  " B that a record may have");
        }
        if (*field.offset % alignment != 0) {
            throw InvalidArgument("DType::record: field " + in_quotes(field.name) + " at offset " +
                                  std::to_string(*field.offset) + " is not aligned to the " +
                                  std::to_string(alignment) + " B of " + field.type.name() +
                                  "; give another offset or declare the record unaligned");
        }
        next = *field.offset + field.type.itemsize();
        end = std::max(end, next);
    }
    return end;
}

std::size_t checked_itemsize(std::size_t end, std::size_t alignment, const RecordOptions& options) {
    if (!options.itemsize) return rounded_up(end, alignment);
    const std::size_t itemsize = *options.itemsize;
    if (itemsize < end || itemsize > most_bytes) {
        throw InvalidArgument("DType::record: an item size of " + std::to_string(itemsize) + " B: the fields need " +
                              std::to_string(end) + " B, and the limit is " + std::to_string(most_bytes) + " B");
    }
    if (itemsize % alignment != 0) {
        throw InvalidArgument("DType::record: an item size of " + std::to_string(itemsize) +
                              " B is not a multiple of the record's alignment, " + std::to_string(alignment));
    }
    return itemsize;
}

}  // namespace

void detail::share(const Structure& structure) noexcept {
    // Relaxed: the caller holds a DType already, which keeps the description alive.
    owned(structure).shares.fetch_add(1, std::memory_order_relaxed);
}

void detail::unshare(const Structure& structure) noexcept {
    // Release and acquire: other threads' reads of the description happen before it is freed.
    if (owned(structure).shares.fetch_sub(1, std::memory_order_acq_rel) == 1) delete &owned(structure);
}

std::string DType::name() const {
    for (const Row& row : rows) {
        if (row.type == *this) return std::string(row.name);
    }
    return numpy_text(*this);
}

DType DType::from_name(std::string_view name) {
    std::string known;
    for (const Row& row : rows) {
        if (row.name == name) return row.type;
        known += (known.empty() ? "" : ", ") + std::string(row.name);
    }
    throw InvalidArgument("DType::from_name(\"" + std::string(name) + "\"): no such scalar type; known are " + known);
}

DType DType::raw(std::size_t size_bytes) {
    if (size_bytes > most_bytes) {
        throw InvalidArgument("DType::raw(" + std::to_string(size_bytes) + " B): an element has at most " +
                              std::to_string(most_bytes) + " B");
    }
    return unchecked(Kind::raw, size_bytes);
}

DType DType::subarray(const DType& base, const Dims& shape) {
    if (shape.rank() == 0) return base;
    std::vector<std::int64_t> all(shape.begin(), shape.end());
    const Dims inner = base.subarray_shape();
    all.insert(all.end(), inner.begin(), inner.end());
    std::size_t bytes = base.itemsize();
    for (const std::int64_t extent : shape) {
        if (extent < 0 || __builtin_mul_overflow(bytes, static_cast<std::size_t>(extent), &bytes) ||
            bytes > most_bytes) {
            throw InvalidArgument("DType::subarray(" + base.name() + ", " + shape.to_string() +
                                  "): extents must not be negative, and an element has at most " +
                                  std::to_string(most_bytes) + " B");
        }
    }
    auto made = std::make_unique<OwnedStructure>();
    made->element.emplace(base.base());
    made->base = &*made->element;
    made->shape = Dims(std::span<const std::int64_t>(all));
    made->alignment = made->element->alignment();
    made->counted = true;
    return DType(Kind::raw, static_cast<std::uint32_t>(bytes), made.release());
}

DType DType::record(const std::vector<FieldSpec>& fields) { return record(fields, {}); }

DType DType::record(const std::vector<FieldSpec>& fields, const RecordOptions& options) {
    require_distinct_names(fields);
    auto made = std::make_unique<OwnedStructure>();
    made->specs = fields;
    const std::size_t end = place(made->specs, options.aligned);
    for (const FieldSpec& field : made->specs) {
        if (options.aligned) made->alignment = std::max(made->alignment, field.type.alignment());
        made->list.push_back({field.name, field.type, *field.offset, field.title});
    }
    const std::size_t itemsize = checked_itemsize(end, made->alignment, options);
    made->fields = made->list;
    made->aligned = options.aligned;
    made->counted = true;
    return DType(Kind::raw, static_cast<std::uint32_t>(itemsize), made.release());
}

const Field& DType::field(std::string_view name) const {
    if (const Field* found = find_field(name)) return *found;
    std::string known;
    for (const Field& field : fields()) known += (known.empty() ? "" : ", ") + in_quotes(field.name);
    throw InvalidArgument("DType::field(" + in_quotes(name) + "): " +
                          (is_record() ? "no such field; known are " + known : this->name() + " is not a record"));
}

}  // namespace hsadrv
