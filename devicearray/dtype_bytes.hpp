// Which bytes of an element mean something: all but those of records that belong to no field.
//
//     DTypeBytes used(dtype_of<Particle>());
//     used.all();                // without gaps
//     used.equal(a, b);          // two elements, gaps not compared
//
// Values; thread safety as such. Owns its list. Throws nothing but std::bad_alloc.
#pragma once

#include <cstddef>
#include <vector>

#include "devicearray/dtype.hpp"
#include "devicearray/layout.hpp"

namespace hsadrv {

class DTypeBytes {
  public:
    explicit DTypeBytes(const DType& dtype);

    bool all() const { return all_; }
    /// Of one element at each address.
    bool equal(const std::byte* a, const std::byte* b) const;

  private:
    std::vector<ByteRange> ranges_;  ///< ascending, apart
    bool all_;
};

}  // namespace hsadrv
