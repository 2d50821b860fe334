// Which bytes of an element are significant: all but a record's padding.
//
//     DTypeBytes used(dtype_of<Particle>());
//     used.all();                // without gaps
//     used.equal(a, b);          // compares two elements, ignoring gaps
//
// Values; thread safety as such. Owns its list. Throws only std::bad_alloc.
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
    /// Compares the elements at the two addresses.
    bool equal(const std::byte* a, const std::byte* b) const;

  private:
    std::vector<ByteRange> ranges_;  ///< ascending, disjoint
    bool all_;
};

}  // namespace hsadrv
