// Sparse kernels of the checked target: see kernel_support.hpp.
#include "kernel_support.hpp"

#include <stator/movement.hpp>

namespace {

using namespace stator;

// A matrix of `rows` rows, row r with entries at every step-th column; row 1 is full, row 2 empty.
struct Matrix {
  int64_t rows, cols;
  DType dtype;
  std::vector<int32_t> indptr{0}, indices;
  Bytes values{DType::float32, 0};

  Matrix(int64_t m, int64_t n, DType d) : rows(m), cols(n), dtype(d) {
    for (int64_t r = 0; r < m; ++r) {
      const int64_t step = r == 1 ? 1 : 3 + r % 5;
      for (int64_t c = r % 2; c < n && r != 2; c += step) indices.push_back(int32_t(c));
      indptr.push_back(int32_t(indices.size()));
    }
    indices.shrink_to_fit();
    indptr.shrink_to_fit();
    values = numbers(d, int64_t(indices.size()), 1);
  }
  params::SparseRows view() const {
    return {indptr.data(), indices.data(), rows, cols, int64_t(indices.size()), false};
  }
  double at(int64_t r, int64_t c) const {
    for (int32_t k = indptr[size_t(r)]; k < indptr[size_t(r) + 1]; ++k)
      if (indices[size_t(k)] == c) return real(values, k);
    return 0;
  }
};

double dot(const Matrix& a, int64_t r, const Bytes& x, int64_t n, int64_t c) {
  double sum = 0;
  for (int32_t k = a.indptr[size_t(r)]; k < a.indptr[size_t(r) + 1]; ++k)
    sum += real(a.values, k) * real(x, a.indices[size_t(k)] * n + c);
  return sum;
}

void test_product() {
  for (DType dtype : {DType::float16, DType::float32, DType::float64, DType::complex64})
    for (int64_t n : {1, 3, 8, 33}) {
      Matrix a(37, 2200, dtype);
      Bytes x(dtype, a.cols * n);
      for (int64_t i = 0; i < x.size(); ++i) write(x, i, double(i % 5) / 64);
      const Bytes got = run("sparse product", Op::csr_matmul, Bytes(dtype, a.rows * n), [&](const auto& q, Bytes& out) {
        kernels::sparse::product(q, {a.view(), a.values.get(), x.get(), out.get(), dtype, true, n, n, 1, n, 1});
      });
      expect("sparse product", got, [&](int64_t i) { return dot(a, i / n, x, n, i % n); }, tolerance(dtype));
    }
}

void test_index_outside() {
  Matrix a(5, 40, DType::float32);
  a.indices[3] = 40;
  Bytes x = numbers(DType::float32, 40 * 8, 1), out(DType::float32, 5 * 8);
  Recorder device;
  kernels::sparse::product(device.queue(Op::csr_matmul),
                           {a.view(), a.values.get(), x.get(), out.get(), DType::float32, true, 8, 8, 1, 8, 1});
  check(device.record.fault == int32_t(params::Fault::index_out_of_range) && device.record.value == 40,
        "sparse product: the error slot");
}

void test_dense() {
  Matrix a(19, 300, DType::float64);
  const Bytes full =
      run("scatter", Op::csr_to_dense, Bytes(DType::float64, a.rows * a.cols), [&](const auto& q, Bytes& out) {
        kernels::sparse::scatter(q, {a.view(), a.values.get(), out.get(), DType::float64, a.cols, 1});
      });
  expect("scatter", full, [&](int64_t i) { return a.at(i / a.cols, i % a.cols); }, 0);
  Bytes x = full;
  params::SparseGather p{x.get(), DType::float64, a.rows,          a.cols,  a.cols,  1,
                         false,   nullptr,        a.indptr.data(), nullptr, nullptr, int64_t(a.indices.size())};
  const Bytes counts =
      run("gather count", Op::csr_from_dense, Bytes(DType::int32, a.rows), [&](const auto& q, Bytes& out) {
        p.counts = out.get();
        kernels::sparse::gather_count(q, p);
      });
  expect("gather count", counts, [&](int64_t r) { return double(a.indptr[size_t(r) + 1] - a.indptr[size_t(r)]); }, 0);
  Bytes values(DType::float64, p.capacity);
  p.values = values.get();
  const Bytes indices =
      run("gather", Op::csr_from_dense, Bytes(DType::int32, p.capacity), [&](const auto& q, Bytes& out) {
        p.indices = out.get();
        kernels::sparse::gather_fill(q, p);
      });
  expect("gather", indices, [&](int64_t k) { return double(a.indices[size_t(k)]); }, 0);
  expect("gather values", values, [&](int64_t k) { return real(a.values, k); }, 0);
}

void test_sort() {
  const int64_t n = 9001, bound = 700;
  std::vector<int32_t> keys(n), other(n);
  for (int64_t k = 0; k < n; ++k) keys[size_t(k)] = int32_t(k * 7919 % bound), other[size_t(k)] = int32_t(k);
  Bytes values = numbers(DType::float64, n, 2), moved(DType::float64, n);
  int32_t bits;
  params::SparseSort p{};
  check(!kernels::sparse::sort_plan(h200, n, bound, &bits, &p.tile), "sort: threads need no work array");
  p.keys = keys.data();
  p.n = n;
  p.bound = bound;
  p.blocks = (n + p.tile - 1) / p.tile;
  p.digits = 1 << bits;
  p.other = other.data();
  p.values = values.get();
  p.itemsize = 8;
  const Bytes counts =
      run("sort count", Op::csr_to_csc, Bytes(DType::int32, p.digits * p.blocks), [&](const auto& q, Bytes& out) {
        p.counts = static_cast<int32_t*>(out.get());
        kernels::sparse::sort_count(q, p);
      });
  std::vector<int64_t> offsets(size_t(p.digits * p.blocks));
  for (size_t i = 1; i < offsets.size(); ++i) offsets[i] = offsets[i - 1] + int64_t(real(counts, int64_t(i) - 1));
  p.offsets = offsets.data();
  p.out_values = moved.get();
  const Bytes order = run("sort", Op::csr_to_csc, Bytes(DType::int32, n), [&](const auto& q, Bytes& out) {
    p.out_other = out.get();
    kernels::sparse::sort_scatter(q, p);
  });
  for (int64_t i = 0; i < n; ++i) {
    const auto from = size_t(real(order, i)), before = size_t(real(order, i > 0 ? i - 1 : 0));
    const bool right = i == 0 || keys[before] < keys[from] || (keys[before] == keys[from] && before < from);
    if (!right || real(moved, i) != real(values, int64_t(from))) return check(false, "sort: at", i);
  }
  check(true, "sort");
}

void test_structure() {
  Matrix a(70, 260, DType::float32);
  const int64_t n = int64_t(a.indices.size());
  const Bytes rows = run("expand", Op::csr_to_coo, Bytes(DType::int32, n),
                         [&](const auto& q, Bytes& out) { kernels::sparse::expand(q, {a.view(), out.get()}); });
  const Bytes back = run("pointers", Op::coo_to_csr, Bytes(DType::int32, a.rows + 1), [&](const auto& q, Bytes& out) {
    kernels::sparse::pointers(q, {rows.data.data(), n, a.rows, false, out.get()});
  });
  expect("pointers", back, [&](int64_t r) { return double(a.indptr[size_t(r)]); }, 0);
  const Bytes found = run("check", Op::csr_to_dense, Bytes(DType::int64, 4), [&](const auto& q, Bytes& out) {
    kernels::sparse::check(q, {a.view(), static_cast<int64_t*>(out.get())});
  });
  expect("check", found, [](int64_t) { return 0.0; }, 0);
}

void test_sums() {
  Matrix a(150, 90, DType::float32);
  params::SparseMerge p{};
  p.a = p.b = a.view();
  p.a_values = p.b_values = a.values.get();
  p.dtype = DType::float32;
  p.unique = true;
  p.alpha = 2;
  p.beta = 1;
  p.indptr = a.indptr.data();
  p.capacity = p.a.nnz;
  std::vector<int32_t> indices(a.indices.size());
  p.indices = indices.data();
  const Bytes sum = run("merge", Op::sparse_add, Bytes(DType::float32, p.capacity), [&](const auto& q, Bytes& out) {
    p.values = out.get();
    kernels::sparse::merge_fill(q, p);
  });
  check(indices == a.indices, "merge: indices");
  expect("merge", sum, [&](int64_t k) { return 3 * real(a.values, k); }, 0);
}

void test_times() {
  Matrix a(40, 60, DType::float64), b(60, 50, DType::float64);
  params::SparseTimesSparse p{};
  p.a = a.view();
  p.b = b.view();
  p.a_values = a.values.get();
  p.b_values = b.values.get();
  p.dtype = DType::float64;
  p.blocks = kernels::sparse::times_blocks(h200, p, 7 * 50 * 24);
  check(p.blocks == 7, "times: blocks for the scratch");
  std::vector<double> sums(size_t(p.blocks * b.cols));
  p.sums = sums.data();
  const Bytes counts = run("times count", Op::spgemm, Bytes(DType::int32, a.rows), [&](const auto& q, Bytes& out) {
    std::vector<int64_t> marks(sums.size());
    p.marks = marks.data();
    p.counts = out.get();
    kernels::sparse::times_count(q, p);
  });
  std::vector<int32_t> indptr{0};
  for (int64_t r = 0; r < a.rows; ++r) indptr.push_back(indptr.back() + int32_t(real(counts, r)));
  p.indptr = indptr.data();
  p.capacity = indptr.back();
  std::vector<int64_t> marks(sums.size());
  std::vector<int32_t> indices(size_t(p.capacity));
  Bytes values(DType::float64, p.capacity);
  p.marks = marks.data();
  p.indices = indices.data();
  p.values = values.get();
  Recorder device;
  kernels::sparse::times_fill(device.queue(Op::spgemm), p);
  for (int64_t r = 0; r < a.rows; ++r)
    for (int32_t k = indptr[size_t(r)]; k < indptr[size_t(r) + 1]; ++k) {
      double want = 0;
      for (int64_t j = 0; j < a.cols; ++j) want += a.at(r, j) * b.at(j, indices[size_t(k)]);
      if (real(values, k) != want) return check(false, "times: at", k);
    }
  check(true, "times");
}

void test_sampled_and_solve() {
  Matrix a(33, 33, DType::float64);
  Bytes x = numbers(DType::float64, 33 * 20, 1), y = numbers(DType::float64, 20 * 33, 2);
  const Bytes got = run("sddmm", Op::sddmm, Bytes(DType::float64, a.view().nnz), [&](const auto& q, Bytes& out) {
    kernels::sparse::sampled(
        q, {a.view(), a.values.get(), x.get(), y.get(), out.get(), DType::float64, 20, 20, 1, 33, 1, 1, 0});
  });
  check(real(got, 0) > 0, "sddmm: a positive sum");
  for (int64_t n : {2, 40})
    for (bool lower : {false, true})
      run("solve", Op::spsolve_triangular, numbers(DType::float64, 33 * n, 1), [&](const auto& q, Bytes& out) {
        kernels::sparse::solve(q, {a.view(), a.values.get(), out.get(), DType::float64, lower, true, n, n, 1, nullptr});
      });
}

void test_singular() {
  Matrix a(300, 300, DType::float64);
  for (int64_t k = 0; k < a.view().nnz; ++k) write(a.values, k, 1);
  int64_t first = 0;
  while (a.at(first, first) != 0) ++first;
  params::SparseSolve p{a.view(), a.values.get(), nullptr, DType::float64, true, false, 1, 1, 1, nullptr};
  const auto expected = [&](int64_t) { return double(first + 1); };
  for (bool lower : {false, true}) {
    p.lower = lower;
    const Bytes found =
        run("find singular", Op::spsolve_triangular, Bytes(DType::int64, 1), [&](const auto& q, Bytes& out) {
          p.singular = static_cast<int64_t*>(out.get());
          kernels::sparse::find_singular(q, p);
        });
    expect("find singular", found, expected, 0);
    for (int64_t n : {2, 40}) {
      p.n = p.out_row = n;
      const Bytes met =
          run("solve singular", Op::spsolve_triangular, Bytes(DType::int64, 1), [&](const auto& q, Bytes& out) {
            Bytes x = numbers(DType::float64, 300 * n, 1);
            p.out = x.get();
            p.singular = static_cast<int64_t*>(out.get());
            kernels::sparse::solve(q, p);
          });
      expect("solve singular", met, expected, 0);
    }
  }
}

void test_sparse24_matmul() {
  const int64_t rows = 45, depth = 102, cols = 70, groups = (depth + 3) / 4;
  for (DType dtype : {DType::float16, DType::float32, DType::float64}) {
    Bytes x(dtype, depth * cols), values(dtype, rows * groups * 2);
    for (int64_t i = 0; i < x.size(); ++i) write(x, i, double(i % 5) - 2);
    for (int64_t i = 0; i < values.size(); ++i) write(values, i, double(i % 7) - 3);
    std::vector<uint8_t> positions(size_t(rows * groups));
    for (size_t i = 0; i < positions.size(); ++i) positions[i] = uint8_t(i % 3 | (i % 3 + 1) << 2);
    for (int64_t r = 0; r < rows; ++r) {  // the last group has two elements
      positions[size_t((r + 1) * groups - 1)] = uint8_t(0 | 1 << 2);
    }
    params::Sparse24Matmul p{};
    p.values = values.get();
    p.positions = positions.data();
    p.x = x.get();
    p.dtype = dtype;
    p.batch = 1;
    p.rows = rows;
    p.depth = depth;
    p.cols = cols;
    p.value_row = 2 * groups;
    p.position_row = groups;
    p.value_step = p.position_step = p.x_col = p.out_col = 1;
    p.x_row = p.out_row = cols;
    const Bytes got =
        run("sparse24_matmul", Op::matmul_2to4, Bytes(dtype, rows * cols), [&](const auto& q, Bytes& out) {
          p.out = out.get();
          kernels::sparse::sparse24_matmul(q, p);
        });
    expect(
        "sparse24_matmul", got,
        [&](int64_t i) {
          const int64_t r = i / cols, c = i % cols;
          double sum = 0;
          for (int64_t k = 0; k < 2 * groups; ++k) {
            const int position = positions[size_t(r * groups + k / 2)] >> (k % 2 ? 2 : 0) & 3;
            sum += real(values, r * 2 * groups + k) * real(x, (k / 2 * 4 + position) * cols + c);
          }
          return sum;
        },
        tolerance(dtype));
  }
}

void test_sparse24_prune() {
  Bytes x = numbers(DType::float32, 3 * 11 * 5, 1);
  const Bytes got = run("prune", Op::prune_2to4, Bytes(DType::float32, x.size()), [&](const auto& q, Bytes& out) {
    kernels::sparse::sparse24_prune(q, {x.get(), DType::float32, 3, 11, 5, {55, 5, 1}, out.get(), nullptr, nullptr});
  });
  for (int64_t i = 0; i < 5; ++i) {
    int kept = 0;
    for (int64_t k = 0; k < 4; ++k) kept += real(got, k * 5 + i) != 0;
    check(kept == 2, "prune: two of four");
  }
}

}  // namespace

int main(int argc, char** argv) {
  return stator::test::run(argc, argv,
                           {{"product", test_product},
                            {"index_outside", test_index_outside},
                            {"dense", test_dense},
                            {"sort", test_sort},
                            {"structure", test_structure},
                            {"sums", test_sums},
                            {"times", test_times},
                            {"sampled_and_solve", test_sampled_and_solve},
                            {"singular", test_singular},
                            {"sparse24_matmul", test_sparse24_matmul},
                            {"sparse24_prune", test_sparse24_prune}});
}
