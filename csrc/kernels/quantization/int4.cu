// Weights of four bits in groups of a row: making them, reading them back, and products with few rows, which decode
// them in registers.
#include "device/functional.cuh"
#include "device/launcher.cuh"
#include "device/vector.cuh"
#include "kernels/quantization/lines.cuh"

#include <algorithm>

namespace stator::STATOR_TARGET::quantization {
namespace {

struct Int4Tuning {
  static constexpr int block = 128;
  static constexpr int rows = by_target<4, 16>::value;            // of x at once
  static constexpr int segment = 1024;                            // fast host: weights that are decoded at once
  static constexpr int64_t least = by_target<1, 1 << 16>::value;  // weights per block of a product
};
constexpr int int4_chunk = 32;  // weights in 16 bytes

// A group per thread: its smallest and largest weight with 0 between them give its scale and zero point.
template <class T>
STATOR_FN void quantize_group(const params::Int4Groups& p, int64_t g) {
  using A = opmath_t<T>;
  const T* const w = static_cast<const T*>(p.weight) + g * p.group;
  A low = A(0), high = A(0);
  for (int64_t k = 0; k < p.group; ++k) {
    const A v = convert<A>(w[k]);
    low = v < low ? v : low;
    high = v > high ? v : high;
  }
  const T rounded = convert<T>((high - low) / A(15));
  const T scale = convert<A>(rounded) > A(0) ? rounded : convert<T>(A(1));
  const A inverse = A(1) / convert<A>(scale), least = round_even(-low * inverse);
  const A zero = least > A(15) ? A(15) : least;
  static_cast<T*>(p.scale)[g] = scale;
  p.zero[g] = uint8_t(int32_t(zero));
  const Step<A> step(convert<A>(scale), zero, 0.0, 15.0);
  uint8_t* const out = p.packed + g * p.group / 2;
  for (int64_t k = 0; k < p.group; k += int4_chunk)
    for (int64_t j = 0; j < int4_chunk / 2; ++j)
      out[k / 2 + j] = uint8_t(step.byte(convert<A>(w[k + j])) | step.byte(convert<A>(w[k + 16 + j])) << 4);
}

template <int Size>
STATOR_KERNEL(Size) void int4_quantize_kernel(params::Int4Groups p, int64_t groups) {
  const Group<Size> group;
  const int64_t first = group.block() * Size, count = groups - first < Size ? groups - first : Size;
  of_float(p.dtype,
           [&](auto type) { group.for_each(count, [&](int64_t k) { quantize_group<decltype(type)>(p, first + k); }); });
}

// The weights in 16 bytes, which have one scale and zero point.
template <class A>
STATOR_FN void decode_chunk(const uint8_t* bytes, A scale, A zero, A* to) {
  for (int j = 0; j < 16; ++j) to[j] = (A(int32_t(bytes[j] & 15)) - zero) * scale;
  for (int j = 0; j < 16; ++j) to[16 + j] = (A(int32_t(bytes[j] >> 4)) - zero) * scale;
}

template <int Size>
STATOR_KERNEL(Size) void int4_decode_kernel(params::Int4Groups p, int64_t chunks) {
  const Group<Size> group;
  const int64_t first = group.block() * Size, count = chunks - first < Size ? chunks - first : Size;
  of_float(p.dtype, [&](auto type) {
    using T = decltype(type);
    group.for_each(count, [&](int64_t k) {
      const int64_t at = (first + k) * int4_chunk, g = at / p.group;
      const Vec<uint8_t, 16> bytes = load_vector<16>(p.packed + at / 2);
      float value[int4_chunk];
      decode_chunk(bytes.value, convert<float>(static_cast<const T*>(p.scale)[g]), float(p.zero[g]), value);
      T* const to = static_cast<T*>(p.weight) + at;
      constexpr int width = vector_width<T>;
      for (int i = 0; i < int4_chunk; i += width) {
        Vec<T, width> v;
        for (int j = 0; j < width; ++j) v[j] = convert<T>(value[i + j]);
        store_vector(to + i, v);
      }
    });
  });
}

STATOR_FN void store_product(const params::Int4Product& p, int64_t row, int64_t output, float sum) {
  if (p.bias) sum += load_one<float>(p.bias, p.bias_dtype, output);
  store_one(p.out, p.dtype, row * p.outputs + output, sum);
}

// A block has one output at a time; a thread reads 32 weights at once, and has sums for some rows of x.
template <int Size>
STATOR_KERNEL(Size) void int4_product_kernel(params::Int4Product p, int64_t each) {
  constexpr int most = Int4Tuning::rows;
  const Group<Size> group;
  const int64_t begin = group.block() * each, end = begin + each < p.outputs ? begin + each : p.outputs;
  for (int64_t output = begin; output < end; ++output) {
    const uint8_t* const packed = p.packed + output * (p.columns / 2);
    const int64_t groups = output * (p.columns / p.group);
    for (int64_t first = 0; first < p.rows; first += most) {
      const int64_t rows = p.rows - first < most ? p.rows - first : most;
      const float* const x = p.x + first * p.columns;
      if constexpr (fast_host) {
        float sums[most] = {}, weight[Int4Tuning::segment];
        for (int64_t from = 0; from < p.columns; from += Int4Tuning::segment) {
          const int64_t n = p.columns - from < Int4Tuning::segment ? p.columns - from : Int4Tuning::segment;
          for (int64_t k = 0; k < n;) {
            const int64_t g = (from + k) / p.group, stop = (g + 1) * p.group - from < n ? (g + 1) * p.group - from : n;
            const float scale = load_one<float>(p.scale, p.scale_dtype, groups + g), zero = float(p.zero[groups + g]);
            for (; k < stop; k += int4_chunk) decode_chunk(packed + (from + k) / 2, scale, zero, weight + k);
          }
          const float* const w = weight;
          for (int64_t r = 0; r < rows; ++r) {
            const float* const line = x + r * p.columns + from;
            sums[r] += group.template map_reduce<float>(n, Sum{}, [=](int64_t k) { return w[k] * line[k]; });
          }
        }
        for (int64_t r = 0; r < rows; ++r) store_product(p, first + r, output, sums[r]);
      } else {
        float sums[most] = {};
        for (int64_t chunk = group.rank(); chunk < p.columns / int4_chunk; chunk += Size) {
          const int64_t at = chunk * int4_chunk, g = groups + at / p.group;
          const Vec<uint8_t, 16> bytes = load_vector<16>(packed + at / 2);
          const float scale = load_one<float>(p.scale, p.scale_dtype, g), zero = float(p.zero[g]);
          float weight[int4_chunk];
          STATOR_UNROLL()
          for (int j = 0; j < 16; ++j) {
            weight[j] = (float(int32_t(bytes[j] & 15)) - zero) * scale;
            weight[16 + j] = (float(int32_t(bytes[j] >> 4)) - zero) * scale;
          }
          STATOR_UNROLL()
          for (int r = 0; r < most; ++r) {
            if (r >= rows) break;
            const float* const line = x + r * p.columns + at;
            STATOR_UNROLL()
            for (int k = 0; k < int4_chunk; k += 4) {
              const Vec<float, 4> v = load_vector<4>(line + k);
              STATOR_UNROLL()
              for (int j = 0; j < 4; ++j) sums[r] += weight[k + j] * v[j];
            }
          }
        }
        STATOR_UNROLL()
        for (int r = 0; r < most; ++r) {
          if (r >= rows) break;
          const float sum = group.reduce(sums[r], Sum{});
          if (group.rank() == 0) store_product(p, first + r, output, sum);
        }
      }
    }
  }
}

void int4_quantize(const params::Queue& q, const params::Int4Groups& p) {
  constexpr int block = Int4Tuning::block;
  const int64_t groups = p.rows * p.columns / p.group;
  launch(q, "int4_quantize", int4_quantize_kernel<block>, {ceil_div(groups, block), block}, p, groups);
}

void int4_decode(const params::Queue& q, const params::Int4Groups& p) {
  constexpr int block = Int4Tuning::block;
  const int64_t chunks = p.rows * p.columns / int4_chunk;
  launch(q, "int4_decode", int4_decode_kernel<block>, {ceil_div(chunks, block), block}, p, chunks);
}

void int4_product(const params::Queue& q, const params::Int4Product& p) {
  constexpr int block = Int4Tuning::block;
  const int64_t each =
      std::max({int64_t(1), Int4Tuning::least / std::max(p.columns * p.rows, int64_t(1)), p.outputs >> 30});
  launch(q, "int4_product", int4_product_kernel<block>, {ceil_div(p.outputs, each), block}, p, each);
}

}  // namespace

}  // namespace stator::STATOR_TARGET::quantization

STATOR_LAUNCHER(quantization, int4_quantize)
STATOR_LAUNCHER(quantization, int4_decode)
STATOR_LAUNCHER(quantization, int4_product)
