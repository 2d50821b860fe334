#include "hsadrv/code/argument_types.hpp"

#include <map>

#include "hsadrv/code_object.hpp"
#include "hsadrv/error.hpp"
#include "tests/hsadrv/code_objects.hpp"
#include "tests/support/catch.hpp"

using namespace hsadrv;
using namespace test_support;
using test_support::Contains;
using namespace std::string_literals;

namespace {

std::vector<KernelMetadata> one_kernel() {
    KernelMetadata kernel;
    kernel.name = "k";
    kernel.arguments.resize(3);
    kernel.arguments[0].kind = ValueKind::global_buffer;
    kernel.arguments[1].kind = ValueKind::by_value;
    kernel.arguments[2].kind = ValueKind::hidden_none;
    return {kernel};
}

/// The types of k's two arguments after the section was read.
std::string types_after(const std::string& section) {
    auto kernels = one_kernel();
    detail::add_argument_types(kernels, bytes_of(section));
    CHECK(kernels[0].arguments[2].type_name.empty());
    return kernels[0].arguments[0].type_name + "|" + kernels[0].arguments[1].type_name;
}

std::string refused(const std::string& section) {
    auto kernels = one_kernel();
    return message_of<InvalidCodeObject>([&] { detail::add_argument_types(kernels, bytes_of(section)); });
}

}  // namespace

TEST_CASE("a section of types names the arguments of its kernels", "[argument_types]") {
    CHECK(types_after("k\0float*,uint\0"s) == "float*|uint");
    CHECK(types_after("\0\0other\0int\0\0\0k\0float*,uint\0\0\0\0"s) == "float*|uint");
    CHECK(types_after("k\0,uint\0"s) == "|uint");
    CHECK(types_after("k\0float*,\0"s) == "float*|");
    CHECK(types_after("k\0,\0"s) == "|");
    CHECK(types_after("other\0\0"s) == "|");
    CHECK(types_after("") == "|");
    CHECK(types_after("\0\0\0"s) == "|");
}

TEST_CASE("what the metadata already say stays", "[argument_types]") {
    auto kernels = one_kernel();
    kernels[0].arguments[0].type_name = "half*";
    detail::add_argument_types(kernels, bytes_of("k\0float*,uint\0"s));
    CHECK(kernels[0].arguments[0].type_name == "half*");
    CHECK(kernels[0].arguments[1].type_name == "uint");
}

TEST_CASE("types that do not fit the kernel are not stated, and a damaged section is refused", "[argument_types]") {
    CHECK(types_after("k\0float*\0"s) == "|");
    CHECK(types_after("k\0\0"s) == "|");
    CHECK(types_after("k\0float*,uint,int\0"s) == "|");
    CHECK(types_after("k\0float,uint\0"s) == "|uint");
    CHECK(types_after("k\0float*,uint*\0"s) == "float*|");
    CHECK_THAT(refused("k\0float*,uint"), Contains("a record that is cut off"));
    CHECK_THAT(refused("k"), Contains("a record that is cut off"));
}

TEST_CASE("a mangled name states the types", "[argument_types]") {
    const auto types_of = [](const char* name, std::vector<ValueKind> kinds) {
        KernelMetadata kernel;
        kernel.name = name;
        for (const ValueKind kind : kinds) kernel.arguments.emplace_back().kind = kind;
        std::vector<KernelMetadata> kernels{kernel};
        detail::add_mangled_types(kernels);
        std::string text;
        for (const ArgumentMetadata& argument : kernels[0].arguments) text += argument.type_name + ";";
        return text;
    };
    const auto pointer = ValueKind::global_buffer, value = ValueKind::by_value, hidden = ValueKind::hidden_none;
    CHECK(types_of("_Z5saxpyPfPKffj", {pointer, pointer, value, value, hidden}) == "float*;float*;float;uint;;");
    CHECK(types_of("_ZN3app5scaleIdEEvPT_PVKS1_m", {pointer, pointer, value}) == "double*;double*;ulong;");
    CHECK(types_of("_ZN12_GLOBAL__N_11kEPh", {pointer}) == "uchar*;");
    CHECK(types_of("_Z1kPFivE4PairPPfxt", {pointer, value, pointer, value, value}) == ";;;long;ushort;");
    CHECK(types_of("_Z1kv", {}).empty());
    CHECK(types_of("_Z1kf", {value, value}) == ";;");  // a structure that is passed in pieces, or none
    CHECK(types_of("_Z1kPf", {value}) == ";");
    CHECK(types_of("_Znonsense", {value}) == ";");
    CHECK(types_of("k", {value}) == ";");
}

TEST_CASE("C++ kernels state the types of their arguments", "[argument_types]") {
    const CodeObject code = read_code_object(test_code_object("typed.gfx90a.hsaco"));
    const auto types_of = [&](const char* name) {
        std::string text;
        for (const ArgumentMetadata& argument : code.find(name)->arguments) {
            if (!is_hidden(argument.kind)) text += argument.type_name + ";";
        }
        return text;
    };
    CHECK(types_of("add_counts") == "uint*;double*;;long;uint;");
    CHECK(types_of("every_type") ==
          "bool;char;uchar;short;ushort;int;uint;long;ulong;float;double;half;;float*;;;;ulong*;uchar*;");
    CHECK(types_of("nothing").empty());
    CHECK(code.variables.empty());  // they are no variables of the code object
}
