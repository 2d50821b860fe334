#include "hsadrv/base/gpu_choice.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <vector>

#include "hsadrv/error.hpp"

namespace hsadrv::detail {

namespace {

std::string lower(std::string_view text) {
    std::string result(text);
    for (char& c : result) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return result;
}

std::string list(std::span<const GpuNames> gpus, std::string_view hidden) {
    std::string text = "; there are the GPUs";
    for (std::size_t i = 0; i < gpus.size(); ++i)
        text += (i == 0 ? " " : ", ") + std::to_string(i) + " " + gpus[i].name + " " + gpus[i].uuid + " " +
                gpus[i].pci + (gpus[i].product.empty() ? "" : " (" + gpus[i].product + ")");
    if (gpus.empty()) text = "; there are none";
    if (!hidden.empty()) text.append("; others may be hidden by ").append(hidden);
    return text;
}

/// The GPUs for which `matches` holds.
template <class Matches>
std::vector<std::size_t> all_that(std::span<const GpuNames> gpus, Matches&& matches) {
    std::vector<std::size_t> found;
    for (std::size_t i = 0; i < gpus.size(); ++i)
        if (matches(gpus[i])) found.push_back(i);
    return found;
}

}  // namespace

std::size_t choose_gpu(std::string_view text, std::span<const GpuNames> gpus, std::string_view hidden) {
    const std::string call = "hsadrv::Driver::gpu(\"" + std::string(text) + "\"): ";
    std::size_t ordinal = 0;
    const auto number = std::from_chars(text.data(), text.data() + text.size(), ordinal);
    if (!text.empty() && number.ptr == text.data() + text.size()) {
        if (number.ec == std::errc() && ordinal < gpus.size()) return ordinal;
        throw NoDevice(call + "no GPU has that ordinal" + list(gpus, hidden));
    }
    const std::string wanted = lower(text);
    std::vector<std::size_t> found;
    if (wanted.starts_with("gpu-") && wanted.size() >= 8)
        found = all_that(gpus, [&](const GpuNames& gpu) { return lower(gpu.uuid).starts_with(wanted); });
    else
        found = all_that(gpus, [&](const GpuNames& gpu) {
            return !wanted.empty() && (lower(gpu.name) == wanted || lower(gpu.product) == wanted || gpu.pci == wanted);
        });
    if (found.size() == 1) return found.front();
    if (found.empty()) throw NoDevice(call + "no GPU is called that" + list(gpus, hidden));
    std::string which;
    for (const std::size_t index : found) which += (which.empty() ? "" : ", ") + std::to_string(index);
    throw InvalidArgument(call + "could be each of " + which + ", so say which by ordinal, UUID or PCI address" +
                          list(gpus, hidden));
}

}  // namespace hsadrv::detail
