// A kernel dispatch without its arguments, which Stream::dispatch places.
//
// Thread safety: a plain value.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>

#include "hsadrv/packet.hpp"

namespace hsadrv {

struct DispatchSpec {
    Dim3 grid = {};       ///< work-items
    Dim3 workgroup = {};  ///< work-items
    std::uint32_t private_segment_bytes = 0;
    std::uint32_t group_segment_bytes = 0;
    std::uint64_t kernel_object = 0;
    std::size_t kernarg_bytes = 0;
    bool names_queue = false;  ///< the arguments hold the address of the stream's queue
};

namespace detail {
/// Where a launch's arguments are written that are copied into the stream's memory later.
class ArgumentBlock {
  public:
    static constexpr std::size_t alignment_bytes = 256;

    ArgumentBlock() noexcept {}  // NOLINT: what is written is not read before
    std::byte* of(std::size_t size_bytes) {
        if (size_bytes > sizeof few_ && !many_)
            many_.reset(static_cast<std::byte*>(::operator new(size_bytes, std::align_val_t(alignment_bytes))));
        return const_cast<std::byte*>(data());
    }
    const std::byte* data() const noexcept { return many_ ? many_.get() : few_; }

  private:
    struct Free {
        void operator()(std::byte* data) const noexcept { ::operator delete(data, std::align_val_t(alignment_bytes)); }
    };
    alignas(alignment_bytes) std::byte few_[1024];
    std::unique_ptr<std::byte, Free> many_;
};

inline Packet kernel_dispatch(const DispatchSpec& spec, void* kernarg, hsa_signal_t completion = {0}) noexcept {
    return hsadrv::kernel_dispatch({.kernel_object = spec.kernel_object,
                                    .grid = spec.grid,
                                    .workgroup = spec.workgroup,
                                    .private_segment_bytes = spec.private_segment_bytes,
                                    .group_segment_bytes = spec.group_segment_bytes,
                                    .kernarg = kernarg,
                                    .completion = completion});
}

/// kernel_dispatch() in two steps, for writing in place. This one writes words 1 to 9 and returns the dimensions. The
/// grid and work-group are separate parameters; the grid has at least the work-group's dimensions.
[[gnu::always_inline]] inline unsigned write_dispatch(std::uint32_t* words, const Dim3& grid, const Dim3& workgroup,
                                                      const DispatchSpec& rest) noexcept {
    words[1] = workgroup.x | workgroup.y << 16;
    words[2] = workgroup.z;
    words[3] = grid.x;
    words[4] = grid.y;
    words[5] = grid.z;
    // The segment sizes and the kernel object have the packet's layout.
    constexpr std::size_t segments = offsetof(DispatchSpec, private_segment_bytes);
    std::memcpy(words + 6, reinterpret_cast<const std::byte*>(&rest) + segments, 16);
    return grid.dimensions();
}

/// The second step: the other words, the first one last.
[[gnu::always_inline]] inline void finish_dispatch(std::uint32_t* words, unsigned dimensions, const std::byte* kernarg,
                                                   std::uint64_t completion) noexcept {
    std::memcpy(words + 10, &kernarg, 8);
    std::memset(words + 12, 0, 8);
    std::memcpy(words + 14, &completion, 8);
    constexpr std::uint32_t header = packet_header(PacketType::kernel_dispatch, {});
    std::atomic_ref(words[0]).store(dimensions << 16 | header, std::memory_order_release);
}
}  // namespace detail

}  // namespace hsadrv
