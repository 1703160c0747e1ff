// Householder QR of small matrices: a group a matrix. Golub and Van Loan, Matrix Computations (2013), section 5.1;
// signs and scaling as LAPACK's geqrf, so that R agrees with NumPy's.
#include "kernels/linalg_small.cuh"

namespace stator::STATOR_COLUMN {
namespace {

template <class T>
struct Reflector {
  T tau[abi::small_matrix];
  T along[abi::small_matrix];  // v^H times each column
};

template <class R>
struct QrRange {
  static constexpr R least = sizeof(R) == 4 ? R(0x1p-96) : R(0x1p-960), up = sizeof(R) == 4 ? R(0x1p64) : R(0x1p128);
};

// H x = beta e1 for x = column k from row k on; v replaces x below its first entry, which becomes beta. Returns tau.
template <class T, class G>
STATOR_FN T reflect(const G& group, T* a, int step, int rows) {
  using R = real_t<T>;
  const T alpha = a[0];
  const R large = group.template map_reduce<R>(rows - 1, Max{}, [=](int64_t i) { return size_of(a[(i + 1) * step]); });
  R imaginary = 0;
  if constexpr (is_complex<T>) imaginary = alpha.im;
  if (!(large > 0) && large == large && imaginary == R(0)) return T(0);
  const R given = size_of(alpha) > large ? size_of(alpha) : large;
  // A column of which 1 / size could overflow, as rounding leaves of dependent columns, is lifted first.
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

// to = (I - tau v v^H) to, where v is 1 followed by the column below `v`.
template <class T, class G>
STATOR_FN void apply(const G& group, const T* v, int step, int rows, T tau, T* to, int to_step, int cols, T* along) {
  group.for_each(cols, [=](int64_t j) { along[j] = to[j]; });
  for (int i = 1; i < rows; ++i) {
    const T factor = conjugate(v[i * step]);
    const T* row = to + i * to_step;
    group.for_each(cols, [=](int64_t j) { along[j] = along[j] + factor * row[j]; });
  }
  group.for_each(cols, [=](int64_t j) {
    along[j] = tau * along[j];
    to[j] = to[j] - along[j];
  });
  for (int i = 1; i < rows; ++i) {
    const T factor = v[i * step];
    T* row = to + i * to_step;
    group.for_each(cols, [=](int64_t j) { row[j] = row[j] - factor * along[j]; });
  }
  group.sync();
}

template <class T, int Size>
STATOR_KERNEL void small_qr_kernel(abi::SmallQr p) {
  const Group<Size> group;
  const int m = p.m, n = p.n, step = row_step(n), q_cols = p.q_columns, q_step = row_step(q_cols);
  const int least = m < n ? m : n;
  T* a = group.template dynamic<T>(m * step + m * q_step);
  T* q = a + m * step;
  Reflector<T>& r = group.template shared<Reflector<T>>();
  for (int64_t turn = 0; turn < SmallTuning::matrices; ++turn) {
    const int64_t matrix = group.block() * SmallTuning::matrices + turn;
    if (matrix >= p.count) return;
    group.sync();
    load_matrix(group, p.a, matrix, m, n, a, step);
    group.sync();
    for (int k = 0; k < least; ++k) {
      T* corner = a + k * step + k;
      const T tau = reflect(group, corner, step, m - k);
      if (group.rank() == 0) r.tau[k] = tau;
      if (k + 1 < n) apply(group, corner, step, m - k, conjugate(tau), corner + 1, step, n - k - 1, r.along);
      group.sync();
    }
    for_each_pair(group, p.r_rows, n,
                  [=](int i, int j) { element<T>(p.r, matrix, i, j) = j < i ? T(0) : a[i * step + j]; });
    if (p.q.data == nullptr) continue;
    for_each_pair(group, m, q_cols, [=](int i, int j) { q[i * q_step + j] = T(i == j); });
    group.sync();
    for (int k = least - 1; k >= 0; --k)
      apply(group, a + k * step + k, step, m - k, r.tau[k], q + k * q_step + k, q_step, q_cols - k, r.along);
    store_matrix(group, q, q_step, m, q_cols, p.q, matrix);
  }
}

void small_qr(const abi::Queue& q, const abi::SmallQr& p) {
  visit_matrix(p.dtype, [&]<class T>(type_tag<T>) {
    const int64_t bytes = small_bytes(p.m, p.n, sizeof(T)) + small_bytes(p.m, p.q_columns, sizeof(T));
    launch(q, "small_qr", small_qr_kernel<T, SmallTuning::block>,
           {small_blocks(p.count), SmallTuning::block, int(bytes)}, p);
  });
}

}  // namespace

void fill_linalg_qr(kernels::LinalgTable& table) { table.small_qr = small_qr; }

}  // namespace stator::STATOR_COLUMN
