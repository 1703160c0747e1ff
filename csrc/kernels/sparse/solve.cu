// Triangular systems, row by row. Right-hand sides are independent: one thread each if there are many, else one block
// each, whose threads share a row.
#include "host/launcher.hpp"
#include "kernels/sparse/rows.cuh"
#include "params/sparse.hpp"

namespace stator::STATOR_TARGET::sparse {
namespace {

struct SparseSolveTuning {
  static constexpr int block = 32;
  static constexpr int many = 16;  // number of right-hand sides from which on each has a thread
  static constexpr int tile = by_target<128, 8192>::value;  // rows per block of find_singular
  static constexpr int chunk = 64;                          // right-hand sides that the fast host solves at once
};

template <class T>
STATOR_FN T* solution(const params::SparseSolve& p, int64_t column) {
  return static_cast<T*>(p.out) + column * p.out_col;
}

// f(value, index) for every `step`-th entry of row r from `first` on that is inside the triangle but not on the
// diagonal. Returns the sum of those on the diagonal.
template <class T, class F>
STATOR_FN opmath_t<T> for_triangle(const params::SparseSolve& p, int64_t r, int64_t first, int64_t step,
                                   const params::ErrorSlot& slot, uint16_t op, F f) {
  using A = opmath_t<T>;
  const RowSpan s = row_span(p.a, r);
  A diagonal = A(0);
  for (int64_t k = s.begin + first; k < s.end; k += step) {
    const int64_t index = column_of(p.a, k, slot, op);
    if (index < 0) continue;
    const A value = A(static_cast<const T*>(p.values)[k]);
    if (index == r)
      diagonal = diagonal + value;
    else if ((index < r) == p.lower)
      f(value, index);
  }
  return diagonal;
}

// The first singular row.
struct Singular {
  int64_t row = 0;  // counted from 1

  template <class A>
  STATOR_FN void see(const params::SparseSolve& p, int64_t r, A diagonal) {
    if (!p.unit && diagonal == A(0) && (row == 0 || r < row)) row = r + 1;
  }
  // Every right-hand side uses the same diagonal, so only the first one's thread reports.
  STATOR_FN void store(const params::SparseSolve& p) const {
    if (p.singular) *p.singular = row;
  }
};

template <class T>
STATOR_FN void solve_chunk(const params::SparseSolve& p, int64_t first, int64_t n, const params::ErrorSlot& slot,
                           uint16_t op) {
  using A = opmath_t<T>;
  constexpr int64_t most = fast_host ? SparseSolveTuning::chunk : 1;
  T* const x = solution<T>(p, first);
  const int64_t row_step = p.out_row, step = p.out_col;
  Singular singular;
  for (int64_t i = 0; i < p.a.rows; ++i) {
    const int64_t r = p.lower ? i : p.a.rows - 1 - i;
    A acc[most];
    for (int64_t j = 0; j < n; ++j) acc[j] = A(x[r * row_step + j * step]);
    const A diagonal = for_triangle<T>(p, r, 0, 1, slot, op, [&](A value, int64_t index) {
      const T* STATOR_RESTRICT known = x + index * row_step;
      for (int64_t j = 0; j < n; ++j) acc[j] = acc[j] - value * A(known[j * step]);
    });
    singular.see(p, r, diagonal);
    for (int64_t j = 0; j < n; ++j) x[r * row_step + j * step] = T(p.unit ? acc[j] : acc[j] / diagonal);
  }
  if (first == 0) singular.store(p);
}

template <class T, int Size>
STATOR_KERNEL(Size) void solve_columns_kernel(params::SparseSolve p, params::ErrorSlot slot, uint16_t op,
                                              int64_t chunk) {
  const Group<Size> group;
  if constexpr (fast_host) {
    const int64_t first = group.block() * chunk;
    solve_chunk<T>(p, first, p.n - first < chunk ? p.n - first : chunk, slot, op);
  } else {
    const int64_t column = group.block() * Size + group.rank();
    if (column < p.n) solve_chunk<T>(p, column, 1, slot, op);
  }
}

template <class T, int Size>
STATOR_KERNEL(Size) void solve_kernel(params::SparseSolve p, params::ErrorSlot slot, uint16_t op) {
  using A = opmath_t<T>;
  const Group<Size> group;
  T* const x = solution<T>(p, group.block());
  Singular singular;
  for (int64_t i = 0; i < p.a.rows; ++i) {
    const int64_t r = p.lower ? i : p.a.rows - 1 - i;
    A sum = A(0);
    A diagonal = for_triangle<T>(p, r, group.rank(), Group<Size>::size, slot, op,
                                 [&](A value, int64_t index) { sum = sum + value * A(x[index * p.out_row]); });
    sum = group.reduce(sum, Sum{});
    diagonal = group.reduce(diagonal, Sum{});
    if (group.rank() == 0) {
      singular.see(p, r, diagonal);
      const A rest = A(x[r * p.out_row]) - sum;
      x[r * p.out_row] = T(p.unit ? rest : rest / diagonal);
    }
    group.sync();
  }
  if (group.block() == 0 && group.rank() == 0) singular.store(p);
}

// Finds the first singular row, for a library that does not report it. *singular is 0 before.
template <class T, int Size>
STATOR_KERNEL(Size) void find_singular_kernel(params::SparseSolve p, params::ErrorSlot slot, uint16_t op) {
  using A = opmath_t<T>;
  const Group<Size> group;
  const int64_t first = group.block() * SparseSolveTuning::tile;
  const int64_t end = first + SparseSolveTuning::tile < p.a.rows ? first + SparseSolveTuning::tile : p.a.rows;
  for (int64_t r = first + group.rank(); r < end; r += Group<Size>::size) {
    if (for_triangle<T>(p, r, 0, 1, slot, op, [](A, int64_t) {}) != A(0)) continue;
    int64_t seen = 0;
    for (;;) {
      const int64_t old = atomic_cas(p.singular, seen, r + 1);
      if (old == seen || (old != 0 && old <= r + 1)) break;
      seen = old;
    }
  }
}

void find_singular(const params::Queue& q, const params::SparseSolve& p) {
  visit<dtypes::inexact>(p.dtype, [&]<class T>(type_tag<T>) {
    if constexpr (sizeof(T) > 2)  // the library, which needs this, solves in no half type
      launch(q, "sparse_find_singular", find_singular_kernel<T, SparseSolveTuning::block>,
             {ceil_div(p.a.rows, SparseSolveTuning::tile), SparseSolveTuning::block}, p, q.slot, q.op);
  });
}

void solve(const params::Queue& q, const params::SparseSolve& p) {
  visit<dtypes::inexact>(p.dtype, [&]<class T>(type_tag<T>) {
    if (fast_host) {
      const int64_t chunk = std::clamp<int64_t>(ceil_div(p.n, std::max(1, q.limits->multiprocessors)), 1,
                                                int64_t(SparseSolveTuning::chunk));
      launch(q, "sparse_solve", solve_columns_kernel<T, SparseSolveTuning::block>,
             {ceil_div(p.n, chunk), SparseSolveTuning::block}, p, q.slot, q.op, chunk);
    } else if (p.n >= SparseSolveTuning::many) {
      launch(q, "sparse_solve", solve_columns_kernel<T, SparseSolveTuning::block>,
             {ceil_div(p.n, SparseSolveTuning::block), SparseSolveTuning::block}, p, q.slot, q.op, int64_t(1));
    } else {
      launch(q, "sparse_solve", solve_kernel<T, SparseSolveTuning::block>, {p.n, SparseSolveTuning::block}, p, q.slot,
             q.op);
    }
  });
}

}  // namespace

}  // namespace stator::STATOR_TARGET::sparse

STATOR_LAUNCHER(sparse, solve)
STATOR_LAUNCHER(sparse, find_singular)
