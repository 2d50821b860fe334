// A stream of the stress of everything that does not fail.
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "hsadrv/registration.hpp"
#include "tests/hsadrv/everything/shared.hpp"

namespace device_test::everything {

/// A stream that does not fail, and the value that its memory must have.
class Innocent {
  public:
    Innocent(Everything& all, Gpu& gpu, Random& random)
        : all_(all),
          gpu_(gpu),
          device_(Allocation::from_pool(device_pool(gpu.gpu), bytes)),
          stream_(gpu.gpu, options(random)) {
        stream_.fill_async(device(), 0u, count, patience);
        stream_.begin_capture();
        for (const std::uint32_t summand : summands_) step(5, summand);
        stream_.copy_async(pinned_.data(), device(), bytes);
        graph_ = stream_.end_capture();
    }

    void work(Random& random) {
        switch (random() % 13) {
            case 0:
            case 1:
                step(3, 7);
                value_ = value_ * 3 + 7;
                break;
            case 2:
                graph_.launch(stream_, patience);
                for (const std::uint32_t summand : summands_) value_ = value_ * 5 + summand;
                if (one_in(random, 2)) update_graph(random);
                break;
            case 3:
                value_ = static_cast<std::uint32_t>(random());
                stream_.fill_async(device(), value_, count, patience);
                break;
            case 4:
                stream_.copy_async(pinned_.data(), device(), bytes, patience);
                one_in(random, 2) ? stream_.copy_async(device(), pinned_.data(), bytes, patience) : back_in_rows();
                break;
            case 5:
                stream_.wait(all_.events.any(random), patience);
                all_.events.put(stream_.record({.timing = one_in(random, 4)}, patience), random);
                break;
            case 6:
                stream_.call([this] { ++called_; }, patience);
                ++calls_;
                break;
            case 7:
                ++all_.owed;
                stream_.on_complete(
                    [&all = all_](std::exception_ptr error) {
                        if (error) all.complaints.add("a callback of a stream that did not fail got an error");
                        ++all.told;
                    },
                    patience);
                break;
            case 8:
                look(random);
                break;
            case 9:
                send(random);
                break;
            case 10:
                receive(random);
                break;
            case 11:
                one_in(random, 2) ? check() : through_registered(random);
                break;
            case 12:
                if (one_in(random, 8)) run_other_code();
                break;
        }
    }

    /// Every operation so far took effect.
    void check() {
        std::vector<std::uint32_t> host(count);
        stream_.copy_async(host.data(), device(), bytes, patience);
        stream_.synchronize(patience);
        all_.complaints.unless(host == std::vector<std::uint32_t>(count, value_),
                               "memory of a stream that did not fail");
        all_.complaints.unless(called_ == calls_, "host functions of a stream that did not fail");
    }

  private:
    static StreamOptions options(Random& random) {
        StreamOptions options{.name = "innocent", .exclusive_queue = one_in(random, 8), .profile_records = 64};
        options.profile = one_in(random, 4);
        // Copies between more than two kinds of memory may be too many.
        if (one_in(random, 4)) options.priority = one_in(random, 2) ? QueuePriority::high : QueuePriority::low;
        return options;
    }

    std::uint32_t* device() const { return device_.as<std::uint32_t>(); }
    void step(std::uint32_t factor, std::uint32_t summand) {
        gpu_.scale_add.launch(stream_, {.grid = count, .workgroup = 64, .deadline = patience}, device(), factor,
                              summand, count);
    }

    void update_graph(Random& random) {
        const std::size_t which = random() % summands_.size();
        summands_[which] = static_cast<std::uint32_t>(random());
        graph_.update(which, gpu_.scale_add, {.grid = count, .workgroup = 64, .deadline = patience}, device(), 5u,
                      summands_[which], count);
    }

    /// Every other word as a separate copy.
    void back_in_rows() {
        for (const std::size_t first : {0, 1})
            stream_.copy_rect_async({.destination = {device() + first, 8},
                                     .source = {pinned_.data() + first, 8},
                                     .width_bytes = 4,
                                     .height = count / 2},
                                    patience);
    }

    /// A deadline that may pass gives the reason, and loses no work.
    void look(Random& random) {
        try {
            const Event event = all_.events.any(random);
            stream_.query();
            event.query();
            stream_.take_profile(soon);
            stream_.synchronize(one_in(random, 2) ? 0ms : soon);
            event.synchronize(soon);
        } catch (const Timeout&) {
        }
    }

    void send(Random& random) {
        Parcel parcel{gpu_.allocator.allocate(bytes, stream_), {}, static_cast<std::uint32_t>(random())};
        stream_.fill_async(parcel.block.as<std::uint32_t>(), parcel.value, count, patience);
        parcel.ready = stream_.record({}, patience);
        gpu_.parcels.put(std::move(parcel), random);
    }

    /// The parcel's memory belongs to this stream from here on, if it is of the same GPU.
    void receive(Random& random) {
        Gpu& from = *all_.gpus[random() % all_.gpus.size()];
        Parcel parcel = from.parcels.take(random);
        if (!parcel.block) return;
        stream_.wait(parcel.ready, patience);
        stream_.copy_async(device(), parcel.block.data(), bytes, patience);
        value_ = parcel.value;
        if (&from == &gpu_)
            parcel.block.free_on(stream_);
        else
            stream_.synchronize(patience);
        if (one_in(random, 16)) gpu_.allocator.release_cached();
    }

    /// Code that is unloaded while its kernel is in flight.
    void run_other_code() {
        const Executable code = Executable::load(gpu_.gpu, test_support::test_file("stream.hsaco"));
        code.kernel("scale_add")
            .launch(stream_, {.grid = count, .workgroup = 64, .deadline = patience}, device(), 2u, 3u, count);
        value_ = value_ * 2 + 3;
    }

    /// Copies to pageable memory, and back from a part of it that is registered twice.
    void through_registered(Random& random) {
        std::vector<std::uint32_t> host(4 * count);
        const Registration all(host.data(), 4 * bytes, {gpu_.gpu});
        std::optional<Registration> part(std::in_place, host.data() + count, bytes, std::initializer_list{gpu_.gpu});
        stream_.copy_async(host.data() + count, device(), bytes, patience);
        if (one_in(random, 2)) part.reset();
        stream_.copy_async(device(), host.data() + count, bytes, patience);
        stream_.synchronize(patience);
        all_.complaints.unless(host[count] == value_ && host[2 * count - 1] == value_, "registered memory");
    }

    Everything& all_;
    Gpu& gpu_;
    std::atomic<int> called_{0};
    int calls_ = 0;
    std::uint32_t value_ = 0;
    std::array<std::uint32_t, 3> summands_{0, 1, 2};  ///< of the graph's kernels
    Words pinned_{count};
    Allocation device_;
    Graph graph_;
    Stream stream_;
};

}  // namespace device_test::everything
