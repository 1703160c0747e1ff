// Uniform, normal and exponential numbers. Element i takes word i % 4 of Philox block offset + i / 4 (float64: words
// 2 (i % 2) and 2 (i % 2) + 1 of block offset + i / 2), so that results do not depend on the launch shape. Normal
// numbers are made in pairs: elements i and i + 1 for even i.
#include "device/convert.cuh"
#include "device/group.cuh"
#include "device/math/math.cuh"
#include "device/vector.cuh"
#include "host/launch.hpp"
#include "host/launcher.hpp"
#include "kernels/random/math.cuh"
#include "kernels/random/unit.cuh"

#include <cmath>

namespace stator::STATOR_TARGET::random {
namespace {

struct RandomTuning {
  static constexpr int block = 256;
  static constexpr int counters = by_target<1, 64>::value;  // Philox blocks that a thread draws at a time
};

template <class T>
inline constexpr int draws = std::is_same_v<T, double> ? 2 : 4;  // elements of a Philox block

// Uniform in [low, high): a value that rounding would lift to `high` becomes `most`, the largest of the dtype below it.
template <class T>
struct Uniform {
  double low, span, most;

  STATOR_FN void operator()(const Philox4& x, double (&out)[draws<T>]) const {
    for (int k = 0; k < draws<T>; ++k) {
      double unit;
      if constexpr (draws<T> == 2)
        unit = from_53_bits(x.x[2 * k], x.x[2 * k + 1]) * 0x1p-53;
      else
        unit = double(int32_t(x.x[k] >> 8)) * 0x1p-24;
      // An explicit fma, because contraction differs between compilers and results must not.
      const double value = fma(unit, span, low);
      out[k] = value < most ? value : most;
    }
  }
};

// The method of Box and Muller (Annals of Mathematical Statistics 29, 1958) on (0, 1] x [0, 1).
template <class T>
struct Normal {
  double mean, deviation;

  STATOR_FN void pair(double radial, double turn, double* out) const {
    const double radius = sqrt(-2.0 * portable_log(radial)) * deviation;
    double sine, cosine;
    sincos_turn(turn, sine, cosine);
    out[0] = mean + radius * cosine;
    out[1] = mean + radius * sine;
  }
  STATOR_FN void operator()(const Philox4& x, double (&out)[draws<T>]) const {
    if constexpr (draws<T> == 2) {
      pair((from_53_bits(x.x[0], x.x[1]) + 1.0) * 0x1p-53, from_53_bits(x.x[2], x.x[3]) * 0x1p-53, out);
    } else {
      pair((from_32_bits(x.x[0]) + 1.0) * 0x1p-32, from_32_bits(x.x[1]) * 0x1p-32, out);
      pair((from_32_bits(x.x[2]) + 1.0) * 0x1p-32, from_32_bits(x.x[3]) * 0x1p-32, out + 2);
    }
  }
};

// The inverse of the distribution function, on (0, 1].
template <class T>
struct Exponential {
  double scale;

  STATOR_FN double one(uint32_t a, uint32_t b) const {
    const double unit = draws<T> == 2 ? (from_53_bits(a, b) + 1.0) * 0x1p-53 : (from_32_bits(a) + 1.0) * 0x1p-32;
    return portable_log(unit) * -scale + 0.0;  // no negative zero
  }
  STATOR_FN void operator()(const Philox4& x, double (&out)[draws<T>]) const {
    for (int k = 0; k < draws<T>; ++k) out[k] = one(x.x[4 / draws<T> * k], x.x[4 / draws<T> * k + (draws<T> == 2)]);
  }
};

template <class Draw>
inline constexpr bool is_single = false;  // whether elements are drawn one by one, each from random bits of its own
template <class T>
inline constexpr bool is_single<Exponential<T>> = true;

// The elements of `count` Philox blocks from block `first` on: three loops (random bits, values, stores), each of which
// vectorises on the fast host.
template <class T, int C, class Draw>
STATOR_FN void draw_blocks(T* out, int64_t count, uint64_t seed, uint64_t first, const Draw& draw) {
  constexpr int D = draws<T>;
  uint32_t bits[4][C];
  double value[D][C];
  for (int k = 0; k < C; ++k) {
    const Philox4 block = philox4x32_10(seed, first + uint64_t(k), 0);
    for (int j = 0; j < 4; ++j) bits[j][k] = block.x[j];
  }
  if constexpr (is_single<Draw> && C > 1) {
    for (int j = 0; j < D; ++j)
      for (int k = 0; k < C; ++k) value[j][k] = draw.one(bits[4 / D * j][k], bits[4 / D * j + (D == 2)][k]);
  } else {
    for (int k = 0; k < C; ++k) {
      double drawn[D];
      draw(Philox4{{bits[0][k], bits[1][k], bits[2][k], bits[3][k]}}, drawn);
      for (int j = 0; j < D; ++j) value[j][k] = drawn[j];
    }
  }
  Vec<T, D> v;
  const int64_t blocks = C == 1 ? 1 : count;
  for (int k = 0; k < blocks; ++k) {
    for (int j = 0; j < D; ++j) v[j] = convert<T>(value[j][k]);
    store_vector(out + int64_t(k) * D, v);
  }
}

template <class T, class Draw, int Size>
STATOR_KERNEL(Size) void random_kernel(T* out, int64_t n, params::Draws from, Draw draw) {
  const auto [seed, offset] = start_of(from);
  constexpr int D = draws<T>, C = RandomTuning::counters;
  const Group<Size> group;
  const int64_t whole = n / D, stride = group.blocks() * group.size * C;
  const int64_t first = (group.block() * group.size + group.rank()) * C;
  for (int64_t i = first; i < whole; i += stride)
    draw_blocks<T, C>(out + i * D, whole - i < C ? whole - i : C, seed, offset + uint64_t(i), draw);
  if (first == 0 && whole * D < n) {
    double value[D];
    draw(philox4x32_10(seed, offset + uint64_t(whole), 0), value);
    for (int j = 0; j < D; ++j)
      if (whole * D + j < n) out[whole * D + j] = convert<T>(value[j]);
  }
}

template <class T, class Draw>
void submit(const params::Queue& q, const char* name, const params::Random& p, Draw draw) {
  using Tune = RandomTuning;
  const int64_t needed = ceil_div(p.size, int64_t(draws<T>) * Tune::counters * (fast_host ? 32 : Tune::block));
  launch(q, name, random_kernel<T, Draw, Tune::block>, {std::min(needed, waves(*q.limits, Tune::block)), Tune::block},
         static_cast<T*>(p.out), p.size, p.from, draw);
}

// The largest value below x of a dtype with `digits` significant bits and exponents from `least` on, as a double.
double below(double x, int digits, int least) {
  int exponent = least;
  if (x != 0) std::frexp(x, &exponent);
  const double unit = std::ldexp(1.0, std::max(exponent, least) - digits);
  const double at = std::floor(x / unit) * unit;
  if (at < x) return at;
  // Below a power of two the values are twice as dense.
  const bool power = x > 0 && std::frexp(x, &exponent) == 0.5 && exponent > least;
  return at - (power ? unit / 2 : unit);
}

void uniform(const params::Queue& q, const params::Random& p) {
  visit<dtypes::floats>(p.dtype, [&]<class T>(type_tag<T>) {
    double most = p.b;
    if (p.a < p.b) {
      if constexpr (std::is_same_v<T, float16>)
        most = below(p.b, 11, -13);
      else if constexpr (std::is_same_v<T, bfloat16>)
        most = below(p.b, 8, -125);
      else if constexpr (std::is_same_v<T, float>)
        most = below(p.b, 24, -125);
      else
        most = std::nextafter(p.b, p.a);
    }
    submit<T>(q, "uniform", p, Uniform<T>{p.a, p.b - p.a, most});
  });
}

void normal(const params::Queue& q, const params::Random& p) {
  visit<dtypes::floats>(p.dtype, [&]<class T>(type_tag<T>) { submit<T>(q, "normal", p, Normal<T>{p.a, p.b}); });
}

void exponential(const params::Queue& q, const params::Random& p) {
  visit<dtypes::floats>(p.dtype, [&]<class T>(type_tag<T>) { submit<T>(q, "exponential", p, Exponential<T>{p.a}); });
}

void philox(const params::DeviceLimits&, uint64_t seed, uint64_t counter_lo, uint64_t counter_hi, uint32_t* words) {
  const Philox4 block = philox4x32_10(seed, counter_lo, counter_hi);
  for (int k = 0; k < 4; ++k) words[k] = block.x[k];
}

}  // namespace

}  // namespace stator::STATOR_TARGET::random

STATOR_LAUNCHER(random, uniform)
STATOR_LAUNCHER(random, normal)
STATOR_LAUNCHER(random, exponential)
STATOR_LAUNCHER(random, philox)
