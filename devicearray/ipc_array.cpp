#include "devicearray/ipc_array.hpp"

#include <cstring>
#include <memory>
#include <vector>

#include "devicearray/dtype_numpy.hpp"
#include "devicearray/python_literal.hpp"
#include "hsadrv/error.hpp"
#include "hsadrv/ipc.hpp"

namespace hsadrv {
namespace {

constexpr std::string_view digits = "0123456789abcdef";

std::string hex_digits(const IpcMemoryHandle& handle) {
    std::array<unsigned char, sizeof handle> bytes;
    std::memcpy(bytes.data(), &handle, sizeof handle);
    std::string text;
    for (const unsigned char byte : bytes) {
        text += digits[byte >> 4];
        text += digits[byte & 15];
    }
    return text;
}

IpcMemoryHandle memory_of(const std::string& text) {
    IpcMemoryHandle handle;
    std::array<unsigned char, sizeof handle> bytes{};
    if (text.size() != 2 * bytes.size() || text.find_first_not_of(digits) != text.npos)
        throw InvalidArgument("'memory' is not " + std::to_string(2 * bytes.size()) + " hexadecimal digits");
    for (std::size_t i = 0; i < text.size(); ++i)
        bytes[i / 2] = static_cast<unsigned char>(bytes[i / 2] << 4 | digits.find(text[i]));
    std::memcpy(&handle, bytes.data(), sizeof handle);
    return handle;
}

/// The first of its descriptions that means the same type: names tell more of small floats, lists more of records.
std::string description_of(const DType& dtype) {
    const auto means_it = [&](const std::string& text) {
        try {
            return dtype_from_numpy(PythonLiteral::parse(text)) == dtype;
        } catch (const InvalidArgument&) {
            return false;
        }
    };
    if (!dtype.is_record() && !dtype.is_subarray()) {
        if (std::string name = python_quoted(dtype.name()); means_it(name)) return name;
    }
    if (std::string text = numpy_text(dtype); means_it(text)) return text;
    if (std::string text = descr(dtype); means_it(text)) return text;
    throw InvalidArgument("to_ipc: NumPy has no description of " + dtype.name());
}

Dims dims_of(const PythonLiteral& literal) {
    std::vector<std::int64_t> numbers;
    for (const PythonLiteral& number : literal.items()) numbers.push_back(number.integer());
    return Dims(std::span<const std::int64_t>(numbers));
}

struct Described {
    DType dtype;
    Layout layout;
    std::string memory;
};

Described described(std::string_view handle) {
    const PythonLiteral all = PythonLiteral::parse(handle);
    const auto required = [&](const char* key) -> const PythonLiteral& {
        const PythonLiteral* const value = all.is(PythonLiteral::Type::dictionary) ? all.find(key) : nullptr;
        if (value == nullptr) throw InvalidArgument("'" + std::string(key) + "' is missing");
        return *value;
    };
    DType dtype = dtype_from_numpy(required("dtype"));
    const Layout layout = Layout::strided(dims_of(required("shape")), dims_of(required("strides")),
                                          static_cast<std::int64_t>(dtype.itemsize()));
    return {std::move(dtype), layout, required("memory").string()};
}

DeviceNDArray attached(const Described& array, AgentRef gpu) {
    const ByteRange extent = array.layout.extent();
    if (extent.size_bytes() == 0) return DeviceNDArray(nullptr, nullptr, array.dtype, array.layout, gpu);
    auto memory = std::make_shared<const IpcMemory>(IpcMemory::attach(memory_of(array.memory), gpu));
    if (memory->size_bytes() != static_cast<std::size_t>(extent.size_bytes()))
        throw InvalidArgument(array.dtype.name() + " with " + array.layout.to_string() + " takes " +
                              std::to_string(extent.size_bytes()) + " B, the memory has " +
                              std::to_string(memory->size_bytes()) + " B");
    // Unknown to ROCR 5.2 where the host cannot map the memory.
    if (const AgentRef owner = pointer_info(memory->data()).owner; owner && owner != gpu)
        throw InvalidArgument("the memory is of " + owner.label() + ", not of " + gpu.label());
    void* const first = memory->as<std::byte>() - extent.begin;
    return DeviceNDArray(std::move(memory), first, array.dtype, array.layout, gpu);
}

}  // namespace

std::string to_ipc(const DeviceNDArray& array) {
    refuse_in_forked_child("to_ipc");
    const ByteRange extent = array.layout().extent();
    std::string memory;
    if (extent.size_bytes() != 0)
        memory = hex_digits(ipc_handle(static_cast<const std::byte*>(array.data()) + extent.begin,
                                       static_cast<std::size_t>(extent.size_bytes())));
    return "{'dtype': " + description_of(array.dtype()) + ", 'shape': " + array.shape().to_string() +
           ", 'strides': " + array.layout().strides_bytes().to_string() + ", 'memory': '" + memory + "'}";
}

DeviceNDArray from_ipc(std::string_view handle, AgentRef gpu) {
    refuse_in_forked_child("from_ipc");
    try {
        return attached(described(handle), gpu);
    } catch (const InvalidArgument& error) {
        throw InvalidArgument(std::string("from_ipc: ") + error.what(), error.status());
    }
}

}  // namespace hsadrv
