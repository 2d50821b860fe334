#include "hsadrv/metadata.hpp"

#ifndef MSGPACK_NO_BOOST
#define MSGPACK_NO_BOOST
#endif
#include <functional>
#include <map>
#include <msgpack.hpp>
#include <random>

#include "hsadrv/error.hpp"
#include "tests/hsadrv/code_objects.hpp"
#include "tests/support/catch.hpp"

using namespace hsadrv;
using namespace test_support;
using test_support::Contains;

namespace {

/// Writes one value.
using Value = std::function<void(msgpack::packer<msgpack::sbuffer>&)>;
using Fields = std::map<std::string, Value>;

Value number(std::uint64_t value) {
    return [=](auto& p) { p.pack(value); };
}
Value flag(bool value) {
    return [=](auto& p) { p.pack(value); };
}
Value negative() {
    return [](auto& p) { p.pack(-1); };
}
Value text(std::string value) {
    return [=](auto& p) { p.pack(value); };
}
Value map(Fields fields) {
    return [=](auto& p) {
        p.pack_map(static_cast<std::uint32_t>(fields.size()));
        for (const auto& [key, value] : fields) {
            p.pack(key);
            value(p);
        }
    };
}
Value array(std::vector<Value> values) {
    return [=](auto& p) {
        p.pack_array(static_cast<std::uint32_t>(values.size()));
        for (const Value& value : values) value(p);
    };
}

Bytes packed(const Value& value) {
    msgpack::sbuffer buffer;
    msgpack::packer<msgpack::sbuffer> packer(buffer);
    value(packer);
    const auto* data = reinterpret_cast<const std::byte*>(buffer.data());
    return {data, data + buffer.size()};
}

Fields argument_fields(std::uint32_t offset, std::uint32_t size, const char* kind) {
    return {{".offset", number(offset)}, {".size", number(size)}, {".value_kind", text(kind)}};
}

Fields kernel_fields() {
    return {
        {".name", text("k")},
        {".symbol", text("k.kd")},
        {".kernarg_segment_size", number(24)},
        {".kernarg_segment_align", number(8)},
        {".group_segment_fixed_size", number(0)},
        {".private_segment_fixed_size", number(0)},
        {".max_flat_workgroup_size", number(256)},
        {".wavefront_size", number(64)},
        {".sgpr_count", number(8)},
        {".vgpr_count", number(4)},
        {".args", array({map(argument_fields(0, 8, "global_buffer")), map(argument_fields(8, 4, "by_value"))})},
    };
}

Fields root_fields(Value kernels) {
    return {{"amdhsa.version", array({number(1), number(2)})},
            {"amdhsa.target", text("amdgcn-amd-amdhsa--gfx90a")},
            {"amdhsa.kernels", std::move(kernels)}};
}

Metadata read(Fields kernel) { return read_metadata(packed(map(root_fields(array({map(std::move(kernel))}))))); }

std::string metadata_refusal(const Bytes& note) {
    return message_of<InvalidCodeObject>([&] { read_metadata(note); });
}

std::string metadata_refusal(Fields kernel) {
    return message_of<InvalidCodeObject>([&] { read(std::move(kernel)); });
}

Fields with(Fields fields, const std::string& key, Value value) {
    fields[key] = std::move(value);
    return fields;
}

Fields without(Fields fields, const std::string& key) {
    fields.erase(key);
    return fields;
}

}  // namespace

TEST_CASE("metadata becomes plain values", "[metadata]") {
    const Metadata metadata =
        read(with(kernel_fields(), ".reqd_workgroup_size", array({number(8), number(4), number(2)})));
    CHECK(metadata.version_major == 1);
    CHECK(metadata.version_minor == 2);
    CHECK(metadata.target == "amdgcn-amd-amdhsa--gfx90a");
    REQUIRE(metadata.kernels.size() == 1);
    const KernelMetadata& kernel = metadata.kernels[0];
    CHECK(kernel.symbol == "k.kd");
    CHECK(kernel.kernarg_size_bytes == 24);
    CHECK(kernel.required_workgroup_size == std::array<std::uint32_t, 3>{8, 4, 2});
    REQUIRE(kernel.arguments.size() == 2);
    CHECK(kernel.arguments[1].kind == ValueKind::by_value);
}

TEST_CASE("every key that AMDGPUUsage lists for a kernel is read", "[metadata]") {
    Fields fields = kernel_fields();
    fields[".kind"] = text("init");
    fields[".language"] = text("OpenCL C");
    fields[".language_version"] = array({number(2), number(0)});
    fields[".workgroup_size_hint"] = array({number(8), number(4), number(2)});
    fields[".vec_type_hint"] = text("float4");
    fields[".device_enqueue_symbol"] = text("k.runtime_handle");
    fields[".agpr_count"] = number(3);
    fields[".sgpr_spill_count"] = number(4);
    fields[".vgpr_spill_count"] = number(5);
    fields[".uses_dynamic_stack"] = flag(true);
    fields[".workgroup_processor_mode"] = number(1);  // LLVM writes a number where AMDGPUUsage says boolean
    fields[".uniform_work_group_size"] = number(1);
    fields[".max_num_workgroups_x"] = number(10);
    fields[".max_num_workgroups_z"] = number(30);
    fields[".cluster_dims"] = array({number(2), number(1), number(1)});
    const KernelMetadata kernel = read(fields).kernels[0];
    CHECK(kernel.kind == KernelKind::init);
    CHECK(kernel.language == "OpenCL C");
    CHECK(kernel.language_version == std::array<std::uint32_t, 2>{2, 0});
    CHECK(kernel.workgroup_size_hint == std::array<std::uint32_t, 3>{8, 4, 2});
    CHECK(kernel.vec_type_hint == "float4");
    CHECK(kernel.device_enqueue_symbol == "k.runtime_handle");
    CHECK(kernel.agpr_count == 3);
    CHECK(kernel.sgpr_spill_count == 4);
    CHECK(kernel.vgpr_spill_count == 5);
    CHECK(kernel.uses_dynamic_stack);
    CHECK(kernel.workgroup_processor_mode);
    CHECK(kernel.uniform_workgroups);
    CHECK(kernel.max_workgroups == std::array<std::uint32_t, 3>{10, 0, 30});
    CHECK(kernel.cluster_workgroups == std::array<std::uint32_t, 3>{2, 1, 1});

    const KernelMetadata plain = read(kernel_fields()).kernels[0];
    CHECK(plain.kind == KernelKind::normal);
    CHECK(plain.max_workgroups == std::array<std::uint32_t, 3>{});
    CHECK_FALSE(plain.workgroup_processor_mode);
    CHECK_FALSE(plain.uniform_workgroups);
    CHECK(read(with(kernel_fields(), ".workgroup_processor_mode", flag(true))).kernels[0].workgroup_processor_mode);
    CHECK(read(with(kernel_fields(), ".kind", text("fini"))).kernels[0].kind == KernelKind::fini);
}

TEST_CASE("every key that AMDGPUUsage lists for an argument is read", "[metadata]") {
    Fields fields = argument_fields(0, 8, "global_buffer");
    fields[".name"] = text("a");
    fields[".type_name"] = text("float*");
    fields[".address_space"] = text("global");
    fields[".access"] = text("read_only");
    fields[".actual_access"] = text("write_only");
    fields[".pointee_align"] = number(16);
    fields[".is_const"] = flag(true);
    fields[".is_restrict"] = flag(true);
    fields[".is_volatile"] = flag(true);
    fields[".is_pipe"] = flag(true);
    const ArgumentMetadata argument =
        read(with(kernel_fields(), ".args", array({map(fields)}))).kernels[0].arguments[0];
    CHECK(argument.name == "a");
    CHECK(argument.type_name == "float*");
    CHECK(argument.address_space == AddressSpace::global);
    CHECK(argument.access == Access::read_only);
    CHECK(argument.actual_access == Access::write_only);
    CHECK(argument.pointee_align_bytes == 16);
    CHECK((argument.is_const && argument.is_restrict && argument.is_volatile && argument.is_pipe));
    for (const char* key : {".is_const", ".is_restrict", ".is_volatile", ".is_pipe"}) {
        CAPTURE(key);
        const auto bad = with(kernel_fields(), ".args", array({map(with(fields, key, number(1)))}));
        CHECK_THAT(metadata_refusal(bad), Contains(key) && Contains("true or false"));
    }
    constexpr const char* spaces[] = {"private", "global", "constant", "local", "generic", "region"};
    for (int i = 0; i < 6; ++i) {
        const auto one = with(kernel_fields(), ".args", array({map(with(fields, ".address_space", text(spaces[i])))}));
        CHECK(read(one).kernels[0].arguments[0].address_space == static_cast<AddressSpace>(i + 1));
    }
}

TEST_CASE("printf formats are kept verbatim", "[metadata]") {
    Fields root = root_fields(array({map(kernel_fields())}));
    root["amdhsa.printf"] = array({text("1:1:4:%d\\n"), text("2:0:done")});
    CHECK(read_metadata(packed(map(root))).printf_formats == std::vector<std::string>{"1:1:4:%d\\n", "2:0:done"});
    root["amdhsa.printf"] = array({number(1)});
    CHECK_THAT(metadata_refusal(packed(map(root))), Contains("amdhsa.printf") && Contains("an array of texts"));
}

TEST_CASE("arguments are in the order of their offsets, whatever the note's order", "[metadata]") {
    const auto fields =
        with(kernel_fields(), ".args",
             array({map(argument_fields(16, 8, "by_value")), map(argument_fields(0, 8, "global_buffer"))}));
    const Metadata metadata = read(fields);
    CHECK(metadata.kernels[0].arguments[0].offset_bytes == 0);
    CHECK(metadata.kernels[0].arguments[1].offset_bytes == 16);
}

TEST_CASE("an unknown kind is kept by name", "[metadata]") {
    const Metadata metadata =
        read(with(kernel_fields(), ".args", array({map(argument_fields(0, 8, "hidden_tomorrow"))})));
    CHECK(metadata.kernels[0].arguments[0].kind == ValueKind::unknown);
    CHECK(metadata.kernels[0].arguments[0].kind_text == "hidden_tomorrow");
}

TEST_CASE("every kind has the name that the metadata gives it", "[metadata]") {
    for (int i = 0; i < static_cast<int>(ValueKind::unknown); ++i) {
        const auto kind = static_cast<ValueKind>(i);
        const Metadata metadata =
            read(with(kernel_fields(), ".args", array({map(argument_fields(0, 8, to_string(kind).data()))})));
        CHECK(metadata.kernels[0].arguments[0].kind == kind);
    }
    CHECK(to_string(ValueKind::unknown) == "unknown");
}

TEST_CASE("a missing or wrong key is refused, naming kernel and key", "[metadata]") {
    const std::string key = GENERATE(".name", ".symbol", ".kernarg_segment_size", ".kernarg_segment_align",
                                     ".group_segment_fixed_size", ".private_segment_fixed_size",
                                     ".max_flat_workgroup_size", ".wavefront_size", ".sgpr_count", ".vgpr_count");
    CAPTURE(key);
    CHECK_THAT(metadata_refusal(without(kernel_fields(), key)), Contains("'" + key + "' is missing"));
    CHECK_THAT(metadata_refusal(with(kernel_fields(), key, array({}))), Contains("'" + key + "' is not"));
    CHECK_THAT(metadata_refusal(with(kernel_fields(), key, negative())), Contains("'" + key + "' is not"));
    if (key != ".name" && key != ".symbol") {
        CHECK_THAT(metadata_refusal(with(kernel_fields(), key, number(std::uint64_t{1} << 32))),
                   Contains("kernel 'k': '" + key + "'"));
    }
}

TEST_CASE("invalid values are refused", "[metadata]") {
    CHECK_THAT(metadata_refusal(with(kernel_fields(), ".wavefront_size", number(48))), Contains("32 or 64"));
    CHECK_THAT(metadata_refusal(with(kernel_fields(), ".kernarg_segment_align", number(0))), Contains("power of two"));
    CHECK_THAT(metadata_refusal(with(kernel_fields(), ".kernarg_segment_align", number(12))), Contains("power of two"));
    CHECK_THAT(metadata_refusal(with(kernel_fields(), ".kernarg_segment_size", number(1 << 20))),
               Contains("65536 or less"));
    CHECK_THAT(metadata_refusal(with(kernel_fields(), ".max_flat_workgroup_size", number(0))), Contains("above zero"));
    CHECK_THAT(metadata_refusal(with(kernel_fields(), ".reqd_workgroup_size", array({number(1)}))),
               Contains("three numbers"));
    CHECK_THAT(
        metadata_refusal(with(kernel_fields(), ".reqd_workgroup_size", array({number(1), number(0), number(1)}))),
        Contains("above zero"));
    CHECK_THAT(metadata_refusal(with(kernel_fields(), ".uses_dynamic_stack", number(1))), Contains("true or false"));
    CHECK_THAT(metadata_refusal(with(kernel_fields(), ".workgroup_processor_mode", number(2))), Contains("0 or 1"));
    CHECK_THAT(metadata_refusal(with(kernel_fields(), ".uniform_work_group_size", text("yes"))), Contains("a number"));
    CHECK_THAT(metadata_refusal(with(kernel_fields(), ".kind", text("odd"))), Contains("normal, init or fini"));
    CHECK_THAT(metadata_refusal(with(kernel_fields(), ".workgroup_size_hint", array({number(1)}))),
               Contains("three numbers"));
    CHECK_THAT(metadata_refusal(with(kernel_fields(), ".workgroup_size_hint", number(1))), Contains("an array"));
    CHECK_THAT(metadata_refusal(with(kernel_fields(), ".language_version", array({number(1)}))),
               Contains("two numbers"));
    CHECK_THAT(metadata_refusal(with(kernel_fields(), ".cluster_dims", array({number(2), number(0), number(1)}))),
               Contains("above zero"));
    CHECK_THAT(metadata_refusal(with(kernel_fields(), ".vec_type_hint", number(1))), Contains("text"));
    CHECK_THAT(metadata_refusal(with(kernel_fields(), ".max_num_workgroups_y", negative())), Contains("zero or more"));
}

TEST_CASE("arguments that overlap or leave the segment are refused", "[metadata]") {
    const auto args = [](std::uint32_t offset, std::uint32_t size) {
        return with(
            kernel_fields(), ".args",
            array({map(argument_fields(0, 8, "global_buffer")), map(argument_fields(offset, size, "by_value"))}));
    };
    CHECK_THAT(metadata_refusal(args(4, 4)), Contains("offset 4 overlaps"));
    CHECK_THAT(metadata_refusal(args(20, 8)), Contains("ends past '.kernarg_segment_size' 24"));
    CHECK_THAT(metadata_refusal(args(0xffffffff, 0xffffffff)), Contains("ends past"));
    CHECK(metadata_refusal(args(16, 8)).empty());
}

TEST_CASE("the root must be a map with a known version", "[metadata]") {
    CHECK_THAT(metadata_refusal(packed(array({}))), Contains("the root is not a map"));
    CHECK_THAT(metadata_refusal(packed(map({}))), Contains("amdhsa.version"));
    CHECK_THAT(metadata_refusal(packed(map({{"amdhsa.version", array({number(2), number(0)})}}))),
               Contains("version 2.0"));
    CHECK(metadata_refusal(packed(map({{"amdhsa.version", array({number(1), number(0)})}}))).empty());
    const auto twice = array({map(kernel_fields()), map(kernel_fields())});
    CHECK_THAT(metadata_refusal(packed(map(root_fields(twice)))), Contains("duplicate kernel 'k'"));
}

TEST_CASE("a duplicate key is refused", "[metadata]") {
    const Value twice = [](auto& p) {
        p.pack_map(2);
        for (int i = 0; i < 2; ++i) {
            p.pack(std::string("amdhsa.target"));
            p.pack(std::string("gfx90a"));
        }
    };
    CHECK_THAT(metadata_refusal(packed(twice)), Contains("duplicate key 'amdhsa.target'"));
}

TEST_CASE("deep nesting and huge lengths are refused without allocating their size", "[metadata]") {
    const auto bytes = [](std::initializer_list<int> list) {
        Bytes result;
        for (int b : list) result.push_back(static_cast<std::byte>(b));
        return result;
    };
    CHECK_THAT(metadata_refusal(Bytes(100000, std::byte{0x91})), Contains("no valid msgpack"));  // arrays in arrays
    CHECK_THAT(metadata_refusal(bytes({0xdd, 0xff, 0xff, 0xff, 0xff})),
               Contains("no valid msgpack"));  // array32 of 4 Gi
    CHECK_THAT(metadata_refusal(bytes({0xdf, 0xff, 0xff, 0xff, 0xff})),
               Contains("no valid msgpack"));  // map32 of 4 Gi
    CHECK_THAT(metadata_refusal(bytes({0xdb, 0xff, 0xff, 0xff, 0xff, 'a'})),
               Contains("no valid msgpack"));                                   // str32 of 4 GiB
    CHECK_THAT(metadata_refusal(bytes({0xc1})), Contains("no valid msgpack"));  // never used
    CHECK_THAT(metadata_refusal(Bytes{}), Contains("no valid msgpack"));
}

TEST_CASE("a note truncated at every byte is refused", "[metadata]") {
    const Bytes note = packed(map(root_fields(array({map(kernel_fields())}))));
    GuardedBytes guarded(note.size());
    for (std::size_t size = 0; size < note.size(); ++size) {
        INFO("size " << size);
        REQUIRE_THROWS_AS(read_metadata(guarded.put(std::span(note).first(size))), InvalidCodeObject);
    }
}

TEST_CASE("random msgpack is accepted or refused, never a crash", "[metadata]") {
    std::mt19937 random(3);
    const Bytes good = packed(map(root_fields(array({map(kernel_fields())}))));
    GuardedBytes guarded(good.size());
    for (int round = 0; round < 40000; ++round) {
        Bytes bad = round % 2 ? good : Bytes(random() % 64);
        if (round % 2) {
            for (int change = 0; change < 3; ++change) bad[random() % bad.size()] = static_cast<std::byte>(random());
        } else {
            for (std::byte& b : bad) b = static_cast<std::byte>(random());
        }
        try {
            read_metadata(guarded.put(bad));
        } catch (const InvalidCodeObject&) {
        }
    }
    SUCCEED();
}
