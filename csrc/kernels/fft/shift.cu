// What accompanies Fourier transforms: rolled copies, and the frequencies of the points.
#include "device/bits.cuh"
#include "device/convert.cuh"
#include "device/group.cuh"
#include "host/launch.hpp"
#include "host/launcher.hpp"
#include "params/fft.hpp"

namespace stator::STATOR_TARGET::fft {

namespace {

struct ShiftTuning {
  static constexpr int block = 256;
  static constexpr int tile = by_target<1024, 16384>::value;  // elements per block
};

// Copies contiguous spans of the output, which end where the last axis wraps, where it ends, or where the tile ends.
template <class Bits, int Size>
STATOR_KERNEL(Size) void roll_kernel(params::Roll p) {
  const Group<Size> group;
  const int inner = p.ndim - 1;
  const int64_t row = p.shape[inner], shift = p.shift[inner], step = p.strides[inner];
  const int64_t first = group.block() * ShiftTuning::tile;
  const int64_t last = p.size - first < ShiftTuning::tile ? p.size : first + ShiftTuning::tile;
  for (int64_t at = first; at < last;) {
    int64_t rest = at / row, offset = 0;
    const int64_t column = at - rest * row;
    for (int d = inner - 1; d >= 0; --d) {
      const int64_t next = rest / p.shape[d], coordinate = rest - next * p.shape[d] - p.shift[d];
      offset += (coordinate < 0 ? coordinate + p.shape[d] : coordinate) * p.strides[d];
      rest = next;
    }
    const bool wrapped = column < shift;
    const int64_t span_end = wrapped ? shift : row;
    const int64_t left = span_end - column, n = left < last - at ? left : last - at;
    const Bits* x = static_cast<const Bits*>(p.x) + offset + (column - shift + (wrapped ? row : 0)) * step;
    Bits* out = static_cast<Bits*>(p.out) + at;
    if (step == 1)
      group.for_each(n, [=](int64_t i) { out[i] = x[i]; });
    else
      group.for_each(n, [=](int64_t i) { out[i] = x[i * step]; });
    at += n;
  }
}

template <class Bits>
void roll_bits(const params::Queue& q, const params::Roll& p) {
  launch(q, "roll", roll_kernel<Bits, ShiftTuning::block>, {ceil_div(p.size, ShiftTuning::tile), ShiftTuning::block},
         p);
}

void roll(const params::Queue& q, const params::Roll& p) {
  with_bits(p.itemsize, [&]<class Bits>(Bits) { roll_bits<Bits>(q, p); });
}

template <int Size>
STATOR_KERNEL(Size) void frequencies_kernel(params::Frequencies p) {
  const Group<Size> group;
  const int64_t first = group.block() * ShiftTuning::tile;
  const int64_t n = p.count - first < ShiftTuning::tile ? p.count - first : ShiftTuning::tile;
  group.for_each(n, [=](int64_t at) {
    const int64_t i = first + at;
    store_one(p.out, p.dtype, i, double(i < p.positive ? i : i - p.count) * p.step);
  });
}

void frequencies(const params::Queue& q, const params::Frequencies& p) {
  launch(q, "frequencies", frequencies_kernel<ShiftTuning::block>,
         {ceil_div(p.count, ShiftTuning::tile), ShiftTuning::block}, p);
}

}  // namespace

}  // namespace stator::STATOR_TARGET::fft

STATOR_LAUNCHER(fft, roll)
STATOR_LAUNCHER(fft, frequencies)
