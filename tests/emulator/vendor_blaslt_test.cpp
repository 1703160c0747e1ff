// The double of cuBLASLt against plain formulas, and what it refuses.
#include "emulator/vendor/blaslt/problem.hpp"
#include "vendor_numbers.hpp"
#include "vendor_stub.hpp"

#include <cstring>

using namespace stator::test;
using namespace stator::emulator::vendor;
using namespace stator::emulator::vendor::blaslt;

extern "C" {
Status cublasCreate_v2(void**);
Status cublasDestroy_v2(void*);
Status cublasLtGetProperty(int, int*);
Status cublasLtMatmulDescCreate(void**, Compute, Type);
Status cublasLtMatmulDescDestroy(void*);
Status cublasLtMatmulDescSetAttribute(void*, int, const void*, size_t);
Status cublasLtMatrixLayoutCreate(void**, Type, uint64_t, uint64_t, int64_t);
Status cublasLtMatrixLayoutDestroy(void*);
Status cublasLtMatrixLayoutSetAttribute(void*, int, const void*, size_t);
Status cublasLtMatmulPreferenceCreate(void**);
Status cublasLtMatmulPreferenceDestroy(void*);
Status cublasLtMatmulPreferenceSetAttribute(void*, int, const void*, size_t);
Status cublasLtMatmulAlgoGetHeuristic(void*, void*, void*, void*, void*, void*, void*, int, void*, int*);
Status cublasLtMatmul(void*, void*, const void*, const void*, void*, const void*, void*, const void*, const void*,
                      void*, void*, void*, const void*, void*, size_t, void*);
}

namespace {

struct Found {
  char algorithm[64];
  size_t workspace;
  Status state;
  float waves;
  int reserved[4];
};

struct Shape {
  Type type = Type::r32f;
  uint64_t rows = 8, columns = 8;
  int64_t ld = 8;
};

// The descriptors of one product.
struct Product {
  void *handle = nullptr, *description = nullptr, *layout[4] = {}, *preference = nullptr;
  Found found{};
  int returned = -1;

  Product(Compute compute, Type scale, Shape a, Shape b, Shape c, Shape d) {
    CHECK(cublasCreate_v2(&handle) == Status::success);
    CHECK(cublasLtMatmulDescCreate(&description, compute, scale) == Status::success);
    int i = 0;
    for (const Shape& s : {a, b, c, d})
      CHECK(cublasLtMatrixLayoutCreate(&layout[i++], s.type, s.rows, s.columns, s.ld) == Status::success);
    CHECK(cublasLtMatmulPreferenceCreate(&preference) == Status::success);
  }
  Product(Shape s = {}) : Product(Compute::f32, Type::r32f, s, s, s, s) {}
  ~Product() {
    CHECK(cublasLtMatmulDescDestroy(description) == Status::success);
    for (void* each : layout) CHECK(cublasLtMatrixLayoutDestroy(each) == Status::success);
    CHECK(cublasLtMatmulPreferenceDestroy(preference) == Status::success);
    CHECK(cublasDestroy_v2(handle) == Status::success);
  }
  template <class T>
  void set(int attribute, T value) {
    CHECK(cublasLtMatmulDescSetAttribute(description, attribute, &value, sizeof(value)) == Status::success);
  }
  template <class T>
  void set_layout(int which, int attribute, T value) {
    CHECK(cublasLtMatrixLayoutSetAttribute(layout[which], attribute, &value, sizeof(value)) == Status::success);
  }
  template <class T>
  void prefer(int attribute, T value) {
    CHECK(cublasLtMatmulPreferenceSetAttribute(preference, attribute, &value, sizeof(value)) == Status::success);
  }
  Product& tn() {
    set<int32_t>(3, 1);
    set<int32_t>(4, 0);
    return *this;
  }
  Status search() {
    return cublasLtMatmulAlgoGetHeuristic(handle, description, layout[0], layout[1], layout[2], layout[3], preference,
                                          1, &found, &returned);
  }
  Status run(const void* alpha, const void* a, const void* b, const void* beta, const void* c, void* d,
             void* workspace = nullptr, size_t bytes = 0, bool chosen = true) {
    return cublasLtMatmul(handle, description, alpha, a, layout[0], b, layout[1], beta, c, layout[2], d, layout[3],
                          chosen ? found.algorithm : nullptr, workspace, bytes, some_stream);
  }
};

void floats_with_bias_and_activation() {
  const auto a = numbers<float>(64, 1), b = numbers<float>(64, 2), c = numbers<float>(64, 3),
             bias = numbers<float>(8, 4);
  const Device<float> da(a), db(b), dc(c), dd(64), dbias(bias);
  const float alpha = 2, beta = -1;
  Dense expected = Dense(8, 8, a.data(), 8).transposed() * Dense(8, 8, b.data(), 8);
  for (size_t i = 0; i < 64; ++i) expected.values[i] = 2.0 * expected.values[i] - double(c[i]);
  for (const uint32_t epilogue : {1u, 2u, 4u, 6u, 32u, 36u}) {
    Product p;
    p.tn().set<uint32_t>(7, epilogue);
    p.set<const void*>(8, dbias.data());
    CHECK(p.search() == Status::success);
    CHECK(p.returned == 1 && p.found.state == Status::success);
    CHECK(p.run(&alpha, da, db, &beta, dc, dd) == Status::success);
    const auto got = dd.get();
    for (size_t i = 0; i < 64; ++i) {
      double value = expected.values[i].real() + (epilogue & 4 ? double(bias[i % 8]) : 0);
      if (epilogue & 2) value = std::max(value, 0.0);
      if (epilogue & 32) value *= 0.5 * std::erfc(-value / std::sqrt(2.0));
      check(std::fabs(double(got[i]) - value) < (epilogue & 32 ? 2e-3 : 1e-5), "an element", epilogue, i);
    }
  }
}

void batches_and_rows() {
  const auto a = numbers<double>(24, 1), b = numbers<double>(24, 2);
  const Device<double> da(a), db(b), dd(24);
  const double one = 1, zero = 0;
  Product p(Compute::f64, Type::r64f, {Type::r64f, 3, 4, 4}, {Type::r64f, 4, 3, 4}, {Type::r64f, 3, 3, 3},
            {Type::r64f, 3, 3, 3});
  p.set_layout<int32_t>(0, 1, 1);  // a by rows
  for (int i = 0; i < 4; ++i) {
    p.set_layout<int32_t>(i, 5, 2);
    p.set_layout<int64_t>(i, 6, i < 2 ? 12 : 9);
  }
  CHECK(p.search() == Status::success);
  CHECK(p.run(&one, da, db, &zero, nullptr, dd) == Status::success);
  const auto got = dd.get();
  for (int batch = 0; batch < 2; ++batch)
    CHECK(distance(Dense(3, 3, got.data() + 9 * batch, 3),
                   Dense(4, 3, a.data() + 12 * batch, 4).transposed() * Dense(4, 3, b.data() + 12 * batch, 4)) < 1e-12);
  CHECK(!dd.written(18));
  p.set_layout<int32_t>(1, 5, 1);
  CHECK(p.search() == Status::invalid_value);
}

void integers_need_their_form() {
  const auto shape = [](Type type, int64_t n) { return Shape{type, uint64_t(n), uint64_t(n), n}; };
  const auto product = [&](int64_t n, bool tn) {
    const Shape in = shape(Type::r8i, n), out = shape(Type::r32i, n);
    Product p(Compute::i32, Type::r32i, in, in, out, out);
    if (tn) p.tn();
    return p.search();
  };
  CHECK(product(8, true) == Status::success);
  CHECK(product(8, false) == Status::not_supported);
  CHECK(product(6, true) == Status::not_supported);

  const Shape in = shape(Type::r8i, 8), out = shape(Type::r32i, 8);
  Product p(Compute::i32, Type::r32i, in, in, out, out);
  CHECK(p.tn().search() == Status::success);
  const Device<int8_t> a(std::vector<int8_t>(80, 127));
  const Device<int32_t> d(64);
  const int32_t one = 1, zero = 0;
  CHECK(p.run(&one, a, a, &zero, nullptr, d) == Status::success);
  CHECK(d.get() == std::vector<int32_t>(64, 8 * 127 * 127));
  CHECK(p.run(&one, a + 1, a, &zero, nullptr, d) == Status::invalid_value);
  p.set<uint32_t>(7, 2);
  CHECK(p.search() == Status::not_supported);
  Product wrong(Compute::i32, Type::r32f, in, in, out, out);
  CHECK(wrong.tn().search() == Status::not_supported);
}

void eight_bit_floats_need_their_form() {
  const auto search = [](int64_t n, bool tn, Type a, Type b, Type c, Type d) {
    const auto shape = [&](Type type) { return Shape{type, uint64_t(n), uint64_t(n), n}; };
    Product p(Compute::f32, Type::r32f, shape(a), shape(b), shape(c), shape(d));
    if (tn) p.tn();
    return p.search();
  };
  const Type e4 = Type::e4m3, e5 = Type::e5m2, brain = Type::r16bf, half = Type::r16f, wide = Type::r32f;
  CHECK(search(16, true, e4, e4, brain, brain) == Status::success);
  CHECK(search(16, true, e4, e5, half, e5) == Status::success);
  CHECK(search(16, true, e5, e4, wide, wide) == Status::success);
  CHECK(search(16, true, e5, e5, brain, brain) == Status::not_supported);
  CHECK(search(16, true, e4, e4, half, e5) == Status::not_supported);
  CHECK(search(16, true, e4, e4, brain, half) == Status::not_supported);
  CHECK(search(16, true, e4, e4, e4, e4) == Status::not_supported);
  CHECK(search(16, false, e4, e4, brain, brain) == Status::not_supported);
  CHECK(search(24, true, e4, e4, brain, brain) == Status::not_supported);
  stub.capability = 80;
  CHECK(search(16, true, e4, e4, brain, brain) == Status::not_supported);
  stub.capability = 90;

  // 1.5 * 1.5 * 16 * 2 * 3 = 216, and 216 * 4 is more than the largest value, 448.
  const Device<uint8_t> a(std::vector<uint8_t>(256, 0x3c)), d(256);
  const Device<float> scales(std::vector<float>{2, 3, 4}), largest(1);
  Product p(Compute::f32, Type::r32f, {e4, 16, 16, 16}, {e4, 16, 16, 16}, {brain, 16, 16, 16}, {e4, 16, 16, 16});
  p.tn();
  p.set<const void*>(17, scales.data());
  p.set<const void*>(18, scales + 1);
  p.set<const void*>(20, scales + 2);
  p.set<const void*>(21, largest.data());
  CHECK(p.search() == Status::success);
  const float one = 1, zero = 0;
  CHECK(p.run(&one, a, a, &zero, nullptr, d) == Status::success);
  CHECK(d.get() == std::vector<uint8_t>(256, 0x7e));
  CHECK(largest.get()[0] == 216);
  Product brainy(Compute::f32, Type::r32f, {e4, 16, 16, 16}, {e4, 16, 16, 16}, {brain, 16, 16, 16},
                 {brain, 16, 16, 16});
  brainy.tn();
  brainy.set<const void*>(20, scales + 2);
  CHECK(brainy.search() == Status::invalid_value);  // the scale of d is for eight-bit results
}

void products_refuse() {
  CHECK(Product({Type::r32f, 8, 8, 4}).search() == Status::invalid_value);
  CHECK(Product({Type::r32f, 0, 0, 8}).search() == Status::invalid_value);
  CHECK(Product(Compute::f32, Type::r64f, {}, {}, {}, {}).search() == Status::not_supported);
  CHECK(Product(Compute(1), Type::r32f, {}, {}, {}, {}).search() == Status::invalid_value);
  CHECK(Product(Compute::f32, Type::r32f, {}, {Type::r32f, 4, 8, 8}, {}, {}).search() == Status::invalid_value);
  CHECK(Product(Compute::f32, Type::r32f, {}, {}, {}, {Type::r16f, 8, 8, 8}).search() == Status::not_supported);
  Product p;
  p.set<uint32_t>(7, 34);
  CHECK(p.search() == Status::invalid_value);  // both activations
  p.set<uint32_t>(7, 130);
  CHECK(p.search() == Status::not_supported);
  p.set<uint32_t>(7, 4);
  CHECK(p.search() == Status::success);
  const Device<float> a(numbers<float>(72)), d(64);
  const float one = 1, zero = 0;
  CHECK(p.run(&one, a, a, &zero, nullptr, d) == Status::invalid_value);  // no bias was given
  p.set<const void*>(8, a.data());
  CHECK(p.run(&one, a, a, &zero, nullptr, d) == Status::success);
  p.set<uint32_t>(7, 2);
  CHECK(p.run(&one, a, a, &zero, nullptr, d) == Status::not_supported);  // an algorithm of another product
  CHECK(p.run(&one, a, a, &zero, nullptr, d, nullptr, 0, false) == Status::success);
  CHECK(p.search() == Status::success);
  CHECK(p.run(nullptr, a, a, &zero, nullptr, d) == Status::invalid_value);
  CHECK(p.run(&one, a, a, &one, nullptr, d) == Status::invalid_value);
  CHECK(p.run(&one, a + 1, a, &zero, nullptr, d) == Status::invalid_value);  // was promised to be aligned
  p.prefer<uint32_t>(5, 4);
  CHECK(p.search() == Status::success);
  CHECK(p.run(&one, a + 1, a, &zero, nullptr, d) == Status::success);
  CHECK(p.run(&one, a, a, &zero, nullptr, a) == Status::success);
  CHECK(reported().find("an operand lies") != std::string::npos);
}

void workspaces_have_a_size() {
  stub.seed = 3;
  const Device<float> a(numbers<float>(64)), d(64);
  const Device<char> workspace(12288);
  const float one = 1, zero = 0;
  Product p;
  p.prefer<uint64_t>(1, 12288);
  size_t largest = 0;
  for (int i = 0; i < 20; ++i) {
    CHECK(p.search() == Status::success);
    CHECK(p.found.workspace <= 12288);
    largest = std::max(largest, p.found.workspace);
    if (p.found.workspace == 0) continue;
    CHECK(p.run(&one, a, a, &zero, nullptr, d, workspace, p.found.workspace - 1) == Status::invalid_value);
    CHECK(p.run(&one, a, a, &zero, nullptr, d, workspace + 64, p.found.workspace) == Status::invalid_value);
    CHECK(p.run(&one, a, a, &zero, nullptr, d, workspace, p.found.workspace) == Status::success);
    CHECK(!workspace.written(0, 1));
  }
  CHECK(largest > 0);
}

void attributes_have_their_size() {
  Product p;
  const char zero[8] = {};
  CHECK(cublasLtMatmulDescSetAttribute(p.description, 3, zero, 8) == Status::invalid_value);
  CHECK(cublasLtMatmulDescSetAttribute(p.description, 9, zero, 4) == Status::invalid_value);
  CHECK(cublasLtMatmulDescSetAttribute(p.description, 3, nullptr, 4) == Status::invalid_value);
  CHECK(cublasLtMatrixLayoutSetAttribute(p.layout[0], 5, zero, 8) == Status::invalid_value);
  CHECK(cublasLtMatmulPreferenceSetAttribute(p.preference, 1, zero, 4) == Status::invalid_value);
  CHECK(cublasLtMatmulDescCreate(nullptr, Compute::f32, Type::r32f) == Status::invalid_value);
  CHECK(cublasLtMatrixLayoutDestroy(nullptr) == Status::success);
  CHECK(cublasLtMatrixLayoutDestroy(p.description) == Status::invalid_value);
  CHECK(!reported().empty());
  int returned = 0;
  CHECK(cublasLtMatmulAlgoGetHeuristic(p.handle, p.description, p.layout[0], p.layout[0], p.layout[0], p.layout[0],
                                       p.preference, 0, &p.found, &returned) == Status::invalid_value);
  CHECK(cublasLtGetProperty(0, &returned) == Status::success && returned == 13);
}

}  // namespace

int main(int argc, char** argv) {
  return run(argc, argv,
             {{"epilogues", floats_with_bias_and_activation},
              {"batches", batches_and_rows},
              {"int8", integers_need_their_form},
              {"float8", eight_bit_floats_need_their_form},
              {"refusals", products_refuse},
              {"workspaces", workspaces_have_a_size},
              {"attributes", attributes_have_their_size}},
             assert_clean);
}
