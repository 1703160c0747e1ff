// cublasGemmStridedBatchedEx.
#include "emulator/vendor/blas/product.hpp"
#include "emulator/vendor/common/call.hpp"

#include <algorithm>

using namespace stator::emulator::vendor;
using namespace stator::emulator::vendor::blas;

static const char* const name = "cublasGemmStridedBatchedEx";

// A tensor core may round a half-precision sum at every step. Here it is summed in float and rounded once.
STATOR_VENDOR(Status, cublasGemmStridedBatchedEx_64,
              (void* handle, int op_a, int op_b, int64_t m, int64_t n, int64_t k, const void* alpha, const void* a,
               Type type_a, int64_t lda, long long stride_a, const void* b, Type type_b, int64_t ldb,
               long long stride_b, const void* beta, void* c, Type type_c, int64_t ldc, long long stride_c,
               int64_t batches, Compute compute, int algorithm),
              (handle, op_a, op_b, m, n, k, alpha, a, type_a, lda, stride_a, b, type_b, ldb, stride_b, beta, c, type_c,
               ldc, stride_c, batches, compute, algorithm)) {
  Status status = Status::success;
  Handle* const h = use(handle, name, status);
  if (!h) return status;
  if (!valid(op_a) || !valid(op_b) || m < 0 || n < 0 || k < 0 || batches < 0) return Status::invalid_value;
  const int64_t rows_a = op_a == 0 ? m : k, rows_b = op_b == 0 ? k : n;
  if (lda < std::max<int64_t>(1, rows_a) || ldb < std::max<int64_t>(1, rows_b) || ldc < std::max<int64_t>(1, m))
    return Status::invalid_value;
  if (!is_known(compute)) return Status::invalid_value;
  const bool known_algorithm =
      (algorithm >= -1 && algorithm <= 23) || (algorithm >= 99 && algorithm <= 115) || algorithm == 999;
  if (!known_algorithm) return Status::invalid_value;
  Arithmetic arithmetic = arithmetic_of({compute, type_a, type_b, type_c});
  if (arithmetic == Arithmetic::none) return Status::not_supported;
  if (arithmetic == Arithmetic::f32 && type_a == Type::r32f && h->math == math_tf32 && compute == Compute::f32)
    arithmetic = Arithmetic::tf32;
  if (arithmetic == Arithmetic::i32) {
    const bool fits = lda % 4 == 0 && ldb % 4 == 0 && aligned(a, 4) && aligned(b, 4) &&
                      (batches <= 1 || (stride_a % 4 == 0 && stride_b % 4 == 0));
    if (!fits) return Status::not_supported;
  }
  if (!alpha || !beta) return Status::invalid_value;
  const Type scale = scale_type_of(arithmetic);
  for (const void* factor : {alpha, beta})
    if (!readable_by_host(name, factor, size_of(scale))) return Status::execution_failed;
  if (m == 0 || n == 0 || batches == 0) return Status::success;
  if (overlapping(m, n, ldc, stride_c, batches)) {
    complain(name, "The batches of the result overlap.");
    return Status::invalid_value;
  }
  const Operands common{.arithmetic = arithmetic,
                        .op_a = Op(op_a),
                        .op_b = Op(op_b),
                        .m = m,
                        .n = n,
                        .k = k,
                        .alpha = load(scale, alpha, 0),
                        .beta = load(scale, beta, 0),
                        .a = a,
                        .b = b,
                        .c = c,
                        .type_a = type_a,
                        .type_b = type_b,
                        .type_c = type_c,
                        .lda = lda,
                        .ldb = ldb,
                        .ldc = ldc};
  const Range scratch = scratch_of(*h, status);
  if (status != Status::success) return status;
  return launched(enqueue(h->stream, name, "the workspace of cuBLAS", scratch, [=] {
    const uint64_t item_a = size_of(type_a), item_b = size_of(type_b), item_c = size_of(type_c);
    for (int64_t batch = 0; batch < batches; ++batch) {
      Operands o = common;
      o.a = static_cast<const char*>(a) + batch * stride_a * int64_t(item_a);
      o.b = static_cast<const char*>(b) + batch * stride_b * int64_t(item_b);
      char* const to = static_cast<char*>(c) + batch * stride_c * int64_t(item_c);
      o.c = to;
      const bool products = o.alpha != 0.0 && k > 0;
      if (products && !(reads(name, matrix_at(o.a, item_a, rows_a, op_a == 0 ? k : m, lda)) &&
                        reads(name, matrix_at(o.b, item_b, rows_b, op_b == 0 ? n : k, ldb))))
        return;
      const Range result = matrix_at(to, item_c, m, n, ldc);
      if (!writes(name, result)) return;
      if (o.beta == 0.0)
        poison(result);
      else if (!reads(name, result))
        return;
      const std::vector<std::complex<double>> values = multiply(o);
      for (int64_t j = 0; j < n; ++j)
        for (int64_t i = 0; i < m; ++i) store(type_c, to, j * ldc + i, values[size_t(j * m + i)]);
      wrote(result);
    }
  }));
}
