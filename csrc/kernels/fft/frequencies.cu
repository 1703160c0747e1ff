// The frequencies of the points of Fourier transforms.
#include "device/convert.cuh"
#include "device/group.cuh"
#include "device/launch.cuh"
#include "device/launcher.cuh"
#include "params/fft.hpp"

namespace stator::STATOR_TARGET::fft {

namespace {

struct FrequencyTuning {
  static constexpr int block = 256;
  static constexpr int tile = by_target<1024, 16384>::value;  // elements per block
};

template <int Size>
STATOR_KERNEL(Size) void frequencies_kernel(params::Frequencies p) {
  const Group<Size> group;
  const int64_t first = group.block() * FrequencyTuning::tile;
  const int64_t n = p.count - first < FrequencyTuning::tile ? p.count - first : FrequencyTuning::tile;
  group.for_each(n, [=](int64_t at) {
    const int64_t i = first + at;
    store_one(p.out, p.dtype, i, double(i < p.positive ? i : i - p.count) * p.step);
  });
}

void frequencies(const params::Queue& q, const params::Frequencies& p) {
  launch(q, "frequencies", frequencies_kernel<FrequencyTuning::block>,
         {ceil_div(p.count, FrequencyTuning::tile), FrequencyTuning::block}, p);
}

}  // namespace

}  // namespace stator::STATOR_TARGET::fft

STATOR_LAUNCHER(fft, frequencies)
