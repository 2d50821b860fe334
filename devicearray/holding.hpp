// Internal: objects that a stream must keep alive for an operation, handed to it at the end of a scope.
//
//     Holding holding(stream);
//     holding.add(memory);
//     stream.copy_async(…);       // even if it throws: part of it may be in flight after a Timeout
//
// Does not wait. Thread safety: as of a value. Borrows: the stream.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <utility>

#include "hsadrv/stream.hpp"

namespace hsadrv::detail {

class Holding {
  public:
    explicit Holding(Stream& stream) : stream_(stream) {}
    Holding(const Holding&) = delete;
    Holding& operator=(const Holding&) = delete;
    ~Holding() {
        for (std::size_t i = 0; i < count_; ++i) {
            try {
                stream_.keep_alive(objects_[i]);
            } catch (...) {
                // No memory to record the object. The stream's last operation may use it, so wait for that.
                static_cast<void>(stream_.failed() || synchronised());
            }
        }
    }
    /// Null is ignored. At most six.
    void add(std::shared_ptr<const void> object) {
        if (object) objects_[count_++] = std::move(object);
    }

  private:
    bool synchronised() noexcept {
        try {
            stream_.synchronize();
        } catch (...) {  // failed now: it has no work in flight
        }
        return true;
    }

    Stream& stream_;
    std::array<std::shared_ptr<const void>, 6> objects_{};
    std::size_t count_ = 0;
};

}  // namespace hsadrv::detail
