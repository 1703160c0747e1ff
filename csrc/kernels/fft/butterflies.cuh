// Transforms of a few points, on values of all lanes (device/lane_vector.cuh).
#pragma once

#include "device/lane_vector.cuh"

namespace stator::STATOR_TARGET::fft {

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
// a times -i
template <class V>
STATOR_FN Point<V> turned(const Point<V>& a) {
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

// a, b, c, d become outputs 0, 1, 2, 3.
template <class V>
STATOR_FN void butterfly4(Point<V>& a, Point<V>& b, Point<V>& c, Point<V>& d) {
  butterfly2(a, c);
  butterfly2(b, d);
  d = turned(d);
  butterfly2(a, b);
  butterfly2(c, d);
  const Point<V> swap = b;
  b = c;
  c = swap;
}

// y_k = sum over j of x_j exp(-2 pi i j k / R), k in natural order. roots: cos and sin of 2 pi t / R for t < R; only
// odd R reads them. Odd R pairs x_j with x_(R-j), which halves the products.
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
    x[5] = turned(x[5]);
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
      // x[0] is still needed, x[k] and x[R - k] are not.
      x[k] = even + turned(odd);
      x[R - k] = even - turned(odd);
    }
    x[0] = total;
  }
}

}  // namespace stator::STATOR_TARGET::fft
