// The kernels around products, of the checked target: see kernel_support.hpp.
#include "kernel_support.hpp"

#include <array>

namespace {

using namespace stator;

int64_t whole(const Bytes& x, int64_t i) {
  return visit(x.dtype, [&]<class T>(type_tag<T>) -> int64_t {
    T v;
    std::memcpy(&v, x.data.data() + i * sizeof(T), sizeof(T));
    if constexpr (std::is_integral_v<T>)
      return int64_t(v);
    else
      return 0;
  });
}

// Two matrices of a batch, the second operand shared; b is column-major.
void test_integers() {
  constexpr int64_t count = 2;
  const std::array<DType, 2> pairs[] = {{DType::int8, DType::int32},   {DType::uint8, DType::uint8},
                                        {DType::int16, DType::int16},  {DType::uint32, DType::uint32},
                                        {DType::int64, DType::int64},  {DType::bool_, DType::bool_},
                                        {DType::uint64, DType::uint64}};
  for (const auto& [operands, result] : pairs)
    for (const auto& [m, n, k] : {std::array<int64_t, 3>{65, 70, 33}, {1, 5, 300}, {5, 1, 17}, {2, 130, 1}}) {
      Bytes a(operands, count * m * k), b(operands, k * n);
      for (Bytes* x : {&a, &b})
        for (size_t i = 0; i < x->data.size(); ++i)
          x->data[i] = operands == DType::bool_ ? i * 7 % 31 == 0 : uint8_t(i * 37 % 251 + (x == &a ? 3 : 0));
      params::StridedProduct p{};
      p.operands = operands;
      p.result = result;
      p.m = m;
      p.n = n;
      p.k = k;
      p.a = {a.get(), 0, k, 1};
      p.b = {b.get(), 0, 1, k};
      p.batch_ndim = 1;
      p.batch_shape[0] = count;
      p.a_batch[0] = m * k;
      p.out_batch[0] = m * n;
      const Bytes got =
          run("integer_product", Op::matmul, Bytes(result, count * m * n), [&](const params::Queue& q, Bytes& out) {
            p.out = {out.get(), 0, n, 1};
            kernels::matmul::integer_product(q, p);
          });
      bool equal = true;
      for (int64_t i = 0; i < got.size(); ++i) {
        uint64_t sum = 0;
        for (int64_t j = 0; j < k; ++j) sum += uint64_t(whole(a, i / n * k + j)) * uint64_t(whole(b, i % n * k + j));
        const int unused = 64 - 8 * itemsize(result);
        const uint64_t want = result == DType::bool_ ? uint64_t(sum != 0) << unused : sum << unused;
        equal = equal && uint64_t(whole(got, i)) << unused == want;
      }
      check(equal, "integer_product", int(operands), m, n, k);
    }
}

// Pairs in one split, and pairs long enough for several; the second operand is reversed. The sums are exact.
void test_inner_product() {
  for (const DType dtype : {DType::float16, DType::float32, DType::complex64, DType::complex128})
    for (const auto& [batches, k] : {std::array<int64_t, 2>{3, 45}, {2, 20003}, {1, 1}})
      for (const bool conjugate : {false, true}) {
        Bytes a(dtype, batches * k), b(dtype, k);
        for (int64_t i = 0; i < a.size(); ++i) write(a, i, varied(dtype, i, 1));
        for (int64_t i = 0; i < k; ++i) write(b, i, varied(dtype, i, 2));
        params::InnerProduct p{};
        p.of.operands = dtype;
        p.of.result = dtype == DType::float16 ? DType::float32 : dtype;
        p.of.m = p.of.n = 1;
        p.of.k = k;
        p.of.a = {a.get(), 0, k, 1};
        p.of.b = {b.data.data() + (k - 1) * itemsize(dtype), 0, -1, 1};
        p.of.batch_ndim = 1;
        p.of.batch_shape[0] = batches;
        p.of.a_batch[0] = k;
        p.of.out_batch[0] = 1;
        p.conjugate = conjugate;
        p.splits = kernels::matmul::inner_splits(h200, batches, k, &p.split_size);
        check((p.splits > 1) == (k > 1000), "inner_product: splits", p.splits);
        std::vector<Value> sums(size_t(batches * p.splits));
        std::vector<uint32_t> counters(size_t(batches), 0);
        p.sums = sums.data();
        p.counters = counters.data();
        const Bytes got =
            run("inner_product", Op::vecdot, Bytes(p.of.result, batches), [&](const params::Queue& q, Bytes& out) {
              p.of.out = {out.get(), 0, 1, 1};
              kernels::matmul::inner_product(q, p);
            });
        for (int64_t i = 0; i < batches; ++i) {
          Value want = 0;
          for (int64_t j = 0; j < k; ++j) {
            const Value x = read(a, i * k + j);
            want += (conjugate ? std::conj(x) : x) * read(b, k - 1 - j);
          }
          check(read(got, i) == want, "inner_product", int(dtype), batches, k, int(conjugate));
        }
        for (const uint32_t counter : counters) check(counter == 0, "inner_product: a counter is left");
      }
}

void test_epilogue() {
  constexpr int64_t rows = 3, cols = 2100;  // more than a block of a row
  for (const DType dtype : {DType::float32, DType::float64}) {
    Bytes x(dtype, rows * cols), bias(DType::float32, cols), scale(DType::float32, rows);
    for (int64_t i = 0; i < x.size(); ++i) write(x, i, std::sin(double(i)));
    for (int64_t i = 0; i < cols; ++i) write(bias, i, double(i % 7) / 4);
    for (int64_t i = 0; i < rows; ++i) write(scale, i, double(i + 1));
    params::ProductEpilogue p{};
    p.x_dtype = dtype;
    p.out_dtype = dtype;
    p.bias_dtype = DType::float32;
    p.activation = params::Activation::relu;
    p.rows = rows;
    p.cols = cols;
    p.out_row = 1;  // into columns
    p.out_col = rows;
    p.bias_stride = p.scale_a_stride = 1;
    p.x = x.get();
    p.bias = bias.get();
    p.scale_a = static_cast<const float*>(scale.get());
    const Bytes got = run("epilogue", Op::linear, Bytes(dtype, rows * cols), [&](const params::Queue& q, Bytes& out) {
      p.out = out.get();
      kernels::matmul::epilogue(q, p);
    });
    expect(
        "epilogue", got,
        [&](int64_t at) {
          const int64_t row = at % rows, col = at / rows;
          return std::max(0.0, real(x, row * cols + col) * double(row + 1) + double(col % 7) / 4);
        },
        tolerance(dtype));
  }
}

void test_float8() {
  // Along the middle axis, and along segments longer than a split.
  for (const auto& [outer, count, inner] : {std::array<int64_t, 3>{2, 5, 300}, {3, 40000, 1}, {1, 1, 1}}) {
    Bytes x(DType::float32, outer * count * inner), q(DType::uint8, x.size()), scale(DType::float32, outer * inner);
    for (int64_t i = 0; i < x.size(); ++i) write(x, i, std::sin(double(i)) * double(i % 11));
    params::QuantizeFloat8 p{};
    p.dtype = DType::float32;
    p.format = params::Float8::e5m2;
    p.outer = outer;
    p.count = count;
    p.inner = inner;
    p.split_size = params::float8_split_size(count);
    p.splits = (count + p.split_size - 1) / p.split_size;
    std::vector<float> partials(size_t(outer * inner * p.splits));
    p.partials = partials.data();
    p.x = x.get();
    p.q = static_cast<uint8_t*>(q.get());
    p.scale = static_cast<float*>(scale.get());
    Recorder device;
    kernels::matmul::quantize(device.queue(Op::quantize_fp8), p);
    check(device.launches == 2, "quantize: launches", device.launches);
    const Bytes back =
        run("decode", Op::scaled_matmul, Bytes(DType::float32, x.size()), [&](const params::Queue& queue, Bytes& out) {
          params::DecodeFloat8 d{};
          d.dtype = DType::float32;
          d.format[0] = d.format[1] = params::Float8::e5m2;
          d.rows[0] = outer * count;
          d.cols[0] = d.row_stride[0] = inner;
          d.col_stride[0] = d.cols[1] = 1;
          d.q[0] = p.q;
          d.out[0] = out.get();
          kernels::matmul::decode(queue, d);
        });
    bool close = true;
    for (int64_t i = 0; i < x.size(); ++i) {
      const double s = real(scale, i / (count * inner) * inner + i % inner), want = real(x, i);
      close = close && std::abs(real(back, i) * s - want) <= std::max(std::abs(want) / 8, s * 0x1p-16);
    }
    check(close, "quantize: values", outer, count, inner);
  }
}

}  // namespace

int main(int argc, char** argv) {
  return stator::test::run(argc, argv,
                           {{"integers", test_integers},
                            {"inner_product", test_inner_product},
                            {"epilogue", test_epilogue},
                            {"float8", test_float8}});
}
