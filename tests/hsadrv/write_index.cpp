// What firmware may see of a ring at any time: every slot below its write index is written.
#include <hsa/amd_hsa_queue.h>

#include <atomic>
#include <cstddef>
#include <set>
#include <thread>
#include <vector>

#include "tests/hsadrv/stream_fixture.hpp"
#include "tools/kfdemu/kfdemu.h"

using namespace hsadrv;
using namespace device_test;

namespace {

/// A ring whose packet processor waits at a barrier, until open() is called.
class HeldRing {
  public:
    explicit HeldRing(QueueRef queue) : queue_(queue) {
        const hsa_signal_t signal = shut_.native();
        held_at_ = queue.submit(barrier_and({&signal, 1}));
    }
    void open() const { shut_.store(0); }

    /// Slots after the barrier that the write index covers, and that are not written.
    std::uint64_t early() const {
        const auto* const queue = reinterpret_cast<const amd_queue_t*>(queue_.native());
        const std::uint64_t end =
            std::atomic_ref(const_cast<std::uint64_t&>(const_cast<const std::uint64_t&>(queue->write_dispatch_id)))
                .load(std::memory_order_acquire);
        std::uint64_t found = 0;
        for (std::uint64_t slot = held_at_ + 1; slot < end; ++slot)
            found += (queue_.ring().first_word(slot) & 0xff) == HSA_PACKET_TYPE_INVALID;
        return found;
    }

  private:
    QueueRef queue_;
    Signal shut_ = Signal::create(1);
    std::uint64_t held_at_ = 0;
};

std::uint64_t address(const Words& words, std::size_t i) { return reinterpret_cast<std::uint64_t>(words.data() + i); }

}  // namespace

TEST_CASE("no slot below a write index is unwritten", "[queue][stream][stress]") {
    NEEDS_DEVICE();
    constexpr unsigned threads = 4, streams_each = 8, launches = 4, rounds = 30;
    const Kernels kernels;
    const Words out(threads * streams_each);
    std::vector<Stream> streams;
    for (unsigned i = 0; i < threads * streams_each; ++i) streams.emplace_back(kernels.gpu);
    for (unsigned i = 0; i < streams.size(); ++i) kernels.store_at.launch(streams[i], one, address(out, i), 0u);
    for (Stream& stream : streams) stream.synchronize(patience);

    std::uint64_t early = 0;
    for (unsigned round = 0; round < rounds; ++round) {
        std::set<hsa_queue_t*> known;
        std::vector<HeldRing> held;
        for (const Stream& stream : streams)
            if (known.insert(stream.queue().native()).second) held.emplace_back(stream.queue());
        std::atomic<unsigned> running{threads};
        std::vector<std::thread> producers;
        for (unsigned t = 0; t < threads; ++t)
            producers.emplace_back([&, t] {
                for (unsigned n = 0; n < launches; ++n)
                    for (unsigned i = t * streams_each; i < (t + 1) * streams_each; ++i)
                        kernels.store_at.launch(streams[i], one, address(out, i), round);
                --running;
            });
        while (running != 0)
            for (const HeldRing& ring : held) early += ring.early();
        for (std::thread& producer : producers) producer.join();
        for (const HeldRing& ring : held) ring.open();
        for (Stream& stream : streams) stream.synchronize(patience);
        for (unsigned i = 0; i < streams.size(); ++i) CHECK(out.get(i) == round);
    }
    CHECK(early == 0);
    // The device looks, too, if it is an emulated one that is strict.
    const kfdemu_control* const control = kfdemu_find_control();
    if (control && offsetof(kfdemu_control, early_slots) < control->size_bytes)
        for (const Stream& stream : streams) CHECK(control->early_slots(stream.queue().native()->base_address) == 0);
}
