// The kernels that decompose batches of matrices beyond the small ones, of the checked target: Q from reflectors,
// singular values by rotations, and eigenvalues by Schur's form.
#include "kernel_support.hpp"

#include <set>
#include <stator/movement.hpp>

namespace {

using namespace stator;

constexpr DType dtypes_of_matrices[] = {DType::float32, DType::float64, DType::complex64, DType::complex128};

// A matrix in double precision, column after column.
struct Matrix {
  int64_t m, n;
  std::vector<Value> data;
  Matrix(int64_t rows, int64_t cols) : m(rows), n(cols), data(size_t(rows * cols)) {}
  Value& operator()(int64_t i, int64_t j) { return data[size_t(j * m + i)]; }
  Value operator()(int64_t i, int64_t j) const { return data[size_t(j * m + i)]; }
};

Matrix draw(DType dtype, int64_t m, int64_t n, int seed) {
  Matrix a(m, n);
  for (int64_t i = 0; i < m * n; ++i) {
    const double v = std::sin(double(i * i % 977 * 7 + seed * 13 + 1)), w = std::cos(double(i * 5 + seed));
    a.data[size_t(i)] = {v, in(dtype, dtypes::complexes) ? w : 0};
  }
  return a;
}

Matrix adjoint(const Matrix& a) {
  Matrix t(a.n, a.m);
  for (int64_t i = 0; i < a.m; ++i)
    for (int64_t j = 0; j < a.n; ++j) t(j, i) = std::conj(a(i, j));
  return t;
}

Matrix operator*(const Matrix& a, const Matrix& b) {
  Matrix c(a.m, b.n);
  for (int64_t j = 0; j < b.n; ++j)
    for (int64_t k = 0; k < a.n; ++k)
      for (int64_t i = 0; i < a.m; ++i) c(i, j) += a(i, k) * b(k, j);
  return c;
}

Matrix diagonal(int64_t m, int64_t n, const std::function<double(int64_t)>& value) {
  Matrix d(m, n);
  for (int64_t i = 0; i < std::min(m, n); ++i) d(i, i) = value(i);
  return d;
}

void expect_close(const std::string& name, const Matrix& got, const Matrix& want, double most) {
  double worst = 0;
  for (size_t i = 0; i < got.data.size(); ++i) {
    const double error = std::abs(got.data[i] - want.data[i]);
    worst = error <= worst ? worst : error;  // NaN stays
  }
  check(worst <= most, name + " is off by " + std::to_string(worst / most) + " times what is allowed,", got.m, got.n);
}

void expect_orthonormal(const std::string& name, const Matrix& q, double most) {
  expect_close(name, adjoint(q) * q, diagonal(q.n, q.n, [](int64_t) { return 1.0; }), most);
}

// The reflectors of a as LAPACK stores them, and their factors.
struct Factors {
  Matrix a;
  std::vector<Value> tau;
};
Factors reflectors_of(Matrix a) {
  std::vector<Value> tau(size_t(std::min(a.m, a.n)));
  for (int64_t k = 0; k < int64_t(tau.size()); ++k) {
    double square = 0;
    for (int64_t i = k; i < a.m; ++i) square += std::norm(a(i, k));
    const Value alpha = a(k, k);
    const double beta = alpha.real() < 0 ? std::sqrt(square) : -std::sqrt(square);
    if (square == 0) continue;
    tau[size_t(k)] = (beta - alpha) / beta;
    a(k, k) = beta;
    for (int64_t i = k + 1; i < a.m; ++i) a(i, k) /= alpha - beta;
    for (int64_t j = k + 1; j < a.n; ++j) {
      Value along = a(k, j);
      for (int64_t i = k + 1; i < a.m; ++i) along += std::conj(a(i, k)) * a(i, j);
      along *= std::conj(tau[size_t(k)]);
      a(k, j) -= along;
      for (int64_t i = k + 1; i < a.m; ++i) a(i, j) -= a(i, k) * along;
    }
  }
  return {a, tau};
}

// Matrices in columns that are `step` apart.
params::Matrices columns_of(Bytes& x, int64_t step, int64_t n) { return {x.get(), step * n, 1, step}; }
void store(Bytes& to, int64_t matrix, int64_t step, const Matrix& a) {
  for (int64_t j = 0; j < a.n; ++j)
    for (int64_t i = 0; i < a.m; ++i) write(to, (matrix * a.n + j) * step + i, a(i, j));
}
Matrix load(const Bytes& from, int64_t matrix, int64_t step, int64_t m, int64_t n) {
  Matrix a(m, n);
  for (int64_t j = 0; j < n; ++j)
    for (int64_t i = 0; i < m; ++i) a(i, j) = read(from, (matrix * n + j) * step + i);
  return a;
}

// Teams with several columns, with one, and tiles of fewer columns than a block has teams: by m and the dtype.
void test_form_q() {
  struct Shape {
    int64_t m, n, columns;
  };
  constexpr int64_t count = 2;
  for (DType dtype : dtypes_of_matrices)
    for (auto [m, n, columns] : {Shape{1, 1, 1},
                                 {33, 33, 33},
                                 {40, 37, 40},
                                 {34, 70, 34},
                                 {90, 5, 90},
                                 {700, 18, 18},
                                 {2000, 9, 9},
                                 {4096, 2, 2}}) {
      const int64_t k = std::min(m, n), step = m + 3;
      Bytes factors(dtype, count * step * n), tau(dtype, count * k);
      for (int64_t matrix = 0; matrix < count; ++matrix) {
        const Factors f = reflectors_of(draw(dtype, m, n, int(matrix)));
        store(factors, matrix, step, f.a);
        for (int64_t i = 0; i < k; ++i) write(tau, matrix * k + i, f.tau[size_t(i)]);
      }
      const Bytes q =
          run("form_q", Op::qr, Bytes(dtype, count * step * columns),
              [&, columns = columns, m = m, n = n](auto& queue, Bytes& out) {
                kernels::linalg::form_q(queue, {dtype, false, false, count, m, columns, k, columns_of(factors, step, n),
                                                tau.get(), columns_of(out, step, columns)});
              });
      const double most = double(m + 10) * tolerance(dtype) / 8;
      for (int64_t matrix = 0; matrix < count; ++matrix) {
        const Matrix formed = load(q, matrix, step, m, columns);
        expect_orthonormal("form_q: q^H q", formed, most);
        Matrix r(columns, n);
        const Matrix factored = load(factors, matrix, step, m, n);
        for (int64_t j = 0; j < n; ++j)
          for (int64_t i = 0; i <= std::min(j, k - 1); ++i) r(i, j) = factored(i, j);
        expect_close("form_q: q r", formed * r, draw(dtype, m, n, int(matrix)), most);
      }
    }
}

// Matrices of known singular values: even ones, few that are not zero, none, and the ends of the range.
struct Known {
  const char* name;
  std::function<double(int64_t)> value;
  double scale = 1;
  bool plain = false;  // v is the identity: values are in the order of columns, zeros are columns of zeros
};
std::vector<Known> knowns(DType dtype, int64_t n) {
  const bool single = real_part(dtype) == DType::float32;
  const auto even = [n](int64_t i) { return double(n - i); };
  return {{"even", even, 1},
          {"rank 3", [](int64_t i) { return i < 3 ? double(9 - i) : 0.0; }, 1},
          {"zero", [](int64_t) { return 0.0; }, 1},
          {"zero columns", [](int64_t i) { return i % 2 == 0 ? double(i + 1) : 0.0; }, 1, true},
          {"equal", [](int64_t) { return 2.0; }, 1},
          {"graded", [single](int64_t i) { return std::pow(single ? 0.25 : 0.03, double(i)); }, 1},
          {"tiny", even, single ? 1e-37 : 1e-306},
          {"huge", even, single ? 1e36 : 1e306}};
}

// u diag(value) v^H.
Matrix known_matrix(DType dtype, int64_t m, int64_t n, const Known& known) {
  const Matrix u = draw(dtype, m, n, 3), v = draw(dtype, n, n, 5);
  const auto orthonormal = [](const Matrix& a) {
    const Factors f = reflectors_of(a);
    Matrix q = diagonal(a.m, a.n, [](int64_t) { return 1.0; });
    for (int64_t k = int64_t(f.tau.size()) - 1; k >= 0; --k)
      for (int64_t j = 0; j < q.n; ++j) {
        Value along = q(k, j);
        for (int64_t i = k + 1; i < q.m; ++i) along += std::conj(f.a(i, k)) * q(i, j);
        along *= f.tau[size_t(k)];
        q(k, j) -= along;
        for (int64_t i = k + 1; i < q.m; ++i) q(i, j) -= f.a(i, k) * along;
      }
    return q;
  };
  const Matrix scaled = orthonormal(u) * diagonal(n, n, known.value);
  return known.plain ? scaled : scaled * adjoint(orthonormal(v));
}

void test_svd(DType dtype, int64_t m, int64_t n, int64_t u_columns) {
  const std::vector<Known> all = knowns(dtype, n);
  const int64_t count = int64_t(all.size()), step = m + 2, square_step = n + 1;
  const bool vectors = u_columns > 0;
  std::vector<Matrix> given;
  Bytes a(dtype, count * step * n);
  for (int64_t i = 0; i < count; ++i) {
    given.push_back(known_matrix(dtype, m, n, all[size_t(i)]));
    Matrix scaled = given.back();
    for (Value& x : scaled.data) x *= all[size_t(i)].scale;
    store(a, i, step, scaled);
  }
  std::vector<Bytes> runs;
  Bytes u(dtype, 0), vh(dtype, 0), values(real_part(dtype), 0);
  for (uint64_t seed : {0, 1}) {
    checked.set_block_seed(seed);
    Bytes destroyed = a, work(dtype, count * n * (n + 2));
    u = Bytes(dtype, count * step * u_columns);
    vh = Bytes(dtype, vectors ? count * square_step * n : 0);
    values = Bytes(real_part(dtype), count * n);
    std::vector<int32_t> info(size_t(count), 7);
    Recorder device;
    const params::Matrices none{};
    kernels::linalg::batched_svd(device.queue(Op::svd),
                                 {dtype, count, m, n, u_columns, columns_of(destroyed, step, n), values.get(),
                                  vectors ? columns_of(u, step, u_columns) : none,
                                  vectors ? columns_of(vh, square_step, n) : none, work.get(), info.data()});
    check(device.launches == (vectors ? 3 : 1), "batched_svd: launches", device.launches);
    check(info == std::vector<int32_t>(size_t(count), 0), "batched_svd: info");
    for (const Bytes& x : {values, u, vh}) runs.push_back(x);
  }
  checked.set_block_seed(0);
  for (size_t i = 0; i < 3; ++i) check(runs[i].data == runs[i + 3].data, "batched_svd: bits under another order", i);
  const double eps = real_part(dtype) == DType::float32 ? 0x1p-23 : 0x1p-52, most = eps * double(2 * n + 20);
  for (int64_t i = 0; i < count; ++i) {
    const Known& known = all[size_t(i)];
    const std::string name = std::string("batched_svd of ") + known.name;
    std::vector<double> sorted;
    for (int64_t j = 0; j < n; ++j) sorted.push_back(known.value(j));
    std::sort(sorted.rbegin(), sorted.rend());
    const double largest = std::max(sorted[0], 1e-300);
    const Matrix got = diagonal(n, n, [&](int64_t j) { return real(values, i * n + j) / known.scale; });
    expect_close(name + ": values", got, diagonal(n, n, [&](int64_t j) { return sorted[size_t(j)]; }), most * largest);
    for (int64_t j = 1; j < n; ++j) check(real(values, i * n + j) <= real(values, i * n + j - 1), "descending");
    if (!vectors) continue;
    const Matrix left = load(u, i, step, m, u_columns), right = load(vh, i, square_step, n, n);
    expect_orthonormal(name + ": u", left, most);
    expect_orthonormal(name + ": v", adjoint(right), most);
    Matrix first(m, n);
    std::copy_n(left.data.begin(), m * n, first.data.begin());
    expect_close(name + ": u s v^H", first * got * right, given[size_t(i)], most * largest);
  }
}

void test_svds() {
  for (DType dtype : dtypes_of_matrices) {
    test_svd(dtype, 70, 6, 6);
    test_svd(dtype, 40, 1, 1);
  }
  // More pairs of columns than teams, odd and even; every sweep is thousands of switches of a block's 512 threads.
  test_svd(DType::float32, 36, 35, 36);
  test_svd(DType::float64, 34, 34, 34);
  test_svd(DType::complex64, 36, 34, 0);
  test_svd(DType::complex128, 35, 33, 35);
}

// Matrices of eigenvalues that are known, where `values` says so, up to `error` times eps.
struct Eigen {
  const char* name;
  Matrix a;
  std::vector<Value> values = {};
  double error = 1, scale = 1;
};

double length(const Matrix& a) {
  double square = 0;
  for (Value x : a.data) square += std::norm(x);
  return std::sqrt(square);
}

std::vector<Value> list(int64_t n, const std::function<Value(int64_t)>& value) {
  std::vector<Value> values;
  for (int64_t i = 0; i < n; ++i) values.push_back(value(i));
  return values;
}

std::vector<Eigen> eigens(DType dtype, int64_t n) {
  const bool single = dtype == DType::complex64;
  const double pi = std::acos(-1.0), eps = single ? 0x1p-23 : 0x1p-52;
  const Matrix any = draw(dtype, n, n, 4), other = draw(dtype, n, n, 9);
  Matrix upper = any, real = any, cycle(n, n), jordan(n, n), lower(n, n), ones(n, n), graded = any, split = any,
         uneven(n, n), frank(n, n);
  for (int64_t j = 0; j < n; ++j) {
    cycle((j + 1) % n, j) = ones(j, j) = 1;
    jordan(j, j) = 0.5;
    if (j > 0) jordan(j - 1, j) = lower(j, j - 1) = 1;
    for (int64_t i = 0; i < n; ++i) {
      if (i > j) upper(i, j) = 0;
      real(i, j) = any(i, j).real();
      if (i <= j + 1) frank(i, j) = double(n - std::max(i, j));
      uneven(i, j) = std::ldexp(1.0, int(j % 7 - i % 7) * 6);
      graded(i, j) *= std::pow(0.5, double(i + j) / 2);
      if (i > n / 2 && j <= n / 2) split(i, j) = 0;
    }
  }
  const auto zero = [](int64_t) { return Value(); };
  const Matrix hermitian = [&] {
    Matrix h = any;
    for (int64_t i = 0; i < n * n; ++i) h.data[size_t(i)] += adjoint(any).data[size_t(i)];
    return h;
  }();
  return {{"any", any},
          {"another", other},
          {"upper", upper, list(n, [&](int64_t i) { return upper(i, i); }), 1e4},
          {"diagonal", diagonal(n, n, [](int64_t i) { return double(i % 5); }),
           list(n, [](int64_t i) { return double(i % 5); })},
          {"zero", Matrix(n, n), list(n, zero), 0},
          {"identity", ones, list(n, [](int64_t) { return 1.0; })},
          {"cycle", cycle, list(n, [&](int64_t i) { return std::polar(1.0, 2 * pi * double(i) / double(n)); })},
          {"jordan", jordan, list(n, [](int64_t) { return 0.5; })},
          {"lower jordan", lower, list(n, zero), std::pow(eps, 1 / double(n)) / eps},
          {"hermitian", hermitian},
          {"real", real},
          {"graded", graded},
          {"split", split},
          {"uneven", uneven, list(n, [n](int64_t i) { return i == 0 ? double(n) : 0.0; }), double(n) / length(uneven)},
          {"frank", frank},  // balancing by rows and columns without the diagonal makes its vectors useless
          {"tiny", any, {}, 1, single ? 1e-30 : 1e-290},
          {"huge", any, {}, 1, single ? 1e35 : 1e303}};
}

// Those whose eigenvalues are found in different ways: by many sweeps, by few, by none, from parts, near the ends of
// what numbers can be.
const std::set<std::string> some = {"any", "cycle", "diagonal", "split", "tiny"};

// The values of the matrices of these names, or of all.
Bytes test_eig(DType dtype, int64_t n, bool vectors, const std::set<std::string>& names = {}) {
  std::vector<Eigen> all;
  for (Eigen& one : eigens(dtype, n))
    if (names.empty() || names.count(one.name) > 0) all.push_back(std::move(one));
  const int64_t count = int64_t(all.size()), step = n + 2, v_step = n + 1;
  Bytes a(dtype, count * step * n);
  for (int64_t i = 0; i < count; ++i) {
    Matrix scaled = all[size_t(i)].a;
    for (Value& x : scaled.data) x *= all[size_t(i)].scale;
    store(a, i, step, scaled);
  }
  std::vector<Bytes> runs;
  Bytes v(dtype, 0), values(dtype, 0);
  for (uint64_t seed : {0, 1}) {
    checked.set_block_seed(seed);
    Bytes destroyed = a;
    v = Bytes(dtype, vectors ? count * v_step * n : 0);
    values = Bytes(dtype, count * n);
    std::vector<int32_t> info(size_t(count), 7);
    Recorder device;
    kernels::linalg::batched_eig(device.queue(Op::eig),
                                 {dtype, count, n, columns_of(destroyed, step, n), values.get(),
                                  vectors ? columns_of(v, v_step, n) : params::Matrices{}, info.data()});
    check(device.launches == 1, "batched_eig: launches", device.launches);
    check(info == std::vector<int32_t>(size_t(count), 0), "batched_eig: info", n, vectors);
    for (const Bytes& x : {values, v}) runs.push_back(x);
  }
  checked.set_block_seed(0);
  for (size_t i = 0; i < 2; ++i) check(runs[i].data == runs[i + 2].data, "batched_eig: bits under another order", i);
  const double eps = dtype == DType::complex64 ? 0x1p-23 : 0x1p-52, most = eps * double(n + 10);
  for (int64_t i = 0; i < count; ++i) {
    const Eigen& given = all[size_t(i)];
    const std::string name = std::string("batched_eig of ") + given.name;
    const double norm = std::max(length(given.a), 1e-300);
    Matrix found(n, n), trace(1, 1), sum(1, 1);
    for (int64_t j = 0; j < n; ++j) {
      found(j, j) = read(values, i * n + j) / given.scale;
      sum(0, 0) += found(j, j);
      trace(0, 0) += given.a(j, j);
    }
    expect_close(name + ": sum of values", sum, trace, most * norm);
    std::vector<Value> known = given.values;
    for (int64_t j = 0; j < n && !known.empty(); ++j) {  // each of them once
      const Value x = found(j, j);
      const auto nearest = std::min_element(known.begin(), known.end(),
                                            [x](Value p, Value q) { return std::abs(p - x) < std::abs(q - x); });
      check(std::abs(*nearest - x) <= given.error * most * norm, name + ": value", n, j);
      known.erase(nearest);
    }
    if (!vectors) continue;
    const Matrix x = load(v, i, v_step, n, n);
    expect_close(name + ": A v", given.a * x, x * found, most * norm);
    for (int64_t j = 0; j < n; ++j) {
      double square = 0;
      double largest = 0, real = 0;  // of those that are real
      for (int64_t k = 0; k < n; ++k) {
        square += std::norm(x(k, j));
        largest = std::max(largest, std::abs(x(k, j)));
        if (x(k, j).imag() == 0) real = std::max(real, x(k, j).real());
      }
      check(std::abs(std::sqrt(square) - 1) <= most, name + ": length of a vector", n, j);
      check(real >= largest * (1 - most), name + ": the largest entry of a vector", n, j);
    }
  }
  return values;
}

// A block of 128 threads in shared memory and, in double precision beyond 45 columns, not; a block of 512.
void test_eigs() {
  for (DType dtype : {DType::complex64, DType::complex128}) {
    for (int64_t n : {1, 2, 3, 7, 33}) test_eig(dtype, n, true);
    for (int64_t n : {1, 2, 7, 40}) {
      const Bytes values = test_eig(dtype, n, true, some);
      check(test_eig(dtype, n, false, some).data == values.data, "batched_eig: values without vectors", n);
    }
  }
  // Each step of a sweep is a switch of 512 threads: few matrices.
  test_eig(DType::complex128, 60, true, some);
  test_eig(DType::complex64, 67, true, some);
}

}  // namespace

int main(int argc, char** argv) {
  return stator::test::run(argc, argv, {{"form_q", test_form_q}, {"svds", test_svds}, {"eigs", test_eigs}});
}
