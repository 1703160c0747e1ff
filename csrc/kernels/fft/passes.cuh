// Transforms one block of lanes in its work memory: point i of lane l is at [i][re, im][l].
#pragma once

#include "host/lanes/lane_vector.hpp"
#include "params/fft.hpp"

namespace stator::STATOR_TARGET::fft {

// A point of all lanes (host/lanes/lane_vector.hpp), and transforms of a few of them.
template <class V>
struct Point {
  V re, im;
};

template <class V>
STATOR_FN Point<V> operator+(const Point<V>& a, const Point<V>& b) {
  return {a.re + b.re, a.im + b.im};
}
template <class V>
STATOR_FN Point<V> operator-(const Point<V>& a, const Point<V>& b) {
  return {a.re - b.re, a.im - b.im};
}
// a times -i.
template <class V>
STATOR_FN Point<V> times_minus_i(const Point<V>& a) {
  return {a.im, -a.re};
}
// a times (re, im), which may be numbers or values of all lanes.
template <class V, class W>
STATOR_FN Point<V> times(const Point<V>& a, W re, W im) {
  return {a.re * re - a.im * im, a.re * im + a.im * re};
}

template <class V>
STATOR_FN void butterfly2(Point<V>& a, Point<V>& b) {
  const Point<V> sum = a + b;
  b = a - b;
  a = sum;
}

// a, b, c, d become points 0, 1, 2, 3 of their transform.
template <class V>
STATOR_FN void butterfly4(Point<V>& a, Point<V>& b, Point<V>& c, Point<V>& d) {
  butterfly2(a, c);
  butterfly2(b, d);
  d = times_minus_i(d);
  butterfly2(a, b);
  butterfly2(c, d);
  const Point<V> swap = b;
  b = c;
  c = swap;
}

// y_k = sum over j of x_j exp(-2 pi i j k / R), k in natural order. roots: cos and sin of 2 pi t / R for t < R, which
// only odd R reads. Odd R pairs x_j with x_(R-j), which halves the products.
template <int R, class V, class T>
STATOR_FN void butterfly(Point<V> (&x)[R], const T* roots) {
  if constexpr (R == 2) {
    butterfly2(x[0], x[1]);
  } else if constexpr (R == 4) {
    butterfly4(x[0], x[1], x[2], x[3]);
  } else if constexpr (R == 8) {
    constexpr T half = T(0.707106781186547524400844362104849039L);
    butterfly4(x[0], x[2], x[4], x[6]);
    butterfly4(x[1], x[3], x[5], x[7]);
    x[3] = {(x[3].re + x[3].im) * half, (x[3].im - x[3].re) * half};
    x[5] = times_minus_i(x[5]);
    x[7] = {(x[7].im - x[7].re) * half, (x[7].im + x[7].re) * -half};
    Point<V> y[8];
    STATOR_UNROLL()
    for (int k = 0; k < 4; ++k) {
      y[k] = x[2 * k] + x[2 * k + 1];
      y[k + 4] = x[2 * k] - x[2 * k + 1];
    }
    STATOR_UNROLL()
    for (int k = 0; k < 8; ++k) x[k] = y[k];
  } else {
    static_assert(R % 2 == 1);
    constexpr int h = R / 2;
    Point<V> sum[h], difference[h], total = x[0];
    STATOR_UNROLL()
    for (int j = 0; j < h; ++j) {
      sum[j] = x[j + 1] + x[R - 1 - j];
      difference[j] = x[j + 1] - x[R - 1 - j];
      total = total + sum[j];
    }
    STATOR_UNROLL()
    for (int k = 1; k <= h; ++k) {
      Point<V> even = x[0];
      Point<V> odd = {difference[0].re * roots[2 * k + 1], difference[0].im * roots[2 * k + 1]};
      STATOR_UNROLL()
      for (int j = 0; j < h; ++j) {
        const int t = (j + 1) * k % R;
        even = {even.re + sum[j].re * roots[2 * t], even.im + sum[j].im * roots[2 * t]};
        if (j > 0) odd = {odd.re + difference[j].re * roots[2 * t + 1], odd.im + difference[j].im * roots[2 * t + 1]};
      }
      // x[0] is needed later; x[k] and x[R - k] are not.
      x[k] = even + times_minus_i(odd);
      x[R - k] = even - times_minus_i(odd);
    }
    x[0] = total;
  }
}

template <class T>
inline constexpr int point_size = 2 * LaneVector<T>::count;  // in numbers

template <class T>
STATOR_FN Point<typename LaneVector<T>::type> load_point(const T* p) {
  return {load_lanes(p), load_lanes(p + LaneVector<T>::count)};
}
template <class T>
STATOR_FN void store_point(T* p, const Point<typename LaneVector<T>::type>& x) {
  store_lanes(p, x.re);
  store_lanes(p + LaneVector<T>::count, x.im);
}

// One pass of Stockham's algorithm (Cochran et al., IEEE Trans. Audio Electroacoust. 15, 1967), decimated in frequency:
// m butterflies of points m apart, each for s interleaved transforms. The results come out in order.
template <int R, class T, class G>
STATOR_CALL const T* radix_pass(G group, const T* STATOR_RESTRICT from, T* STATOR_RESTRICT to, int m, int s,
                                const T* STATOR_RESTRICT table) {
  using V = typename LaneVector<T>::type;
  constexpr int size = point_size<T>;
  const T* roots = table;
  const T* twiddles = table + (R % 2 == 1 ? 2 * R : 0);
  for_each_lane<T>(group, m, s, [=](int p, int q, int lane) {
    Point<V> x[R];
    const T* in = from + (int64_t(p) * s + q) * size + lane;
    const int64_t apart = int64_t(m) * s * size;
    STATOR_UNROLL()
    for (int r = 0; r < R; ++r) x[r] = load_point(in + r * apart);
    butterfly<R>(x, roots);
    T* out = to + (int64_t(p) * R * s + q) * size + lane;
    store_point(out, x[0]);
    const T* w = twiddles + int64_t(p) * (2 * R - 2);
    if (p == 0) {
      STATOR_UNROLL()
      for (int k = 1; k < R; ++k) store_point(out + int64_t(k) * s * size, x[k]);
    } else {
      STATOR_UNROLL()
      for (int k = 1; k < R; ++k) store_point(out + int64_t(k) * s * size, times(x[k], w[2 * k - 2], w[2 * k - 1]));
    }
  });
  return twiddles + int64_t(m) * (2 * R - 2);
}

// The same for any odd radix, with the sums and differences of mirrored points in local memory.
template <class T>
struct AnyRadix {
  static constexpr int largest = 61;
};
template <class T, class G>
STATOR_CALL const T* any_radix_pass(G group, const T* STATOR_RESTRICT from, T* STATOR_RESTRICT to, int radix, int m,
                                    int s, const T* STATOR_RESTRICT table) {
  using V = typename LaneVector<T>::type;
  constexpr int size = point_size<T>;
  const T* roots = table;
  const T* twiddles = table + 2 * radix;
  const int h = radix / 2;
  for_each_lane<T>(group, m, s, [=](int p, int q, int lane) {
    // Sums and differences of mirrored points.
    Point<V> sum[AnyRadix<T>::largest / 2], difference[AnyRadix<T>::largest / 2];
    const T* in = from + (int64_t(p) * s + q) * size + lane;
    const int64_t apart = int64_t(m) * s * size;
    const Point<V> first = load_point(in);
    Point<V> total = first;
    for (int j = 0; j < h; ++j) {
      const Point<V> a = load_point(in + (j + 1) * apart), b = load_point(in + (radix - 1 - j) * apart);
      sum[j] = a + b;
      difference[j] = a - b;
      total = total + sum[j];
    }
    T* out = to + (int64_t(p) * radix * s + q) * size + lane;
    const int64_t step = int64_t(s) * size;
    store_point(out, total);
    const T* w = twiddles + int64_t(p) * (2 * radix - 2);
    // A pair of mirrored outputs at a time.
    for (int k = 1; k <= h; ++k) {
      Point<V> even = first;
      Point<V> odd{};
      for (int j = 0, t = k; j < h; ++j) {
        even = {even.re + sum[j].re * roots[2 * t], even.im + sum[j].im * roots[2 * t]};
        odd = {odd.re + difference[j].re * roots[2 * t + 1], odd.im + difference[j].im * roots[2 * t + 1]};
        t += k;
        t = t >= radix ? t - radix : t;
      }
      const int mirrored = radix - k;
      store_point(out + k * step, times(even + times_minus_i(odd), w[2 * k - 2], w[2 * k - 1]));
      store_point(out + mirrored * step, times(even - times_minus_i(odd), w[2 * mirrored - 2], w[2 * mirrored - 1]));
    }
  });
  return twiddles + int64_t(m) * (2 * radix - 2);
}

// Transforms what `a` holds and returns where the result is, a or b. Ends synchronised.
template <class T, class G>
STATOR_FN T* run_passes(const G& group, const params::FftPasses& passes, T* a, T* b) {
  const T* table = static_cast<const T*>(passes.tables);
  int left = passes.n, s = 1;
  for (int i = 0; i < passes.count; ++i) {
    const int radix = passes.radix[i], m = left / radix;
    switch (radix) {
      case 2: table = radix_pass<2, T>(group, a, b, m, s, table); break;
      case 3: table = radix_pass<3, T>(group, a, b, m, s, table); break;
      case 4: table = radix_pass<4, T>(group, a, b, m, s, table); break;
      case 5: table = radix_pass<5, T>(group, a, b, m, s, table); break;
      case 7: table = radix_pass<7, T>(group, a, b, m, s, table); break;
      case 8: table = radix_pass<8, T>(group, a, b, m, s, table); break;
      case 11: table = radix_pass<11, T>(group, a, b, m, s, table); break;
      default: table = any_radix_pass<T>(group, a, b, radix, m, s, table); break;
    }
    group.sync();
    T* const swap = a;
    a = b;
    b = swap;
    left = m;
    s *= radix;
  }
  return a;
}

}  // namespace stator::STATOR_TARGET::fft
