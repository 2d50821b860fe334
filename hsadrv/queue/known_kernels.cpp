#include "hsadrv/queue/known_kernels.hpp"

#include <cstdio>
#include <cstring>
#include <mutex>
#include <unordered_map>
#include <utility>

#include "hsadrv/base/text.hpp"

namespace hsadrv::detail {

namespace {

struct KnownKernel {
    std::string name;
    std::vector<ArgumentMetadata> arguments;
    std::weak_ptr<const void> code;
};

struct KnownKernels {
    std::mutex mutex;
    std::unordered_map<std::uint64_t, KnownKernel> kernels;
};

// Never destroyed: executables in static storage may be unloaded at exit.
KnownKernels& known_kernels() {
    static auto* kernels = new KnownKernels;
    return *kernels;
}

template <class T>
T read(const std::byte* at) {
    T value;
    std::memcpy(&value, at, sizeof value);
    return value;
}

std::string hex_bytes(const std::byte* at, std::size_t size) {
    constexpr std::size_t most = 16;  // bytes of a structure that are printed
    std::string text;
    char digits[4];
    for (std::size_t i = 0; i < size && i < most; ++i) {
        std::snprintf(digits, sizeof digits, "%02x", std::to_integer<unsigned>(at[i]));
        text += digits;
    }
    return "{" + text + (size > most ? "…}" : "}");
}

std::string floating_text(double value) {
    char text[40];
    std::snprintf(text, sizeof text, "%.9g", value);
    return text;
}

std::string integer_text(const std::byte* at, std::size_t size, bool is_signed) {
    switch (size) {
        case 1:
            return is_signed ? std::to_string(read<std::int8_t>(at)) : std::to_string(read<std::uint8_t>(at));
        case 2:
            return is_signed ? std::to_string(read<std::int16_t>(at)) : std::to_string(read<std::uint16_t>(at));
        case 4:
            return is_signed ? std::to_string(read<std::int32_t>(at)) : std::to_string(read<std::uint32_t>(at));
        case 8:
            return is_signed ? std::to_string(read<std::int64_t>(at)) : std::to_string(read<std::uint64_t>(at));
        default:
            return hex_bytes(at, size);
    }
}

/// The result of `say` for the kernel, under the lock; the kernel object's handle if it was not recorded.
template <class Say>
std::string text_of(std::uint64_t kernel_object, Say&& say) {
    KnownKernels& known = known_kernels();
    const std::lock_guard lock(known.mutex);
    const auto found = known.kernels.find(kernel_object);
    return found == known.kernels.end() ? "kernel object " + hex(kernel_object) : say(found->second);
}

}  // namespace

std::string argument_text(const ArgumentMetadata& argument, const std::byte* kernarg) {
    const std::byte* at = kernarg + argument.offset_bytes;
    if (argument.kind == ValueKind::global_buffer || argument.kind == ValueKind::dynamic_shared_pointer)
        return argument.size_bytes == 8 ? hex(read<std::uint64_t>(at)) : hex(read<std::uint32_t>(at));
    if (argument.type_name == "float" && argument.size_bytes == 4) return floating_text(read<float>(at));
    if (argument.type_name == "double" && argument.size_bytes == 8) return floating_text(read<double>(at));
    const bool is_unsigned = argument.type_name.empty() || argument.type_name.front() == 'u';
    return integer_text(at, argument.size_bytes, !is_unsigned);
}

void note_kernel(std::uint64_t kernel_object, std::string name, std::vector<ArgumentMetadata> arguments,
                 std::weak_ptr<const void> code) {
    KnownKernels& known = known_kernels();
    const std::lock_guard lock(known.mutex);
    known.kernels.insert_or_assign(kernel_object, KnownKernel{std::move(name), std::move(arguments), std::move(code)});
}

std::shared_ptr<const void> kernel_code(std::uint64_t kernel_object) {
    KnownKernels& known = known_kernels();
    const std::lock_guard lock(known.mutex);
    const auto found = known.kernels.find(kernel_object);
    return found == known.kernels.end() ? nullptr : found->second.code.lock();
}

void forget_kernel(std::uint64_t kernel_object) noexcept {
    KnownKernels& known = known_kernels();
    const std::lock_guard lock(known.mutex);
    known.kernels.erase(kernel_object);
}

std::string kernel_name(std::uint64_t kernel_object) {
    return text_of(kernel_object, [](const KnownKernel& kernel) { return kernel.name; });
}

std::string kernel_label(std::uint64_t kernel_object) { return kernel_call_text(kernel_object, nullptr); }

std::string kernel_call_text(std::uint64_t kernel_object, const std::byte* kernarg) {
    return text_of(kernel_object, [&](const KnownKernel& kernel) {
        std::string text = "kernel " + kernel.name;
        if (kernarg == nullptr || kernel.arguments.empty()) return text;
        std::string list;
        for (const ArgumentMetadata& argument : kernel.arguments) {
            if (is_hidden(argument.kind)) continue;
            list += list.empty() ? "" : ", ";
            if (!argument.name.empty()) list += argument.name + " = ";
            list += argument_text(argument, kernarg);
        }
        return text + "(" + list + ")";
    });
}

}  // namespace hsadrv::detail
