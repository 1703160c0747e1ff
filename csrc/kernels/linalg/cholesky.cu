// Cholesky factors and triangular systems of small matrices: one block per matrix.
#include "host/launcher.hpp"
#include "kernels/linalg/small.cuh"

namespace stator::STATOR_TARGET::linalg {
namespace {

// Overwrites the upper triangle of u with U of U^H U, row by row, so that the inner loops run along rows. Returns the
// order of the first leading minor that is not positive, or 0.
template <class T, class G>
STATOR_FN int factor_cholesky(const G& group, T* u, int step, int n) {
  for (int k = 0; k < n; ++k) {
    T* row = u + k * step;
    const real_t<T> square = real_of(row[k]);
    if (!(square > 0)) return k + 1;  // also for NaN
    const real_t<T> root = sqrt(square);
    group.sync();
    group.for_each(n - k,
                   [=](int64_t j) { row[k + j] = j == 0 ? T(root) : scaled_by(row[k + j], real_t<T>(1) / root); });
    group.sync();
    for (int i = k + 1; i < n; ++i) {
      const T factor = conjugate(row[i]);
      T* below = u + i * step + i;
      const T* along = row + i;
      group.for_each(n - i, [=](int64_t j) { below[j] = below[j] - factor * along[j]; });
    }
    group.sync();
  }
  return 0;
}

template <class T, int Size>
STATOR_KERNEL(Size) void small_cholesky_kernel(params::SmallCholesky p) {
  const Group<Size> group;
  const int n = p.n, step = row_step(n);
  T* u = group.template dynamic<T>(n * step);
  for (int64_t k = 0; k < SmallTuning::matrices; ++k) {
    const int64_t matrix = group.block() * SmallTuning::matrices + k;
    if (matrix >= p.count) return;
    group.sync();
    // A lower triangle is read as the conjugate of an upper one.
    params::Matrices from = p.a, to = p.out;
    if (!p.upper) {
      from.row = p.a.col, from.col = p.a.row;
      to.row = p.out.col, to.col = p.out.row;
    }
    const bool conjugated = !p.upper;
    for (int i = 0; i < n; ++i)
      group.for_each(n - i, [=](int64_t j) {
        const T x = element<T>(from, matrix, i, i + j);
        u[i * step + i + j] = conjugated ? conjugate(x) : x;
      });
    group.sync();
    const int info = factor_cholesky(group, u, step, n);  // no thread writes after its last barrier
    for_each_pair(group, n, n, [=](int i, int j) {
      const T x = j < i ? T(0) : u[i * step + j];
      element<T>(to, matrix, i, j) = conjugated && j >= i ? conjugate(x) : x;
    });
    if (p.info != nullptr && group.rank() == 0) p.info[matrix] = info;
  }
}

template <class T, int Size>
STATOR_KERNEL(Size) void small_triangular_kernel(params::SmallTriangular p) {
  const Group<Size> group;
  const int n = p.n, step = row_step(n);
  T* a = group.template dynamic<T>(n * step + n * row_step(shared_columns(p.columns)));
  T* b = a + n * step;
  for (int64_t k = 0; k < SmallTuning::matrices; ++k) {
    const int64_t matrix = group.block() * SmallTuning::matrices + k;
    if (matrix >= p.count) return;
    for (int64_t first = 0; first < p.columns; first += SmallTuning::columns) {
      const int64_t left = p.columns - first;
      const int cols = int(left < SmallTuning::columns ? left : SmallTuning::columns);
      const int b_step = row_step(cols);
      group.sync();
      // Load some right-hand sides.
      const params::Matrices given = p.b;
      for_each_pair(group, n, cols, [=](int i, int j) { b[i * b_step + j] = element<T>(given, matrix, i, first + j); });
      // Load op(a) and substitute.
      for (int turn = 0; turn < p.steps; ++turn) {
        params::Matrices from = p.a;
        if (p.transpose[turn]) from.row = p.a.col, from.col = p.a.row;
        const bool conjugated = p.conjugate[turn];
        group.sync();
        for_each_pair(group, n, n, [=](int i, int j) {
          const T x = element<T>(from, matrix, i, j);
          a[i * step + j] = conjugated ? conjugate(x) : x;
        });
        group.sync();
        substitute(group, a, step, n, p.upper != p.transpose[turn], p.unit, b, b_step, cols);
      }
      // Store the solutions.
      params::Matrices to = p.x;
      to.data = static_cast<T*>(to.data) + first * to.col;
      store_matrix(group, b, b_step, n, cols, to, matrix);
    }
    // One thread looks for the first zero on the diagonal.
    if (p.info != nullptr && group.rank() == 0) {
      int info = 0;
      for (int i = n - 1; i >= 0; --i)
        if (size_of(element<T>(p.a, matrix, i, i)) == real_t<T>(0)) info = i + 1;
      p.info[matrix] = p.unit ? 0 : info;
    }
  }
}

void small_cholesky(const params::Queue& q, const params::SmallCholesky& p) {
  visit<dtypes::blas>(p.dtype, [&]<class T>(type_tag<T>) {
    launch(q, "small_cholesky", small_cholesky_kernel<T, SmallTuning::block>,
           {small_blocks(p.count), SmallTuning::block, int(small_bytes(p.n, p.n, sizeof(T)))}, p);
  });
}

void small_triangular(const params::Queue& q, const params::SmallTriangular& p) {
  visit<dtypes::blas>(p.dtype, [&]<class T>(type_tag<T>) {
    const int64_t bytes =
        small_bytes(p.n, p.n, sizeof(T)) +
        small_bytes(p.n, p.columns < SmallTuning::columns ? int(p.columns) : SmallTuning::columns, sizeof(T));
    launch(q, "small_triangular", small_triangular_kernel<T, SmallTuning::block>,
           {small_blocks(p.count), SmallTuning::block, int(bytes)}, p);
  });
}

}  // namespace

}  // namespace stator::STATOR_TARGET::linalg

STATOR_LAUNCHER(linalg, small_cholesky)
STATOR_LAUNCHER(linalg, small_triangular)
