// Singular values and singular vectors of batches of matrices by one-sided Jacobi rotations (Hestenes), one block per
// matrix. Golub and Van Loan, Matrix Computations (2013), section 8.6; Demmel and Veselic, SIAM J. Matrix Anal. Appl.
// 13 (1992). With A = Q R, the columns of R^H are rotated, which takes fewer sweeps than rotating the columns of A
// (Drmac and Veselic, ibid. 29, 2008):
//
//   R^H X = V S,   A = (Q X) S V^H
//
// X is the product of the rotations. V is taken from a QR decomposition of the rotated columns, scaled to length 1:
// columns that are zero are completed from the others, and all are orthogonal whatever their length was.
#include "device/math/scaled.cuh"
#include "host/launcher.hpp"
#include "kernels/linalg/columns.cuh"
#include "kernels/linalg/rotation.cuh"

namespace stator::STATOR_TARGET::linalg {
namespace {

struct SvdTuning {
  static constexpr int block = 512;
  static constexpr int most_sweeps = 40;  // 13 are enough for random matrices up to 512 x 512, 22 for the worst seen
};

// The largest entry is scaled to [1, 2). Columns shorter than this differ from zero by an error far below an eps of the
// largest one, and are left as they are: rounding leaves such columns from dependent ones, and they stay dependent.
template <class R>
inline constexpr R negligible = limits<R>::epsilon() / R(256);

template <class T>
STATOR_FN real_t<T> larger_part(T x) {
  if constexpr (is_complex<T>)
    return Max{}(abs(x.re), abs(x.im));
  else
    return abs(x);
}

template <class R>
struct SvdShared {
  R length[params::rotated_columns];
  int position[params::rotated_columns];
};

template <class T>
struct Gram {
  real_t<T> p, q;
  T pq;
  STATOR_FN friend Gram operator+(Gram a, Gram b) { return {a.p + b.p, a.q + b.q, a.pq + b.pq}; }
};

// Makes columns p and q of w orthogonal, with the same rotation of x if that has data. False if they were orthogonal.
template <class T, int Size>
STATOR_FN bool orthogonalize_pair(const Columns<T, Size>& w, const Columns<T, Size>& x, int p, int q,
                                  real_t<T> tolerance) {
  using R = real_t<T>;
  constexpr R least = negligible<R> * negligible<R>;
  T *a = w[p], *b = w[q];
  const Gram<T> g = w.team.template sum<Gram<T>>(
      0, w.m, [=](int64_t i) -> Gram<T> { return {square_of(a[i]), square_of(b[i]), conjugate(a[i]) * b[i]}; });
  const R size = length_of(g.pq), lengths = sqrt(g.p) * sqrt(g.q);
  if (!(g.p > least && g.q > least && size > tolerance * lengths)) return false;
  const auto r = rotation<T>(g.p, g.q, g.pq, size);
  const T back = conjugate(r.w);
  w.team.for_each(0, w.m, [=](int64_t i) { rotate(r, back, a[i], b[i]); });
  if (x.data == nullptr) return true;
  a = x[p];
  b = x[q];
  w.team.for_each(0, x.m, [=](int64_t i) { rotate(r, back, a[i], b[i]); });
  return true;
}

// Sweeps over all pairs, in rounds of pairs without a common column: a round-robin tournament in which one player stays
// in place. Returns false without convergence. Ends synchronised.
template <class T, int Size>
STATOR_FN bool orthogonalize(const Columns<T, Size>& w, const Columns<T, Size>& x) {
  const real_t<T> tolerance = limits<real_t<T>>::epsilon() * sqrt(real_t<T>(w.m));
  const int circle = (w.n + 1) / 2 * 2 - 1;
  for (int sweep = 0; sweep < SvdTuning::most_sweeps; ++sweep) {
    int rotated = 0;
    for (int round = 0; round < circle; ++round) {
      for (int pair = w.team.index(); pair <= circle / 2; pair += Team<Size>::count) {
        const int ahead = round + pair, behind = round - pair;
        const int one = pair == 0 ? circle : ahead < circle ? ahead : ahead - circle;
        const int other = behind < 0 ? behind + circle : behind;
        if (one >= w.n) continue;  // with an odd number of columns one has no partner
        rotated |= one < other ? orthogonalize_pair(w, x, one, other, tolerance)
                               : orthogonalize_pair(w, x, other, one, tolerance);
      }
      w.group.sync();
    }
    if (w.group.reduce(rotated, Max{}) == 0) return true;
  }
  return false;
}

// Scratch: the rotated columns of every matrix, then tau of Q and of V.
struct Scratch {
  char *columns, *tau, *tau_v;
};

template <class T, int Size>
STATOR_KERNEL_RESIDENT(Size, 1) void batched_svd_kernel(params::BatchedSvd p, Scratch scratch) {
  using R = real_t<T>;
  using Matrix = Columns<T, Size>;
  const Group<Size> group;
  const Team<Size> team(group);
  SvdShared<R>& s = group.template shared<SvdShared<R>>();
  const int64_t matrix = group.block();
  const int n = int(p.n);
  const bool vectors = p.u.data != nullptr;
  const auto of = [&](const params::Matrices& x, int m) {
    return Matrix{.group = group,
                  .team = team,
                  .data = static_cast<T*>(x.data) + matrix * x.batch,
                  .step = x.col,
                  .m = m,
                  .n = n};
  };
  const params::Matrices room{scratch.columns, p.n * p.n, 1, n};
  const Matrix a = of(p.a, int(p.m)), u = of(p.u, n);
  // V^H is formed last; until then its memory holds the rotated columns.
  const Matrix w = of(vectors ? p.vh : room, n);
  Matrix x = of(room, n);
  if (!vectors) x.data = nullptr;
  R *const length = s.length, *const values = static_cast<R*>(p.values) + matrix * n;
  int* const position = s.position;
  T* const tau = reinterpret_cast<T*>(scratch.tau) + matrix * n;
  T* const tau_v = reinterpret_cast<T*>(scratch.tau_v) + matrix * n;

  // Scale the matrix so that its largest entry is in [1, 2).
  R large = 0;
  a.for_each_element([=, &large](int64_t i, int64_t j) { large = Max{}(large, larger_part(a[j][i])); });
  large = group.reduce(large, Max{});
  int64_t exponent;
  split_exponent(double(large), exponent);
  a.for_each_element([=](int64_t i, int64_t j) { a[j][i] = scale_by(a[j][i], -exponent); });
  group.sync();
  // A = Q R; then rotate the columns of R^H.
  factor_qr(a, tau);
  w.for_each_element([=](int64_t i, int64_t j) {
    w[j][i] = i < j ? T(0) : conjugate(a[i][j]);
    if (vectors) x[j][i] = T(i == j);
  });
  group.sync();
  const bool done = orthogonalize(w, x);

  // Singular values are the lengths of the columns, sorted.
  w.for_each_column([=](int64_t j) {
    const T* column = w[j];
    const R square = team.template sum<R>(0, n, [=](int64_t i) { return square_of(column[i]); });
    if (team.rank() == 0) length[j] = sqrt(square);
  });
  group.sync();
  group.for_each(n, [=](int64_t j) {
    int before = 0;
    for (int64_t i = 0; i < n; ++i) before += length[i] > length[j] || (length[i] == length[j] && i < j);
    position[j] = before;
    values[before] = scale_by(length[j], exponent);
  });
  if (group.rank() == 0) p.info[matrix] = done ? 0 : 1;
  if (!vectors) return;
  group.sync();
  // Singular vectors.
  x.for_each_element([=](int64_t i, int64_t j) { u[position[j]][i] = x[j][i]; });
  group.sync();
  w.for_each_element([=](int64_t i, int64_t j) {
    const R back = R(1) / length[j];
    x[position[j]][i] = back <= limits<R>::max() ? scaled_by(w[j][i], back) : T(0);
  });
  group.sync();
  factor_qr(x, tau_v);
  // A column of Q equals that of V except for the sign, which is applied to U.
  u.for_each_element([=](int64_t i, int64_t j) {
    if (real_of(x[j][j]) < R(0)) u[j][i] = -u[j][i];
  });
}

void batched_svd(const params::Queue& q, const params::BatchedSvd& p) {
  const int64_t n = p.n, item = itemsize(p.dtype);
  char* const columns = static_cast<char*>(p.work);
  const Scratch scratch{columns, columns + p.count * n * n * item, columns + p.count * (n + 1) * n * item};
  visit<dtypes::blas>(p.dtype, [&]<class T>(type_tag<T>) {
    if constexpr (!fast_host)
      launch(q, "batched_svd", batched_svd_kernel<T, SvdTuning::block>, {p.count, SvdTuning::block}, p, scratch);
  });
  if (p.u.data == nullptr) return;
  const params::Matrices factors{scratch.columns, n * n, 1, n}, v{p.vh.data, p.vh.batch, p.vh.col, p.vh.row};
  form_q(q, {.dtype = p.dtype,
             .started = false,
             .conjugate = true,
             .count = p.count,
             .m = n,
             .columns = n,
             .reflectors = n,
             .factors = factors,
             .tau = scratch.tau_v,
             .q = v});
  form_q(q, {.dtype = p.dtype,
             .started = true,
             .conjugate = false,
             .count = p.count,
             .m = p.m,
             .columns = p.u_columns,
             .reflectors = n,
             .factors = p.a,
             .tau = scratch.tau,
             .q = p.u});
}

}  // namespace

}  // namespace stator::STATOR_TARGET::linalg

STATOR_LAUNCHER(linalg, batched_svd, fast_host ? nullptr : batched_svd)
