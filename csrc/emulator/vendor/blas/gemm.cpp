// cublasGemmStridedBatchedEx and cublasGemmBatchedEx.
#include "emulator/vendor/blas/product.hpp"
#include "emulator/vendor/common/call.hpp"

#include <algorithm>

using namespace stator::emulator::vendor;
using namespace stator::emulator::vendor::blas;

// A tensor core may round a half-precision sum at every step. Here it is summed in float and rounded once.
namespace {

struct Call {
  const char* name;
  int op_a, op_b;
  int64_t m, n, k;
  const void *alpha, *beta;
  Type type_a, type_b, type_c;
  int64_t lda, ldb, ldc, batches;
  Compute compute;
  int algorithm;
};

// The matrices of one product.
struct Matrices {
  const void *a, *b;
  void* c;
};

bool known_algorithm(int a) { return (a >= -1 && a <= 23) || (a >= 99 && a <= 115) || a == 999; }

// False where a fault was reported.
bool multiply_one(const char* name, Operands o, const Matrices& at) {
  const uint64_t item_a = size_of(o.type_a), item_b = size_of(o.type_b), item_c = size_of(o.type_c);
  const bool plain_a = o.op_a == Op(0), plain_b = o.op_b == Op(0);
  o.a = at.a;
  o.b = at.b;
  o.c = at.c;
  const bool products = o.alpha != 0.0 && o.k > 0;
  if (products && !(reads(name, matrix_at(o.a, item_a, plain_a ? o.m : o.k, plain_a ? o.k : o.m, o.lda)) &&
                    reads(name, matrix_at(o.b, item_b, plain_b ? o.k : o.n, plain_b ? o.n : o.k, o.ldb))))
    return false;
  const Range result = matrix_at(at.c, item_c, o.m, o.n, o.ldc);
  if (!writes(name, result)) return false;
  if (o.beta == 0.0)
    poison(result);
  else if (!reads(name, result))
    return false;
  const std::vector<std::complex<double>> values = multiply(o);
  for (int64_t j = 0; j < o.n; ++j)
    for (int64_t i = 0; i < o.m; ++i) store(o.type_c, at.c, j * o.ldc + i, values[size_t(j * o.m + i)]);
  wrote(result);
  return true;
}

// `check(arithmetic)` has what the two calls do not share; `each(batch, matrices)` gives a product's matrices, and is
// false where a fault was reported.
template <class Check, class Each>
Status multiply_batch(void* handle, const Call& x, Check check, Each each) {
  Status status = Status::success;
  Handle* const h = use(handle, x.name, status);
  if (!h) return status;
  if (!valid(x.op_a) || !valid(x.op_b) || x.m < 0 || x.n < 0 || x.k < 0 || x.batches < 0) return Status::invalid_value;
  const int64_t rows_a = x.op_a == 0 ? x.m : x.k, rows_b = x.op_b == 0 ? x.k : x.n;
  if (x.lda < std::max<int64_t>(1, rows_a) || x.ldb < std::max<int64_t>(1, rows_b) || x.ldc < std::max<int64_t>(1, x.m))
    return Status::invalid_value;
  if (!is_known(x.compute) || !known_algorithm(x.algorithm)) return Status::invalid_value;
  Arithmetic arithmetic = arithmetic_of({x.compute, x.type_a, x.type_b, x.type_c});
  if (arithmetic == Arithmetic::none) return Status::not_supported;
  if (arithmetic == Arithmetic::f32 && x.type_a == Type::r32f && h->math == math_tf32 && x.compute == Compute::f32)
    arithmetic = Arithmetic::tf32;
  if (status = check(arithmetic); status != Status::success) return status;
  if (!x.alpha || !x.beta) return Status::invalid_value;
  const Type scale = scale_type_of(arithmetic);
  for (const void* factor : {x.alpha, x.beta})
    if (!readable_by_host(x.name, factor, size_of(scale))) return Status::execution_failed;
  if (x.m == 0 || x.n == 0 || x.batches == 0) return Status::success;
  const Operands common{.arithmetic = arithmetic,
                        .op_a = Op(x.op_a),
                        .op_b = Op(x.op_b),
                        .m = x.m,
                        .n = x.n,
                        .k = x.k,
                        .alpha = load(scale, x.alpha, 0),
                        .beta = load(scale, x.beta, 0),
                        .a = nullptr,
                        .b = nullptr,
                        .c = nullptr,
                        .type_a = x.type_a,
                        .type_b = x.type_b,
                        .type_c = x.type_c,
                        .lda = x.lda,
                        .ldb = x.ldb,
                        .ldc = x.ldc};
  const Range scratch = scratch_of(*h, status);
  if (status != Status::success) return status;
  return launched(
      enqueue(h->stream, x.name, "the workspace of cuBLAS", scratch, [=, name = x.name, batches = x.batches] {
        for (int64_t batch = 0; batch < batches; ++batch) {
          Matrices at;
          if (!each(batch, at) || !multiply_one(name, common, at)) return;
        }
      }));
}

}  // namespace

STATOR_VENDOR(Status, cublasGemmStridedBatchedEx_64,
              (void* handle, int op_a, int op_b, int64_t m, int64_t n, int64_t k, const void* alpha, const void* a,
               Type type_a, int64_t lda, long long stride_a, const void* b, Type type_b, int64_t ldb,
               long long stride_b, const void* beta, void* c, Type type_c, int64_t ldc, long long stride_c,
               int64_t batches, Compute compute, int algorithm),
              (handle, op_a, op_b, m, n, k, alpha, a, type_a, lda, stride_a, b, type_b, ldb, stride_b, beta, c, type_c,
               ldc, stride_c, batches, compute, algorithm)) {
  static const char* const name = "cublasGemmStridedBatchedEx";
  const auto check = [&](Arithmetic arithmetic) {
    const bool fits =
        arithmetic != Arithmetic::i32 || (lda % 4 == 0 && ldb % 4 == 0 && aligned(a, 4) && aligned(b, 4) &&
                                          (batches <= 1 || (stride_a % 4 == 0 && stride_b % 4 == 0)));
    if (!fits) return Status::not_supported;
    if (m == 0 || n == 0 || batches == 0 || !overlapping(m, n, ldc, stride_c, batches)) return Status::success;
    complain(name, "The batches of the result overlap.");
    return Status::invalid_value;
  };
  const int64_t step_a = stride_a * int64_t(size_of(type_a)), step_b = stride_b * int64_t(size_of(type_b)),
                step_c = stride_c * int64_t(size_of(type_c));
  return multiply_batch(
      handle,
      {name, op_a, op_b, m, n, k, alpha, beta, type_a, type_b, type_c, lda, ldb, ldc, batches, compute, algorithm},
      check, [=](int64_t batch, Matrices& at) {
        at.a = static_cast<const char*>(a) + batch * step_a;
        at.b = static_cast<const char*>(b) + batch * step_b;
        at.c = static_cast<char*>(c) + batch * step_c;
        return true;
      });
}

// The lists of addresses are in device memory. The library's kernels load 16 bytes at a time of matrices whose
// addresses they cannot read before.
STATOR_VENDOR(Status, cublasGemmBatchedEx_64,
              (void* handle, int op_a, int op_b, int64_t m, int64_t n, int64_t k, const void* alpha,
               const void* const* a, Type type_a, int64_t lda, const void* const* b, Type type_b, int64_t ldb,
               const void* beta, void* const* c, Type type_c, int64_t ldc, int64_t batches, Compute compute,
               int algorithm),
              (handle, op_a, op_b, m, n, k, alpha, a, type_a, lda, b, type_b, ldb, beta, c, type_c, ldc, batches,
               compute, algorithm)) {
  static const char* const name = "cublasGemmBatchedEx";
  const auto check = [](Arithmetic arithmetic) {
    return arithmetic == Arithmetic::i32 ? Status::not_supported : Status::success;
  };
  return multiply_batch(
      handle,
      {name, op_a, op_b, m, n, k, alpha, beta, type_a, type_b, type_c, lda, ldb, ldc, batches, compute, algorithm},
      check, [=](int64_t batch, Matrices& at) {
        for (const void* list : {static_cast<const void*>(a + batch), static_cast<const void*>(b + batch),
                                 static_cast<const void*>(c + batch)})
          if (!reads(name, bytes_at(list, sizeof(void*)))) return false;
        at = {a[batch], b[batch], c[batch]};
        if (aligned(at.a, 16) && aligned(at.b, 16) && aligned(at.c, 16)) return true;
        complain(name, "A matrix is not aligned to 16 bytes.");
        return false;
      });
}
