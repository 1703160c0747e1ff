// Eight-bit floats of the OCP specification (OFP8 1.0, 2023): e4m3 without infinity, e5m2 as IEEE 754 would define it.
#include "device/convert.cuh"
#include "device/float8.cuh"
#include "device/group.cuh"
#include "device/index.cuh"
#include "host/launch.hpp"
#include "host/launcher.hpp"
#include "params/matmul.hpp"

#include <algorithm>

namespace stator::STATOR_TARGET::matmul {
namespace {

struct Float8Tuning {
  static constexpr int block = 256;
  static constexpr int64_t tile = by_target<4096, 32768>::value;  // elements per block
};

STATOR_FN float finite_magnitude(float x) {
  const float magnitude = x < 0 ? -x : x;
  return magnitude <= 3.40282347e38f ? magnitude : 0.0f;  // neither NaN nor infinity
}

// The largest finite |x| of each split of each segment. inner == 1: one block per split; else one thread per column of
// a split.
template <int Size>
STATOR_KERNEL(Size) void largest_kernel(params::QuantizeFloat8 p, int64_t tiles) {
  const Group<Size> group;
  if (p.inner == 1) {
    const int64_t split = group.block() % p.splits, segment = group.block() / p.splits;
    const int64_t first = split * p.split_size, n = p.count - first < p.split_size ? p.count - first : p.split_size;
    const int64_t at = segment * p.count + first;
    const float found = group.template map_reduce<float>(
        n, Max{}, [=](int64_t i) { return finite_magnitude(load_one<float>(p.x, p.dtype, at + i)); });
    if (group.rank() == 0) p.partials[group.block()] = found < 0 ? 0 : found;
    return;
  }
  const int64_t tile = group.block() % tiles, split = group.block() / tiles % p.splits,
                o = group.block() / tiles / p.splits;
  const int64_t first = split * p.split_size, n = p.count - first < p.split_size ? p.count - first : p.split_size;
  const int64_t width = p.inner - tile * Size < Size ? p.inner - tile * Size : Size;
  group.for_each(width, [=](int64_t j) {
    const int64_t column = tile * Size + j;
    float found = 0;
    for (int64_t i = first; i < first + n; ++i) {
      const float v = finite_magnitude(load_one<float>(p.x, p.dtype, (o * p.count + i) * p.inner + column));
      found = v > found ? v : found;
    }
    p.partials[(o * p.inner + column) * p.splits + split] = found;
  });
}

STATOR_FN float scale_of(const params::QuantizeFloat8& p, int64_t segment) {
  float found = 0;
  for (int64_t i = 0; i < p.splits; ++i) {
    const float v = p.partials[segment * p.splits + i];
    found = v > found ? v : found;
  }
  const float scale = found / float8_format(p.format).largest;
  return scale > 0 ? scale : 1.0f;
}

struct SegmentScale {
  float value;
};

// Encodes with the scales of the segments. inner == 1: the splits are tiles of a segment here, one per block.
template <int Size>
STATOR_KERNEL(Size) void encode_kernel(params::QuantizeFloat8 p, int64_t splits, int64_t tiles) {
  const Group<Size> group;
  const params::Float8 format = p.format;
  if (p.inner == 1) {
    const int64_t split = group.block() % splits, segment = group.block() / splits;
    const int64_t first = split * Float8Tuning::tile;
    const int64_t n = p.count - first < Float8Tuning::tile ? p.count - first : Float8Tuning::tile;
    SegmentScale& shared = group.template shared<SegmentScale>();
    if (group.rank() == 0) {
      shared.value = scale_of(p, segment);
      if (split == 0) p.scale[segment] = shared.value;
    }
    group.sync();
    const float scale = shared.value;
    const int64_t at = segment * p.count + first;
    group.for_each(
        n, [=](int64_t i) { p.q[at + i] = float8_encoded(load_one<float>(p.x, p.dtype, at + i) / scale, format); });
    return;
  }
  const int64_t tile = group.block() % tiles, split = group.block() / tiles % splits,
                o = group.block() / tiles / splits;
  const int64_t first = split * p.split_size, n = p.count - first < p.split_size ? p.count - first : p.split_size;
  const int64_t width = p.inner - tile * Size < Size ? p.inner - tile * Size : Size;
  group.for_each(width, [=](int64_t j) {
    const int64_t column = tile * Size + j;
    const float scale = scale_of(p, o * p.inner + column);
    if (split == 0) p.scale[o * p.inner + column] = scale;
    for (int64_t i = first; i < first + n; ++i) {
      const int64_t at = (o * p.count + i) * p.inner + column;
      p.q[at] = float8_encoded(load_one<float>(p.x, p.dtype, at) / scale, format);
    }
  });
}

void quantize(const params::Queue& q, const params::QuantizeFloat8& p) {
  constexpr int block = Float8Tuning::block;
  const int64_t tiles = ceil_div(p.inner, block);
  if (p.inner == 1) {
    const int64_t splits = ceil_div(p.count, Float8Tuning::tile);
    launch(q, "float8_largest", largest_kernel<block>, {p.outer * p.splits, block}, p, int64_t(1));
    launch(q, "float8_encode", encode_kernel<block>, {p.outer * splits, block}, p, splits, int64_t(1));
  } else {
    launch(q, "float8_largest", largest_kernel<block>, {p.outer * p.splits * tiles, block}, p, tiles);
    launch(q, "float8_encode", encode_kernel<block>, {p.outer * p.splits * tiles, block}, p, p.splits, tiles);
  }
}

template <int Size>
STATOR_KERNEL(Size) void decode_kernel(params::DecodeFloat8 p, int64_t first_blocks, FastDivmod64 of_first,
                                       FastDivmod64 of_second) {
  const Group<Size> group;
  const bool second = group.block() >= first_blocks;
  const int64_t block = group.block() - (second ? first_blocks : 0);
  // Selected, not indexed: an index would move the parameters to local memory.
  const int64_t rows = second ? p.rows[1] : p.rows[0], cols = second ? p.cols[1] : p.cols[0];
  const int64_t row_step = second ? p.row_stride[1] : p.row_stride[0];
  const int64_t col_step = second ? p.col_stride[1] : p.col_stride[0];
  const int64_t first = block * Float8Tuning::tile;
  const int64_t n = rows * cols - first < Float8Tuning::tile ? rows * cols - first : Float8Tuning::tile;
  const params::Float8 format = second ? p.format[1] : p.format[0];
  const uint8_t* q = second ? p.q[1] : p.q[0];
  void* out = second ? p.out[1] : p.out[0];
  const FastDivmod64 of_row = second ? of_second : of_first;
  const auto value = [=](int64_t i) {
    int64_t column;
    const int64_t row = of_row.divmod(i, column);
    return float8_decoded(q[row * row_step + column * col_step], format);
  };
  const bool dense = row_step == cols && col_step == 1;
  if (p.dtype == DType::float16)
    group.for_each(n, [=](int64_t i) { static_cast<float16*>(out)[first + i] = float16(value(first + i)); });
  else if (dense)
    group.for_each(n, [=](int64_t i) { static_cast<float*>(out)[first + i] = float8_decoded(q[first + i], format); });
  else
    group.for_each(n, [=](int64_t i) { static_cast<float*>(out)[first + i] = value(first + i); });
}

void decode(const params::Queue& q, const params::DecodeFloat8& p) {
  const auto blocks = [&](int which) { return ceil_div(p.rows[which] * p.cols[which], Float8Tuning::tile); };
  launch(q, "float8_decode", decode_kernel<Float8Tuning::block>, {blocks(0) + blocks(1), Float8Tuning::block}, p,
         blocks(0), FastDivmod64(std::max<int64_t>(p.cols[0], 1)), FastDivmod64(std::max<int64_t>(p.cols[1], 1)));
}

}  // namespace

}  // namespace stator::STATOR_TARGET::matmul

STATOR_LAUNCHER(matmul, quantize)
STATOR_LAUNCHER(matmul, decode)
