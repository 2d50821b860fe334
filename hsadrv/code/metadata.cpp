#include "hsadrv/metadata.hpp"

#include <algorithm>
#include <limits>
#include <optional>
#include <unordered_set>

#ifndef MSGPACK_NO_BOOST
#define MSGPACK_NO_BOOST
#endif
#include <msgpack.hpp>

#include "hsadrv/error.hpp"

namespace hsadrv {
namespace {

// Limits on what a note may claim, since an array header of five bytes can ask for gigabytes. Real notes nest
// five deep.
constexpr std::size_t max_array = 1 << 17, max_map = 1 << 10, max_text = 1 << 20, max_depth = 12;
constexpr std::uint32_t max_kernarg_bytes = 1 << 16;

constexpr std::string_view kind_names[] = {
    "by_value",
    "global_buffer",
    "dynamic_shared_pointer",
    "sampler",
    "image",
    "pipe",
    "queue",
    "hidden_none",
    "hidden_block_count_x",
    "hidden_block_count_y",
    "hidden_block_count_z",
    "hidden_group_size_x",
    "hidden_group_size_y",
    "hidden_group_size_z",
    "hidden_remainder_x",
    "hidden_remainder_y",
    "hidden_remainder_z",
    "hidden_global_offset_x",
    "hidden_global_offset_y",
    "hidden_global_offset_z",
    "hidden_grid_dims",
    "hidden_printf_buffer",
    "hidden_hostcall_buffer",
    "hidden_multigrid_sync_arg",
    "hidden_heap_v1",
    "hidden_default_queue",
    "hidden_completion_action",
    "hidden_dynamic_lds_size",
    "hidden_private_base",
    "hidden_shared_base",
    "hidden_queue_ptr",
};
static_assert(std::size(kind_names) == static_cast<std::size_t>(ValueKind::unknown));

constexpr std::string_view address_space_names[] = {"", "private", "global", "constant", "local", "generic", "region"};
constexpr std::string_view access_names[] = {"", "read_only", "write_only", "read_write"};
constexpr std::string_view kernel_kind_names[] = {"normal", "init", "fini"};

[[noreturn]] void refuse_metadata(const std::string& why) { throw InvalidCodeObject("code object metadata: " + why); }

/// The enumerator whose name in the list is `text`; `otherwise` if none is.
template <class Enum, std::size_t N>
Enum enumerator(const std::string_view (&names)[N], std::string_view text, Enum otherwise) {
    const auto found = std::find(std::begin(names), std::end(names), text);
    return found == std::end(names) ? otherwise : static_cast<Enum>(found - std::begin(names));
}

/// A msgpack map with text keys, and where it stands, for messages.
class Map {
  public:
    Map(const msgpack::object& object, std::string where) : where_(std::move(where)) {
        if (object.type != msgpack::type::MAP) refuse_metadata(where_ + " is not a map");
        pairs_ = {object.via.map.ptr, object.via.map.size};
        for (std::size_t i = 0; i < pairs_.size(); ++i) {
            if (pairs_[i].key.type != msgpack::type::STR) refuse_metadata(where_ + ": a key that is not text");
            for (std::size_t j = 0; j < i; ++j) {
                if (text_of(pairs_[i].key) == text_of(pairs_[j].key)) {
                    refuse_metadata(where_ + ": duplicate key '" + std::string(text_of(pairs_[i].key)) + "'");
                }
            }
        }
    }

    const std::string& where() const { return where_; }

    const msgpack::object* find(std::string_view key) const {
        for (const msgpack::object_kv& pair : pairs_) {
            if (text_of(pair.key) == key) return &pair.val;
        }
        return nullptr;
    }

    std::optional<std::string_view> text(std::string_view key) const {
        const msgpack::object* value = find(key);
        if (!value) return std::nullopt;
        if (value->type != msgpack::type::STR) wrong(key, "text");
        return text_of(*value);
    }

    std::optional<std::uint32_t> u32(std::string_view key) const {
        const msgpack::object* value = find(key);
        if (!value) return std::nullopt;
        return u32_of(*value, key);
    }

    std::uint32_t need_u32(std::string_view key) const {
        const auto value = u32(key);
        if (!value) missing(key);
        return *value;
    }

    std::string need_text(std::string_view key) const {
        const auto value = text(key);
        if (!value || value->empty()) missing(key);
        return std::string(*value);
    }

    std::string text_or_empty(std::string_view key) const { return std::string(text(key).value_or("")); }

    bool flag(std::string_view key) const {
        const msgpack::object* value = find(key);
        if (!value) return false;
        if (value->type != msgpack::type::BOOLEAN) wrong(key, "true or false");
        return value->via.boolean;
    }

    /// For keys that AMDGPUUsage calls booleans and LLVM writes as numbers, or the other way round.
    bool flag_or_number(std::string_view key) const {
        const msgpack::object* value = find(key);
        if (!value || value->type == msgpack::type::BOOLEAN) return flag(key);
        if (u32_of(*value, key) > 1) wrong(key, "0 or 1");
        return value->via.u64 != 0;
    }

    /// N numbers; zeros if the key is missing.
    template <std::size_t N>
    std::array<std::uint32_t, N> numbers(std::string_view key) const {
        std::array<std::uint32_t, N> result{};
        if (!find(key)) return result;
        const auto values = array(key);
        if (values.size() != N) wrong(key, N == 3 ? "three numbers" : "two numbers");
        for (std::size_t i = 0; i < N; ++i) result[i] = u32_of(values[i], key);
        return result;
    }

    /// The elements of an array; empty if the key is missing.
    std::span<const msgpack::object> array(std::string_view key) const {
        const msgpack::object* value = find(key);
        if (!value) return {};
        if (value->type != msgpack::type::ARRAY) wrong(key, "an array");
        return {value->via.array.ptr, value->via.array.size};
    }

    std::uint32_t u32_of(const msgpack::object& value, std::string_view key) const {
        if (value.type != msgpack::type::POSITIVE_INTEGER) wrong(key, "a number, zero or more");
        if (value.via.u64 > std::numeric_limits<std::uint32_t>::max()) wrong(key, "a number below 2^32");
        return static_cast<std::uint32_t>(value.via.u64);
    }

    [[noreturn]] void wrong(std::string_view key, const char* wanted) const {
        refuse_metadata(where_ + ": '" + std::string(key) + "' is not " + wanted);
    }

    [[noreturn]] void missing(std::string_view key) const {
        refuse_metadata(where_ + ": '" + std::string(key) + "' is missing");
    }

    static std::string_view text_of(const msgpack::object& object) { return {object.via.str.ptr, object.via.str.size}; }

  private:
    std::span<const msgpack::object_kv> pairs_;
    std::string where_;
};

bool is_power_of_two(std::uint32_t value) { return value && !(value & (value - 1)); }

ArgumentMetadata read_argument(const Map& map) {
    ArgumentMetadata argument;
    argument.name = map.text_or_empty(".name");
    argument.type_name = map.text_or_empty(".type_name");
    argument.offset_bytes = map.need_u32(".offset");
    argument.size_bytes = map.need_u32(".size");
    argument.kind_text = map.need_text(".value_kind");
    argument.kind = enumerator(kind_names, argument.kind_text, ValueKind::unknown);
    argument.pointee_align_bytes = map.u32(".pointee_align").value_or(0);
    argument.address_space = enumerator(address_space_names, map.text_or_empty(".address_space"), AddressSpace::none);
    argument.access = enumerator(access_names, map.text_or_empty(".access"), Access::unstated);
    argument.actual_access = enumerator(access_names, map.text_or_empty(".actual_access"), Access::unstated);
    argument.is_const = map.flag(".is_const");
    argument.is_restrict = map.flag(".is_restrict");
    argument.is_volatile = map.flag(".is_volatile");
    argument.is_pipe = map.flag(".is_pipe");
    if (argument.pointee_align_bytes && !is_power_of_two(argument.pointee_align_bytes))
        map.wrong(".pointee_align", "a power of two");
    return argument;
}

/// Arguments may not overlap, nor leave the segment.
void check_layout(const KernelMetadata& kernel, const std::string& where) {
    std::uint64_t end = 0;
    for (const ArgumentMetadata& argument : kernel.arguments) {
        const std::string which = where + ": argument at offset " + std::to_string(argument.offset_bytes);
        if (argument.offset_bytes < end) refuse_metadata(which + " overlaps the one before it");
        end = std::uint64_t{argument.offset_bytes} + argument.size_bytes;
        if (end > kernel.kernarg_size_bytes) {
            refuse_metadata(which + " with " + std::to_string(argument.size_bytes) +
                            " bytes ends past '.kernarg_segment_size' " + std::to_string(kernel.kernarg_size_bytes));
        }
    }
}

/// All three numbers above zero, or none.
std::array<std::uint32_t, 3> sizes_of(const Map& map, std::string_view key) {
    const auto sizes = map.numbers<3>(key);
    if (map.find(key) && std::count(sizes.begin(), sizes.end(), 0u) != 0) map.wrong(key, "three numbers above zero");
    return sizes;
}

/// What a launch need not know, or knows only of some kernels.
void read_rest(KernelMetadata& kernel, const Map& map) {
    const std::string kind = map.text_or_empty(".kind");
    const bool known =
        std::find(std::begin(kernel_kind_names), std::end(kernel_kind_names), kind) != std::end(kernel_kind_names);
    if (!kind.empty() && !known) map.wrong(".kind", "normal, init or fini");
    kernel.kind = enumerator(kernel_kind_names, kind, KernelKind::normal);
    kernel.required_workgroup_size = sizes_of(map, ".reqd_workgroup_size");
    kernel.cluster_workgroups = sizes_of(map, ".cluster_dims");
    kernel.workgroup_size_hint = map.numbers<3>(".workgroup_size_hint");
    kernel.max_workgroups = {map.u32(".max_num_workgroups_x").value_or(0), map.u32(".max_num_workgroups_y").value_or(0),
                             map.u32(".max_num_workgroups_z").value_or(0)};
    kernel.vec_type_hint = map.text_or_empty(".vec_type_hint");
    kernel.language = map.text_or_empty(".language");
    kernel.language_version = map.numbers<2>(".language_version");
    kernel.device_enqueue_symbol = map.text_or_empty(".device_enqueue_symbol");
}

KernelMetadata read_kernel(const msgpack::object& object, std::size_t index) {
    const Map unnamed(object, "kernel " + std::to_string(index));
    KernelMetadata kernel;
    kernel.name = unnamed.need_text(".name");
    const Map map(object, "kernel '" + kernel.name + "'");
    kernel.symbol = map.need_text(".symbol");
    kernel.kernarg_size_bytes = map.need_u32(".kernarg_segment_size");
    kernel.kernarg_align_bytes = map.need_u32(".kernarg_segment_align");
    kernel.group_segment_fixed_bytes = map.need_u32(".group_segment_fixed_size");
    kernel.private_segment_fixed_bytes = map.need_u32(".private_segment_fixed_size");
    kernel.max_flat_workgroup_size = map.need_u32(".max_flat_workgroup_size");
    kernel.wavefront_size = map.need_u32(".wavefront_size");
    kernel.sgpr_count = map.need_u32(".sgpr_count");
    kernel.vgpr_count = map.need_u32(".vgpr_count");
    kernel.agpr_count = map.u32(".agpr_count").value_or(0);
    kernel.sgpr_spill_count = map.u32(".sgpr_spill_count").value_or(0);
    kernel.vgpr_spill_count = map.u32(".vgpr_spill_count").value_or(0);
    kernel.uses_dynamic_stack = map.flag(".uses_dynamic_stack");
    kernel.uniform_workgroups = map.flag_or_number(".uniform_work_group_size");
    kernel.workgroup_processor_mode = map.flag_or_number(".workgroup_processor_mode");
    if (kernel.kernarg_size_bytes > max_kernarg_bytes) map.wrong(".kernarg_segment_size", "65536 or less");
    if (!is_power_of_two(kernel.kernarg_align_bytes)) map.wrong(".kernarg_segment_align", "a power of two");
    if (kernel.wavefront_size != 32 && kernel.wavefront_size != 64) map.wrong(".wavefront_size", "32 or 64");
    if (kernel.max_flat_workgroup_size == 0) map.wrong(".max_flat_workgroup_size", "above zero");
    read_rest(kernel, map);

    const auto arguments = map.array(".args");
    kernel.arguments.reserve(arguments.size());
    for (std::size_t i = 0; i < arguments.size(); ++i) {
        kernel.arguments.push_back(read_argument(Map(arguments[i], map.where() + ", argument " + std::to_string(i))));
    }
    std::sort(kernel.arguments.begin(), kernel.arguments.end(),
              [](const auto& a, const auto& b) { return a.offset_bytes < b.offset_bytes; });
    check_layout(kernel, map.where());
    return kernel;
}

Metadata read_root(const Map& root) {
    Metadata metadata;
    const auto version = root.array("amdhsa.version");
    if (version.size() != 2) root.wrong("amdhsa.version", "two numbers");
    metadata.version_major = root.u32_of(version[0], "amdhsa.version");
    metadata.version_minor = root.u32_of(version[1], "amdhsa.version");
    if (metadata.version_major != 1) {
        refuse_metadata("version " + std::to_string(metadata.version_major) + "." +
                        std::to_string(metadata.version_minor) + ", wanted 1.x");
    }
    metadata.target = root.text_or_empty("amdhsa.target");
    for (const msgpack::object& format : root.array("amdhsa.printf")) {
        if (format.type != msgpack::type::STR) root.wrong("amdhsa.printf", "an array of texts");
        metadata.printf_formats.emplace_back(Map::text_of(format));
    }
    const auto kernels = root.array("amdhsa.kernels");
    metadata.kernels.reserve(kernels.size());
    for (std::size_t i = 0; i < kernels.size(); ++i) metadata.kernels.push_back(read_kernel(kernels[i], i));

    std::unordered_set<std::string_view> names;
    for (const KernelMetadata& kernel : metadata.kernels) {
        if (!names.insert(kernel.name).second) refuse_metadata("duplicate kernel '" + kernel.name + "'");
    }
    return metadata;
}

}  // namespace

std::string_view to_string(ValueKind kind) {
    return kind < ValueKind::unknown ? kind_names[static_cast<std::size_t>(kind)] : std::string_view("unknown");
}

Metadata read_metadata(std::span<const std::byte> note) {
    const msgpack::unpack_limit limit(max_array, max_map, max_text, max_text, max_text, max_depth);
    const auto in_place = [](msgpack::type::object_type, std::size_t, void*) {
        return true;
    };  // texts stay in the note
    msgpack::object_handle handle;
    try {
        std::size_t offset = 0;
        handle =
            msgpack::unpack(reinterpret_cast<const char*>(note.data()), note.size(), offset, in_place, nullptr, limit);
    } catch (const msgpack::unpack_error& error) {
        refuse_metadata(std::string("no valid msgpack (") + error.what() + ")");
    }
    return read_root(Map(handle.get(), "the root"));
}

}  // namespace hsadrv
