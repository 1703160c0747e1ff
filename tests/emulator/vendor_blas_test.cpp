// The double of cuBLAS against plain formulas, and what it refuses.
#include "emulator/vendor/blas/handle.hpp"
#include "vendor_numbers.hpp"
#include "vendor_stub.hpp"

#include <numeric>

using namespace stator::test;
using stator::emulator::vendor::Type;
using namespace stator::emulator::vendor::blas;

extern "C" {
Status cublasCreate_v2(void**);
Status cublasDestroy_v2(void*);
Status cublasSetStream_v2(void*, void*);
Status cublasSetWorkspace_v2(void*, void*, size_t);
Status cublasSetMathMode(void*, int);
const char* cublasGetStatusName(Status);
Status cublasGetProperty(int, int*);
Status cublasGemmStridedBatchedEx_64(void*, int, int, int64_t, int64_t, int64_t, const void*, const void*, Type,
                                     int64_t, long long, const void*, Type, int64_t, long long, const void*, void*,
                                     Type, int64_t, long long, int64_t, Compute, int);
Status cublasGemmBatchedEx_64(void*, int, int, int64_t, int64_t, int64_t, const void*, const void* const*, Type,
                              int64_t, const void* const*, Type, int64_t, const void*, void* const*, Type, int64_t,
                              int64_t, Compute, int);
#define DECLARE(letter)                                                                                               \
  Status cublas##letter##trsm_v2_64(void*, Side, Fill, int, Diagonal, int64_t, int64_t, const void*, const void*,     \
                                    int64_t, void*, int64_t);                                                         \
  Status cublas##letter##trsmBatched_64(void*, Side, Fill, int, Diagonal, int64_t, int64_t, const void*, const void*, \
                                        int64_t, void*, int64_t, int64_t);                                            \
  Status cublas##letter##getrfBatched(void*, int, void*, int, int*, int*, int);                                       \
  Status cublas##letter##getrsBatched(void*, int, int, int, const void*, int, const int*, void*, int, int*, int);
DECLARE(S) DECLARE(D) DECLARE(C) DECLARE(Z)
}

namespace {

struct Session {
  void* handle = nullptr;
  Session() { CHECK(cublasCreate_v2(&handle) == Status::success); }
  ~Session() { CHECK(cublasDestroy_v2(handle) == Status::success); }
};

template <class T>
struct Calls;
#define CALLS(T, letter)                                               \
  template <>                                                          \
  struct Calls<T> {                                                    \
    static constexpr auto trsm = cublas##letter##trsm_v2_64;           \
    static constexpr auto trsm_batch = cublas##letter##trsmBatched_64; \
    static constexpr auto getrf = cublas##letter##getrfBatched;        \
    static constexpr auto getrs = cublas##letter##getrsBatched;        \
  };
CALLS(float, S)
CALLS(double, D)
CALLS(std::complex<float>, C)
CALLS(std::complex<double>, Z)

template <class T>
std::vector<T*> pointers(T* first, int64_t stride, int count) {
  std::vector<T*> all;
  for (int i = 0; i < count; ++i) all.push_back(first + i * stride);
  return all;
}

template <class T>
void products(Type type, Compute compute) {
  Session session;
  const int64_t m = 3, n = 4, k = 5, lda = 7, ldb = 8, ldc = 5, batches = 2;
  for (int op_a = 0; op_a < 3; ++op_a)
    for (int op_b = 0; op_b < 3; ++op_b) {
      const auto a = numbers<T>(100, 1), b = numbers<T>(100, 2), c = numbers<T>(60, 3);
      const Device<T> da(a), db(b), dc(c);
      const T alpha(2), beta(-1);
      CHECK(cublasGemmStridedBatchedEx_64(session.handle, op_a, op_b, m, n, k, &alpha, da, type, lda, 45, db, type, ldb,
                                          50, &beta, dc, type, ldc, 30, batches, compute, -1) == Status::success);
      check(distance(std::vector<T>(dc.data(), dc.data() + 60), c) == 0, "the call itself does not compute");
      const auto got = dc.get();
      for (int64_t batch = 0; batch < batches; ++batch) {
        const Dense x = Dense(op_a ? k : m, op_a ? m : k, a.data() + batch * 45, lda).op(op_a);
        const Dense y = Dense(op_b ? n : k, op_b ? k : n, b.data() + batch * 50, ldb).op(op_b);
        Dense expected = x * y;
        const Dense old(m, n, c.data() + batch * 30, ldc);
        for (size_t i = 0; i < expected.values.size(); ++i)
          expected.values[i] = 2.0 * expected.values[i] - old.values[i];
        check(distance(Dense(m, n, got.data() + batch * 30, ldc), expected) < loose<T>, "a product", op_a, op_b, batch);
      }
      CHECK(got[3] == c[3] && got[4] == c[4]);  // the gaps between columns
    }
}

void products_of_listed_matrices() {
  Session session;
  const Device<float> a(numbers<float>(64, 1)), b(numbers<float>(64, 2)), strided(32), listed(32);
  const float one = 1, zero = 0;
  CHECK(cublasGemmStridedBatchedEx_64(session.handle, 0, 1, 4, 4, 4, &one, a, Type::r32f, 4, 32, b, Type::r32f, 4, 16,
                                      &zero, strided, Type::r32f, 4, 16, 2, Compute::f32, -1) == Status::success);
  using In = std::vector<const void*>;
  const auto call = [&](const In& of_a, const In& of_b, const std::vector<void*>& of_c) {
    const Device<const void*> la(of_a), lb(of_b);
    const Device<void*> lc(of_c);
    CHECK(cublasGemmBatchedEx_64(session.handle, 0, 1, 4, 4, 4, &one, la, Type::r32f, 4, lb, Type::r32f, 4, &zero, lc,
                                 Type::r32f, 4, 2, Compute::f32, -1) == Status::success);
    finish();
  };
  float *const x = a.data(), *const y = b.data(), *const z = listed.data();
  call({x + 32, x}, {y + 16, y}, {z + 16, z});
  CHECK(distance(listed.get(), strided.get()) == 0);
  call({x + 1, x}, {y, y}, {z, z + 16});
  CHECK(reported().find("aligned") != std::string::npos);
}

void products_refuse() {
  Session session;
  const Device<float> a(numbers<float>(64)), c(64);
  const float one = 1, zero = 0;
  struct Arguments {
    int op = 0;
    int64_t m = 4, lda = 4, ldb = 4, ldc = 4;
    Type type = Type::r32f, out = Type::r32f;
    Compute compute = Compute::f32;
    int64_t stride = 16, batches = 1;
    const float* alpha = nullptr;
    int algorithm = -1;
  };
  const auto call = [&](Arguments x) {
    return cublasGemmStridedBatchedEx_64(session.handle, x.op, 0, x.m, 4, 4, x.alpha ? x.alpha : &one, a, x.type, x.lda,
                                         16, a, x.type, x.ldb, 16, &zero, c, x.out, x.ldc, x.stride, x.batches,
                                         x.compute, x.algorithm);
  };
  CHECK(call({}) == Status::success);
  CHECK(c.written(0, 16) && !c.written(16));
  CHECK(call({.op = 3}) == Status::invalid_value);
  CHECK(call({.m = -1}) == Status::invalid_value);
  CHECK(call({.lda = 3}) == Status::invalid_value);
  CHECK(call({.ldb = 3}) == Status::invalid_value);
  CHECK(call({.ldc = 3}) == Status::invalid_value);
  CHECK(call({.batches = -1}) == Status::invalid_value);
  CHECK(call({.algorithm = 50}) == Status::invalid_value);
  CHECK(call({.compute = Compute(1)}) == Status::invalid_value);
  CHECK(call({.compute = Compute::f64}) == Status::not_supported);
  CHECK(call({.type = Type::r16f, .out = Type::r64f}) == Status::not_supported);
  CHECK(call({.lda = 6, .type = Type::r8i, .out = Type::r32i, .compute = Compute::i32}) == Status::not_supported);
  CHECK(call({.stride = 8, .batches = 2}) == Status::invalid_value);
  CHECK(reported().find("overlap") != std::string::npos);
  CHECK(call({.alpha = a.data()}) == Status::execution_failed);
  CHECK(reported().find("memory of the device") != std::string::npos);
  CHECK(call({.stride = 56, .batches = 2}) == Status::success);
  CHECK(!reported().empty());  // the second result ends outside of its memory
  CHECK(call({.m = 0}) == Status::success);
  stub.refusal = 700;
  CHECK(call({}) == Status::execution_failed);
  stub.refusal = 0;
  stub.device = 1;
  CHECK(call({}) == Status::execution_failed);
  CHECK(reported().find("another device") != std::string::npos);
  stub.device = 0;
}

void products_without_beta_read_no_result() {
  Session session;
  const Device<float> a(numbers<float>(16)), c(16);
  const float one = 1, zero = 0;
  const auto call = [&](const float* alpha, const float* beta, const void* from) {
    return cublasGemmStridedBatchedEx_64(session.handle, 0, 0, 4, 4, 4, alpha, from, Type::r32f, 4, 0, from, Type::r32f,
                                         4, 0, beta, c, Type::r32f, 4, 0, 1, Compute::f32, -1);
  };
  CHECK(call(&one, &one, a) == Status::success);
  CHECK(reported().find("nothing wrote") != std::string::npos);
  CHECK(call(&one, &zero, a) == Status::success);
  CHECK(c.written());
  CHECK(call(&zero, &zero, nullptr) == Status::success);  // with alpha = 0 the operands are not read
  CHECK(distance(c.get(), std::vector<float>(16, 0)) == 0);
}

// Half precision is summed in float: 2048 + 1 + ... would stay 2048 in half.
void half_products_accumulate_in_float() {
  Session session;
  std::vector<uint16_t> a(64, 0x3c00);  // 1
  a[0] = 0x6800;                        // 2048
  const Device<uint16_t> da(a), db(std::vector<uint16_t>(64, 0x3c00)), dc(1);
  const float one = 1, zero = 0;
  CHECK(cublasGemmStridedBatchedEx_64(session.handle, 0, 0, 1, 1, 63, &one, da, Type::r16f, 1, 0, db, Type::r16f, 63, 0,
                                      &zero, dc, Type::r16f, 1, 0, 1, Compute::f32, -1) == Status::success);
  CHECK(dc.get()[0] == 0x681f);  // 2110
  const Device<int8_t> ia(std::vector<int8_t>(16, -128));
  const Device<int32_t> ic(16);
  const int32_t alpha = 3, beta = 0;
  CHECK(cublasGemmStridedBatchedEx_64(session.handle, 1, 0, 4, 4, 4, &alpha, ia, Type::r8i, 4, 0, ia, Type::r8i, 4, 0,
                                      &beta, ic, Type::r32i, 4, 0, 1, Compute::i32, -1) == Status::success);
  CHECK(ic.get()[5] == 3 * 4 * 128 * 128);
}

void tf32_only_where_it_was_asked_for() {
  Session session;
  const Device<float> a(std::vector<float>{1 + std::ldexp(1.f, -12)}), c(1);
  const float one = 1, zero = 0;
  const auto square = [&](Compute compute) {
    CHECK(cublasGemmStridedBatchedEx_64(session.handle, 0, 0, 1, 1, 1, &one, a, Type::r32f, 1, 0, a, Type::r32f, 1, 0,
                                        &zero, c, Type::r32f, 1, 0, 1, compute, -1) == Status::success);
    return c.get()[0];
  };
  CHECK(square(Compute::f32) > 1);
  CHECK(square(Compute::f32_fast_tf32) == 1);
  CHECK(cublasSetMathMode(session.handle, 3) == Status::success);
  CHECK(square(Compute::f32) == 1);
  CHECK(square(Compute::f32_pedantic) > 1);
  CHECK(cublasSetMathMode(session.handle, 7) == Status::invalid_value);
}

void a_new_stream_forgets_the_workspace() {
  Session session;
  const Device<float> a(numbers<float>(16)), c(16);
  const Device<char> workspace(4096);
  const float one = 1, zero = 0;
  const auto call = [&] {
    CHECK(cublasGemmStridedBatchedEx_64(session.handle, 0, 0, 4, 4, 4, &one, a, Type::r32f, 4, 0, a, Type::r32f, 4, 0,
                                        &zero, c, Type::r32f, 4, 0, 1, Compute::f32, -1) == Status::success);
  };
  CHECK(cublasSetWorkspace_v2(session.handle, workspace + 8, 64) == Status::invalid_value);
  CHECK(cublasSetWorkspace_v2(session.handle, workspace, 8192) == Status::success);
  call();
  CHECK(reported().find("workspace") != std::string::npos);  // it is smaller than was stated
  CHECK(cublasSetWorkspace_v2(session.handle, workspace, 4096) == Status::success);
  const uint64_t before = stub_live_bytes();
  call();
  CHECK(stub_live_bytes() == before);
  CHECK(cublasSetStream_v2(session.handle, some_stream) == Status::success);
  call();
  CHECK(stub_live_bytes() == before + (32 << 20));
  CHECK(cublasSetStream_v2(session.handle, reinterpret_cast<void*>(0x6000)) == Status::mapping_error);
  CHECK(!reported().empty());
}

template <class T>
void triangles() {
  Session session;
  const int64_t m = 4, n = 3, lda = 6, ldb = 5;
  const T alpha(2);
  for (int side = 0; side < 2; ++side)
    for (int fill = 0; fill < 2; ++fill)
      for (int trans = 0; trans < 3; ++trans)
        for (int unit = 0; unit < 2; ++unit) {
          const int64_t order = side == 0 ? m : n;
          std::vector<T> a = numbers<T>(36, 4), b = numbers<T>(40, 5);
          for (int64_t i = 0; i < order; ++i) a[size_t(i * lda + i)] += T(3);
          const Device<T> da(a), db(b);
          CHECK(Calls<T>::trsm(session.handle, Side(side), Fill(fill), trans, Diagonal(unit), m, n, &alpha, da, lda, db,
                               ldb) == Status::success);
          const auto x = db.get();
          const Dense triangle = Dense(order, order, a.data(), lda).triangle(fill == 1, unit == 1).op(trans);
          const Dense solution(m, n, x.data(), ldb), right(m, n, b.data(), ldb);
          Dense product = side == 0 ? triangle * solution : solution * triangle;
          for (auto& value : product.values) value /= 2.0;
          check(distance(product, right) < loose<T>, "a solution", side, fill, trans, unit);
        }
  const T zero(0);
  const Device<T> b(20);
  CHECK(Calls<T>::trsm(session.handle, Side::left, Fill::lower, 0, Diagonal::unit, m, n, &zero, nullptr, m, b, ldb) ==
        Status::success);
  CHECK(distance(Dense(m, n, b.get().data(), ldb), Dense(m, n)) == 0);
  CHECK(Calls<T>::trsm(session.handle, Side::left, Fill::lower, 0, Diagonal::unit, m, n, &alpha, b, m - 1, b, ldb) ==
        Status::invalid_value);
  CHECK(Calls<T>::trsm(session.handle, Side::left, Fill::full, 0, Diagonal::unit, m, n, &alpha, b, m, b, ldb) ==
        Status::invalid_value);
  CHECK(Calls<T>::trsm(session.handle, Side::left, Fill::lower, 0, Diagonal::unit, m, n, nullptr, b, m, b, ldb) ==
        Status::invalid_value);
}

template <class T>
void batches_of_triangles() {
  Session session;
  const int n = 3, count = 2;
  std::vector<T> a = numbers<T>(18, 4), b = numbers<T>(18, 5);
  for (int i = 0; i < 18; i += 4) a[size_t(i)] += T(i < 9 ? 3 : 0);
  for (int i : {9, 13, 17}) a[size_t(i)] += T(3);
  const Device<T> da(a), db(b);
  const Device<T*> pa(pointers(da.data(), 9, count)), pb(pointers(db.data(), 9, count));
  const T one(1);
  CHECK(Calls<T>::trsm_batch(session.handle, Side::left, Fill::lower, 0, Diagonal::non_unit, n, n, &one, pa, n, pb, n,
                             count) == Status::success);
  const auto x = db.get();
  for (int i = 0; i < count; ++i)
    CHECK(distance(Dense(n, n, a.data() + 9 * i, n).triangle(false) * Dense(n, n, x.data() + 9 * i, n),
                   Dense(n, n, b.data() + 9 * i, n)) < loose<T>);
  const auto host = pointers(da.data(), 9, count);
  CHECK(Calls<T>::trsm_batch(session.handle, Side::left, Fill::lower, 0, Diagonal::non_unit, n, n, &one, host.data(), n,
                             pb, n, count) == Status::success);
  CHECK(reported().find("outside") != std::string::npos);  // the pointers must be in the device's memory
}

template <class T>
void batches_of_factors() {
  Session session;
  const int n = 4, lda = 5, count = 2, right = 2;
  const std::vector<T> a = numbers<T>(40, 6), b = numbers<T>(16, 7);
  const Device<T> da(a), db(b);
  const Device<T*> pa(pointers(da.data(), 20, count)), pb(pointers(db.data(), 8, count));
  const Device<int> pivots(8), info(2);
  CHECK(Calls<T>::getrf(session.handle, n, pa, lda, pivots, info, count) == Status::success);
  CHECK(info.get() == std::vector<int>({0, 0}));
  for (const int pivot : pivots.get()) CHECK(pivot >= 1 && pivot <= n);
  int host_info = 7;
  CHECK(Calls<T>::getrs(session.handle, 0, n, right, pa, lda, pivots, pb, n, &host_info, count) == Status::success);
  CHECK(host_info == 0);
  const auto x = db.get();
  for (int i = 0; i < count; ++i)
    CHECK(distance(Dense(n, n, a.data() + 20 * i, lda) * Dense(n, right, x.data() + 8 * i, n),
                   Dense(n, right, b.data() + 8 * i, n)) < loose<T> * 10);
  CHECK(Calls<T>::getrs(session.handle, 0, n, right, pa, n - 1, pivots, pb, n, &host_info, count) ==
        Status::invalid_value);
  CHECK(host_info == -5);
  CHECK(Calls<T>::getrs(session.handle, 0, n, right, pa, lda, pivots, pb, n, info, count) == Status::execution_failed);
  CHECK(!reported().empty());  // that info is the host's
  CHECK(Calls<T>::getrf(session.handle, n, pa, n - 1, pivots, info, count) == Status::invalid_value);

  const Device<T> singular(std::vector<T>(16, T(0)));
  const Device<T*> ps(pointers(singular.data(), 0, 1));
  CHECK(Calls<T>::getrf(session.handle, n, ps, n, pivots, info, 1) == Status::success);
  CHECK(info.get()[0] == 1);
}

void handles_are_known() {
  void* handle = nullptr;
  CHECK(cublasCreate_v2(nullptr) == Status::invalid_value);
  CHECK(cublasCreate_v2(&handle) == Status::success);
  CHECK(cublasDestroy_v2(handle) == Status::success);
  CHECK(cublasDestroy_v2(handle) == Status::not_initialized);
  CHECK(cublasSetStream_v2(handle, nullptr) == Status::not_initialized);
  CHECK(cublasSetWorkspace_v2(nullptr, nullptr, 0) == Status::not_initialized);
  CHECK(cublasSetMathMode(nullptr, 0) == Status::not_initialized);
  CHECK(std::string(cublasGetStatusName(Status::not_supported)) == "CUBLAS_STATUS_NOT_SUPPORTED");
  int major = 0;
  CHECK(cublasGetProperty(0, &major) == Status::success && major == 13);
  CHECK(cublasGetProperty(3, &major) == Status::invalid_value);
}

}  // namespace

int main(int argc, char** argv) {
  using C = std::complex<float>;
  using Z = std::complex<double>;
  return run(argc, argv,
             {{"products float32", [] { products<float>(Type::r32f, Compute::f32); }},
              {"products float64", [] { products<double>(Type::r64f, Compute::f64); }},
              {"products complex64", [] { products<C>(Type::c32f, Compute::f32); }},
              {"products complex128", [] { products<Z>(Type::c64f, Compute::f64); }},
              {"products of listed matrices", products_of_listed_matrices},
              {"products refuse", products_refuse},
              {"products without beta", products_without_beta_read_no_result},
              {"half products", half_products_accumulate_in_float},
              {"tf32", tf32_only_where_it_was_asked_for},
              {"workspace", a_new_stream_forgets_the_workspace},
              {"trsm float32", triangles<float>},
              {"trsm float64", triangles<double>},
              {"trsm complex64", triangles<C>},
              {"trsm complex128", triangles<Z>},
              {"trsmBatched float32", batches_of_triangles<float>},
              {"trsmBatched float64", batches_of_triangles<double>},
              {"trsmBatched complex64", batches_of_triangles<C>},
              {"trsmBatched complex128", batches_of_triangles<Z>},
              {"getrfBatched float32", batches_of_factors<float>},
              {"getrfBatched float64", batches_of_factors<double>},
              {"getrfBatched complex64", batches_of_factors<C>},
              {"getrfBatched complex128", batches_of_factors<Z>},
              {"handles", handles_are_known}},
             assert_clean);
}
