// Householder QR, one block per matrix: of small matrices in shared memory, and of larger ones of a batch in place.
#include "host/launcher.hpp"
#include "kernels/linalg/columns.cuh"

namespace stator::STATOR_TARGET::linalg {
namespace {

template <class T>
struct Reflector {
  T tau[params::small_matrix];
  T along[params::small_matrix];  // v^H times each column
};

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
STATOR_KERNEL(Size) void small_qr_kernel(params::SmallQr p) {
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
    // Factor.
    for (int k = 0; k < least; ++k) {
      T* corner = a + k * step + k;
      const T tau = reflect(group, corner, step, m - k);
      if (group.rank() == 0) r.tau[k] = tau;
      if (k + 1 < n) apply(group, corner, step, m - k, conjugate(tau), corner + 1, step, n - k - 1, r.along);
      group.sync();
    }
    // Store R.
    for_each_pair(group, p.r_rows, n,
                  [=](int i, int j) { element<T>(p.r, matrix, i, j) = j < i ? T(0) : a[i * step + j]; });
    if (p.q.data == nullptr) continue;
    // Form Q from the identity, the last reflector first.
    for_each_pair(group, m, q_cols, [=](int i, int j) { q[i * q_step + j] = T(i == j); });
    group.sync();
    for (int k = least - 1; k >= 0; --k)
      apply(group, a + k * step + k, step, m - k, r.tau[k], q + k * q_step + k, q_step, q_cols - k, r.along);
    store_matrix(group, q, q_step, m, q_cols, p.q, matrix);
  }
}

void small_qr(const params::Queue& q, const params::SmallQr& p) {
  visit<dtypes::blas>(p.dtype, [&]<class T>(type_tag<T>) {
    const int64_t bytes = small_bytes(p.m, p.n, sizeof(T)) + small_bytes(p.m, p.q_columns, sizeof(T));
    launch(q, "small_qr", small_qr_kernel<T, SmallTuning::block>,
           {small_blocks(p.count), SmallTuning::block, int(bytes)}, p);
  });
}

struct BatchedQrTuning {
  static constexpr int block = 512;
};

template <class T, int Size>
STATOR_KERNEL_RESIDENT(Size, 1) void batched_qr_kernel(params::BatchedQr p) {
  const Group<Size> group;
  const Team<Size> team(group);
  const int64_t matrix = group.block();
  const Columns<T, Size> a{.group = group,
                           .team = team,
                           .data = static_cast<T*>(p.a.data) + matrix * p.a.batch,
                           .step = p.a.col,
                           .m = int(p.m),
                           .n = int(p.n)};
  factor_qr(a, static_cast<T*>(p.tau) + matrix * (p.m < p.n ? p.m : p.n));
}

void batched_qr(const params::Queue& q, const params::BatchedQr& p) {
  visit<dtypes::blas>(p.dtype, [&]<class T>(type_tag<T>) {
    if constexpr (!fast_host)
      launch(q, "batched_qr", batched_qr_kernel<T, BatchedQrTuning::block>, {p.count, BatchedQrTuning::block}, p);
  });
}

}  // namespace

}  // namespace stator::STATOR_TARGET::linalg

STATOR_LAUNCHER(linalg, small_qr)
STATOR_LAUNCHER(linalg, batched_qr, fast_host ? nullptr : batched_qr)
