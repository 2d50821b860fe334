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
#include <exception>
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
            } catch (const std::exception&) {  // no memory: leaked
            }
        }
    }
    /// Null is ignored. At most six.
    void add(std::shared_ptr<const void> object) {
        if (object) objects_[count_++] = std::move(object);
    }

  private:
    Stream& stream_;
    std::array<std::shared_ptr<const void>, 6> objects_{};
    std::size_t count_ = 0;
};

}  // namespace hsadrv::detail
