// Products of a sparse matrix with a vector and with a dense matrix, and products that are sampled.
#include "emulator/vendor/common/call.hpp"
#include "emulator/vendor/sparse/matrix.hpp"

#include <vector>

using namespace stator::emulator::vendor;
using namespace stator::emulator::vendor::sparse;

namespace {

// Bytes that depend on the problem, so that a buffer for another one does not fit; without any for some.
uint64_t buffer_bytes(const Matrix& m, Op op, int algorithm, uint64_t factor) {
  return m.nnz == 0
             ? 0
             : (16 + uint64_t(m.rows + (op != Op::none) * m.columns) * factor + uint64_t(algorithm) * 8 + 15) / 16 * 16;
}

constexpr const char* vector_name = "cusparseSpMV";

struct Vector {
  Handle* handle = nullptr;
  Op op{};
  Matrix a{};
  DenseVector x{}, y{};
  Type compute{};
  int algorithm{};
  Scalars scalars{};

  Status find(void* h, const void* alpha, const void* pa, const void* px, const void* beta, const void* py) {
    Status status = Status::success;
    handle = use(h, vector_name, status);
    const Matrix* const fa = matrices.find(pa);
    const DenseVector *const fx = vectors.find(px), *const fy = vectors.find(py);
    if (!handle) return status;
    if (!valid(op) || !fa || !fx || !fy) return Status::invalid_value;
    a = *fa;
    x = *fx;
    y = *fy;
    if (algorithm != 0 && algorithm != 2 && algorithm != 3) return Status::not_supported;
    if (!meet(a.type, x.type, y.type, compute)) return Status::not_supported;
    if (x.size != (op == Op::none ? a.columns : a.rows) || y.size != (op == Op::none ? a.rows : a.columns))
      return Status::invalid_value;
    return read_scalars(vector_name, alpha, beta, compute, scalars);
  }
  uint64_t bytes() const { return buffer_bytes(a, op, algorithm, 8); }

  template <class T>
  void run() const {
    Csr<T> csr;
    const Range result = bytes_at(y.values, uint64_t(y.size) * size_of(y.type));
    if (!read(vector_name, a, csr) || !reads(vector_name, bytes_at(x.values, uint64_t(x.size) * size_of(x.type))))
      return;
    const T alpha = narrow<T>(scalars.alpha), beta = narrow<T>(scalars.beta);
    if (!writes(vector_name, result)) return;
    if (beta == T(0))
      poison(result);
    else if (!reads(vector_name, result))
      return;
    const Csr<T> matrix = turned(csr, op);
    std::vector<T> sums(static_cast<size_t>(y.size));
    for (int64_t row = 0; row < matrix.rows; ++row)
      for (int64_t e = matrix.offsets[size_t(row)]; e < matrix.offsets[size_t(row) + 1]; ++e)
        sums[size_t(row)] += times(matrix.values[size_t(e)], load_as<T>(x.type, x.values, matrix.indices[size_t(e)]));
    for (int64_t i = 0; i < y.size; ++i) {
      T value = times(alpha, sums[size_t(i)]);
      if (beta != T(0)) value += times(beta, load_as<T>(y.type, y.values, i));
      store(y.type, y.values, i, value);
    }
    wrote(result);
  }
};

constexpr const char* dense_name = "cusparseSpMM";

struct Dense {
  Handle* handle = nullptr;
  Op op_a{}, op_b{};
  Matrix a{};
  DenseMatrix b{}, c{};
  Type compute{};
  int algorithm{};
  Scalars scalars{};

  Status find(void* h, const void* alpha, const void* pa, const void* pb, const void* beta, const void* pc) {
    Status status = Status::success;
    handle = use(h, dense_name, status);
    const Matrix* const fa = matrices.find(pa);
    const DenseMatrix *const fb = dense_matrices.find(pb), *const fc = dense_matrices.find(pc);
    if (!handle) return status;
    if (!valid(op_a) || !valid(op_b) || !fa || !fb || !fc) return Status::invalid_value;
    a = *fa;
    b = *fb;
    c = *fc;
    if (algorithm != 0 && algorithm != 4 && algorithm != 6 && algorithm != 12) return Status::not_supported;
    if (algorithm == 12 && (op_a != Op::none || op_b == Op::adjoint)) return Status::not_supported;
    if (!meet(a.type, b.type, c.type, compute)) return Status::not_supported;
    const int64_t m = op_a == Op::none ? a.rows : a.columns, k = op_a == Op::none ? a.columns : a.rows;
    const int64_t k_b = op_b == Op::none ? b.rows : b.columns, n = op_b == Op::none ? b.columns : b.rows;
    if (k != k_b || c.rows != m || c.columns != n) return Status::invalid_value;
    return read_scalars(dense_name, alpha, beta, compute, scalars);
  }
  uint64_t bytes() const { return buffer_bytes(a, op_a, algorithm, 12); }

  template <class T>
  void run() const {
    Csr<T> csr;
    if (!read(dense_name, a, csr) || !reads(dense_name, b.range()) || !writes(dense_name, c.range())) return;
    const T alpha = narrow<T>(scalars.alpha), beta = narrow<T>(scalars.beta);
    if (beta == T(0))
      poison(c.range());
    else if (!reads(dense_name, c.range()))
      return;
    const Csr<T> matrix = turned(csr, op_a);
    const std::vector<T> dense =
        gather<T>(b.type, b.values, op_b, matrix.columns, c.columns, b.ld, b.order == Order::rows);
    for (int64_t i = 0; i < c.rows; ++i)
      for (int64_t j = 0; j < c.columns; ++j) {
        T sum(0);
        for (int64_t e = matrix.offsets[size_t(i)]; e < matrix.offsets[size_t(i) + 1]; ++e)
          sum += times(matrix.values[size_t(e)], dense[size_t(j * matrix.columns + matrix.indices[size_t(e)])]);
        T value = times(alpha, sum);
        if (beta != T(0)) value += times(beta, load_as<T>(c.type, c.values, c.at(i, j)));
        store(c.type, c.values, c.at(i, j), value);
      }
    wrote(c.range());
  }
};

constexpr const char* sampled_name = "cusparseSDDMM";

struct Sampled {
  Handle* handle = nullptr;
  Op op_a{}, op_b{};
  DenseMatrix a{}, b{};
  Matrix c{};
  Type compute{};
  int algorithm{};
  Scalars scalars{};

  Status find(void* h, const void* alpha, const void* pa, const void* pb, const void* beta, const void* pc) {
    Status status = Status::success;
    handle = use(h, sampled_name, status);
    const DenseMatrix *const fa = dense_matrices.find(pa), *const fb = dense_matrices.find(pb);
    const Matrix* const fc = matrices.find(pc);
    if (!handle) return status;
    if (!valid(op_a) || !valid(op_b) || !fa || !fb || !fc) return Status::invalid_value;
    a = *fa;
    b = *fb;
    c = *fc;
    if (op_a == Op::adjoint || op_b == Op::adjoint || algorithm != 0) return Status::not_supported;
    if (!all_are(compute, {a.type, b.type, c.type})) return Status::not_supported;
    const int64_t m = op_a == Op::none ? a.rows : a.columns, k = op_a == Op::none ? a.columns : a.rows;
    const int64_t k_b = op_b == Op::none ? b.rows : b.columns, n = op_b == Op::none ? b.columns : b.rows;
    if (k != k_b || c.rows != m || c.columns != n) return Status::invalid_value;
    return read_scalars(sampled_name, alpha, beta, compute, scalars);
  }
  uint64_t bytes() const { return buffer_bytes(c, op_a, 0, 4); }

  // The old values are multiplied by beta whatever it is: what is not a number stays none, even for 0.
  template <class T>
  void run() const {
    std::vector<int64_t> offsets, indices;
    if (!read_structure(sampled_name, c, offsets, indices)) return;
    if (!reads(sampled_name, a.range()) || !reads(sampled_name, b.range())) return;
    if (!reads(sampled_name, values_of(c)) || !writes(sampled_name, values_of(c))) return;
    const T alpha = narrow<T>(scalars.alpha), beta = narrow<T>(scalars.beta);
    const int64_t k = op_a == Op::none ? a.columns : a.rows;
    const std::vector<T> left = gather<T>(a.type, a.values, op_a, c.rows, k, a.ld, a.order == Order::rows);
    const std::vector<T> right = gather<T>(b.type, b.values, op_b, k, c.columns, b.ld, b.order == Order::rows);
    for (int64_t row = 0; row < c.rows; ++row)
      for (int64_t e = offsets[size_t(row)]; e < offsets[size_t(row) + 1]; ++e) {
        T sum(0);
        for (int64_t l = 0; l < k; ++l)
          sum += times(left[size_t(l * c.rows + row)], right[size_t(indices[size_t(e)] * k + l)]);
        store(c.type, c.values, e, times(alpha, sum) + times(beta, load_as<T>(c.type, c.values, e)));
      }
    wrote(values_of(c));
  }
};

template <class Problem>
Status state_bytes(Problem problem, void* handle, const void* alpha, const void* a, const void* b, const void* beta,
                   const void* c, size_t* bytes) {
  const Status status = problem.find(handle, alpha, a, b, beta, c);
  if (status != Status::success) return status;
  if (!bytes) return Status::invalid_value;
  *bytes = size_t(problem.bytes());
  return Status::success;
}

template <class Problem>
Status launch(const char* what, Problem problem, void* handle, const void* alpha, const void* a, const void* b,
              const void* beta, const void* c, void* buffer) {
  const Status status = problem.find(handle, alpha, a, b, beta, c);
  if (status != Status::success) return status;
  const Range scratch = bytes_at(buffer, problem.bytes());
  if (scratch.width && !buffer) return Status::invalid_value;
  return launched(enqueue(problem.handle->stream, what, "the buffer of cuSPARSE", scratch, [=] {
    with_compute(problem.compute, [&](auto tag) { problem.template run<typename decltype(tag)::type>(); });
  }));
}

}  // namespace

STATOR_VENDOR(Status, cusparseSpMV_bufferSize,
              (void* handle, Op op, const void* alpha, const void* a, const void* x, const void* beta, void* y,
               Type compute, int algorithm, size_t* bytes),
              (handle, op, alpha, a, x, beta, y, compute, algorithm, bytes)) {
  return state_bytes(Vector{.op = op, .compute = compute, .algorithm = algorithm}, handle, alpha, a, x, beta, y, bytes);
}
STATOR_VENDOR(Status, cusparseSpMV,
              (void* handle, Op op, const void* alpha, const void* a, const void* x, const void* beta, void* y,
               Type compute, int algorithm, void* buffer),
              (handle, op, alpha, a, x, beta, y, compute, algorithm, buffer)) {
  return launch(vector_name, Vector{.op = op, .compute = compute, .algorithm = algorithm}, handle, alpha, a, x, beta, y,
                buffer);
}

STATOR_VENDOR(Status, cusparseSpMM_bufferSize,
              (void* handle, Op op_a, Op op_b, const void* alpha, const void* a, const void* b, const void* beta,
               void* c, Type compute, int algorithm, size_t* bytes),
              (handle, op_a, op_b, alpha, a, b, beta, c, compute, algorithm, bytes)) {
  return state_bytes(Dense{.op_a = op_a, .op_b = op_b, .compute = compute, .algorithm = algorithm}, handle, alpha, a, b,
                     beta, c, bytes);
}
STATOR_VENDOR(Status, cusparseSpMM,
              (void* handle, Op op_a, Op op_b, const void* alpha, const void* a, const void* b, const void* beta,
               void* c, Type compute, int algorithm, void* buffer),
              (handle, op_a, op_b, alpha, a, b, beta, c, compute, algorithm, buffer)) {
  return launch(dense_name, Dense{.op_a = op_a, .op_b = op_b, .compute = compute, .algorithm = algorithm}, handle,
                alpha, a, b, beta, c, buffer);
}

STATOR_VENDOR(Status, cusparseSDDMM_bufferSize,
              (void* handle, Op op_a, Op op_b, const void* alpha, const void* a, const void* b, const void* beta,
               void* c, Type compute, int algorithm, size_t* bytes),
              (handle, op_a, op_b, alpha, a, b, beta, c, compute, algorithm, bytes)) {
  return state_bytes(Sampled{.op_a = op_a, .op_b = op_b, .compute = compute, .algorithm = algorithm}, handle, alpha, a,
                     b, beta, c, bytes);
}
STATOR_VENDOR(Status, cusparseSDDMM,
              (void* handle, Op op_a, Op op_b, const void* alpha, const void* a, const void* b, const void* beta,
               void* c, Type compute, int algorithm, void* buffer),
              (handle, op_a, op_b, alpha, a, b, beta, c, compute, algorithm, buffer)) {
  return launch(sampled_name, Sampled{.op_a = op_a, .op_b = op_b, .compute = compute, .algorithm = algorithm}, handle,
                alpha, a, b, beta, c, buffer);
}
