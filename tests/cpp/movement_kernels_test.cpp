// Movement and random numbers of the checked target: see kernel_support.hpp.
#include "kernel_support.hpp"

#include <numeric>

namespace {

using namespace stator;

constexpr DType sizes[] = {DType::uint8, DType::float16, DType::float32, DType::int64, DType::complex128};

void test_rearrange() {
  using enum params::AxisRule;
  for (DType dtype : sizes)
    for (params::AxisRule rule : {inside, edge, reflect, symmetric, wrap})
      for (int64_t step : {1, 2})
        for (int64_t cols : {7, 61}) {
          const int64_t rows = 150, n = 41, shift = 5;
          const Bytes x = numbers(dtype, rows * n * step, 1);
          params::Rearrange p{};
          p.itemsize = itemsize(dtype);
          p.ndim = 2;
          p.size = (rows + 3) * cols;
          p.axes[0] = {rule, rows + 3, rows, n * step, 2};
          p.axes[1] = {rule, cols, n, step, shift};
          p.in = x.data.data();
          const std::string name = "rearrange " + std::string(stator::name(dtype));
          const Bytes got = run(name, Op::pad, Bytes(dtype, p.size), [&](const params::Queue& q, Bytes& out) {
            p.out = out.get();
            kernels::movement::rearrange(q, p);
          });
          const auto source = [&](int64_t i, int64_t length) -> int64_t {
            if (i >= 0 && i < length) return i;
            if (rule == inside) return -1;
            if (rule == edge) return i < 0 ? 0 : length - 1;
            const int64_t period = rule == wrap ? length : rule == symmetric ? 2 * length : 2 * length - 2;
            const int64_t at = (i % period + period) % period;
            return at < length ? at : period - at - (rule == symmetric);
          };
          expect(
              name, got,
              [&](int64_t at) -> Value {
                const int64_t r = source(at / cols - 2, rows), c = source(at % cols - shift, n);
                return r < 0 || c < 0 ? 0 : read(x, (r * n + c) * step);
              },
              0);
        }
}

void test_band() {
  for (DType dtype : sizes)
    for (int64_t k : {-9, 0, 4}) {
      const int64_t batch = 3, rows = 37, cols = 70;
      const Bytes x = numbers(dtype, batch * rows * cols, 2);
      params::Band p{};
      p.itemsize = itemsize(dtype);
      p.ndim = 1;
      p.batch = p.shape[0] = batch;
      p.strides[0] = rows * cols;
      p.rows = rows;
      p.cols = cols;
      p.low = k;
      p.high = cols;
      p.row_stride = cols;
      p.col_stride = 1;
      p.in = x.data.data();
      const Bytes got = run("band", Op::triu, Bytes(dtype, x.size()), [&](const params::Queue& q, Bytes& out) {
        p.out = out.get();
        kernels::creation::band(q, p);
      });
      expect("band", got, [&](int64_t at) { return at % cols - at / cols % rows >= k ? read(x, at) : Value(0); }, 0);
    }
}

void test_concat() {
  for (DType dtype : sizes)
    for (int count : {1, 3, 100}) {
      const int64_t outer = 5, inner = 3;
      std::vector<Bytes> data;
      std::vector<params::ConcatPiece> pieces;
      int64_t begin = 0;
      for (int i = 0; i < count; ++i) data.push_back(numbers(dtype, outer * (i % 4 + 1) * inner, i));
      for (int i = 0; i < count; ++i) {
        const int64_t n = i % 4 + 1;
        pieces.push_back({data[size_t(i)].get(), begin, n * inner, inner, 1});
        begin += n * inner;
      }
      const params::Concat p{nullptr, pieces.data(), count, itemsize(dtype), outer, inner, begin};
      const Bytes got = run("concat", Op::concat, Bytes(dtype, outer * begin), [&](const params::Queue& q, Bytes& out) {
        params::Concat c = p;
        c.out = out.get();
        kernels::movement::concat(q, c);
      });
      expect(
          "concat", got,
          [&](int64_t at) {
            const int64_t o = at / begin, c = at % begin;
            size_t i = 0;
            while (i + 1 < pieces.size() && pieces[i + 1].begin <= c) ++i;
            return read(data[i], o * pieces[i].outer_stride + c - pieces[i].begin);
          },
          0);
    }
}

void test_sequences() {
  const params::Linspace p{nullptr, DType::float64, 3000, {1, 0}, {0.5, 0}, {9, 0}, {1, 1}};
  const Bytes got = run("linspace", Op::linspace, Bytes(DType::float64, 3000), [&](const params::Queue& q, Bytes& out) {
    params::Linspace l = p;
    l.out = out.get();
    kernels::creation::linspace(q, l);
  });
  expect("linspace", got, [](int64_t i) -> Value { return i == 2999 ? 9 : 1 + 0.5 * double(i); }, 0);
  std::vector<int64_t> ends = {0, 700, 700, 701, 2600};
  const Bytes runs = run("runs", Op::repeat, Bytes(DType::int64, 2600), [&](const params::Queue& q, Bytes& out) {
    kernels::movement::repeat_indices(q, {ends.data(), static_cast<int64_t*>(out.get()), 5, 2600});
  });
  expect("runs", runs, [](int64_t i) -> Value { return i < 700 ? 1 : i < 701 ? 3 : 4; }, 0);
}

void test_random() {
  for (int64_t n : {5, 255, 256, 257, 2500}) {
    const Bytes got =
        run("permutation", Op::permutation, Bytes(DType::int64, n), [&](const params::Queue& q, Bytes& out) {
          kernels::random::permutation(q, {static_cast<int64_t*>(out.get()), n, n, {7, 3, nullptr}});
        });
    std::vector<bool> seen(static_cast<size_t>(n));
    for (int64_t i = 0; i < n; ++i) seen[size_t(real(got, i))] = true;
    check(std::accumulate(seen.begin(), seen.end(), int64_t(0)) == n, "permutation: every entry once", n);
  }
  for (DType dtype : {DType::int8, DType::int16, DType::int32, DType::int64})
    for (uint64_t range : {uint64_t(10), uint64_t(3) << 30, uint64_t(1) << 40, uint64_t(0)}) {
      const bool fits = itemsize(dtype) == 8 || (range > 0 && range >> 32 == 0);  // 0 is 2^64
      if (!fits) continue;
      run("integers", Op::integers, Bytes(dtype, 3001), [&](const params::Queue& q, Bytes& out) {
        kernels::random::integers(q, {out.get(), itemsize(dtype), 3001, {5, 9, nullptr}, 1, range});
      });
    }
  for (const auto* draw : {&kernels::random::gamma, &kernels::random::poisson, &kernels::random::exponential})
    run("draws", Op::gamma, Bytes(DType::float32, 3001), [&](const params::Queue& q, Bytes& out) {
      (*draw)(q, {out.get(), DType::float32, 3001, {5, 9, nullptr}, 12.5, 1});
    });
  for (DType dtype : {DType::float16, DType::bfloat16, DType::float32, DType::float64})
    for (bool added : {false, true}) {
      const Bytes x = numbers(dtype, 3001, 4), y = numbers(dtype, 3001, 7);
      const Bytes got = run("dropout", Op::dropout, Bytes(dtype, 3001), [&](const params::Queue& q, Bytes& out) {
        params::Dropout d{};
        d.x = x.data.data();
        d.residual = added ? y.data.data() : nullptr;
        d.out = out.get();
        d.dtype = dtype;
        d.size = 3001;
        d.from = {5, 9, nullptr};
        d.threshold = uint64_t(1) << 31;
        d.scale = 2;
        kernels::random::dropout(q, d);
      });
      expect(
          "dropout", got,
          [&](int64_t i) -> Value {
            uint32_t words[4];
            kernels::random::philox(h200, 5, 9 + uint64_t(i / 4), 0, words);
            return (words[i % 4] >> 31 ? 2.0 * real(x, i) : 0.0) + (added ? real(y, i) : 0.0);
          },
          0);
    }
}

}  // namespace

int main(int argc, char** argv) {
  return stator::test::run(argc, argv,
                           {{"rearrange", test_rearrange},
                            {"band", test_band},
                            {"concat", test_concat},
                            {"sequences", test_sequences},
                            {"random", test_random}});
}
