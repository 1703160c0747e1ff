// LU with partial pivoting of small matrices, and solutions by it: one block per matrix.
#include "host/launcher.hpp"
#include "kernels/linalg/small.cuh"

namespace stator::STATOR_TARGET::linalg {
namespace {

template <class R>
struct Candidate {
  R size;
  int row;
};
struct LargerPivot {
  template <class A>
  STATOR_FN static A identity() {
    return {decltype(A::size)(-1), 1 << 30};
  }
  template <class A>
  STATOR_FN A operator()(A a, A b) const {
    return a.size > b.size || (a.size == b.size && a.row < b.row) ? a : b;
  }
};

// The row at or below k with the largest entry of column k; the first of several.
template <class T, class G>
STATOR_FN int pivot_row(const G& group, const T* a, int step, int n, int k) {
  using R = real_t<T>;
  if constexpr (fast_host) {
    int best = k;
    R size = size_of(a[k * step + k]);
    for (int i = k + 1; i < n; ++i) {
      const R other = size_of(a[i * step + k]);
      if (other > size) size = other, best = i;
    }
    return best;
  } else {
    const auto found = group.template map_reduce<Candidate<R>>(
        n - k, LargerPivot{}, [=](int64_t i) { return Candidate<R>{size_of(a[(k + i) * step + k]), int(k + i)}; });
    return found.row < n ? found.row : k;  // a column of NaN has no largest entry
  }
}

// Factors in place; pivot[k] is the row that row k was exchanged with. Returns the first zero pivot, counted from 1, or
// 0.
template <class T, class G>
STATOR_FN int factor_lu(const G& group, T* a, int step, int n, int* pivot) {
  int info = 0;
  for (int k = 0; k < n; ++k) {
    const int p = pivot_row(group, a, step, n, k);
    group.sync();
    T* row = a + k * step;
    if (p != k) {
      T* other = a + p * step;
      group.for_each(n, [=](int64_t j) {
        const T x = row[j];
        row[j] = other[j];
        other[j] = x;
      });
    }
    if (group.rank() == 0) pivot[k] = p;
    group.sync();
    const T d = row[k];
    if (size_of(d) == real_t<T>(0)) {
      if (info == 0) info = k + 1;
      continue;
    }
    const int below = n - k - 1;
    T* corner = a + (k + 1) * step + k;
    group.for_each(below, [=](int64_t i) { corner[i * step] = corner[i * step] / d; });
    group.sync();
    subtract_product(group, corner + 1, step, corner, step, row + k + 1, below, below);
    group.sync();
  }
  return info;
}

struct Exchanges {
  int pivot[params::small_matrix];
  int order[params::small_matrix];  // row i of P b is row order[i] of b
};

template <class T, class G>
STATOR_FN void solve_columns(const G& group, const params::SmallLu& p, int64_t matrix, const T* a, int step, T* b,
                             const int* order) {
  const int n = p.n;
  for (int64_t first = 0; first < p.columns; first += SmallTuning::columns) {
    const int64_t left = p.columns - first;
    const int cols = int(left < SmallTuning::columns ? left : SmallTuning::columns);
    const int b_step = row_step(cols);
    group.sync();
    if (p.identity) {
      for_each_pair(group, n, cols, [=](int i, int j) { b[i * b_step + j] = T(order[i] == first + j); });
    } else {
      const params::Matrices from = p.b;
      for_each_pair(group, n, cols,
                    [=](int i, int j) { b[i * b_step + j] = element<T>(from, matrix, order[i], first + j); });
    }
    group.sync();
    substitute(group, a, step, n, false, true, b, b_step, cols);
    substitute(group, a, step, n, true, false, b, b_step, cols);
    params::Matrices to = p.x;
    to.data = static_cast<T*>(to.data) + first * to.col;
    store_matrix(group, b, b_step, n, cols, to, matrix);
  }
}

template <class T, int Size>
STATOR_KERNEL(Size) void small_lu_kernel(params::SmallLu p) {
  const Group<Size> group;
  const int n = p.n, step = row_step(n);
  T* a = group.template dynamic<T>(n * step + n * row_step(shared_columns(p.columns)));
  Exchanges& rows = group.template shared<Exchanges>();
  for (int64_t k = 0; k < SmallTuning::matrices; ++k) {
    const int64_t matrix = group.block() * SmallTuning::matrices + k;
    if (matrix >= p.count) return;
    group.sync();
    load_matrix(group, p.a, matrix, n, n, a, step);
    int32_t* pivots = p.pivots == nullptr ? nullptr : p.pivots + matrix * n;
    int* pivot = rows.pivot;
    int info = 0;
    // Factor, or take the pivots given.
    if (p.factored) {
      // A pivot out of range would cause an access out of range.
      group.for_each(n, [=](int64_t i) { pivot[i] = pivots[i] >= 0 && pivots[i] < n ? pivots[i] : int(i); });
      group.sync();
    } else {
      group.sync();
      info = factor_lu(group, a, step, n, pivot);
      if (pivots != nullptr) group.for_each(n, [=](int64_t i) { pivots[i] = pivot[i]; });
      if (p.info != nullptr && group.rank() == 0) p.info[matrix] = info;
    }
    if (p.lu.data != nullptr) store_matrix(group, a, step, n, n, p.lu, matrix);
    if (p.x.data == nullptr) continue;
    // One thread turns the exchanges into a permutation.
    if (group.rank() == 0) {
      for (int i = 0; i < n; ++i) rows.order[i] = i;
      for (int i = 0; i < n; ++i) {
        const int other = rows.order[pivot[i]];
        rows.order[pivot[i]] = rows.order[i];
        rows.order[i] = other;
      }
    }
    solve_columns(group, p, matrix, a, step, a + n * step, rows.order);
  }
}

void small_lu(const params::Queue& q, const params::SmallLu& p) {
  visit<dtypes::blas>(p.dtype, [&]<class T>(type_tag<T>) {
    const int64_t bytes =
        small_bytes(p.n, p.n, sizeof(T)) +
        small_bytes(p.n, p.columns < SmallTuning::columns ? int(p.columns) : SmallTuning::columns, sizeof(T));
    launch(q, "small_lu", small_lu_kernel<T, SmallTuning::block>,
           {small_blocks(p.count), SmallTuning::block, int(bytes)}, p);
  });
}

}  // namespace

}  // namespace stator::STATOR_TARGET::linalg

STATOR_LAUNCHER(linalg, small_lu)
