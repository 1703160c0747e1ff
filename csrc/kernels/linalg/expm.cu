// The steps of the matrix exponential between its products: scaling and squaring with Pade approximants (Higham, SIAM
// J. Matrix Anal. Appl. 26(4), 2005), with the number of squarings chosen from norms of powers (Al-Mohy and Higham,
// SIAM J. Matrix Anal. Appl. 31(3), 2009). Degree 13 for double precision, 7 for single. Scale factors are powers of
// two, which cause no rounding.
#include "host/launcher.hpp"
#include "kernels/linalg/small.cuh"

#include <bit>

namespace stator::STATOR_TARGET::linalg {
namespace {

struct ExpmTuning {
  static constexpr int block = 256;
  static constexpr int64_t tile = by_target<1024, 16384>::value;  // elements per block
  static constexpr int lanes = 16;                                // columns that the fast host sums at once
};

// Numerators of the diagonal Pade approximant of the exponential: b[k] x^k, multiplied by `unit`, which makes b[0]
// close to 1.
struct Degree13 {
  static constexpr int degree = 13, unit_bits = 53;
  static constexpr double unit = 0x1p-55;
  static constexpr double theta = 5.371920351148152;                              // for double precision
  static constexpr double leading_error = 113250775606021113483283660800000000.;  // 1 / |c_27|
  static constexpr double b[] = {64764752532480000.,
                                 32382376266240000.,
                                 7771770303897600.,
                                 1187353796428800.,
                                 129060195264000.,
                                 10559470521600.,
                                 670442572800.,
                                 33522128640.,
                                 1323241920.,
                                 40840800.,
                                 960960.,
                                 16380.,
                                 182.,
                                 1.};
};
struct Degree7 {
  static constexpr int degree = 7, unit_bits = 24;
  static constexpr double unit = 0x1p-24;
  static constexpr double theta = 3.925724783138660;  // for single precision
  static constexpr double leading_error = 4487938430976000.;
  static constexpr double b[] = {17297280., 8648640., 1995840., 277200., 25200., 1512., 56., 1.};
};
template <class R>
using Pade = std::conditional_t<std::is_same_v<R, double>, Degree13, Degree7>;

// x * 2^power in two steps whose factors do not overflow. For powers beyond those that are representable this way, x is
// 0 or the result is infinite anyway.
template <class R>
struct PowerOfTwo {
  R half, rest;
  STATOR_FN explicit PowerOfTwo(int power) {
    constexpr int most = sizeof(R) == 8 ? 2000 : 240;
    const int p = power > most ? most : power < -most ? -most : power;
    half = of(p / 2);
    rest = of(p - p / 2);
  }
  template <class T>
  STATOR_FN T operator()(T x) const {
    return scaled_by(scaled_by(x, half), rest);
  }

 private:
  STATOR_FN static R of(int p) {
    if constexpr (sizeof(R) == 8)
      return std::bit_cast<double>(uint64_t(1023 + p) << 52);
    else
      return std::bit_cast<float>(uint32_t(127 + p) << 23);
  }
};

// The largest column sum of |re| + |im|; NaN if there is a NaN. A call, so that it is not inlined at every use.
template <class T, class G>
STATOR_CALL real_t<T> one_norm(const G& group, const T* a, int64_t n, int64_t row_step, int64_t col) {
  using R = real_t<T>;
  if constexpr (fast_host) {
    R norm = 0;
    for (int64_t first = 0; first < n; first += ExpmTuning::lanes) {
      const int64_t left = n - first, lanes = left < ExpmTuning::lanes ? left : ExpmTuning::lanes;
      R sum[ExpmTuning::lanes] = {};
      for (int64_t i = 0; i < n; ++i) {
        const T* row = a + i * row_step + first * col;
        for (int64_t j = 0; j < lanes; ++j) sum[j] = sum[j] + size_of(row[j * col]);
      }
      for (int64_t j = 0; j < lanes; ++j) norm = Max{}(norm, sum[j]);
    }
    return norm;
  } else {
    return group.template map_reduce<R>(n, Max{}, [=](int64_t j) {
      R sum = 0;
      for (int64_t i = 0; i < n; ++i) sum = sum + size_of(a[i * row_step + j * col]);
      return sum;
    });
  }
}

// The least e with x <= 2^e, for finite x > 0.
STATOR_FN int ceil_log2(double x) {
  const uint64_t bits = std::bit_cast<uint64_t>(x);
  return int(bits >> 52) - 1023 + int((bits & ((uint64_t(1) << 52) - 1)) != 0);
}

template <class T, int Size>
STATOR_KERNEL(Size) void expm_scale_kernel(params::ExpmScale p) {
  using R = real_t<T>;
  const Group<Size> group;
  const int64_t matrix = group.block(), n = p.n, row = p.a.row, col = p.a.col;
  const T* a = static_cast<const T*>(p.a.data) + matrix * p.a.batch;
  const R norm = one_norm(group, a, n, row, col);
  const bool finite = norm <= limits<R>::max();
  const int exponent = finite && norm > R(1) ? ceil_log2(double(norm)) : 0;
  const PowerOfTwo<R> scale(-exponent);
  T* b = static_cast<T*>(p.b) + matrix * n * n;
  for_each_pair(group, int(n), int(n), [=](int64_t i, int64_t j) {
    b[i * n + j] = finite ? scale(a[i * row + j * col]) : T(limits<R>::nan());
  });
  if (group.rank() == 0) p.exponent[matrix] = exponent;
}

STATOR_CALL double log_2(double x) { return log(x) * 1.4426950408889634; }

// log2 of the 1-norm of |b|^times.
template <class T, class G>
STATOR_FN double log_of_power(const G& group, const T* b, int64_t n, int times, real_t<T>* vectors) {
  using R = real_t<T>;
  R *now = vectors, *next = vectors + n;
  group.for_each(n, [=](int64_t j) { now[j] = R(1); });
  double total = 0;
  for (int t = 0; t < times; ++t) {
    group.sync();
    if constexpr (fast_host) {
      for (int64_t j = 0; j < n; ++j) next[j] = R(0);
      for (int64_t i = 0; i < n; ++i) {
        const R weight = now[i];
        const T* row = b + i * n;
        group.for_each(n, [=](int64_t j) { next[j] = next[j] + weight * size_of(row[j]); });
      }
    } else {
      group.for_each(n, [=](int64_t j) {
        R sum = 0;
        for (int64_t i = 0; i < n; ++i) sum = sum + now[i] * size_of(b[i * n + j]);
        next[j] = sum;
      });
    }
    group.sync();
    const R most = group.template map_reduce<R>(n, Max{}, [=](int64_t j) { return next[j]; });
    if (!(most > R(0))) return -limits<double>::infinity();
    const R scale = R(1) / most;
    total += log_2(double(most));
    group.for_each(n, [=](int64_t j) { next[j] = next[j] * scale; });
    R* const other = now;
    now = next;
    next = other;
  }
  return total;
}

template <class T, int Size>
STATOR_KERNEL(Size) void expm_choose_kernel(params::ExpmChoose p) {
  using R = real_t<T>;
  using P = Pade<R>;
  const Group<Size> group;
  const int64_t matrix = group.block(), n = p.n, size = n * n;
  const T* b = static_cast<const T*>(p.b) + matrix * size;
  const void* const powers_of_b[] = {p.b, p.b4, p.b6};
  double logs[3];
  for (int k = 0; k < 3; ++k) {
    const T* x = static_cast<const T*>(powers_of_b[k]) + matrix * size;
    logs[k] = log_2(double(one_norm(group, x, n, n, 1)));
  }
  const double exponent = p.exponent[matrix], first = logs[0], fourth = logs[1] / 4, sixth = logs[2] / 6;
  int squarings = 0;
  if (first == first && first > -limits<double>::infinity()) {
    const double theta = log_2(P::theta), whole = exponent + first,
                 powers = exponent + (fourth > sixth ? fourth : sixth);
    const double by_norm = ceil(whole - theta), by_powers = ceil(powers - theta);
    double chosen = by_norm > 0 ? by_norm : 0;
    if (by_powers < chosen) {
      // Rounding in the powers of a highly non-normal matrix may hide how large they are: section 4 of the second
      // paper.
      chosen = by_powers > 0 ? by_powers : 0;
      constexpr int times = 2 * P::degree + 1;
      group.sync();
      const double power = log_of_power(group, b, n, times, static_cast<R*>(p.vectors) + matrix * 2 * n);
      const double error = power - first + (times - 1) * (exponent - chosen) - log_2(P::leading_error);
      const double more = ceil((error + P::unit_bits) / (times - 1));
      if (more > 0) chosen += more;
    }
    squarings = int(chosen);
  }
  if (group.rank() == 0) p.squarings[matrix] = squarings;
}

// b[k + 4] x^6 + b[k + 2] x^4 + b[k] x^2, with coefficients that are compile-time constants.
template <class T, int k>
STATOR_FN T weighted(T x2, T x4, T x6) {
  using R = real_t<T>;
  using P = Pade<R>;
  constexpr R sixth = R(P::b[k + 4] * P::unit), fourth = R(P::b[k + 2] * P::unit), second = R(P::b[k] * P::unit);
  return scaled_by(x6, sixth) + scaled_by(x4, fourth) + scaled_by(x2, second);
}

template <class T, int Size>
STATOR_KERNEL(Size) void expm_terms_kernel(params::ExpmTerms p, int64_t per_block) {
  using R = real_t<T>;
  using P = Pade<R>;
  constexpr R first = R(P::b[1] * P::unit), constant = R(P::b[0] * P::unit);
  const Group<Size> group;
  const int64_t n = p.n, rows = p.count * n, begin = group.block() * per_block;
  for (int64_t r = begin; r < begin + per_block && r < rows; ++r) {
    const int64_t matrix = r / n, i = r - matrix * n;
    const int power = p.exponent[matrix] - p.squarings[matrix];
    const PowerOfTwo<R> f1(power), f2(2 * power), f4(4 * power), f6(6 * power);
    T *b = static_cast<T*>(p.b) + r * n, *b6 = static_cast<T*>(p.b6) + r * n;
    const T *b2 = static_cast<const T*>(p.b2) + r * n, *b4 = static_cast<const T*>(p.b4) + r * n;
    T *outer = static_cast<T*>(p.outer) + r * 2 * n, *inner = static_cast<T*>(p.inner) + r * 2 * n;
    group.for_each(n, [=](int64_t j) {
      const T x2 = f2(b2[j]), x4 = f4(b4[j]), x6 = f6(b6[j]);
      b[j] = f1(b[j]);
      b6[j] = x6;
      outer[j] = weighted<T, 3>(x2, x4, x6) + T(i == j ? first : R(0));
      outer[n + j] = weighted<T, 2>(x2, x4, x6) + T(i == j ? constant : R(0));
      if constexpr (P::degree == 13) {
        inner[j] = weighted<T, 9>(x2, x4, x6);
        inner[n + j] = weighted<T, 8>(x2, x4, x6);
      }
    });
  }
}

template <class T, int Size>
STATOR_KERNEL(Size) void expm_fraction_kernel(params::ExpmFraction p, int64_t per_block) {
  const Group<Size> group;
  const int64_t n = p.n, rows = p.count * n, begin = group.block() * per_block;
  for (int64_t r = begin; r < begin + per_block && r < rows; ++r) {
    const T *u = static_cast<const T*>(p.u) + r * n, *v = static_cast<const T*>(p.sums) + r * 2 * n + n;
    T *sum = static_cast<T*>(p.p) + r * n, *difference = static_cast<T*>(p.q) + r * n;
    group.for_each(n, [=](int64_t j) {
      const T x = u[j], y = v[j];
      sum[j] = y + x;
      difference[j] = y - x;
    });
  }
}

template <class Bits, int Size>
STATOR_KERNEL(Size) void expm_keep_kernel(params::ExpmKeep p) {
  const Group<Size> group;
  const int64_t matrix = group.block();
  if (p.squarings[matrix] > p.step) return;
  const Bits* from = static_cast<const Bits*>(p.kept) + matrix * p.size;
  Bits* to = static_cast<Bits*>(p.squared) + matrix * p.size;
  group.for_each(p.size, [=](int64_t i) { to[i] = from[i]; });
}

void expm_scale(const params::Queue& q, const params::ExpmScale& p) {
  visit<dtypes::blas>(p.dtype, [&]<class T>(type_tag<T>) {
    launch(q, "expm_scale", expm_scale_kernel<T, ExpmTuning::block>, {p.count, ExpmTuning::block}, p);
  });
}
void expm_choose(const params::Queue& q, const params::ExpmChoose& p) {
  visit<dtypes::blas>(p.dtype, [&]<class T>(type_tag<T>) {
    launch(q, "expm_choose", expm_choose_kernel<T, ExpmTuning::block>, {p.count, ExpmTuning::block}, p);
  });
}
void expm_terms(const params::Queue& q, const params::ExpmTerms& p) {
  const int64_t per_block = ExpmTuning::tile / p.n + 1;
  visit<dtypes::blas>(p.dtype, [&]<class T>(type_tag<T>) {
    launch(q, "expm_terms", expm_terms_kernel<T, ExpmTuning::block>,
           {ceil_div(p.count * p.n, per_block), ExpmTuning::block}, p, per_block);
  });
}
void expm_fraction(const params::Queue& q, const params::ExpmFraction& p) {
  const int64_t per_block = ExpmTuning::tile / p.n + 1;
  visit<dtypes::blas>(p.dtype, [&]<class T>(type_tag<T>) {
    launch(q, "expm_fraction", expm_fraction_kernel<T, ExpmTuning::block>,
           {ceil_div(p.count * p.n, per_block), ExpmTuning::block}, p, per_block);
  });
}
void expm_keep(const params::Queue& q, const params::ExpmKeep& given) {
  params::ExpmKeep p = given;
  constexpr int block = ExpmTuning::block;
  if (p.itemsize == 4) return launch(q, "expm_keep", expm_keep_kernel<uint32_t, block>, {p.count, block}, p);
  p.size *= p.itemsize / 8;
  launch(q, "expm_keep", expm_keep_kernel<uint64_t, block>, {p.count, block}, p);
}

}  // namespace

}  // namespace stator::STATOR_TARGET::linalg

STATOR_LAUNCHER(linalg, expm_scale)
STATOR_LAUNCHER(linalg, expm_choose)
STATOR_LAUNCHER(linalg, expm_terms)
STATOR_LAUNCHER(linalg, expm_fraction)
STATOR_LAUNCHER(linalg, expm_keep)
