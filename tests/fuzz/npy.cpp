// .npy files as bytes: each is read, or refused as InvalidArgument; what is read can be written, and is then the
// same array. Likewise for type descriptions of NumPy and of the buffer protocol.
#include "devicearray/npy.hpp"

#include "devicearray/dtype_buffer.hpp"
#include "devicearray/dtype_numpy.hpp"
#include "hsadrv/error.hpp"
#include "tests/fuzz/fuzz.hpp"

namespace {

using namespace hsadrv;

/// Runs it; a refusal must have a reason.
template <class Read>
void refused_or(Read read) {
    try {
        read();
    } catch (const InvalidArgument& error) {
        if (std::string_view{error.what()}.empty()) fuzz::broken("refused without a reason");
    }
}

void same_again(const HostView& array) {
    std::vector<std::byte> file;
    refused_or([&] { file = write_npy(array); });  // fields that overlap, names that are no UTF-8
    if (file.empty()) return;
    const HostView again = view_npy(file);
    if (!same_element_order(again.layout, array.layout) || again.dtype != array.dtype)
        fuzz::broken("written as another array");
    const auto bytes = static_cast<std::size_t>(array.layout.size_bytes());
    if (bytes && std::memcmp(again.data, array.data, bytes) != 0) fuzz::broken("written with other elements");
}

void same_again(const DType& type) {
    std::string format;
    refused_or([&] { format = buffer_format(type); });
    // A format has no titles, so the formats are compared, not the types.
    if (!format.empty() && buffer_format(dtype_from_buffer(format, type.itemsize())) != format)
        fuzz::broken("another type's format");
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::span file{reinterpret_cast<const std::byte*>(data), size};
    const std::string_view text{reinterpret_cast<const char*>(data), size};
    refused_or([&] { same_again(view_npy(file)); });
    refused_or([&] { same_again(NpyArray({file.begin(), file.end()}).view()); });
    refused_or([&] { same_again(dtype_from_numpy(text)); });
    refused_or([&] { same_again(dtype_from_buffer(text)); });
    return 0;
}

std::vector<fuzz::Bytes> fuzz::seeds() {
    std::vector<Bytes> all;
    const auto add = [&](const auto& bytes) {
        const auto* from = reinterpret_cast<const std::uint8_t*>(bytes.data());
        all.emplace_back(from, from + bytes.size());
    };
    const char* const descriptions[] = {
        "'<f4'",
        "[('x', '<f4'), ('v', '<f4', (3, 2)), ('', '|V4')]",
        "[(('t', 'n'), '<i4'), ('in', [('q', '<u2'), ('r', '|b1')], (2,))]",
        "{'names': ['a', 'b'], 'formats': ['i1', '<c8'], 'offsets': [8, 0], 'titles': ['\\x41', None]}",
        "{'names': ['a', 'b'], 'formats': ['?', '<f2'], 'aligned': True}",
    };
    const std::vector<std::byte> elements(4096, std::byte{0x5a});
    for (const char* description : descriptions) {
        const DType type = dtype_from_numpy(description);
        add(std::string_view{description});
        add(type.name());
        for (const Order order : {Order::C, Order::F}) {
            const Layout layout = Layout::contiguous({2, 3}, static_cast<std::int64_t>(type.itemsize()), order);
            for (const int version : {1, 2, 3})
                refused_or([&] { add(write_npy({elements.data(), type, layout}, version)); });
        }
    }
    for (const std::string_view format :
         {"T{b:a:xxxf:b:(3,2)h:v:}", "@bf", "T{=b:a:3T{h:q:?:r:}:s:}", "(2,3)Zd", "f:x:>b:y:5x", "^lqn"})
        add(format);
    return all;
}
