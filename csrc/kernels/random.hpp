// Parameters of the random launchers. Philox4x32-10 (Salmon et al., SC 2011): key is the seed; the counter of element i
// is (offset + i / draws-per-counter, stream). Equal bits whatever the launch shape.
#pragma once

#include "device/abi.hpp"

namespace stator::abi {

struct Random {
  void* out;  // contiguous
  DType dtype;
  int64_t size;
  uint64_t seed, offset;  // offset counts Philox blocks of four 32-bit words; float64 draws take two words each
  double a, b;            // uniform: low, high. normal: mean, standard deviation
};

}  // namespace stator::abi

namespace stator::kernels {

struct RandomTable {
  void (*uniform)(const abi::Queue&, const abi::Random&);
  void (*normal)(const abi::Queue&, const abi::Random&);
};

}  // namespace stator::kernels
