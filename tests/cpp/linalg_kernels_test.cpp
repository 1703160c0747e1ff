// The kernels of small matrices and the steps around a library's decompositions, of the checked target: see
// kernel_support.hpp.
#include "kernel_support.hpp"

#include <array>

namespace {

using namespace stator;

constexpr DType dtypes_of_matrices[] = {DType::float32, DType::float64, DType::complex64, DType::complex128};
constexpr int64_t count = 3;  // blocks

Value mixed(DType dtype, int64_t i, int seed) {
  const double v = std::sin(double(i * 7 + seed * 13 + 1));
  return {v, in(dtype, dtypes::complexes) ? std::cos(double(i * 5 + seed)) : 0};
}

// Matrices [count, m, n], row-major; `dominant` adds to the diagonal.
Bytes matrices_of(DType dtype, int64_t m, int64_t n, int seed, double dominant = 0) {
  Bytes x(dtype, count * m * n);
  for (int64_t i = 0; i < x.size(); ++i) {
    const int64_t row = i / n % m, col = i % n;
    write(x, i, mixed(dtype, i, seed) + (row == col ? dominant : 0.0));
  }
  return x;
}

// A + A^H, with more on the diagonal.
Bytes hermitian(DType dtype, int64_t n, double dominant) {
  const Bytes half = matrices_of(dtype, n, n, 3);
  Bytes x = half;
  for (int64_t b = 0; b < count; ++b)
    for (int64_t i = 0; i < n; ++i)
      for (int64_t j = 0; j < n; ++j)
        write(x, (b * n + i) * n + j,
              read(half, (b * n + i) * n + j) + std::conj(read(half, (b * n + j) * n + i)) + (i == j ? dominant : 0.0));
  return x;
}

params::Matrices rows_of(void* data, int64_t m, int64_t n) { return {data, m * n, n, 1}; }
unsigned char* after(Bytes& x, int64_t elements) {
  return static_cast<unsigned char*>(x.get()) + elements * itemsize(x.dtype);
}

// (A B)[i, j] of matrix b; A is (m, k), B is (k, n), read from `a_at` and `b_at` on.
Value product(const Bytes& a, int64_t a_at, const Bytes& x, int64_t x_at, int64_t k, int64_t n, int64_t i, int64_t j) {
  Value sum = 0;
  for (int64_t t = 0; t < k; ++t) sum += read(a, a_at + i * k + t) * read(x, x_at + t * n + j);
  return sum;
}

void test_lu() {
  for (DType dtype : dtypes_of_matrices)
    for (int n : {1, 5, 32})
      for (int64_t columns : {1, 40}) {
        Bytes a = matrices_of(dtype, n, n, 1, 2 * n), b = matrices_of(dtype, n, columns, 2);
        std::vector<int32_t> pivots(size_t(count * n)), info(count, 7);
        const Bytes x =
            run("small_lu", Op::solve, Bytes(dtype, count * n * columns), [&](const params::Queue& q, Bytes& out) {
              params::SmallLu p{};
              p.dtype = dtype;
              p.n = n;
              p.count = count;
              p.columns = columns;
              p.a = rows_of(a.get(), n, n);
              p.b = rows_of(b.get(), n, columns);
              p.x = rows_of(out.get(), n, columns);
              p.pivots = pivots.data();
              p.info = info.data();
              kernels::linalg::small_lu(q, p);
            });
        check(info == std::vector<int32_t>(count, 0), "small_lu: info");
        expect(
            "small_lu: a x", b,
            [&](int64_t at) {
              const int64_t matrix = at / (n * columns), i = at / columns % n, j = at % columns;
              return product(a, matrix * n * n, x, matrix * n * columns, n, columns, i, j);
            },
            20 * tolerance(dtype));
      }
}

void test_cholesky_and_triangles() {
  for (DType dtype : dtypes_of_matrices)
    for (int n : {1, 6, 32})
      for (bool upper : {false, true}) {
        Bytes a = hermitian(dtype, n, 4 * n), b = matrices_of(dtype, n, 3, 5);
        std::vector<int32_t> info(count, 7);
        Bytes factor =
            run("small_cholesky", Op::cholesky, Bytes(dtype, count * n * n), [&](const params::Queue& q, Bytes& out) {
              params::SmallCholesky p{dtype,      upper, n, count, rows_of(a.get(), n, n), rows_of(out.get(), n, n),
                                      info.data()};
              kernels::linalg::small_cholesky(q, p);
            });
        check(info == std::vector<int32_t>(count, 0), "small_cholesky: info");
        const Bytes x = run("small_triangular", Op::cho_solve, Bytes(dtype, count * n * 3),
                            [&](const params::Queue& q, Bytes& out) {
                              params::SmallTriangular p{};
                              p.dtype = dtype;
                              p.upper = upper;
                              p.steps = 2;
                              p.transpose[upper ? 0 : 1] = p.conjugate[upper ? 0 : 1] = true;
                              p.n = n;
                              p.count = count;
                              p.columns = 3;
                              p.a = rows_of(factor.get(), n, n);
                              p.b = rows_of(b.get(), n, 3);
                              p.x = rows_of(out.get(), n, 3);
                              p.info = info.data();
                              kernels::linalg::small_triangular(q, p);
                            });
        expect(
            "cholesky: a x", b,
            [&](int64_t at) {
              return product(a, at / (n * 3) * n * n, x, at / (n * 3) * n * 3, n, 3, at / 3 % n, at % 3);
            },
            20 * tolerance(dtype));
      }
}

void test_qr() {
  for (DType dtype : dtypes_of_matrices)
    for (auto [m, n] : {std::pair{1, 1}, {7, 4}, {4, 7}, {32, 32}}) {
      Bytes a = matrices_of(dtype, m, n, 1);
      const int64_t q_size = count * m * m;
      const Bytes both =
          run("small_qr", Op::qr, Bytes(dtype, q_size + count * m * n), [&](const params::Queue& q, Bytes& out) {
            const params::SmallQr p{dtype,
                                    m,
                                    n,
                                    m,
                                    m,
                                    count,
                                    rows_of(a.get(), m, n),
                                    rows_of(out.get(), m, m),
                                    rows_of(after(out, q_size), m, n)};
            kernels::linalg::small_qr(q, p);
          });
      expect(
          "small_qr: q r", a,
          [&](int64_t at) {
            const int64_t matrix = at / (m * n);
            return product(both, matrix * m * m, both, q_size + matrix * m * n, m, n, at / n % m, at % n);
          },
          40 * tolerance(dtype));
    }
}

void test_eigh() {
  for (DType dtype : dtypes_of_matrices)
    for (int n : {1, 2, 9, 32}) {
      Bytes a = hermitian(dtype, n, 0);
      Bytes values(real_part(dtype), count * n);
      std::vector<int32_t> info(count, 7);
      const Bytes v = run("small_eigh", Op::eigh, Bytes(dtype, count * n * n), [&](const params::Queue& q, Bytes& out) {
        const params::SmallEigh p{dtype,        false,      n, count, rows_of(a.get(), n, n), rows_of(out.get(), n, n),
                                  values.get(), info.data()};
        kernels::linalg::small_eigh(q, p);
      });
      check(info == std::vector<int32_t>(count, 0), "small_eigh: info");
      double worst = 0;
      for (int64_t at = 0; at < v.size(); ++at) {
        const int64_t matrix = at / (n * n), i = at / n % n, j = at % n;
        const Value left = product(a, matrix * n * n, v, matrix * n * n, n, n, i, j);
        worst = std::max(worst, std::abs(left - read(v, at) * real(values, matrix * n + j)));
      }
      check(worst <= 200 * tolerance(dtype), "small_eigh: a v - v w");
      for (int64_t i = 1; i < n; ++i) check(real(values, i - 1) <= real(values, i), "small_eigh: ascending");
    }
}

void test_triangle() {
  for (DType dtype : dtypes_of_matrices)
    for (bool upper : {false, true})
      for (bool unit : {false, true}) {
        const int64_t m = 41, n = 67;
        Bytes a = matrices_of(dtype, m, n, 1);
        const Bytes got = run("triangle", Op::lu, Bytes(dtype, count * m * n), [&](const params::Queue& q, Bytes& out) {
          const params::Triangle p{itemsize(dtype),         dtype, upper, unit, count, m, n, rows_of(a.get(), m, n),
                                   rows_of(out.get(), m, n)};
          kernels::linalg::triangle(q, p);
        });
        expect(
            "triangle", got,
            [&](int64_t at) -> Value {
              const int64_t i = at / n % m, j = at % n;
              if (i == j && unit) return 1;
              return (upper ? j >= i : j <= i) ? read(a, at) : 0;
            },
            0);
      }
}

void test_determinant_and_permutation() {
  for (DType dtype : dtypes_of_matrices) {
    const int64_t n = 3;
    Bytes lu = numbers(dtype, count * n * n, 1);
    std::vector<int32_t> pivots{0, 2, 2, 1, 2, 2, 0, 1, 2};
    const double signs[] = {-1, 1, 1};
    const Bytes det = run("determinant", Op::det, Bytes(dtype, count), [&](const params::Queue& q, Bytes& out) {
      params::Determinant p{dtype, count, n, rows_of(lu.get(), n, n), pivots.data(), out.get(), nullptr, nullptr};
      kernels::linalg::determinant(q, p);
    });
    expect(
        "determinant", det,
        [&](int64_t k) { return signs[k] * read(lu, k * 9) * read(lu, k * 9 + 4) * read(lu, k * 9 + 8); },
        tolerance(dtype));
    std::vector<int32_t> order(size_t(count * n));
    const Bytes matrix =
        run("permutation", Op::lu, Bytes(dtype, count * n * n), [&](const params::Queue& q, Bytes& out) {
          const params::RowExchanges p{dtype, count, n, n, pivots.data(), order.data(), out.get()};
          kernels::linalg::permutation(q, p);
        });
    check(real(matrix, 0) == 1 && real(matrix, 5) == 1 && real(matrix, 7) == 1, "permutation: rows 1 and 2 exchanged");
  }
}

void test_pivots_and_nonfinite() {
  std::vector<int64_t> theirs(2100);
  for (size_t i = 0; i < theirs.size(); ++i) theirs[i] = int64_t(i) + 1;
  const Bytes ours = run("pivots", Op::lu, Bytes(DType::int32, 2100), [&](const params::Queue& q, Bytes& out) {
    kernels::linalg::pivots(q, {2100, 2100, 2100, theirs.data(), nullptr, static_cast<int32_t*>(out.get()), true});
  });
  expect("pivots", ours, [](int64_t i) { return double(i); }, 0);
  for (DType dtype : dtypes_of_matrices) {
    const int64_t size = 300;
    Bytes a = numbers(dtype, count * size, 1);
    write(a, size + 299, {std::nan(""), 0});
    std::vector<int32_t> bad(count, 7), info(count, 0);
    const auto masked = [&](params::Part part) {
      return run("mask_nonfinite", Op::eigh, a, [&](const params::Queue& q, Bytes& out) {
        kernels::linalg::mask_nonfinite(q, {dtype, part, count, 20, size, out.get(), bad.data()});
      });
    };
    masked(params::Part::upper);
    check(bad == std::vector<int32_t>{0, 0, 0}, "guard: row 19 of column 14 is below the diagonal");
    masked(params::Part::lower);
    check(bad == std::vector<int32_t>{0, 1, 0}, "guard: which triangle");
    const Bytes zeroed = masked(params::Part::whole);
    check(bad == std::vector<int32_t>{0, 1, 0}, "guard: which matrix");
    check(real(zeroed, size) == 0 && real(zeroed, 0) == real(a, 0), "guard: what becomes zero");
    const Bytes spoilt = run("restore_nan", Op::eigh, a, [&](const params::Queue& q, Bytes& out) {
      params::RestoreNan p{};
      p.count = count;
      p.bad = bad.data();
      p.info = info.data();
      p.results = 1;
      p.dtype[0] = dtype;
      p.size[0] = size;
      p.data[0] = out.get();
      kernels::linalg::restore_nan(q, p);
    });
    check(std::isnan(real(spoilt, size)) && real(spoilt, 0) == real(a, 0), "poison: what becomes NaN");
    check(info == std::vector<int32_t>{0, -1, 0}, "poison: info");
  }
}

}  // namespace

int main(int argc, char** argv) {
  return stator::test::run(argc, argv,
                           {{"lu", test_lu},
                            {"cholesky_and_triangles", test_cholesky_and_triangles},
                            {"qr", test_qr},
                            {"eigh", test_eigh},
                            {"triangle", test_triangle},
                            {"determinant_and_permutation", test_determinant_and_permutation},
                            {"pivots_and_nonfinite", test_pivots_and_nonfinite}});
}
