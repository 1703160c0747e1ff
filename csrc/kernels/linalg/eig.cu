// Eigenvalues and eigenvectors of batches of complex matrices, one block per matrix: balancing, reduction to Hessenberg
// form, QR iteration to the Schur form A = Q T Q^H, eigenvectors of T by back substitution. Golub and Van Loan, Matrix
// Computations (2013), sections 7.4 to 7.6; shifts, tests and limits are those of LAPACK's zlahqr, ztrevc and zgeev.
//
// A sweep is explicit: H - s = G R, then R G^H + s (as in EISPACK's comqr). While G is computed each thread has a
// column; while G is applied from the right each thread has a row. So the block synchronises once per team's columns
// and not once per rotation. The limit is the chain of rotations: each needs a square root and divisions after the
// previous one.
#include "device/math/scaled.cuh"
#include "host/launcher.hpp"
#include "kernels/linalg/reflector.cuh"

namespace stator::STATOR_TARGET::linalg {
namespace {

// None of these values has been measured on a GPU.
struct EigTuning {
  static constexpr int columns = 64;  // matrices of up to this many columns use the small block
  static constexpr int small_block = 128, block = 512;
  static constexpr int shared_bytes = 32 * 1024;  // largest matrix in shared memory, beside EigShared in 48 KiB
  static constexpr int balancing = 8;             // most sweeps: a matrix that needs more is close to a reducible one
  static constexpr int exceptional = 10;  // sweeps without an eigenvalue before an exceptional shift, as in zlahqr
  static constexpr int sweeps = 30;       // most sweeps per eigenvalue
};
static_assert(EigTuning::block >= params::schur_columns, "a thread has one column");

template <class R>
struct EigRange {
  // Smaller numbers count as zero where the largest entry was scaled to [1, 2): the reciprocal is far from overflow.
  static constexpr R tiny = limits<R>::least_normal() / limits<R>::epsilon() * R(params::schur_columns);
  // Entries of eigenvectors of T stay below this, so that neither sums of products with T nor their quotients overflow.
  static constexpr R large = sizeof(R) == 4 ? R(0x1p60) : R(0x1p500);
  // Balancing uses powers of two with exponents up to this, so that the lengths of vectors can be computed afterwards.
  static constexpr int balanced = sizeof(R) == 4 ? 48 : 400;
  // Squares of entries times this do not overflow, nor underflow where they matter.
  static constexpr R up = sizeof(R) == 4 ? R(0x1p50) : R(0x1p450);
};

// [c s; -conj(s) c].
template <class T>
struct Givens {
  real_t<T> c;
  T s;
};

// The rotation that maps (f, g) to (r, 0).
template <class T>
STATOR_FN Givens<T> givens(T f, T g, T& r) {
  using R = real_t<T>;
  const R a = abs(f), b = abs(g);
  if (a < EigRange<R>::tiny) {  // its phase is inaccurate and does not matter
    r = b > R(0) ? T(b) : f;
    return b > R(0) ? Givens<T>{R(0), scaled_by(conjugate(g), R(1) / b)} : Givens<T>{R(1), T(0)};
  }
  const R length = hypot(a, b);
  const T phase = scaled_by(f, R(1) / a);
  r = scaled_by(phase, length);
  return {a / length, phase * scaled_by(conjugate(g), R(1) / length)};
}

template <class T>
struct EigShared {
  Givens<T> rotations[params::schur_columns];
  real_t<T> self[params::schur_columns];
  int exponent[params::schur_columns];
};

// Together with the partial results of reductions; more would have to be requested at the launch.
static_assert(EigTuning::shared_bytes + sizeof(EigShared<complex<double>>) <= 46 * 1024);

template <class R>
struct Sides {  // sums of squares, then lengths
  R column, row;
  STATOR_FN friend Sides operator+(Sides a, Sides b) { return {a.column + b.column, a.row + b.row}; }
};

// The matrix of a block, which becomes T, and Q, which is null without vectors; both column-major.
template <class T, int Size>
struct Schur {
  using R = real_t<T>;
  const Group<Size>& group;
  const Team<Size>& team;
  EigShared<T>& s;
  T* h;
  int64_t step;
  T* q;
  int64_t q_step;
  int n;

  STATOR_FN T& at(int64_t i, int64_t j) const { return h[j * step + i]; }

  // H becomes D^-1 H D, in which the norms of a row and of its column are about equal, since errors are relative to the
  // largest entry (Parlett and Reinsch, Numerische Mathematik 13, 1969). The norms include the diagonal; otherwise
  // matrices close to Hessenberg form get worse (James, Langou and Lowery, arXiv:1401.5766). Unlike gebal this does not
  // look for permutations. Ends synchronised.
  STATOR_FN void balance() const {
    const int j = group.rank();
    if (j < n) s.exponent[j] = 0;
    group.sync();  // also for what the caller wrote
    bool changed = true;
    for (int sweep = 0; changed && sweep < EigTuning::balancing; ++sweep) {
      changed = false;
      for (int i = 0; i < n; ++i) {
        const int before = s.exponent[i];
        const auto square = [=, this](int row, int column) {
          return square_of(scaled_by(at(row, column), EigRange<R>::up));
        };
        Sides<R> given = group.reduce(j < n ? Sides<R>{square(j, i), square(i, j)} : Sides<R>{}, Sum{});
        given = {sqrt(given.column), sqrt(given.row)};
        if (!(given.column > R(0) && given.row > R(0))) continue;
        Sides<R> found = given;
        int e = 0;
        for (; found.column < found.row / R(2) && before + e < EigRange<R>::balanced; ++e)
          found = {found.column * R(2), found.row / R(2)};
        for (; found.row <= found.column / R(2) && before + e > -EigRange<R>::balanced; --e)
          found = {found.column / R(2), found.row * R(2)};
        if (e == 0 || !(found.column + found.row < R(0.95) * (given.column + given.row)))
          continue;  // the same in every thread
        changed = true;
        if (j < n && j != i) {
          at(j, i) = scale_by(at(j, i), e);
          at(i, j) = scale_by(at(i, j), -e);
        }
        if (j == i) s.exponent[i] = before + e;
        group.sync();
      }
    }
  }

  // Applies reflections from both sides. Entries below the subdiagonal keep the reflectors: nothing reads them. Ends
  // synchronised.
  STATOR_FN void to_hessenberg() const {
    constexpr int stride = Team<Size>::count * reflected_columns;
    for (int k = 0; k + 2 < n; ++k) {
      const int first = k + 1;
      const T tau = reflect(group, &at(first, k), 1, n - first);
      if (tau == T(0)) continue;  // the same in every thread
      group.for_each(q == nullptr ? n : 2 * n, [=, this](int64_t r) {
        const int64_t apart = r < n ? step : q_step;
        T* const row = r < n ? &at(r, first) : q + first * q_step + (r - n);
        const T* const v = &at(first, k);
        T along = row[0];
        for (int c = 1; c < n - first; ++c) along = along + row[c * apart] * v[c];
        along = along * tau;
        row[0] = row[0] - along;
        for (int c = 1; c < n - first; ++c) row[c * apart] = row[c * apart] - along * conjugate(v[c]);
      });
      group.sync();
      for (int j = first + team.index() * reflected_columns; j < n; j += stride)
        reflect_columns(team, &at(0, k), first, n, conjugate(tau), &at(0, j), step,
                        n - j < reflected_columns ? n - j : reflected_columns);
      group.sync();
    }
  }

  STATOR_FN bool negligible_below(int64_t k) const {  // entry (k, k - 1)
    const R below = size_of(at(k, k - 1));
    return below <= EigRange<R>::tiny ||
           below <= limits<R>::epsilon() * (size_of(at(k - 1, k - 1)) + size_of(at(k, k)));
  }

  // The eigenvalue of the last 2 x 2 block that is closer to its last entry; every few sweeps another shift against
  // cycles.
  STATOR_FN T shift(int l, int i, int sweep) const {
    const T last = at(i, i);
    if (sweep % (2 * EigTuning::exceptional) == 0) return last + T(R(0.75) * size_of(at(i, i - 1)));
    if (sweep % EigTuning::exceptional == 0) return at(l, l) + T(R(0.75) * size_of(at(l + 1, l)));
    const T u = sqrt(at(i - 1, i)) * sqrt(at(i, i - 1));
    if (u == T(0)) return last;
    const T x = scaled_by(at(i - 1, i - 1) - last, R(0.5));
    const R size = Max{}(size_of(u), size_of(x)), back = R(1) / size;
    const T a = scaled_by(x, back), b = scaled_by(u, back);
    T y = scaled_by(sqrt(a * a + b * b), size);
    if (x.re * y.re + x.im * y.im < R(0)) y = -y;
    return last - u * (u / (x + y));
  }

  // An entry, less the shift where it is on the diagonal of the window that ends with i.
  STATOR_FN T entry(int64_t row, int64_t column, int i, T sigma) const {
    const T x = at(row, column);
    return row == column && column <= i ? x - sigma : x;
  }
  STATOR_FN void rotate_entry(Givens<T> g, int64_t row, int64_t column, int i, T sigma, T& x) const {
    const T y = entry(row + 1, column, i, sigma);
    at(row, column) = scaled_by(x, g.c) + g.s * y;
    x = scaled_by(y, g.c) - conjugate(g.s) * x;
  }

  // Rows l to i of H - sigma become R, up to column `last`. Needs a barrier after it.
  STATOR_FN void to_triangle(int l, int i, int last, T sigma) const {
    constexpr int width = Team<Size>::size;
    const int column = group.rank();
    const bool mine = column >= l && column <= last;
    T x = mine ? entry(l, column, i, sigma) : T(0);
    for (int tile = l / width; tile * width < i; ++tile) {
      const int first = tile * width;
      const int from = first > l ? first : l, to = first + width < i ? first + width : i;
      if (team.index() == tile) {
        for (int k = from; k < to; ++k) {
          Givens<T> g{};
          if (column == k) {
            T r;
            g = givens(x, at(k + 1, k), r);
            at(k, k) = r;
            at(k + 1, k) = T(0);
            s.rotations[k] = g;
          }
          g = team.from(g, k - first);
          if (mine && column > k) rotate_entry(g, k, column, i, sigma, x);
        }
      }
      group.sync();
      if (mine && team.index() > tile)
        for (int k = from; k < to; ++k) rotate_entry(s.rotations[k], k, column, i, sigma, x);
    }
    if (mine && column >= i) at(i, column) = x;
  }

  // Computes R G^H + sigma in rows from `first` on, and Q G^H. Needs a barrier after it.
  STATOR_FN void multiply_from_right(int first, int l, int i, T sigma) const {
    const int rows = i + 1 - first;
    group.for_each(q == nullptr ? rows : rows + n, [=, this](int64_t index) {
      const bool of_h = index < rows;
      const int64_t r = of_h ? first + index : index - rows, apart = of_h ? step : q_step;
      T* const row = of_h ? h + r : q + r;
      int64_t k = of_h && r - 1 > l ? r - 1 : l;
      T x = row[k * apart];
      for (; k < i; ++k) {
        const Givens<T> g = s.rotations[k];
        const T y = row[(k + 1) * apart];
        const T rotated = scaled_by(x, g.c) + conjugate(g.s) * y;
        row[k * apart] = of_h && k == r ? rotated + sigma : rotated;
        x = scaled_by(y, g.c) - g.s * x;
      }
      row[i * apart] = of_h && r == i ? x + sigma : x;
    });
  }

  // H becomes T, and Q is updated. Returns 0, or as LAPACK how many values are unknown. Ends synchronised.
  STATOR_FN int iterate() const {
    int left = EigTuning::sweeps * (n > 10 ? n : 10), sweep = 0;
    for (int i = n - 1; i > 0;) {
      const int l = group.template map_reduce<int>(
          i, Max{}, [=, this](int64_t k) { return negligible_below(k + 1) ? int(k) + 1 : 0; });
      if (l > 0 && group.rank() == 0) at(l, l - 1) = T(0);
      if (l == i) {
        --i;
        sweep = 0;
        continue;
      }
      if (left-- == 0) return i + 1;
      const T sigma = shift(l, i, ++sweep);
      group.sync();
      to_triangle(l, i, q == nullptr ? i : n - 1, sigma);
      group.sync();
      multiply_from_right(q == nullptr ? l : 0, l, i, sigma);
      group.sync();
    }
    return 0;
  }

  // Eigenvector k of T, by one thread, written to row k below the diagonal and to self[k]: all threads read what is
  // above.
  STATOR_FN void solve(int64_t k) const {
    constexpr R most = EigRange<R>::large;
    const T value = at(k, k);
    const R least = Max{}(limits<R>::epsilon() * size_of(value), EigRange<R>::tiny);
    R self = R(1);
    const auto scale = [&](int64_t first, R by) {
      for (int64_t m = first; m < k; ++m) at(k, m) = scaled_by(at(k, m), by);
      self *= by;
    };
    for (int64_t j = n - 2; j >= 0; --j) {  // all threads use the same j, so that they load the same entry of T
      if (j >= k) continue;
      T sum = scaled_by(at(j, k), self);
      for (int64_t m = j + 1; m < k; ++m) sum = sum + at(j, m) * at(k, m);
      T pivot = at(j, j) - value;
      if (size_of(pivot) < least) pivot = T(least);
      const R high = size_of(sum), room = size_of(pivot) * most;
      if (high > room) {
        scale(j + 1, room / high);
        sum = scaled_by(sum, room / high);
      }
      at(k, j) = -sum / pivot;
    }
    R large = self;
    for (int64_t m = 0; m < k; ++m) large = Max{}(large, size_of(at(k, m)));
    scale(0, R(1) / large);
    s.self[k] = self;
  }

  // Q becomes D Q X for these eigenvectors X of T, in place: each thread has a row. Needs a barrier after it.
  STATOR_FN void multiply_row(int64_t r) const {
    for (int64_t k = n - 1; k >= 0; --k) {
      T sum = scaled_by(q[k * q_step + r], s.self[k]);
      for (int64_t j = 0; j < k; ++j) sum = sum + q[j * q_step + r] * at(k, j);
      q[k * q_step + r] = scale_by(sum, s.exponent[r]);
    }
  }
};

template <class T>
struct Longest {  // the sum of squares, and the first of the largest entries
  real_t<T> sum, square;
  T value;
  int64_t index;
  STATOR_FN friend Longest operator+(Longest a, const Longest& b) {
    const real_t<T> sum = a.sum + b.sum;
    if (b.square > a.square || (b.square == a.square && b.index < a.index)) a = b;
    a.sum = sum;
    return a;
  }
};

// Scales v to length 1 with a real largest entry.
template <class T, class Team>
STATOR_FN void to_unit_length(const Team& team, T* v, int64_t n) {
  using R = real_t<T>;
  const auto all = team.template sum<Longest<T>>(0, n, [=](int64_t i) -> Longest<T> {
    const R square = square_of(v[i]);
    return {square, square, v[i], i};
  });
  const R back = R(1) / sqrt(all.sum), size = sqrt(all.square);
  const T factor = scaled_by(conjugate(all.value), back / size);
  const int64_t index = all.index;
  team.for_each(0, n, [=](int64_t i) { v[i] = i == index ? T(size * back) : v[i] * factor; });
}

template <class T, int Size>
STATOR_KERNEL_RESIDENT(Size, 1) void batched_eig_kernel(params::BatchedEig p, bool shared) {
  using R = real_t<T>;
  const Group<Size> group;
  const Team<Size> team(group);
  EigShared<T>& s = group.template shared<EigShared<T>>();
  const int64_t matrix = group.block();
  const int n = int(p.n), step = row_step(n);
  T* const given = static_cast<T*>(p.a.data) + matrix * p.a.batch;
  const int64_t given_step = p.a.col, q_step = p.vectors.col;
  T* const q = p.vectors.data == nullptr ? nullptr : static_cast<T*>(p.vectors.data) + matrix * p.vectors.batch;
  T* const values = static_cast<T*>(p.values) + matrix * n;
  T* const h = shared ? group.template dynamic<T>(int64_t(n) * step) : given;
  const Schur<T, Size> a{.group = group,
                         .team = team,
                         .s = s,
                         .h = h,
                         .step = shared ? step : given_step,
                         .q = q,
                         .q_step = q_step,
                         .n = n};
  const auto for_each_element = [&](auto f) {
    for (int j = team.index(); j < n; j += Team<Size>::count) team.for_each(0, n, [=](int64_t i) { f(i, j); });
  };

  // Scale the matrix so that its largest entry is in [1, 2).
  R large = 0;
  for_each_element([=, &large](int64_t i, int64_t j) {
    const T x = given[j * given_step + i];
    large = Max{}(large, Max{}(abs(x.re), abs(x.im)));
  });
  large = group.reduce(large, Max{});
  int64_t exponent;
  split_exponent(double(large), exponent);
  for_each_element([=](int64_t i, int64_t j) {
    a.at(i, j) = scale_by(given[j * given_step + i], -exponent);
    if (q != nullptr) q[j * q_step + i] = T(i == j);
  });
  // Compute the eigenvalues.
  a.balance();
  a.to_hessenberg();
  const int missing = a.iterate();
  group.for_each(n, [=](int64_t i) { values[i] = scale_by(a.at(i, i), exponent); });
  if (group.rank() == 0) p.info[matrix] = missing;
  if (q == nullptr) return;
  group.sync();
  // Compute the eigenvectors.
  group.for_each(n, [=](int64_t k) { a.solve(k); });
  group.sync();
  group.for_each(n, [=](int64_t r) { a.multiply_row(r); });
  group.sync();
  for (int j = team.index(); j < n; j += Team<Size>::count) to_unit_length(team, q + j * q_step, n);
}

template <class T>
void launch_eig(const params::Queue& q, const params::BatchedEig& p) {
  const int64_t n = p.n, bytes = small_bytes(int(n), int(n), int(sizeof(T)));
  const bool shared = bytes <= EigTuning::shared_bytes;
  const auto with = [&]<int Size>(std::integral_constant<int, Size>) {
    launch(q, "batched_eig", batched_eig_kernel<T, Size>, {p.count, Size, shared ? int(bytes) : 0}, p, shared);
  };
  if (n <= EigTuning::columns)
    with(std::integral_constant<int, EigTuning::small_block>{});
  else
    with(std::integral_constant<int, EigTuning::block>{});
}

void batched_eig(const params::Queue& q, const params::BatchedEig& p) {
  if constexpr (!fast_host) {
    if (p.dtype == DType::complex64)
      launch_eig<complex<float>>(q, p);
    else
      launch_eig<complex<double>>(q, p);
  }
}

}  // namespace

}  // namespace stator::STATOR_TARGET::linalg

STATOR_LAUNCHER(linalg, batched_eig, fast_host ? nullptr : batched_eig)
