// Indexing with arrays, masks and distances of the checked target: see kernel_support.hpp.
#include "kernel_support.hpp"

namespace {

using namespace stator;

constexpr int64_t rows = 50, inner = 7, count = 700;

// Rows of x, one an index, in a space of (count, inner).
params::Indexed space(Bytes& x, Bytes* other, Bytes& index) {
  params::Indexed p{};
  p.x = x.get();
  p.other = other ? other->get() : nullptr;
  p.x_dtype = x.dtype;
  p.other_dtype = other ? other->dtype : x.dtype;
  p.ndim = 2;
  p.entry_count = 1;
  p.size = count * inner;
  p.shape[0] = count;
  p.shape[1] = p.other_strides[0] = inner;
  p.x_strides[1] = p.other_strides[1] = 1;
  p.x_end = rows * inner;
  p.entries[0].data = index.get();
  p.entries[0].dtype = index.dtype;
  p.entries[0].extent = rows;
  p.entries[0].step = inner;
  p.entries[0].strides[0] = 1;
  return p;
}

int64_t row_of(int64_t k) { return k * 17 % rows; }

Bytes indices() {
  Bytes index(DType::int16, count);
  for (int64_t k = 0; k < count; ++k) write(index, k, double(row_of(k) - (k % 2 ? rows : 0)));
  return index;
}

void test_get_and_put() {
  Bytes index = indices();
  for (DType dtype : {DType::int8, DType::float16, DType::float32, DType::float64, DType::complex128}) {
    Bytes x = numbers(dtype, rows * inner, 1);
    const Bytes got =
        run("index_get", Op::index_get, Bytes(dtype, count * inner),
            [&](const params::Queue& q, Bytes& out) { kernels::indexing::get(q, space(x, &out, index)); });
    expect("index_get", got, [&](int64_t i) { return real(x, row_of(i / inner) * inner + i % inner); }, 0);
    // Every row gets the same values from all of its indices, so that the order does not matter.
    Bytes values(dtype, count * inner);
    for (int64_t i = 0; i < values.size(); ++i) write(values, i, double((row_of(i / inner) + i % inner) % 7));
    const Bytes put = run("index_put", Op::index_put, x, [&](const params::Queue& q, Bytes& out) {
      kernels::indexing::put(q, space(out, &values, index), nullptr);
    });
    expect("index_put", put, [&](int64_t i) { return double((i / inner + i % inner) % 7); }, 0);
  }
  write(index, 13, double(rows));
  Bytes x = numbers(DType::float32, rows * inner, 1), out(DType::float32, count * inner);
  Recorder device;
  kernels::indexing::get(device.queue(Op::index_get), space(x, &out, index));
  check(device.record.fault == int32_t(params::Fault::index_out_of_range) && device.record.value == rows,
        "index_get: the error slot");
  check(real(out, 13 * inner) == 0, "index_get: 0 outside");
}

// Every index stands 14 times: with claims the last value stays, whatever the order of blocks and threads.
void test_put_last() {
  Bytes index = indices();
  for (DType dtype : {DType::int8, DType::float32, DType::complex128}) {
    Bytes values(dtype, count * inner);
    for (int64_t i = 0; i < values.size(); ++i) write(values, i, double(i / inner % 97 + i % inner));
    const params::Indexed p = space(values, &values, index);
    const int64_t wanted = kernels::indexing::claims(h200, p);
    check(wanted == rows * inner, "index_put_last: claims", wanted);
    for (uint64_t seed : {0, 1, 2}) {
      checked.set_block_seed(seed);
      Bytes out(dtype, rows * inner);
      std::vector<uint64_t> claims(rows * inner, 12345);
      Recorder device;
      kernels::indexing::put(device.queue(Op::index_put), space(out, &values, index), claims.data());
      check(device.launches == 3, "index_put_last: launches", device.launches);
      const auto last = [](int64_t row) {
        int64_t k = count - 1;
        while (row_of(k) != row) --k;
        return k;
      };
      expect("index_put_last", out, [&](int64_t i) { return double(last(i / inner) % 97 + i % inner); }, 0);
    }
    checked.set_block_seed(0);
  }
  Bytes x(DType::float32, rows * inner);
  params::Indexed number = space(x, nullptr, index);
  check(kernels::indexing::claims(h200, number) == 0, "index_put_last: a number needs no claims");
  write(index, 13, double(rows));
  Bytes values(DType::float32, count * inner);
  std::vector<uint64_t> claims(rows * inner);
  Recorder device;
  kernels::indexing::put(device.queue(Op::index_put), space(x, &values, index), claims.data());
  check(device.record.fault == int32_t(params::Fault::index_out_of_range) && device.record.value == rows,
        "index_put_last: the error slot");
}

void test_accumulate() {
  Bytes index = indices();
  for (DType dtype : {DType::int32, DType::int64, DType::uint64, DType::float32, DType::float64})
    for (params::Accumulation how : {params::Accumulation::add, params::Accumulation::multiply,
                                     params::Accumulation::minimum, params::Accumulation::maximum})
      for (bool in_order : {false, true}) {
        Bytes values(dtype, count * inner);
        for (int64_t i = 0; i < values.size(); ++i)
          write(values, i, how == params::Accumulation::multiply ? double(1 + (i % 97 == 0)) : double(i % 23));
        const Bytes got =
            run("accumulate", Op::scatter, numbers(dtype, rows * inner, 1), [&](const params::Queue& q, Bytes& out) {
              kernels::indexing::accumulate(q, space(out, &values, index), how, in_order);
            });
        std::vector<double> want(rows * inner);
        const Bytes start = numbers(dtype, rows * inner, 1);
        for (size_t i = 0; i < want.size(); ++i) want[i] = real(start, int64_t(i));
        for (int64_t i = 0; i < count * inner; ++i) {
          double& w = want[size_t(row_of(i / inner) * inner + i % inner)];
          const double v = real(values, i);
          w = how == params::Accumulation::add        ? w + v
              : how == params::Accumulation::multiply ? w * v
              : how == params::Accumulation::minimum  ? std::min(w, v)
                                                      : std::max(w, v);
        }
        expect("accumulate", got, [&](int64_t i) { return want[size_t(i)]; }, 0);
      }
}

struct Counted {
  std::vector<int64_t> base;
  uint32_t counter = 0;
};

// A mask of n elements, every third one true; counted.
params::Compact counted(Bytes& mask, Counted& scratch) {
  params::Compact p{};
  p.mask = static_cast<const uint8_t*>(mask.get());
  p.ndim = 1;
  p.size = p.shape[0] = mask.size();
  p.mask_strides[0] = p.x_strides[0] = p.out_strides[0] = p.source_stride = 1;
  p.tile = kernels::indexing::tile(h200, p.size);
  p.tiles = (p.size + p.tile - 1) / p.tile;
  scratch.base.assign(size_t(p.tiles + 1), -1);
  p.base = scratch.base.data();
  p.counter = &scratch.counter;
  Recorder device;
  kernels::indexing::count(device.queue(Op::masked_select), p);
  check(device.launches == 1 && scratch.counter == 0, "mask_count: one launch, the counter left zero");
  return p;
}

void test_compaction() {
  for (int64_t n : {1, 257, 5000, 9001}) {
    Bytes mask(DType::bool_, n);
    for (int64_t i = 0; i < n; ++i) write(mask, i, double(i % 3 == 0));
    Counted scratch;
    params::Compact p = counted(mask, scratch);
    const int64_t all = (n + 2) / 3;
    check(scratch.base.back() == all, "mask_count: the total", scratch.base.back());
    for (DType dtype : {DType::uint8, DType::float16, DType::float32, DType::float64, DType::complex128}) {
      Bytes x = numbers(dtype, n, 1), source = numbers(dtype, all, 2);
      p.itemsize = itemsize(dtype);
      p.x = x.get();
      for (int64_t capacity : {all, all / 2, all + 700}) {
        p.capacity = capacity;
        const Bytes got =
            run("mask_select", Op::masked_select, Bytes(dtype, capacity), [&](const params::Queue& q, Bytes& out) {
              p.out = out.get();
              kernels::indexing::select(q, p);
            });
        expect("mask_select", got, [&](int64_t r) { return r < all ? real(x, 3 * r) : 0.0; }, 0);
      }
      p.source = source.get();
      p.source_size = all;
      const Bytes got =
          run("mask_spread", Op::masked_scatter, Bytes(dtype, n), [&](const params::Queue& q, Bytes& out) {
            p.out = out.get();
            kernels::indexing::spread(q, p);
          });
      expect("mask_spread", got, [&](int64_t i) { return i % 3 == 0 ? real(source, i / 3) : real(x, i); }, 0);
    }
    p.capacity = all;
    for (bool columns : {false, true}) {
      const Bytes got = run("nonzero", Op::nonzero, Bytes(DType::int64, all), [&](const params::Queue& q, Bytes& out) {
        p.out = out.get();
        kernels::indexing::nonzero(q, p, columns);
      });
      expect("nonzero", got, [](int64_t r) { return double(3 * r); }, 0);
    }
  }
}

void test_distance() {
  for (DType dtype : {DType::float32, DType::float64})
    for (double power : {0.0, 1.0, 2.0, 3.0, double(INFINITY)}) {
      const int64_t m = 37, k = 67, features = 41;
      Bytes a = numbers(dtype, 2 * m * features, 1), b = numbers(dtype, 2 * k * features, 2);
      const Bytes got = run("cdist", Op::cdist, Bytes(dtype, 2 * m * k), [&](const params::Queue& q, Bytes& out) {
        kernels::matmul::cdist(q, {a.get(),
                                   b.get(),
                                   out.get(),
                                   dtype,
                                   power,
                                   2,
                                   m,
                                   k,
                                   features,
                                   {m * features, features, 1},
                                   {k * features, features, 1}});
      });
      expect(
          "cdist", got,
          [&](int64_t at) {
            const int64_t batch = at / (m * k), i = at / k % m, j = at % k;
            double sum = 0;
            for (int64_t f = 0; f < features; ++f) {
              const double d =
                  std::abs(real(a, (batch * m + i) * features + f) - real(b, (batch * k + j) * features + f));
              sum = std::isinf(power) ? std::max(sum, d) : sum + (power == 0 ? double(d != 0) : std::pow(d, power));
            }
            return power == 0 || std::isinf(power) ? sum : std::pow(sum, 1 / power);
          },
          4 * tolerance(dtype));
    }
}

}  // namespace

int main(int argc, char** argv) {
  return stator::test::run(argc, argv,
                           {{"get_and_put", test_get_and_put},
                            {"put_last", test_put_last},
                            {"accumulate", test_accumulate},
                            {"compaction", test_compaction},
                            {"distance", test_distance}});
}
