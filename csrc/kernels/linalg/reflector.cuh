// Householder reflectors. Golub and Van Loan, Matrix Computations (2013), section 5.1; signs and scaling are those of
// LAPACK's geqrf, so that R agrees with NumPy's.
#pragma once

#include "device/team.cuh"
#include "kernels/linalg/small.cuh"

namespace stator::STATOR_TARGET::linalg {

template <class R>
struct QrRange {
  static constexpr R least = sizeof(R) == 4 ? R(0x1p-96) : R(0x1p-960), up = sizeof(R) == 4 ? R(0x1p64) : R(0x1p128);
};

// H x = beta e1 for the column x of `rows` elements at a. v replaces x below its first entry, which becomes beta.
// Returns tau.
template <class T, class G>
STATOR_FN T reflect(const G& group, T* a, int step, int rows) {
  using R = real_t<T>;
  const T alpha = a[0];
  const R large = group.template map_reduce<R>(rows - 1, Max{}, [=](int64_t i) { return size_of(a[(i + 1) * step]); });
  R imaginary = 0;
  if constexpr (is_complex<T>) imaginary = alpha.im;
  if (!(large > 0) && large == large && imaginary == R(0)) return T(0);
  const R given = size_of(alpha) > large ? size_of(alpha) : large;
  // A column so small that 1 / size could overflow, as rounding leaves of dependent columns, is scaled up first.
  const bool tiny = given < QrRange<R>::least;
  const R up = tiny ? QrRange<R>::up : R(1), down = tiny ? R(1) / QrRange<R>::up : R(1);
  const R scale = given * up, back = R(1) / scale;
  const T lifted = scaled_by(alpha, up);
  const R below = group.template map_reduce<R>(
      rows - 1, Sum{}, [=](int64_t i) { return square_of(scaled_by(scaled_by(a[(i + 1) * step], up), back)); });
  const R norm = scale * sqrt(square_of(scaled_by(lifted, back)) + below);
  const R beta = real_of(alpha) < R(0) ? norm : -norm;
  const T tau = scaled_by(T(beta) - lifted, R(1) / beta);
  const T first = lifted - T(beta);
  group.sync();
  group.for_each(rows - 1, [=](int64_t i) { a[(i + 1) * step] = scaled_by(a[(i + 1) * step], up) / first; });
  if (group.rank() == 0) a[0] = T(beta * down);
  group.sync();
  return tau;
}

// Columns that a team reflects at once, so that they share the loads of the reflector.
inline constexpr int reflected_columns = 4;

template <class T>
struct Along {  // v^H times each column
  T of[reflected_columns];
  STATOR_FN friend Along operator+(Along a, const Along& b) {
    STATOR_UNROLL()
    for (int c = 0; c < reflected_columns; ++c) a.of[c] = a.of[c] + b.of[c];
    return a;
  }
};

// x = (I - tau v v^H) x for up to reflected_columns columns of x, which are `step` apart and used by this team only. v
// is zero above row k, 1 in row k, and stored below it up to row m.
template <class T, class Team>
STATOR_FN void reflect_columns(const Team& team, const T* v, int64_t k, int64_t m, T tau, T* x, int64_t step,
                               int columns) {
  if (tau == T(0)) return;
  Along<T> along = team.template sum<Along<T>>(k, m, [=](int64_t i) {
    const T factor = i == k ? T(1) : conjugate(v[i]);
    Along<T> part{};
    STATOR_UNROLL()
    for (int c = 0; c < reflected_columns; ++c)
      if (c < columns) part.of[c] = factor * x[c * step + i];
    return part;
  });
  STATOR_UNROLL()
  for (int c = 0; c < reflected_columns; ++c) along.of[c] = tau * along.of[c];
  team.for_each(k, m, [=](int64_t i) {
    const T factor = i == k ? T(1) : v[i];
    STATOR_UNROLL()
    for (int c = 0; c < reflected_columns; ++c)
      if (c < columns) x[c * step + i] = x[c * step + i] - factor * along.of[c];
  });
}

void form_q(const params::Queue& q, const params::FormQ& p);

}  // namespace stator::STATOR_TARGET::linalg
