// Eigenvalues and eigenvectors of small Hermitian matrices by cyclic Jacobi rotations: one block per matrix. Golub and
// Van Loan, Matrix Computations (2013), section 8.5; the phase of a complex entry is part of the rotation.
#include "device/math/scaled.cuh"
#include "host/launcher.hpp"
#include "kernels/linalg/rotation.cuh"

namespace stator::STATOR_TARGET::linalg {
namespace {

template <class R>
struct EighShared {
  R values[params::small_matrix];
  int order[params::small_matrix];
};

inline constexpr int most_sweeps = 40;

// a: the whole matrix, diagonal on return. v: rows that become the eigenvectors, or null. Returns false without
// convergence.
template <class T, class G>
STATOR_FN bool diagonalize(const G& group, T* a, T* v, int n, int step, real_t<T> least) {
  for (int sweep = 0; sweep < most_sweeps; ++sweep) {
    bool rotated = false;
    for (int p = 0; p < n - 1; ++p)
      for (int q = p + 1; q < n; ++q) {
        T *row_p = a + p * step, *row_q = a + q * step;
        const T apq = row_p[q];
        const real_t<T> size = length_of(apq);
        if (!(size > least)) continue;
        rotated = true;
        const auto r = rotation<T>(real_of(row_p[p]), real_of(row_q[q]), apq, size);
        const T w = r.w, back = conjugate(w);
        const real_t<T> new_p = real_of(row_p[p]) - r.shift, new_q = real_of(row_q[q]) + r.shift;
        group.sync();
        group.for_each(n, [=](int64_t j) {
          rotate(r, w, row_p[j], row_q[j]);
          if (v != nullptr) rotate(r, back, v[p * step + j], v[q * step + j]);
        });
        group.sync();
        group.for_each(n, [=](int64_t j) {
          if (j == p || j == q) return;
          a[j * step + p] = conjugate(row_p[j]);
          a[j * step + q] = conjugate(row_q[j]);
        });
        if (group.rank() == 0) {
          row_p[p] = T(new_p);
          row_q[q] = T(new_q);
          row_p[q] = row_q[p] = T(0);
        }
        group.sync();
      }
    if (!rotated) return true;
  }
  return false;
}

template <class T, int Size>
STATOR_KERNEL(Size) void small_eigh_kernel(params::SmallEigh p) {
  using R = real_t<T>;
  const Group<Size> group;
  const int n = p.n, step = row_step(n);
  const bool vectors = p.vectors.data != nullptr;
  T* a = group.template dynamic<T>(2 * n * step);
  T* v = vectors ? a + n * step : nullptr;
  EighShared<R>& s = group.template shared<EighShared<R>>();
  for (int64_t turn = 0; turn < SmallTuning::matrices; ++turn) {
    const int64_t matrix = group.block() * SmallTuning::matrices + turn;
    if (matrix >= p.count) return;
    group.sync();
    // Load the whole matrix from the triangle named.
    const params::Matrices from = p.a;
    const bool upper = p.upper;
    for_each_pair(group, n, n, [=](int i, int j) {
      const bool own = upper ? i <= j : i >= j;
      const T x = own ? element<T>(from, matrix, i, j) : conjugate(element<T>(from, matrix, j, i));
      a[i * step + j] = i == j ? T(real_of(x)) : x;
      if (v != nullptr) v[i * step + j] = T(i == j);
    });
    group.sync();
    // Find the largest entry, and scale if squares could overflow or vanish.
    const R large = group.template map_reduce<R>(int64_t(n) * n, Max{}, [=](int64_t at) {
      const int i = int(at) / n;
      return size_of(a[i * step + int(at) - i * n]);
    });
    const bool bad = !(large <= limits<R>::max());
    // Squares neither overflow nor underflow to zero once the largest entry is in [1, 2).
    int64_t exponent = 0;
    const bool rescale = !bad && (!(large < R(1e15)) || (large < R(1e-12) && large > R(0)));
    const R unit = rescale ? R(split_exponent(double(large), exponent)) : large;
    group.sync();
    if (rescale)
      for_each_pair(group, n, n, [=](int i, int j) { a[i * step + j] = scale_by(a[i * step + j], -exponent); });
    group.sync();
    // Iterate.
    const R least = unit * limits<R>::epsilon() / R(16);
    const bool done = bad || diagonalize(group, a, v, n, step, least);
    group.sync();
    // One thread sorts the eigenvalues.
    if (group.rank() == 0) {
      for (int i = 0; i < n; ++i) {
        const R value = scale_by(real_of(a[i * step + i]), exponent);
        int at = i;
        for (; at > 0 && s.values[at - 1] > value; --at) {
          s.values[at] = s.values[at - 1];
          s.order[at] = s.order[at - 1];
        }
        s.values[at] = value;
        s.order[at] = i;
      }
      p.info[matrix] = bad ? -1 : done ? 0 : 1;
    }
    group.sync();
    // Store.
    R* values = static_cast<R*>(p.values) + matrix * n;
    group.for_each(n, [=, &s](int64_t i) { values[i] = bad ? limits<R>::nan() : s.values[i]; });
    if (v == nullptr) continue;
    const int* order = s.order;
    const params::Matrices to = p.vectors;
    for_each_pair(group, n, n, [=](int i, int j) {
      element<T>(to, matrix, i, j) = bad ? T(limits<R>::nan()) : v[order[j] * step + i];
    });
  }
}

void small_eigh(const params::Queue& q, const params::SmallEigh& p) {
  visit<dtypes::blas>(p.dtype, [&]<class T>(type_tag<T>) {
    launch(q, "small_eigh", small_eigh_kernel<T, SmallTuning::block>,
           {small_blocks(p.count), SmallTuning::block, int(2 * small_bytes(p.n, p.n, sizeof(T)))}, p);
  });
}

}  // namespace

}  // namespace stator::STATOR_TARGET::linalg

STATOR_LAUNCHER(linalg, small_eigh)
