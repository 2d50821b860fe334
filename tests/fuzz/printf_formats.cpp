// What kernels print with OpenCL C's printf: lines of metadata and the records of a buffer, both of them anything.
#include "hsadrv/services/printf_formats.hpp"

#include <algorithm>

#include "tests/fuzz/fuzz.hpp"

namespace {

/// One line of metadata after the other, each with its size in front; the records are the rest.
std::vector<std::string> take_lines(std::span<const std::uint8_t>& bytes) {
    std::vector<std::string> lines;
    while (!bytes.empty() && bytes.front() != 0) {
        const std::size_t size = std::min<std::size_t>(bytes.front(), bytes.size() - 1);
        lines.emplace_back(bytes.begin() + 1, bytes.begin() + 1 + static_cast<std::ptrdiff_t>(size));
        bytes = bytes.subspan(1 + size);
    }
    if (!bytes.empty()) bytes = bytes.subspan(1);
    return lines;
}

fuzz::Bytes seed(const std::vector<std::string>& lines, std::initializer_list<std::uint32_t> records) {
    fuzz::Bytes bytes;
    for (const std::string& line : lines) {
        bytes.push_back(static_cast<std::uint8_t>(line.size()));
        bytes.insert(bytes.end(), line.begin(), line.end());
    }
    bytes.push_back(0);
    for (const std::uint32_t word : records)
        for (unsigned shift = 0; shift < 32; shift += 8) bytes.push_back(static_cast<std::uint8_t>(word >> shift));
    return bytes;
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    std::span<const std::uint8_t> bytes(data, size);
    const hsadrv::detail::PrintfFormats formats(take_lines(bytes));
    std::size_t characters = 0;
    formats.print(std::as_bytes(bytes), [&](std::string_view text) { characters += text.size(); });
    // A conversion takes two characters of a format and may make sixteen fields of 4,096 columns, for each record.
    if (characters > (size + 1) * (size + 1) * 16 * 4096) fuzz::broken("more text than the formats can make");
    return 0;
}

std::vector<fuzz::Bytes> fuzz::seeds() {
    return {
        seed({"1:2:4:4:%d of %u\\n"}, {1, 7, 8, 1, 9, 10}),
        seed({"1:1:16:%.2v4hlf", "2:1:8:%s\\72 %%"}, {2, 0x64636261, 0x65, 1, 0, 1, 2, 0x3f800000}),
        seed({"1:1:4:%v4hhx %p", "2:2:4:8:%*.3e|"}, {1, 0x01020304, 2, 9, 0, 0x3ff00000}),
    };
}
