// Internal: which GPU a text means. Pure: it works on names.
//
//   choose_gpu("gfx90a", {{"gfx900", …}, {"gfx90a", …}});       // 1
//
// Tried in this order: an ordinal ("0"), a UUID ("GPU-…", or the beginning of one, 8 characters at least), a PCI
// address ("0000:03:00.0"), a name ("gfx90a", or the product's; capitals do not matter). Thread safety: a function.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace hsadrv::detail {

struct GpuNames {
    std::string name, product, uuid, pci;
};

/// Throws InvalidArgument for a text that means several of them, NoDevice for one that means none; both list
/// what there is, and `hidden`, the variables that hide others.
std::size_t choose_gpu(std::string_view text, std::span<const GpuNames> gpus, std::string_view hidden);

}  // namespace hsadrv::detail
