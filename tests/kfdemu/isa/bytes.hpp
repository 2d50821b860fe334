// Memory of a test's wave: initially zero, read and written as any type at any offset.
//
//     Bytes<1024> lds;
//     lds.put(16, 0x1234u);
//     lds.at<std::uint16_t>(16)
//
// Thread safety: none.
#pragma once

#include <cstddef>
#include <cstring>

namespace test_isa {

template <std::size_t size>
class Bytes {
  public:
    template <class T>
    T at(unsigned offset) const {
        T value;
        std::memcpy(&value, bytes_ + offset, sizeof value);
        return value;
    }
    template <class T>
    void put(unsigned offset, T value) {
        std::memcpy(bytes_ + offset, &value, sizeof value);
    }
    std::byte* data() { return bytes_; }

  private:
    alignas(64) std::byte bytes_[size] = {};
};

}  // namespace test_isa
