// Local response normalisation: each element is divided by a power of the mean square over neighbouring channels.
#include "device/convert.cuh"
#include "device/functional.cuh"
#include "device/group.cuh"
#include "device/math/math.cuh"
#include "device/rescale.cuh"
#include "host/launch.hpp"
#include "host/launcher.hpp"
#include "params/norm.hpp"

namespace stator::STATOR_TARGET::norm {
namespace {

struct ResponseTuning {
  static constexpr int block = 256;
  static constexpr int channels = 32;  // that a block with threads goes down
  static constexpr int window = 8;     // widest window in registers
  static constexpr int tile = 128;     // positions of a block of the fast host
  static constexpr int rows = 16;      // widest window that the fast host keeps
};

// d^-beta; the usual exponents are roots.
template <class A>
STATOR_FN A negative_power(A d, A beta) {
  if (beta == A(0.75)) return A(1) / (sqrt(d) * sqrt(sqrt(d)));
  if (beta == A(0.5)) return A(1) / sqrt(d);
  if (beta == A(1)) return A(1) / d;
  return exp(-beta * log(d));
}

// What is summed over the window of an element, and what becomes of the sum. The gradient of x_c is
//   grad_c denom_c^-beta - 2 alpha beta / size x_c sum of t,  t = grad x denom^(-beta - 1),
// over the channels in whose window c is.
template <class T, bool Backward>
struct Response {
  using A = opmath_t<T>;
  const T *x, *grad;
  T *denom, *y;
  A alpha, beta, k, scaled_alpha;
  int64_t channels, size;

  STATOR_FN explicit Response(const params::ResponseNorm& p)
      : x(static_cast<const T*>(p.x)),
        grad(static_cast<const T*>(p.grad)),
        denom(static_cast<T*>(p.denom)),
        y(static_cast<T*>(p.y)),
        alpha(A(Backward ? 2 * p.alpha * p.beta / double(p.size) : p.alpha / double(p.size))),
        beta(A(p.beta)),
        k(A(p.k)),
        scaled_alpha(A(p.alpha / double(p.size))),
        channels(p.channels),
        size(p.size) {}

  // Channels of the window before its own one, and after it.
  STATOR_FN int64_t before() const { return Backward ? size - 1 - size / 2 : size / 2; }
  STATOR_FN int64_t behind() const { return size - 1 - before(); }
  STATOR_FN A term(int64_t at) const {
    const A v = convert<A>(x[at]);
    if constexpr (!Backward) return v * v;
    const A d = convert<A>(denom[at]);
    return convert<A>(grad[at]) * v * negative_power(d, beta) / d + (d - d);  // NaN where d is not finite
  }
  STATOR_FN void finish(int64_t at, A sum) const {
    const A v = convert<A>(x[at]);
    if constexpr (Backward) {
      y[at] = convert<T>(convert<A>(grad[at]) * negative_power(convert<A>(denom[at]), beta) - alpha * v * sum);
    } else {
      const A d = k + alpha * sum;
      denom[at] = convert<T>(d);
      y[at] = convert<T>(v * negative_power(d, beta));
    }
  }

  // The denominator of channel c where x is multiplied by a power of two that scales its window to near 1.
  struct Scaled {
    A factor, denom;
  };
  STATOR_FN Scaled scaled(int64_t base, int64_t inner, int64_t c) const {
    const int64_t first = c - size / 2, last = first + size - 1;
    const int64_t low = first > 0 ? first : 0, high = last < channels - 1 ? last : channels - 1;
    A largest = A(0), sum = A(0);
    STATOR_UNROLL(1)
    for (int64_t other = low; other <= high; ++other)
      largest = Max{}(largest, abs(convert<A>(x[base + other * inner])));
    const A factor = SquareRange<A>::factor(largest);
    STATOR_UNROLL(1)
    for (int64_t other = low; other <= high; ++other) {
      const A v = convert<A>(x[base + other * inner]) * factor;
      sum += v * v;
    }
    return {factor, k * factor * factor + scaled_alpha * sum};
  }

  // The result where a denominator is too large for its dtype.
  STATOR_COLD void finish_large(int64_t base, int64_t inner, int64_t c) const {
    const int64_t own = base + c * inner;
    if constexpr (!Backward) {
      const Scaled s = scaled(base, inner, c);
      if (s.factor == A(1)) return;  // an element is not finite
      const A v = convert<A>(x[own]) * s.factor;
      y[own] = convert<T>(v * negative_power(s.denom, beta) * pow(s.factor, 2 * beta - 1));
    } else {
      const int64_t low = c - before() > 0 ? c - before() : 0;
      const int64_t high = c + behind() < channels - 1 ? c + behind() : channels - 1;
      A sum = A(0), slope = A(0);
      STATOR_UNROLL(1)
      for (int64_t other = low; other <= high; ++other) {
        const int64_t at = base + other * inner;
        const A d = convert<A>(denom[at]);
        const Scaled s = isinf(d) ? scaled(base, inner, other) : Scaled{A(1), d};
        const A power = negative_power(s.denom, beta) * pow(s.factor, 2 * beta), g = convert<A>(grad[at]) * power;
        sum += g / s.denom * (convert<A>(x[at]) * s.factor) * (convert<A>(x[own]) * s.factor);
        if (other == c) slope = g;
      }
      y[own] = convert<T>(slope - alpha * sum);
    }
  }
};

// A thread goes down some channels at a position, with the terms of the window in registers if it is short.
template <class T, bool Backward>
STATOR_FN void respond_down(const Response<T, Backward>& r, int64_t base, int64_t inner, int64_t first, int64_t last) {
  using A = opmath_t<T>;
  constexpr int H = ResponseTuning::window;
  if (r.size > H) {
    STATOR_UNROLL(1)
    for (int64_t c = first; c < last; ++c) {
      A sum = A(0);
      const int64_t low = c - r.before() > 0 ? c - r.before() : 0;
      const int64_t high = c + r.behind() < r.channels - 1 ? c + r.behind() : r.channels - 1;
      STATOR_UNROLL(1)
      for (int64_t other = low; other <= high; ++other) sum += r.term(base + other * inner);
      r.finish(base + c * inner, sum);
      if (!isfinite(r.alpha * sum)) r.finish_large(base, inner, c);
    }
    return;
  }
  A terms[H] = {};
  STATOR_UNROLL(1)
  for (int64_t other = first - r.before(); other < last + r.behind(); ++other) {
    STATOR_UNROLL()
    for (int k = 1; k < H; ++k) terms[k - 1] = terms[k];
    terms[H - 1] = other >= 0 && other < r.channels ? r.term(base + other * inner) : A(0);
    const int64_t c = other - r.behind();
    if (c < first) continue;
    A sum = A(0);
    STATOR_UNROLL()
    for (int k = 0; k < H; ++k) sum += H - k <= r.size ? terms[k] : A(0);
    r.finish(base + c * inner, sum);
    if (!isfinite(r.alpha * sum)) r.finish_large(base, inner, c);
  }
}

// The fast host goes down all channels at a tile of positions, in loops over the tile.
template <class T, bool Backward>
STATOR_FN void respond_tile(const Response<T, Backward>& r, int64_t base, int64_t inner, int count) {
  using A = opmath_t<T>;
  constexpr int tile = ResponseTuning::tile, rows = ResponseTuning::rows;
  A terms[rows][tile];
  const bool kept = r.size <= rows;
  int64_t next = 0;  // the first channel whose terms are not kept yet
  for (int64_t c = 0; c < r.channels; ++c) {
    A sum[tile] = {};
    const int64_t low = c - r.before() > 0 ? c - r.before() : 0;
    const int64_t high = c + r.behind() < r.channels - 1 ? c + r.behind() : r.channels - 1;
    for (; kept && next <= high; ++next)
      for (int j = 0; j < count; ++j) terms[next % rows][j] = r.term(base + next * inner + j);
    for (int64_t other = low; other <= high; ++other) {
      if (kept)
        for (int j = 0; j < count; ++j) sum[j] += terms[other % rows][j];
      else
        for (int j = 0; j < count; ++j) sum[j] += r.term(base + other * inner + j);
    }
    for (int j = 0; j < count; ++j) r.finish(base + c * inner + j, sum[j]);
    int large = 0;
    for (int j = 0; j < count; ++j) large |= int(!isfinite(r.alpha * sum[j]));
    for (int j = 0; large && j < count; ++j)
      if (!isfinite(r.alpha * sum[j])) r.finish_large(base + j, inner, c);
  }
}

template <class T, int Size, bool Backward>
STATOR_KERNEL(Size) void response_norm_kernel(params::ResponseNorm p) {
  const Group<Size> group;
  const Response<T, Backward> r(p);
  if constexpr (fast_host) {
    constexpr int tile = ResponseTuning::tile;
    const int64_t tiles = (p.inner + tile - 1) / tile, sample = group.block() / tiles;
    const int64_t first = group.block() % tiles * tile, count = p.inner - first < tile ? p.inner - first : tile;
    respond_tile(r, sample * p.channels * p.inner + first, p.inner, int(count));
  } else {
    constexpr int many = ResponseTuning::channels;
    const int64_t parts = (p.channels + many - 1) / many, first = group.block() % parts * many;
    const int64_t position = group.block() / parts * Size + group.rank(), last = first + many;
    if (position >= p.samples * p.inner) return;
    const int64_t base = position / p.inner * p.channels * p.inner + position % p.inner;
    respond_down(r, base, p.inner, first, last < p.channels ? last : p.channels);
  }
}

template <bool Backward>
void respond(const params::Queue& q, const params::ResponseNorm& p) {
  using Tune = ResponseTuning;
  const int64_t blocks = fast_host ? p.samples * ceil_div(p.inner, Tune::tile)
                                   : ceil_div(p.samples * p.inner, Tune::block) * ceil_div(p.channels, Tune::channels);
  visit<dtypes::floats>(p.dtype, [&]<class T>(type_tag<T>) {
    launch(q, "response_norm", response_norm_kernel<T, Tune::block, Backward>, {blocks, Tune::block}, p);
  });
}

}  // namespace

}  // namespace stator::STATOR_TARGET::norm

STATOR_LAUNCHER(norm, response_norm, respond<false>)
STATOR_LAUNCHER(norm, response_norm_backward, respond<true>)
