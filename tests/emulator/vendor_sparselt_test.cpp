// The double of cuSPARSELt against dense products, and what it refuses.
#include "emulator/vendor/sparselt/objects.hpp"
#include "vendor_numbers.hpp"
#include "vendor_stub.hpp"

using namespace stator::test;
using stator::emulator::vendor::half_bits;
using stator::emulator::vendor::half_value;
using stator::emulator::vendor::Op;
using stator::emulator::vendor::Type;
using namespace stator::emulator::vendor::sparselt;

extern "C" {
Status cusparseLtInit(void*);
Status cusparseLtDestroy(const void*);
const char* cusparseLtGetErrorName(Status);
Status cusparseLtGetProperty(int, int*);
Status cusparseLtDenseDescriptorInit(const void*, void*, int64_t, int64_t, int64_t, uint32_t, Type, Order);
Status cusparseLtStructuredDescriptorInit(const void*, void*, int64_t, int64_t, int64_t, uint32_t, Type, Order, int);
Status cusparseLtMatDescriptorDestroy(const void*);
Status cusparseLtMatmulDescriptorInit(const void*, void*, Op, Op, const void*, const void*, const void*, const void*,
                                      Compute);
Status cusparseLtMatmulAlgSelectionInit(const void*, void*, const void*, int);
Status cusparseLtMatmulAlgSelectionDestroy(const void*);
Status cusparseLtMatmulPlanInit(const void*, void*, const void*, const void*);
Status cusparseLtMatmulPlanDestroy(const void*);
Status cusparseLtMatmulGetWorkspace(const void*, const void*, size_t*);
Status cusparseLtSpMMACompressedSize(const void*, const void*, size_t*, size_t*);
Status cusparseLtSpMMACompress(const void*, const void*, const void*, void*, void*, void*);
Status cusparseLtMatmul(const void*, const void*, const void*, const void*, const void*, const void*, const void*,
                        void*, void*, void**, int32_t);
}

namespace {

struct alignas(16) Opaque {
  unsigned char bytes[512];
};

struct Shape {
  Type type;
  int64_t rows, columns, ld;
  Order order;
};

// Everything of one product but its data. The matrix that is compressed is a, or b.
struct Product {
  Opaque handle, matrix[4], matmul, algorithm, plan;
  Status status = Status::success;
  size_t workspace = 0, compressed = 0, buffer = 0;

  Product(Op op_a, Op op_b, Shape a, Shape b, Shape c, Compute compute, bool first = true) {
    CHECK(cusparseLtInit(&handle) == Status::success);
    int i = 0;
    for (const Shape& s : {a, b, c, c}) {
      const bool structured = i == (first ? 0 : 1);
      CHECK((structured ? cusparseLtStructuredDescriptorInit(&handle, &matrix[i], s.rows, s.columns, s.ld, 16, s.type,
                                                             s.order, 0)
                        : cusparseLtDenseDescriptorInit(&handle, &matrix[i], s.rows, s.columns, s.ld, 16, s.type,
                                                        s.order)) == Status::success);
      ++i;
    }
    status = cusparseLtMatmulDescriptorInit(&handle, &matmul, op_a, op_b, &matrix[0], &matrix[1], &matrix[2],
                                            &matrix[3], compute);
    if (status != Status::success) return;
    CHECK(cusparseLtMatmulAlgSelectionInit(&handle, &algorithm, &matmul, 0) == Status::success);
    CHECK(cusparseLtMatmulPlanInit(&handle, &plan, &matmul, &algorithm) == Status::success);
    CHECK(cusparseLtMatmulGetWorkspace(&handle, &plan, &workspace) == Status::success);
    CHECK(cusparseLtSpMMACompressedSize(&handle, &plan, &compressed, &buffer) == Status::success);
  }
  ~Product() {
    if (status == Status::success) {
      CHECK(cusparseLtMatmulPlanDestroy(&plan) == Status::success);
      CHECK(cusparseLtMatmulAlgSelectionDestroy(&algorithm) == Status::success);
    }
    for (const Opaque& each : matrix) CHECK(cusparseLtMatDescriptorDestroy(&each) == Status::success);
    CHECK(cusparseLtDestroy(&handle) == Status::success);
  }
};

// Two of four along each row of op(a), which lies as the order says.
void halves() {
  const int64_t m = 16, n = 8, k = 32;
  for (const Order order : {Order::rows, Order::columns})
    for (const Op op : {Op::none, Op::transpose}) {
      const auto a_values = numbers<float>(size_t(m * k), 1), b_values = numbers<float>(size_t(k * n), 2);
      stator::test::Dense a(m, k), b(k, n);
      const int64_t rows = op == Op::none ? m : k, columns = op == Op::none ? k : m;
      const int64_t ld = order == Order::rows ? columns : rows;
      std::vector<uint16_t> a_bits(size_t(m * k)), b_bits(size_t(k * n));
      for (int64_t i = 0; i < m; ++i)
        for (int64_t l = 0; l < k; ++l) {
          const bool kept = (l + i) % 4 < 2;
          const uint16_t bits = kept ? half_bits(double(a_values[size_t(i * k + l)])) : uint16_t(0);
          const int64_t row = op == Op::none ? i : l, column = op == Op::none ? l : i;
          a_bits[size_t(order == Order::rows ? row * ld + column : column * ld + row)] = bits;
          a.at(i, l) = half_value(bits);
        }
      for (int64_t i = 0; i < k * n; ++i) {
        b_bits[size_t(i)] = half_bits(double(b_values[size_t(i)]));
        b.at(i / n, i % n) = half_value(b_bits[size_t(i)]);
      }
      const Shape rest{Type::r16f, m, n, n, Order::rows};
      Product p(op, Op::none, {Type::r16f, rows, columns, ld, order}, {Type::r16f, k, n, n, Order::rows}, rest,
                Compute::f32);
      CHECK(p.status == Status::success);
      const Device<uint16_t> da(a_bits), db(b_bits), dd(size_t(m * n));
      const Device<char> compressed(p.compressed), buffer(p.buffer + 1), workspace(p.workspace + 1);
      const float alpha = 2, beta = 0;
      void* streams[] = {some_stream};
      const auto multiply = [&] {
        return cusparseLtMatmul(&p.handle, &p.plan, &alpha, compressed, db, &beta, dd, dd, workspace, streams, 1);
      };
      compressed.set(std::vector<char>(p.compressed, 0));
      CHECK(multiply() == Status::success);
      CHECK(reported().find("not one that was compressed") != std::string::npos);
      CHECK(cusparseLtSpMMACompress(&p.handle, &p.plan, da, compressed, buffer, some_stream) == Status::success);
      CHECK(multiply() == Status::success);
      const auto got = dd.get();
      const stator::test::Dense expected = a * b;
      double worst = 0;
      for (int64_t i = 0; i < m * n; ++i)
        worst = std::max(worst, std::abs(half_value(got[size_t(i)]) - 2.0 * expected.at(i / n, i % n)));
      CHECK(worst < 1e-2);
      da.set(std::vector<uint16_t>(size_t(m * k), half_bits(1)));
      CHECK(cusparseLtSpMMACompress(&p.handle, &p.plan, da, compressed, buffer, some_stream) == Status::success);
      CHECK(reported().find("More than half") != std::string::npos);
      CHECK(cusparseLtMatmul(&p.handle, &p.plan, &alpha, compressed, db + 1, &beta, dd, dd, workspace, streams, 1) ==
            Status::invalid_value);
      CHECK(cusparseLtMatmul(&p.handle, &p.plan, &alpha, compressed, db, &beta, dd, dd, nullptr, streams, 1) ==
            Status::invalid_value);
    }
}

void integers() {
  const int64_t n = 32;
  const auto status = [&](Order a, Op op_a, Order b, Op op_b, Type out) {
    const Product p(op_a, op_b, {Type::r8i, n, n, n, a}, {Type::r8i, n, n, n, b}, {out, n, n, n, Order::rows},
                    Compute::i32);
    return p.status;
  };
  CHECK(status(Order::rows, Op::none, Order::columns, Op::none, Type::r32i) == Status::success);
  CHECK(status(Order::columns, Op::transpose, Order::columns, Op::none, Type::r8i) == Status::success);
  CHECK(status(Order::rows, Op::none, Order::rows, Op::none, Type::r32i) == Status::not_supported);
  CHECK(status(Order::rows, Op::none, Order::columns, Op::none, Type::r32f) == Status::not_supported);

  Product p(Op::none, Op::none, {Type::r8i, n, n, n, Order::rows}, {Type::r8i, n, n, n, Order::columns},
            {Type::r32i, n, n, n, Order::rows}, Compute::i32, false);
  std::vector<int8_t> b(size_t(n * n));
  for (size_t i = 0; i < b.size(); ++i) b[i] = i % 4 < 2 ? -128 : 0;
  const Device<int8_t> da(std::vector<int8_t>(size_t(n * n), -128)), db(b);
  const Device<int32_t> dd(std::vector<int32_t>(size_t(n * n), 5));
  const Device<char> compressed(p.compressed), buffer(p.buffer + 1), workspace(p.workspace + 1);
  const float alpha = 1, beta = 2;
  CHECK(cusparseLtSpMMACompress(&p.handle, &p.plan, db, compressed, buffer, nullptr) == Status::success);
  CHECK(cusparseLtMatmul(&p.handle, &p.plan, &alpha, da, compressed, &beta, dd, dd, workspace, nullptr, 0) ==
        Status::success);
  CHECK(dd.get() == std::vector<int32_t>(size_t(n * n), 16 * 16384 + 10));
}

void descriptors_refuse() {
  Opaque handle, made;
  CHECK(cusparseLtInit(nullptr) == Status::invalid_value);
  stub.capability = 75;
  CHECK(cusparseLtInit(&handle) == Status::arch_mismatch);
  stub.capability = 90;
  CHECK(cusparseLtInit(&handle) == Status::success);
  const auto dense = [&](int64_t rows, int64_t columns, int64_t ld, uint32_t alignment, Type type) {
    const Status status =
        cusparseLtDenseDescriptorInit(&handle, &made, rows, columns, ld, alignment, type, Order::rows);
    if (status == Status::success) CHECK(cusparseLtMatDescriptorDestroy(&made) == Status::success);
    return status;
  };
  CHECK(dense(8, 8, 8, 16, Type::r16f) == Status::success);
  CHECK(dense(8, 8, 4, 16, Type::r16f) == Status::invalid_value);
  CHECK(dense(8, 8, 8, 8, Type::r16f) == Status::invalid_value);
  CHECK(dense(8, 8, 8, 16, Type::r64f) == Status::invalid_value);
  CHECK(dense(8, 4, 8, 16, Type::r16f) == Status::not_supported);
  CHECK(dense(8, 8, 8, 16, Type::r8i) == Status::not_supported);
  CHECK(dense(4, 4, 4, 16, Type::r32f) == Status::success);
  CHECK(cusparseLtStructuredDescriptorInit(&handle, &made, 8, 8, 8, 16, Type::r16f, Order::rows, 0) ==
        Status::not_supported);
  CHECK(cusparseLtMatDescriptorDestroy(&made) == Status::invalid_value);
  CHECK(cusparseLtDestroy(&handle) == Status::success);
  CHECK(cusparseLtDestroy(&handle) == Status::invalid_value);
  CHECK(std::string(cusparseLtGetErrorName(Status::not_supported)) == "CUSPARSE_STATUS_NOT_SUPPORTED");
  int minor = 0;
  CHECK(cusparseLtGetProperty(1, &minor) == Status::success && minor == 10);
}

}  // namespace

int main(int argc, char** argv) {
  return run(argc, argv, {{"halves", halves}, {"integers", integers}, {"descriptors refuse", descriptors_refuse}},
             assert_clean);
}
