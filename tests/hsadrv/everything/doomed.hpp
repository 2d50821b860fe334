// A stream of the stress of everything that fails or ends with work in flight.
#pragma once

#include <functional>
#include <memory>

#include "hsadrv/error.hpp"
#include "tests/hsadrv/everything/shared.hpp"

namespace device_test::everything {

/// A stream that fails or ends with work in flight. Every error that it reports is one of the expected ones.
class Doomed {
  public:
    Doomed(Everything& all, Gpu& gpu, Random& random)
        : all_(all),
          gpu_(gpu),
          stream_(gpu.gpu, {.name = "doomed", .drain = 1ms, .profile = one_in(random, 4)}),
          mine_(std::make_shared<Mine>(all, gpu)) {
        stream_.attach(mine_);
    }

    void work(Random& random) {
        tolerate([&] { operate(random); });
    }

    void end(Random& random) {
        tolerate([&] {
            if (one_in(random, 3)) spin();
            switch (random() % 4) {
                case 0:
                    ++all_.broken;
                    break_queue(stream_);
                    break;
                case 1:
                    ++all_.threw;
                    stream_.call([] { throw OnPurpose(); }, soon);
                    break;
                case 2:
                    stream_.wait(all_.doomed_events.any(random), soon);
                    break;
                case 3:
                    break;
            }
            for (int i = 0; i < 3; ++i) operate(random);
        });
        if (one_in(random, 2)) mine_->flag.set(1);
        if (one_in(random, 2)) tolerate([&] { stream_.synchronize(soon); });
        if (one_in(random, 4)) return;  // left to the destructor
        ++all_.closed;
        stream_.close(0ms);
    }

  private:
    /// Resources of its work until the last of it has run. The destructor uses a stream, as any destructor may.
    struct Mine {
        Mine(Everything& everything, Gpu& of)
            : all(everything), gpu(of), device(Allocation::from_pool(device_pool(of.gpu), bytes)) {
            ++all.kept;
        }
        ~Mine() {
            gpu.shared.query();
            ++all.dropped;
        }
        Everything& all;
        Gpu& gpu;
        Allocation device;
        Words pinned{count}, flag{1};
    };

    void tolerate(const std::function<void()>& what) {
        try {
            what();
        } catch (const QueueError&) {
        } catch (const StreamEnded&) {
        } catch (const Timeout&) {
        } catch (const OnPurpose&) {
        }
    }

    void spin() { gpu_.spin.launch(stream_, {.grid = 1, .workgroup = 1, .deadline = soon}, mine_->flag.data()); }

    void operate(Random& random) {
        switch (random() % 8) {
            case 0:
                gpu_.scale_add.launch(stream_, {.grid = count, .workgroup = 64, .deadline = soon},
                                      mine_->device.as<std::uint32_t>(), 3u, 1u, count);
                break;
            case 1:
                stream_.copy_async(mine_->pinned.data(), mine_->device.data(), bytes, soon);
                break;
            case 2:
                stream_.fill_async(mine_->device.as<std::uint32_t>(), 7u, count, soon);
                break;
            case 3:
                all_.doomed_events.put(stream_.record({.timing = one_in(random, 4)}, soon), random);
                break;
            case 4:
                stream_.wait(one_in(random, 2) ? all_.doomed_events.any(random) : all_.events.any(random), soon);
                break;
            case 5:
                stream_.on_complete([&all = all_](std::exception_ptr) { ++all.told; }, soon);
                ++all_.owed;
                break;
            case 6:
                stream_.call([mine = mine_] { mine->flag.get(); }, soon);
                break;
            case 7:
                all_.doomed_events.any(random).query();
                stream_.query();
                break;
        }
    }

    Everything& all_;
    Gpu& gpu_;
    Stream stream_;
    std::shared_ptr<Mine> mine_;
};

}  // namespace device_test::everything
