// Weights of four bits in groups of a row: making them, reading them back, and products with few rows, which decode
// them in registers.
#include "device/functional.cuh"
#include "device/team.cuh"
#include "device/vector.cuh"
#include "host/launcher.hpp"
#include "kernels/quantization/lines.cuh"

#include <algorithm>
#include <bit>

namespace stator::STATOR_TARGET::quantization {
namespace {

struct Int4Tuning {
  static constexpr int block = by_target<256, 128>::value;
  static constexpr int rows = by_target<4, 16>::value;            // of x at once
  static constexpr int segment = 1024;                            // columns that are decoded at once
  static constexpr int outputs = 4;                               // that a warp has at once
  static constexpr int64_t least = by_target<1, 1 << 16>::value;  // fast host: weights per block of a product
};
constexpr int int4_chunk = 32;  // weights in 16 bytes

// The dtypes of weights, in kernels.
template <class F>
STATOR_FN void of_weight(DType dtype, F f) {
  if (dtype == DType::float16) return f(float16{});
  if (dtype == DType::bfloat16) return f(bfloat16{});
  f(float{});
}

// A group's scale and zero point, from its smallest and largest weight with 0 between them.
template <class T>
struct Int4Scale {
  using A = opmath_t<T>;
  T scale;
  A zero;

  STATOR_FN Int4Scale(A low, A high) {
    const T rounded = convert<T>((high - low) / A(15));
    scale = convert<A>(rounded) > A(0) ? rounded : convert<T>(A(1));
    const A inverse = A(1) / convert<A>(scale), least = round_even(-low * inverse);
    zero = least > A(15) ? A(15) : least;
  }
  STATOR_FN Step<A> step() const { return Step<A>(convert<A>(scale), zero, 0.0, 15.0); }
  STATOR_FN void store(const params::Int4Groups& p, int64_t g) const {
    static_cast<T*>(p.scale)[g] = scale;
    p.zero[g] = uint8_t(int32_t(zero));
  }
};

// Fast host: a group at a time.
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
  const Int4Scale<T> made(low, high);
  made.store(p, g);
  const Step<A> step = made.step();
  uint8_t* const out = p.packed + g * p.group / 2;
  for (int64_t k = 0; k < p.group; k += int4_chunk)
    for (int64_t j = 0; j < int4_chunk / 2; ++j)
      out[k / 2 + j] = uint8_t(step.byte(convert<A>(w[k + j])) | step.byte(convert<A>(w[k + 16 + j])) << 4);
}

// Threads: a group has `lanes` of them, and each the weights of four bytes at a time, so that neighbours read and write
// neighbours. The first two of a thread stay in registers while the others are read.
template <class T>
STATOR_FN void quantize_by_lanes(const params::Int4Groups& p, int64_t g, bool exists, int lane, int lanes) {
  using A = opmath_t<T>;
  struct Weights {
    Vec<T, 4> low, high;
  };
  const T* const w = static_cast<const T*>(p.weight) + g * p.group;
  const int64_t words = exists ? p.group / 8 : 0;
  const auto load = [&](int64_t i) {
    const T* const from = w + i / 4 * int4_chunk + i % 4 * 4;
    return Weights{load_vector<4>(from), load_vector<4>(from + 16)};
  };
  A low = A(0), high = A(0);
  const auto look = [&](const Vec<T, 4>& v) {
    STATOR_UNROLL()
    for (int j = 0; j < 4; ++j) {
      const A one = convert<A>(v[j]);
      low = one < low ? one : low;
      high = one > high ? one : high;
    }
  };
  Weights first{}, second{};
  if (lane < words) first = load(lane);
  if (lane + lanes < words) second = load(lane + lanes);
  look(first.low);
  look(first.high);
  look(second.low);
  look(second.high);
  for (int64_t i = lane + 2 * lanes; i < words; i += lanes) {
    const Weights next = load(i);
    look(next.low);
    look(next.high);
  }
  low = fold_sublanes(low, lanes, [](A a, A b) { return b < a ? b : a; });
  high = fold_sublanes(high, lanes, [](A a, A b) { return b > a ? b : a; });
  if (!exists) return;
  const Int4Scale<T> made(low, high);
  if (lane == 0) made.store(p, g);
  const Step<A> step = made.step();
  uint32_t* const out = reinterpret_cast<uint32_t*>(p.packed + g * p.group / 2);
  const auto store = [&](int64_t i, const Weights& here) {
    uint32_t word = 0;
    STATOR_UNROLL()
    for (int j = 0; j < 4; ++j)
      word |= uint32_t(step.byte(convert<A>(here.low[j])) | step.byte(convert<A>(here.high[j])) << 4) << 8 * j;
    out[i] = word;
  };
  if (lane < words) store(lane, first);
  if (lane + lanes < words) store(lane + lanes, second);
  for (int64_t i = lane + 2 * lanes; i < words; i += lanes) store(i, load(i));
}

template <int Size>
STATOR_KERNEL(Size) void int4_quantize_kernel(params::Int4Groups p, int64_t groups, int lanes_log2) {
  const Group<Size> group;
  of_weight(p.dtype, [&](auto type) {
    using T = decltype(type);
    if constexpr (fast_host) {
      const int64_t first = group.block() * Size, count = groups - first < Size ? groups - first : Size;
      group.for_each(count, [&](int64_t k) { quantize_group<T>(p, first + k); });
    } else {
      const int lanes = 1 << lanes_log2;
      const int64_t g = (group.block() * Size + group.rank()) >> lanes_log2;
      quantize_by_lanes<T>(p, g, g < groups, group.rank() & (lanes - 1), lanes);
    }
  });
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
  of_weight(p.dtype, [&](auto type) {
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

// Fast host: a block has some outputs, and decodes a segment of the weights of one at a time.
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
    }
  }
}

// A segment of x: vector j of a lane's eight at [j][lane]. The last slot of a line keeps the vectors of a lane in
// distinct banks.
template <int Rows>
struct Int4Segment {
  Vec<float, 4> x[Rows][int4_chunk / 4][Int4Tuning::segment / int4_chunk + 1];
};

// Threads: a warp has `Each` outputs, and the block a segment of Rows rows of x in shared memory. A lane reads 32
// weights of each output at once. (q - zero) is exact in float, and so the scale is multiplied once for all of them.
template <int Size, int Each, int Rows>
STATOR_KERNEL(Size) void int4_warp_product_kernel(params::Int4Product p) {
  constexpr int vectors = int4_chunk / 4;
  const Group<Size> group;
  const Team<Size> team(group);
  const int lane = team.rank();
  const int64_t first_output = (group.block() * Team<Size>::count + team.index()) * Each;
  const int64_t chunks = p.columns / int4_chunk, groups = p.columns / p.group;
  const uint32_t group_chunks = uint32_t(p.group / int4_chunk);
  Int4Segment<Rows>& shared = group.template shared<Int4Segment<Rows>>();
  for (int64_t first = 0; first < p.rows; first += Rows) {
    float sums[Each][Rows] = {};
    for (int64_t from = 0; from < p.columns; from += Int4Tuning::segment) {
      const int64_t chunk = from / int4_chunk + lane;
      Vec<uint32_t, 4> words[Each] = {};
      float scale[Each] = {}, zero[Each] = {};
      of_weight(p.scale_dtype, [&](auto type) {
        using S = decltype(type);
        const int64_t g = uint32_t(chunk) / group_chunks;
        STATOR_UNROLL()
        for (int e = 0; e < Each; ++e) {
          const int64_t output = first_output + e;
          if (chunk >= chunks || output >= p.outputs) continue;
          words[e] = load_vector<4>(reinterpret_cast<const uint32_t*>(p.packed) + (output * chunks + chunk) * 4);
          scale[e] = convert<float>(static_cast<const S*>(p.scale)[output * groups + g]);
          zero[e] = float(p.zero[output * groups + g]);
        }
      });
      group.sync();  // the segment before is not read any more
      const int64_t n = (p.columns - from < Int4Tuning::segment ? p.columns - from : Int4Tuning::segment) / 4;
      STATOR_UNROLL()
      for (int r = 0; r < Rows; ++r) {
        const float* const line = p.x + (first + r) * p.columns + from;
        group.for_each(n, [&](int64_t v) {
          const int at = int(v);
          shared.x[r][at % vectors][at / vectors] = first + r < p.rows ? load_vector<4>(line + v * 4) : Vec<float, 4>{};
        });
      }
      group.sync();
      if (chunk >= chunks) continue;
      float parts[Each][Rows] = {};
      STATOR_UNROLL()
      for (int j = 0; j < vectors; ++j) {
        Vec<float, 4> x[Rows];
        STATOR_UNROLL()
        for (int r = 0; r < Rows; ++r) x[r] = shared.x[r][j][lane];
        STATOR_UNROLL()
        for (int e = 0; e < Each; ++e) {
          STATOR_UNROLL()
          for (int k = 0; k < 4; ++k) {
            // The bits of 2^23 + q.
            const uint32_t bits = 0x4b000000u | (words[e][j % 4] >> (8 * k + j / 4 * 4) & 15);
            const float weight = std::bit_cast<float>(bits) - (8388608.0f + zero[e]);
            STATOR_UNROLL()
            for (int r = 0; r < Rows; ++r) parts[e][r] += weight * x[r][k];
          }
        }
      }
      STATOR_UNROLL()
      for (int e = 0; e < Each; ++e) {
        STATOR_UNROLL()
        for (int r = 0; r < Rows; ++r) sums[e][r] += scale[e] * parts[e][r];
      }
    }
    STATOR_UNROLL()
    for (int e = 0; e < Each; ++e) {
      STATOR_UNROLL()
      for (int r = 0; r < Rows; ++r) {
        const float sum = sum_sublanes(sums[e][r], most_sublanes);
        if (lane == 0 && first_output + e < p.outputs && first + r < p.rows)
          store_product(p, first + r, first_output + e, sum);
      }
    }
  }
}

void int4_quantize(const params::Queue& q, const params::Int4Groups& p) {
  constexpr int block = Int4Tuning::block;
  const int64_t groups = p.rows * p.columns / p.group;
  // At least four threads write whole sectors, and a warp has the longest groups.
  const int lanes_log2 = fast_host ? 0 : std::clamp(int(std::bit_width(uint64_t(p.group - 1) / 16)), 2, 5);
  launch(q, "int4_quantize", int4_quantize_kernel<block>, {ceil_div(groups << lanes_log2, block), block}, p, groups,
         lanes_log2);
}

void int4_decode(const params::Queue& q, const params::Int4Groups& p) {
  constexpr int block = Int4Tuning::block;
  const int64_t chunks = p.rows * p.columns / int4_chunk;
  launch(q, "int4_decode", int4_decode_kernel<block>, {ceil_div(chunks, block), block}, p, chunks);
}

template <int Block, int Each, int Rows>
void start_warp_product(const params::Queue& q, const params::Int4Product& p) {
  launch(q, "int4_product", int4_warp_product_kernel<Block, Each, Rows>,
         {ceil_div(p.outputs, Block / 32 * Each), Block}, p);
}

template <int Block>
void start_product(const params::Queue& q, const params::Int4Product& p) {
  constexpr int outputs = Int4Tuning::outputs, rows = Int4Tuning::rows;
  if constexpr (fast_host) {
    const int64_t each =
        std::max({int64_t(1), Int4Tuning::least / std::max(p.columns * p.rows, int64_t(1)), p.outputs >> 30});
    launch(q, "int4_product", int4_product_kernel<Block>, {ceil_div(p.outputs, each), Block}, p, each);
  } else {
    // Several outputs share what is read of x, unless that leaves most multiprocessors without any.
    const bool many = p.outputs >= int64_t(q.limits->multiprocessors) * (Block / 32) * outputs / 2;
    if (p.rows == 1)
      many ? start_warp_product<Block, outputs, 1>(q, p) : start_warp_product<Block, 1, 1>(q, p);
    else
      many ? start_warp_product<Block, outputs, rows>(q, p) : start_warp_product<Block, 1, rows>(q, p);
  }
}

void int4_product(const params::Queue& q, const params::Int4Product& p) { start_product<Int4Tuning::block>(q, p); }

}  // namespace

}  // namespace stator::STATOR_TARGET::quantization

STATOR_LAUNCHER(quantization, int4_quantize)
STATOR_LAUNCHER(quantization, int4_decode)
STATOR_LAUNCHER(quantization, int4_product)
