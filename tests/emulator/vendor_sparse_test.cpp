// The double of cuSPARSE against dense formulas, and what it refuses.
#include "emulator/vendor/sparse/matrix.hpp"
#include "vendor_numbers.hpp"
#include "vendor_stub.hpp"

#include <memory>

using namespace stator::test;
using stator::emulator::vendor::Op;
using stator::emulator::vendor::Type;
using namespace stator::emulator::vendor::sparse;
using Grid = stator::test::Dense;

extern "C" {
Status cusparseCreate(void**);
Status cusparseDestroy(void*);
Status cusparseSetStream(void*, void*);
const char* cusparseGetErrorName(Status);
Status cusparseGetProperty(int, int*);
Status cusparseCreateCsr(void**, int64_t, int64_t, int64_t, void*, void*, void*, Index, Index, int, Type);
Status cusparseDestroySpMat(const void*);
Status cusparseSpMatSetAttribute(void*, int, const void*, size_t);
Status cusparseSpMatGetSize(const void*, int64_t*, int64_t*, int64_t*);
Status cusparseCsrSetPointers(void*, void*, void*, void*);
Status cusparseCreateDnVec(void**, int64_t, void*, Type);
Status cusparseDestroyDnVec(const void*);
Status cusparseCreateDnMat(void**, int64_t, int64_t, int64_t, void*, Type, Order);
Status cusparseDestroyDnMat(const void*);
Status cusparseSpMV_bufferSize(void*, Op, const void*, const void*, const void*, const void*, void*, Type, int,
                               size_t*);
Status cusparseSpMV(void*, Op, const void*, const void*, const void*, const void*, void*, Type, int, void*);
Status cusparseSpMM_bufferSize(void*, Op, Op, const void*, const void*, const void*, const void*, void*, Type, int,
                               size_t*);
Status cusparseSpMM(void*, Op, Op, const void*, const void*, const void*, const void*, void*, Type, int, void*);
Status cusparseSDDMM_bufferSize(void*, Op, Op, const void*, const void*, const void*, const void*, void*, Type, int,
                                size_t*);
Status cusparseSDDMM(void*, Op, Op, const void*, const void*, const void*, const void*, void*, Type, int, void*);
Status cusparseSpSV_createDescr(void**);
Status cusparseSpSV_destroyDescr(void*);
Status cusparseSpSV_bufferSize(void*, Op, const void*, const void*, const void*, void*, Type, int, void*, size_t*);
Status cusparseSpSV_analysis(void*, Op, const void*, const void*, const void*, void*, Type, int, void*, void*);
Status cusparseSpSV_solve(void*, Op, const void*, const void*, const void*, void*, Type, int, void*);
Status cusparseSpSM_createDescr(void**);
Status cusparseSpSM_destroyDescr(void*);
Status cusparseSpSM_bufferSize(void*, Op, Op, const void*, const void*, const void*, void*, Type, int, void*, size_t*);
Status cusparseSpSM_analysis(void*, Op, Op, const void*, const void*, const void*, void*, Type, int, void*, void*);
Status cusparseSpSM_solve(void*, Op, Op, const void*, const void*, const void*, void*, Type, int, void*);
Status cusparseSpGEMM_createDescr(void**);
Status cusparseSpGEMM_destroyDescr(void*);
Status cusparseSpGEMM_workEstimation(void*, Op, Op, const void*, const void*, const void*, const void*, void*, Type,
                                     int, void*, size_t*, void*);
Status cusparseSpGEMM_compute(void*, Op, Op, const void*, const void*, const void*, const void*, void*, Type, int,
                              void*, size_t*, void*);
Status cusparseSpGEMM_copy(void*, Op, Op, const void*, const void*, const void*, const void*, void*, Type, int, void*);
}

namespace {

template <class T>
constexpr Type type_of = std::is_same_v<T, float>                 ? Type::r32f
                         : std::is_same_v<T, double>              ? Type::r64f
                         : std::is_same_v<T, std::complex<float>> ? Type::c32f
                                                                  : Type::c64f;
template <class I>
constexpr Index index_of = sizeof(I) == 8 ? Index::i64 : Index::i32;

struct Session {
  void* handle = nullptr;
  Session() {
    CHECK(cusparseCreate(&handle) == Status::success);
    CHECK(cusparseSetStream(handle, some_stream) == Status::success);
  }
  ~Session() { CHECK(cusparseDestroy(handle) == Status::success); }
};

// About half of the elements, with an empty row, and its dense form.
template <class T, class I = int32_t>
struct Sparse {
  int64_t rows, columns;
  Grid dense;
  std::vector<I> row, column;
  std::vector<T> value;
  std::unique_ptr<Device<I>> rows_on_device, columns_on_device;
  std::unique_ptr<Device<T>> values_on_device;
  void* descriptor = nullptr;

  Sparse(int64_t m, int64_t n, uint32_t seed, bool square = false, int base = 0) : rows(m), columns(n), dense(m, n) {
    const auto all = numbers<T>(size_t(m * n), seed);
    row.push_back(I(base));
    for (int64_t i = 0; i < m; ++i) {
      for (int64_t j = 0; j < n; ++j)
        if (square ? i == j || (i + j) % 2 : i != 1 && (i * 3 + j * 2 + seed) % 4 < 2) {
          column.push_back(I(j + base));
          value.push_back(all[size_t(i * n + j)] + T(square && i == j ? 3 : 0));
          dense.at(i, j) = wide(value.back());
        }
      row.push_back(I(int64_t(value.size()) + base));
    }
    rows_on_device = std::make_unique<Device<I>>(row);
    columns_on_device = std::make_unique<Device<I>>(column);
    values_on_device = std::make_unique<Device<T>>(value);
    CHECK(cusparseCreateCsr(&descriptor, m, n, int64_t(value.size()), *rows_on_device, *columns_on_device,
                            *values_on_device, index_of<I>, index_of<I>, base, type_of<T>) == Status::success);
  }
  ~Sparse() { CHECK(cusparseDestroySpMat(descriptor) == Status::success); }
};

struct Vec {
  void* descriptor = nullptr;
  template <class T>
  explicit Vec(const Device<T>& values) {
    CHECK(cusparseCreateDnVec(&descriptor, int64_t(values.size()), values, type_of<T>) == Status::success);
  }
  ~Vec() { CHECK(cusparseDestroyDnVec(descriptor) == Status::success); }
};
struct Mat {
  void* descriptor = nullptr;
  template <class T>
  Mat(const Device<T>& values, int64_t rows, int64_t columns, int64_t ld, Order order = Order::columns) {
    CHECK(cusparseCreateDnMat(&descriptor, rows, columns, ld, values, type_of<T>, order) == Status::success);
  }
  ~Mat() { CHECK(cusparseDestroyDnMat(descriptor) == Status::success); }
};

template <class T, class I = int32_t>
void vectors_() {
  const Session s;
  for (const int base : {0, 1})
    for (const Op op : {Op::none, Op::transpose, Op::adjoint}) {
      const Sparse<T, I> a(5, 4, 1, false, base);
      const auto x = numbers<T>(op == Op::none ? 4 : 5, 2), y = numbers<T>(op == Op::none ? 5 : 4, 3);
      const Device<T> dx(x), dy(y);
      const Vec vx(dx), vy(dy);
      const T alpha(2), beta(-1);
      size_t bytes = 0;
      CHECK(cusparseSpMV_bufferSize(s.handle, op, &alpha, a.descriptor, vx.descriptor, &beta, vy.descriptor, type_of<T>,
                                    0, &bytes) == Status::success);
      const Device<char> buffer(bytes);
      const auto call = [&](void* scratch) {
        return cusparseSpMV(s.handle, op, &alpha, a.descriptor, vx.descriptor, &beta, vy.descriptor, type_of<T>, 0,
                            scratch);
      };
      CHECK(call(nullptr) == Status::invalid_value);
      CHECK(call(buffer) == Status::success);
      Grid expected = a.dense.op(int(op)) * Grid(int64_t(x.size()), 1, x.data(), int64_t(x.size()));
      for (size_t i = 0; i < y.size(); ++i) expected.values[i] = 2.0 * expected.values[i] - wide(y[i]);
      CHECK(distance(dy.get(), expected.values) < loose<T>);
      CHECK(!buffer.written(0, 1));
      CHECK(call(buffer + 16) == Status::success);
      CHECK(reported().find("outside") != std::string::npos);
    }
}

void vectors_refuse() {
  const Session s;
  const Sparse<float> a(5, 4, 1);
  const Device<float> x(numbers<float>(4)), y(5);
  const Vec vx(x), vy(y);
  const float one = 1, zero = 0;
  size_t bytes = 0;
  const auto size = [&](Op op, Type type, int algorithm) {
    return cusparseSpMV_bufferSize(s.handle, op, &one, a.descriptor, vx.descriptor, &zero, vy.descriptor, type,
                                   algorithm, &bytes);
  };
  CHECK(size(Op::none, Type::r32f, 0) == Status::success);
  CHECK(size(Op::transpose, Type::r32f, 0) == Status::invalid_value);
  CHECK(size(Op(3), Type::r32f, 0) == Status::invalid_value);
  CHECK(size(Op::none, Type::r64f, 0) == Status::not_supported);
  CHECK(size(Op::none, Type::r32f, 1) == Status::not_supported);
  const Device<char> buffer(bytes);
  const auto call = [&](const float* alpha, const float* beta) {
    return cusparseSpMV(s.handle, Op::none, alpha, a.descriptor, vx.descriptor, beta, vy.descriptor, Type::r32f, 0,
                        buffer);
  };
  CHECK(call(&one, &one) == Status::success);
  CHECK(reported().find("nothing wrote") != std::string::npos);
  CHECK(call(&one, &zero) == Status::success);
  CHECK(y.written());
  CHECK(call(x, &zero) == Status::execution_failed);
  CHECK(!reported().empty());
  a.columns_on_device->set({0, 0, 0, 0, 0, 9});
  CHECK(call(&one, &zero) == Status::success);
  CHECK(reported().find("lead outside") != std::string::npos);
}

template <class T>
void matrices_() {
  const Session s;
  const Sparse<T> a(5, 4, 1);
  for (const Op op_a : {Op::none, Op::transpose, Op::adjoint})
    for (const Op op_b : {Op::none, Op::transpose, Op::adjoint})
      for (const Order order : {Order::columns, Order::rows}) {
        const int64_t m = op_a == Op::none ? 5 : 4, k = 9 - m, n = 3;
        const int64_t rows = op_b == Op::none ? k : n, columns = op_b == Op::none ? n : k;
        const int64_t ld = order == Order::columns ? rows + 1 : columns + 1, ldc = order == Order::columns ? m : n;
        const auto b = numbers<T>(40, 4), c = numbers<T>(size_t(m * n), 5);
        const Device<T> db(b), dc(c);
        const Mat mb(db, rows, columns, ld, order), mc(dc, m, n, ldc, order);
        const T alpha(2), beta(-1);
        size_t bytes = 0;
        CHECK(cusparseSpMM_bufferSize(s.handle, op_a, op_b, &alpha, a.descriptor, mb.descriptor, &beta, mc.descriptor,
                                      type_of<T>, 0, &bytes) == Status::success);
        const Device<char> buffer(bytes);
        CHECK(cusparseSpMM(s.handle, op_a, op_b, &alpha, a.descriptor, mb.descriptor, &beta, mc.descriptor, type_of<T>,
                           0, buffer) == Status::success);
        const auto dense = [&](const std::vector<T>& v, int64_t r, int64_t q, int64_t lead) {
          return order == Order::columns ? Grid(r, q, v.data(), lead) : Grid(q, r, v.data(), lead).transposed();
        };
        Grid expected = a.dense.op(int(op_a)) * dense(b, rows, columns, ld).op(int(op_b));
        const Grid old = dense(c, m, n, ldc);
        for (size_t i = 0; i < expected.values.size(); ++i)
          expected.values[i] = 2.0 * expected.values[i] - old.values[i];
        CHECK(distance(dense(dc.get(), m, n, ldc), expected) < loose<T>);
        const Status third = cusparseSpMM_bufferSize(s.handle, op_a, op_b, &alpha, a.descriptor, mb.descriptor, &beta,
                                                     mc.descriptor, type_of<T>, 12, &bytes);
        CHECK(third == (op_a == Op::none && op_b != Op::adjoint ? Status::success : Status::not_supported));
      }
}

template <class T>
void sampled() {
  const Session s;
  const Sparse<T> c(5, 4, 1);
  const auto a = numbers<T>(15, 6), b = numbers<T>(12, 7);
  const Device<T> da(a), db(b);
  const Mat ma(da, 3, 5, 3), mb(db, 3, 4, 4, Order::rows);
  const T alpha(2), zero(0);
  size_t bytes = 0;
  const auto size = [&](Op op_a) {
    return cusparseSDDMM_bufferSize(s.handle, op_a, Op::none, &alpha, ma.descriptor, mb.descriptor, &zero, c.descriptor,
                                    type_of<T>, 0, &bytes);
  };
  CHECK(size(Op::none) == Status::invalid_value);
  CHECK(size(Op::adjoint) == Status::not_supported);
  CHECK(size(Op::transpose) == Status::success);
  const Device<char> buffer(bytes);
  const auto call = [&] {
    return cusparseSDDMM(s.handle, Op::transpose, Op::none, &alpha, ma.descriptor, mb.descriptor, &zero, c.descriptor,
                         type_of<T>, 0, buffer);
  };
  CHECK(call() == Status::success);
  const Grid product = Grid(3, 5, a.data(), 3).transposed() * Grid(4, 3, b.data(), 4).transposed();
  const auto got = c.values_on_device->get();
  for (size_t i = 0, e = 0; i < 5; ++i)
    for (; e < size_t(c.row[i + 1]); ++e)
      CHECK(std::abs(wide(got[e]) - 2.0 * product.at(int64_t(i), c.column[e])) < loose<T>);
  c.values_on_device->set(std::vector<T>(c.value.size(), T(NAN)));
  CHECK(call() == Status::success);
  CHECK(std::isnan(std::abs(c.values_on_device->get()[0])));  // 0 times not a number
}

template <class T>
void triangles() {
  const Session s;
  for (const Op op : {Op::none, Op::transpose, Op::adjoint})
    for (const int32_t upper : {0, 1})
      for (const int32_t unit : {0, 1}) {
        const Sparse<T> a(6, 6, 8, true);
        CHECK(cusparseSpMatSetAttribute(a.descriptor, 0, &upper, 4) == Status::success);
        CHECK(cusparseSpMatSetAttribute(a.descriptor, 1, &unit, 4) == Status::success);
        const Grid triangle = a.dense.triangle(upper != 0, unit != 0).op(int(op));
        const auto b = numbers<T>(12, 9);
        const T alpha(2);
        size_t bytes = 0;

        const Device<T> x(std::vector<T>(b.begin(), b.begin() + 6)), y(6);
        const Vec vx(x), vy(y);
        void* one = nullptr;
        CHECK(cusparseSpSV_createDescr(&one) == Status::success);
        const auto args = [&](auto call, auto... rest) {
          return call(s.handle, op, &alpha, a.descriptor, vx.descriptor, vy.descriptor, type_of<T>, 0, one, rest...);
        };
        CHECK(args(cusparseSpSV_solve) == Status::invalid_value);
        CHECK(!reported().empty());
        CHECK(args(cusparseSpSV_bufferSize, &bytes) == Status::success);
        const Device<char> buffer(bytes);
        CHECK(args(cusparseSpSV_analysis, static_cast<void*>(buffer)) == Status::success);
        CHECK(args(cusparseSpSV_solve) == Status::success);
        Grid product = triangle * Grid(6, 1, y.get().data(), 6);
        for (auto& value : product.values) value /= 2.0;
        CHECK(distance(product, Grid(6, 1, b.data(), 6)) < loose<T> * 10);
        a.values_on_device->set(std::vector<T>(a.value.size(), T(5)));  // the analysis has the values
        CHECK(args(cusparseSpSV_solve) == Status::success);
        CHECK(distance(triangle * Grid(6, 1, y.get().data(), 6),
                       Grid(6, 1,
                            std::vector<T>{b[0] * alpha, b[1] * alpha, b[2] * alpha, b[3] * alpha, b[4] * alpha,
                                           b[5] * alpha}
                                .data(),
                            6)) < loose<T> * 10);
        a.values_on_device->set(a.value);
        buffer.set(std::vector<char>(bytes, 1));
        CHECK(args(cusparseSpSV_solve) == Status::success);
        CHECK(reported().find("earlier phase") != std::string::npos);
        CHECK(!y.written());
        CHECK(cusparseSpSV_destroyDescr(one) == Status::success);

        for (const Op op_b : {Op::none, Op::transpose}) {
          const Device<T> in(b), out(12);
          const bool turned = op_b != Op::none;
          const Mat mb(in, turned ? 2 : 6, turned ? 6 : 2, turned ? 2 : 6), mc(out, 6, 2, 2, Order::rows);
          void* several = nullptr;
          CHECK(cusparseSpSM_createDescr(&several) == Status::success);
          const auto all = [&](auto call, auto... rest) {
            return call(s.handle, op, op_b, &alpha, a.descriptor, mb.descriptor, mc.descriptor, type_of<T>, 0, several,
                        rest...);
          };
          CHECK(all(cusparseSpSM_bufferSize, &bytes) == Status::success);
          const Device<char> larger(bytes);
          CHECK(all(cusparseSpSM_analysis, static_cast<void*>(larger)) == Status::success);
          CHECK(all(cusparseSpSM_solve) == Status::success);
          Grid rows = triangle * Grid(2, 6, out.get().data(), 2).transposed();
          for (auto& value : rows.values) value /= 2.0;
          CHECK(distance(rows, turned ? Grid(2, 6, b.data(), 2).transposed() : Grid(6, 2, b.data(), 6)) <
                loose<T> * 10);
          CHECK(cusparseSpSM_destroyDescr(several) == Status::success);
        }
      }
}

template <class T>
void products_of_two() {
  const Session s;
  const Sparse<T> a(5, 4, 1), b(4, 6, 2);
  const T alpha(2), zero(0);
  for (const uint64_t seed : {0, 9}) {
    stub.seed = seed;
    int insufficient = 0;
    for (int round = 0; round < (seed ? 30 : 1); ++round) {
      void *c = nullptr, *state = nullptr;
      CHECK(cusparseCreateCsr(&c, 5, 6, 0, nullptr, nullptr, nullptr, Index::i32, Index::i32, 0, type_of<T>) ==
            Status::success);
      CHECK(cusparseSpGEMM_createDescr(&state) == Status::success);
      const auto call = [&](auto function, auto... rest) {
        return function(s.handle, Op::none, Op::none, &alpha, a.descriptor, b.descriptor, &zero, c, type_of<T>, 0,
                        state, rest...);
      };
      const auto compute = [&](size_t* bytes, void* buffer) {
        Status status;
        while ((status = call(cusparseSpGEMM_compute, bytes, buffer)) == Status::insufficient_resources) ++insufficient;
        return status;
      };
      size_t first = 0, second = 0;
      CHECK(compute(&second, nullptr) == Status::invalid_value);
      CHECK(!reported().empty());
      CHECK(call(cusparseSpGEMM_workEstimation, &first, static_cast<void*>(nullptr)) == Status::success);
      const Device<char> one(first);
      CHECK(call(cusparseSpGEMM_workEstimation, &first, static_cast<void*>(one)) == Status::success);
      CHECK(compute(&second, nullptr) == Status::success);
      const Device<char> two(second);
      CHECK(call(cusparseSpGEMM_copy) == Status::invalid_value);
      CHECK(!reported().empty());
      CHECK(compute(&second, two) == Status::success);
      int64_t rows = 0, columns = 0, nnz = 0;
      CHECK(cusparseSpMatGetSize(c, &rows, &columns, &nnz) == Status::success);
      CHECK(rows == 5 && columns == 6 && nnz > 0);
      const Device<int32_t> offsets(6), indices(static_cast<size_t>(nnz));
      const Device<T> values(static_cast<size_t>(nnz));
      CHECK(cusparseCsrSetPointers(c, offsets, indices, values) == Status::success);
      CHECK(call(cusparseSpGEMM_copy) == Status::success);
      const auto row = offsets.get(), column = indices.get();
      const auto value = values.get();
      Grid got(5, 6);
      for (size_t i = 0; i < 5; ++i)
        for (auto e = size_t(row[i]); e < size_t(row[i + 1]); ++e) got.at(int64_t(i), column[e]) += wide(value[e]);
      Grid expected = a.dense * b.dense;
      for (auto& each : expected.values) each *= 2.0;
      CHECK(distance(got, expected) < loose<T>);
      one.set(std::vector<char>(first, 1));
      CHECK(call(cusparseSpGEMM_copy) == Status::success);
      CHECK(reported().find("earlier phase") != std::string::npos);
      CHECK(cusparseSpGEMM_destroyDescr(state) == Status::success);
      CHECK(cusparseDestroySpMat(c) == Status::success);
    }
    CHECK((insufficient > 0) == (seed != 0));
  }
}

void products_of_two_refuse() {
  const Session s;
  const Sparse<float, int64_t> wide_indices(4, 4, 1);
  const Sparse<float> a(4, 4, 1);
  const float one = 1, zero = 0;
  void* state = nullptr;
  size_t bytes = 0;
  CHECK(cusparseSpGEMM_createDescr(&state) == Status::success);
  const auto call = [&](Op op, const void* x, void* y, int algorithm) {
    return cusparseSpGEMM_workEstimation(s.handle, op, Op::none, &one, x, x, &zero, y, Type::r32f, algorithm, state,
                                         &bytes, nullptr);
  };
  CHECK(call(Op::none, a.descriptor, a.descriptor, 0) == Status::success);
  CHECK(call(Op::transpose, a.descriptor, a.descriptor, 0) == Status::not_supported);
  CHECK(call(Op::none, a.descriptor, a.descriptor, 4) == Status::not_supported);
  CHECK(call(Op::none, wide_indices.descriptor, wide_indices.descriptor, 0) == Status::not_supported);
  CHECK(cusparseSpGEMM_destroyDescr(state) == Status::success);
}

void descriptors_refuse() {
  void *made = nullptr, *const p = reinterpret_cast<void*>(0x1000);
  const auto csr = [&](int64_t rows, int64_t columns, int64_t nnz, Index first, Index second, int base, void* offsets) {
    const Status status = cusparseCreateCsr(&made, rows, columns, nnz, offsets, p, p, first, second, base, Type::r32f);
    if (status == Status::success) CHECK(cusparseDestroySpMat(made) == Status::success);
    return status;
  };
  CHECK(csr(4, 4, 3, Index::i32, Index::i32, 1, p) == Status::success);
  CHECK(csr(4, 4, 17, Index::i32, Index::i32, 0, p) == Status::invalid_value);
  CHECK(csr(-1, 4, 3, Index::i32, Index::i32, 0, p) == Status::invalid_value);
  CHECK(csr(4, 4, 3, Index::i64, Index::i32, 0, p) == Status::not_supported);
  CHECK(csr(4, 4, 3, Index::i32, Index::i32, 2, p) == Status::invalid_value);
  CHECK(csr(int64_t(1) << 33, 4, 3, Index::i32, Index::i32, 0, p) == Status::invalid_value);
  CHECK(csr(4, 4, 3, Index::i32, Index::i32, 0, reinterpret_cast<void*>(0x1001)) == Status::invalid_value);
  CHECK(cusparseCreateDnVec(&made, -1, p, Type::r32f) == Status::invalid_value);
  CHECK(cusparseCreateDnMat(&made, 4, 3, 3, p, Type::r32f, Order::columns) == Status::invalid_value);
  CHECK(cusparseCreateDnMat(&made, 4, 3, 2, p, Type::r32f, Order::rows) == Status::invalid_value);
  CHECK(cusparseCreateDnMat(&made, 4, 3, 4, p, Type::r32f, Order(3)) == Status::invalid_value);
  CHECK(cusparseDestroySpMat(nullptr) == Status::success);
  CHECK(cusparseDestroySpMat(p) == Status::invalid_value);
  CHECK(!reported().empty());
  const int32_t lower = 0;
  const Sparse<float> a(4, 4, 1);
  CHECK(cusparseSpMatSetAttribute(a.descriptor, 0, &lower, 8) == Status::invalid_value);
  CHECK(cusparseSpMatSetAttribute(a.descriptor, 2, &lower, 4) == Status::invalid_value);
  CHECK(std::string(cusparseGetErrorName(Status::insufficient_resources)) == "CUSPARSE_STATUS_INSUFFICIENT_RESOURCES");
  int major = 0;
  CHECK(cusparseGetProperty(0, &major) == Status::success && major == 12);
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<Case> cases{{"vectors refuse", vectors_refuse},
                          {"vectors with wide indices", vectors_<double, int64_t>},
                          {"products of two refuse", products_of_two_refuse},
                          {"descriptors refuse", descriptors_refuse}};
  const auto add = [&]<class T>(T, const std::string& type) {
    cases.push_back({"vectors " + type, vectors_<T>});
    cases.push_back({"matrices " + type, matrices_<T>});
    cases.push_back({"sampled " + type, sampled<T>});
    cases.push_back({"triangles " + type, triangles<T>});
    cases.push_back({"products of two " + type, products_of_two<T>});
  };
  add(float(), "float32");
  add(double(), "float64");
  add(std::complex<float>(), "complex64");
  add(std::complex<double>(), "complex128");
  return run(argc, argv, cases, assert_clean);
}
