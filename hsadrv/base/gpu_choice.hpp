// Internal: selects a GPU by ordinal, UUID, PCI address or name. Pure: works on names.
//
//   choose_gpu("gfx90a", {{"gfx900", …}, {"gfx90a", …}});       // 1
//
// Tried in this order: an ordinal ("0"), a UUID ("GPU-…", or a prefix of at least 8 characters), a PCI address
// ("0000:03:00.0"), a name ("gfx90a", or the product's; case-insensitive). Thread safety: a function.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace hsadrv::detail {

struct GpuNames {
    std::string name, product, uuid, pci;
};

/// Returns the index in `gpus`. Throws InvalidArgument for a text that matches several GPUs, NoDevice for one that
/// matches none; both messages list the GPUs and `hidden`, the variables that hide others.
std::size_t choose_gpu(std::string_view text, std::span<const GpuNames> gpus, std::string_view hidden);

}  // namespace hsadrv::detail
