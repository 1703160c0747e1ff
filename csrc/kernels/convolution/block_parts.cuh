#pragma once

#include "device/target.cuh"

#include <cstdint>

namespace stator::STATOR_TARGET::convolution {

// Takes a number, such as a block's, apart: first the part that changes fastest.
class BlockParts {
 public:
  STATOR_FN explicit BlockParts(int64_t number) : rest_(number) {}
  // The next part, one of `count`.
  STATOR_FN int64_t next(int64_t count) {
    const int64_t part = rest_ % count;
    rest_ /= count;
    return part;
  }
  // What is left, of which no part was taken.
  STATOR_FN int64_t rest() const { return rest_; }

 private:
  int64_t rest_;
};

}  // namespace stator::STATOR_TARGET::convolution
