// Fixtures of the stream tests: long-running kernels, memory of every kind, gated work, a queue made to fail.
#pragma once

#include <atomic>
#include <climits>
#include <exception>
#include <memory>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "hsadrv/stream/queue_pool.hpp"
#include "tests/hsadrv/device.hpp"
#include "tests/support/gate.hpp"
#include "tests/support/test_file.hpp"

namespace device_test {

constexpr hsadrv::LaunchConfig one{.grid = 1, .workgroup = 1};

/// Longer than unwanted work would take.
inline void let_time_pass() { std::this_thread::sleep_for(300ms); }

struct Kernels : Device {
    hsadrv::Executable code = hsadrv::Executable::load(gpu, test_support::test_file("stream.hsaco"));
    hsadrv::Kernel scale_add = code.kernel("scale_add"),  ///< (data, factor, addend, count)
        spin = code.kernel("spin"),                       ///< (flag): until it is not zero
        store_at = code.kernel("store_at");               ///< (address, value)
};

/// Host memory that the GPU reads and writes in place.
struct Words {
    explicit Words(std::size_t count, std::uint32_t value = 0)
        : memory(hsadrv::Allocation::from_pool(hsadrv::host_pool(), 4 * count)) {
        std::uninitialized_fill_n(data(), count, value);
    }
    std::uint32_t* data() const { return static_cast<std::uint32_t*>(memory.data()); }
    std::uint32_t get(std::size_t i = 0) const { return std::atomic_ref(data()[i]).load(); }
    void set(std::uint32_t value, std::size_t i = 0) const { std::atomic_ref(data()[i]).store(value); }
    hsadrv::Allocation memory;
};

/// Memory for copies, too: on the device, and pinned.
struct CopyKernels : Kernels {
    hsadrv::Allocation device = hsadrv::Allocation::from_pool(hsadrv::device_pool(gpu), 4096);
    Words pinned{1024, 7};
};

/// Whether a destroyed stream's packet has written that value with its own arguments, or nothing: its queue is stopped
/// if the packet takes long, as on a busy host.
inline bool is_written_or_stopped(const Words& words, std::uint32_t value) {
    const std::uint32_t found = words.get();  // once: the packet may write at any time
    return found == value || found == 0;
}

/// A stream, and memory for it.
struct Buffers : Device {
    hsadrv::Stream stream{gpu};
    hsadrv::Allocation device(std::size_t size) const {
        return hsadrv::Allocation::from_pool(hsadrv::device_pool(gpu), size);
    }
    static hsadrv::Allocation pinned(std::size_t size) {
        return hsadrv::Allocation::from_pool(hsadrv::host_pool(), size);
    }
    void wait() { stream.synchronize(patience); }
};

inline std::vector<std::uint8_t> pattern(std::size_t size, unsigned seed = 1) {
    std::vector<std::uint8_t> bytes(size);
    for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<std::uint8_t>((i * 31 + i / 251 + seed) & 0xff);
    return bytes;
}

inline std::span<std::uint8_t> bytes_of(const hsadrv::Allocation& allocation) {
    return {allocation.as<std::uint8_t>(), allocation.size_bytes()};
}

using test_support::Gate;

/// More streams than hardware queues, so that each queue has at least two.
inline std::vector<hsadrv::Stream> crowd(hsadrv::AgentRef gpu) {
    std::vector<hsadrv::Stream> streams;
    for (std::size_t i = 0; i < 2 * hsadrv::detail::QueuePool::most; ++i) streams.emplace_back(gpu);
    return streams;
}

/// The others on the hardware queue of the first.
inline std::vector<hsadrv::Stream*> neighbours_of_first(std::vector<hsadrv::Stream>& streams) {
    std::vector<hsadrv::Stream*> list;
    for (std::size_t i = 1; i < streams.size(); ++i)
        if (streams[i].queue().native() == streams[0].queue().native()) list.push_back(&streams[i]);
    return list;
}

/// Two streams on one hardware queue; the first one's kernel runs until `flag` is set.
struct Busy : Kernels {
    Words flag{1}, data{4};
    std::vector<hsadrv::Stream> streams = crowd(gpu);
    hsadrv::Stream &runs = streams[0], &after = *neighbours_of_first(streams).at(0);
    Busy() { spin.launch(runs, one, flag.data()); }
};

inline std::string text_of(const std::exception_ptr& error) {
    try {
        if (error) std::rethrow_exception(error);
    } catch (const std::exception& thrown) {
        return thrown.what();
    }
    return "";
}

/// For host functions: they must not wait for those that wait for them.
constexpr auto briefly = std::chrono::seconds(10);

/// What a function threw, as text.
template <class Function>
std::string thrown_by(Function&& function) {
    try {
        function();
    } catch (...) {
        return text_of(std::current_exception());
    }
    return "";
}

/// Returns when another thread's call of the stream waits.
inline bool another_waits(hsadrv::Stream& stream) {
    return eventually([&] {
        const hsadrv::Packet packet = hsadrv::barrier_and({});
        const std::string thrown = thrown_by([&] { stream.submit(packet, std::chrono::milliseconds(0)); });
        return thrown.find("another thread's call") != std::string::npos;
    });
}

/// A stream without room, until the flag is set.
struct Full : Kernels {
    Words flag{1}, data{1024};
    hsadrv::Stream stream, other{gpu};
    explicit Full(int launches = INT_MAX, std::size_t kernarg_bytes = hsadrv::StreamOptions().kernarg_bytes)
        : stream(gpu, {.packets = gpu.queue_min_packets(), .kernarg_bytes = kernarg_bytes, .exclusive_queue = true}) {
        spin.launch(stream, one, flag.data());
        thrown_by([&] {
            for (int i = 0; i < launches; ++i)
                scale_add.launch(stream, {.grid = 1, .workgroup = 1, .deadline = std::chrono::milliseconds(50)},
                                 data.data() + 1000, 1u, 1u, 1u);
        });
    }
    void launch(hsadrv::Stream& on, std::size_t word, std::uint32_t factor, std::uint32_t addend) {
        scale_add.launch(on, {.grid = 1, .workgroup = 1, .deadline = patience}, data.data() + word, factor, addend, 1u);
    }
};

/// Of no known type: stops its queue.
inline hsadrv::Packet bad_packet() {
    hsadrv::Packet packet = hsadrv::barrier_and({});
    packet.words[0] = (packet.words[0] & ~0xffu) | 7;
    return packet;
}
inline void break_queue(hsadrv::Stream& stream) { stream.submit(bad_packet()); }

}  // namespace device_test
