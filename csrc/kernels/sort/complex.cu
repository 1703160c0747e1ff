// Complex numbers in NumPy's order: by real part, then by imaginary part. Numbers with NaN come last: first those whose
// imaginary part only is NaN, then those whose real part only is, then those with both. They are sorted as 64-bit
// keys, of which complex128 needs two.
#include "device/convert.cuh"
#include "device/group.cuh"
#include "device/math/math.cuh"
#include "host/launch.hpp"
#include "host/launcher.hpp"
#include "kernels/sort/keys.cuh"
#include "params/sort.hpp"

#include <cstring>
#include <limits>

namespace stator::STATOR_TARGET::sort {
namespace {

constexpr int complex_block = 256;
constexpr int64_t tile = by_target<1024, 8192>::value;

// -0 and +0 have one key; NaN has the greatest one.
template <class K, class F>
STATOR_FN K key_of(F v) {
  K bits;
  const F own = v == F(0) ? F(0) : v;
  memcpy(&bits, &own, sizeof bits);
  constexpr K sign = K(1) << (8 * sizeof(K) - 1);
  return isnan(v) ? ~K(0) : bits ^ ((bits & sign) != 0 ? ~K(0) : sign);
}

template <class K, class F>
struct OrderKeys {
  K high, low;
};
// Numbers are compared by `high`, then by `low`. One whose imaginary part only is NaN has a `high` just above
// infinity's.
template <class K, class F>
STATOR_FN OrderKeys<K, F> order_keys(complex128 z) {
  const K re = key_of<K>(F(z.re)), im = key_of<K>(F(z.im)), infinity = key_of<K>(std::numeric_limits<F>::infinity());
  if (isnan(z.im) && !isnan(z.re)) return {K(infinity + 1), re};
  return {re, im};
}

STATOR_FN uint64_t complex_key(const params::ComplexKeys& p, complex128 z) {
  uint64_t key;
  if (p.dtype == DType::complex64) {
    const auto keys = order_keys<uint32_t, float>(z);
    key = uint64_t(keys.high) << 32 | keys.low;
  } else {
    const auto keys = order_keys<uint64_t, double>(z);
    key = p.high ? keys.high : keys.low;
  }
  return p.descending ? ~key : key;
}

template <int Size>
STATOR_KERNEL(Size) void complex_keys_kernel(params::ComplexKeys p, SegmentDivisors divisors, FastDivmod64 of_n) {
  const Group<Size> group;
  const int64_t total = p.segments.count * p.n, first = group.block() * tile;
  group.for_each(total - first < tile ? total - first : tile, [&](int64_t k) {
    const int64_t i = first + k, segment = of_n.divide(i);
    const int64_t index = p.order ? p.order[i] : i - segment * p.n;
    const int64_t at = segment_start(p.segments, segment, divisors).x + index * p.step;
    p.keys[i] = complex_key(p, load_one<complex128>(p.x, p.dtype, at));
  });
}

// A number keeps its bits; a conversion would change those of NaN.
template <class T>
STATOR_FN void copy_one(const params::ComplexGather& p, int64_t to, int64_t from) {
  static_cast<T*>(p.values)[to] = static_cast<const T*>(p.x)[from];
}

template <int Size>
STATOR_KERNEL(Size) void complex_gather_kernel(params::ComplexGather p, SegmentDivisors divisors, FastDivmod64 of_n) {
  const Group<Size> group;
  const int64_t total = p.segments.count * p.n, first = group.block() * tile;
  group.for_each(total - first < tile ? total - first : tile, [&](int64_t k) {
    const int64_t i = first + k, segment = of_n.divide(i);
    const int64_t second = p.second[i], index = p.order ? p.order[segment * p.n + second] : second;
    const SegmentStart start = segment_start(p.segments, segment, divisors);
    const int64_t to = start.out + (i - segment * p.n) * p.out_step, from = start.x + index * p.step;
    if (p.indices) p.indices[to] = index;
    if (!p.values) return;
    if (p.dtype == DType::complex64)
      copy_one<complex64>(p, to, from);
    else
      copy_one<complex128>(p, to, from);
  });
}

STATOR_FN bool is_less(complex128 a, complex128 b) {
  const auto x = order_keys<uint64_t, double>(a), y = order_keys<uint64_t, double>(b);
  return x.high != y.high ? x.high < y.high : x.low < y.low;
}

template <int Size>
STATOR_KERNEL(Size) void complex_search_kernel(params::ComplexSearch p, SegmentDivisors divisors) {
  const Group<Size> group;
  const int64_t first = group.block() * tile, rest = p.elements.count - first;
  group.for_each(rest < tile ? rest : tile, [&](int64_t k) {
    const complex128 wanted = load_one<complex128>(p.values, p.dtype, segment_start(p.elements, first + k, divisors).x);
    int64_t low = 0, high = p.n;
    while (low < high) {
      const int64_t middle = low + (high - low) / 2;
      if (is_less(load_one<complex128>(p.sorted, p.dtype, middle), wanted))
        low = middle + 1;
      else
        high = middle;
    }
    bool found = false;
    if (low < p.n) {
      const complex128 candidate = load_one<complex128>(p.sorted, p.dtype, low);
      found = candidate.re == wanted.re && candidate.im == wanted.im;
    }
    p.found[first + k] = found != p.invert;
  });
}

void complex_keys(const params::Queue& q, const params::ComplexKeys& p) {
  launch(q, "complex_keys", complex_keys_kernel<complex_block>, {ceil_div(p.segments.count * p.n, tile), complex_block},
         p, SegmentDivisors(p.segments), FastDivmod64(std::max<int64_t>(p.n, 1)));
}
void complex_gather(const params::Queue& q, const params::ComplexGather& p) {
  launch(q, "complex_gather", complex_gather_kernel<complex_block>,
         {ceil_div(p.segments.count * p.n, tile), complex_block}, p, SegmentDivisors(p.segments),
         FastDivmod64(std::max<int64_t>(p.n, 1)));
}
void complex_search(const params::Queue& q, const params::ComplexSearch& p) {
  launch(q, "complex_search", complex_search_kernel<complex_block>, {ceil_div(p.elements.count, tile), complex_block},
         p, SegmentDivisors(p.elements));
}

}  // namespace

}  // namespace stator::STATOR_TARGET::sort

STATOR_LAUNCHER(sort, complex_keys)
STATOR_LAUNCHER(sort, complex_gather)
STATOR_LAUNCHER(sort, complex_search)
