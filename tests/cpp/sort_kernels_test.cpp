// Sorting, searching, runs and histograms of the checked target: see kernel_support.hpp.
#include <cmath>
#include <limits>
#include <numeric>
#include <tuple>

#include "kernel_support.hpp"
#include "ops/sort/keys.hpp"

namespace {

using namespace stator;

// Runs `work` under two orders of blocks and threads: equal bits, `launches` launches.
Bytes twice(const std::string& name, Op op, const Bytes& blank, int launches,
            const std::function<void(const params::Queue&, Bytes&)>& work) {
  Bytes first = blank;
  for (uint64_t seed : {0, 1}) {
    checked.set_block_seed(seed);
    Bytes out = blank;
    Recorder device;
    work(device.queue(op), out);
    check(device.launches == launches, name + ": launches", device.launches);
    check(device.record.fault == 0, name + ": error slot");
    if (seed == 0)
      first = out;
    else
      check(out.data == first.data, name + ": bits under another order");
  }
  checked.set_block_seed(0);
  return first;
}

params::Segments dense(int64_t count, int64_t n) {
  params::Segments lines{};
  lines.count = count;
  lines.ndim = 1;
  lines.shape[0] = count;
  lines.x_strides[0] = lines.out_strides[0] = n;
  return lines;
}

Bytes drawn(DType dtype, int64_t n) {
  Bytes x(dtype, n);
  uint64_t state = 7;
  for (int64_t i = 0; i < n; ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    const int64_t v = int64_t(state >> 40) % 300 - (in(dtype, dtypes::unsigned_integers | dtypes::boolean) ? 0 : 150);
    write(x, i, dtype == DType::bool_ ? double(v & 1) : double(v % 120));
  }
  if (in(dtype, dtypes::floats)) {
    for (int64_t i = 1; i < n; i += 9) write(x, i, -0.0);
    for (int64_t i = 4; i < n; i += 17) write(x, i, std::numeric_limits<double>::quiet_NaN());
    for (int64_t i = 6; i < n; i += 31) write(x, i, -std::numeric_limits<double>::infinity());
  }
  return x;
}

void test_sort() {
  for (DType dtype :
       {DType::bool_, DType::int8, DType::uint16, DType::bfloat16, DType::float32, DType::int64, DType::float64})
    for (bool descending : {false, true})
      for (auto [lines, n] : {std::pair<int64_t, int64_t>{1, 1}, {300, 3}, {5, 33}, {2, 1100}, {1, 2100}, {1, 4200}}) {
        const std::string name = "sort " + std::string(stator::name(dtype)) + " " + std::to_string(n);
        if (n > 1000 && dtype != DType::float32 && dtype != DType::int64) continue;
        const int64_t longest = itemsize(dtype) == 8 ? 2048 : 4096;  // that one block sorts
        const bool is_long = n > longest;
        if (n > 2000 && (descending || n < longest || n > 2 * longest)) continue;
        const Bytes x = drawn(dtype, lines * n);
        params::Sort s{};
        s.x = const_cast<unsigned char*>(x.data.data());
        s.key = key_codec(dtype, descending);
        s.n = n;
        s.x_step = s.out_step = 1;
        s.count = n;
        s.segments = dense(lines, n);
        const auto work = [&](const params::Queue& q) {
          std::vector<unsigned char> scratch(size_t(kernels::sort::sort_scratch(h200, s)));
          kernels::sort::sort(q, s, scratch.data());
        };
        const int launches = is_long ? 3 * itemsize(dtype) : 1;
        const Bytes order =
            twice(name, Op::argsort, Bytes(DType::int64, lines * n), launches, [&](const params::Queue& q, Bytes& out) {
              s.values = nullptr;
              s.indices = static_cast<int64_t*>(out.get());
              work(q);
            });
        const Bytes values =
            twice(name, Op::sort, Bytes(dtype, lines * n), launches, [&](const params::Queue& q, Bytes& out) {
              s.values = out.get();
              s.indices = nullptr;
              work(q);
            });
        std::vector<int64_t> want(static_cast<size_t>(n));
        for (int64_t line = 0; line < lines; ++line) {
          std::iota(want.begin(), want.end(), 0);
          const auto rank = [&](int64_t i) {
            const double v = real(x, line * n + i);
            const double up = std::isnan(v) ? std::numeric_limits<double>::infinity() : v;
            return descending ? -up : up;
          };
          std::stable_sort(want.begin(), want.end(), [&](int64_t a, int64_t b) { return rank(a) < rank(b); });
          for (int64_t i = 0; i < n; ++i) {
            const int64_t at = line * n + i;
            const double value = real(values, at), wanted = real(x, line * n + want[size_t(i)]);
            if (int64_t(real(order, at)) == want[size_t(i)] &&
                (std::isnan(wanted) ? std::isnan(value)
                                    : value == wanted && std::signbit(value) == std::signbit(wanted)))
              continue;
            check(false, name + ": order at", at);
            return;
          }
        }
      }
}

// Indices of long lines without sorting them: one, the best, and several.
void test_select() {
  for (DType dtype : {DType::float32, DType::int64}) {
    const int64_t lines = 2, n = itemsize(dtype) == 4 ? 5000 : 2600;
    const Bytes x = drawn(dtype, lines * n);
    for (bool descending : {false, true}) {
      std::vector<std::vector<int64_t>> order;
      for (int64_t line = 0; line < lines; ++line) {
        std::vector<int64_t>& own = order.emplace_back(size_t(n));
        std::iota(own.begin(), own.end(), 0);
        const auto rank = [&](int64_t i) {
          const double v = real(x, line * n + i);
          const double up = std::isnan(v) ? std::numeric_limits<double>::infinity() : v;
          return descending ? -up : up;
        };
        std::stable_sort(own.begin(), own.end(), [&](int64_t a, int64_t b) { return rank(a) < rank(b); });
      }
      for (int kind : {0, 1, 2}) {
        const std::string name = "select " + std::to_string(kind) + " of " + std::string(stator::name(dtype));
        const std::vector<int64_t> ranks{0, n / 2, n / 2 + 1, n - 1};
        params::Sort s{};
        s.x = const_cast<unsigned char*>(x.data.data());
        s.key = key_codec(dtype, descending);
        s.n = n;
        s.x_step = s.out_step = 1;
        s.first = kind == 0 ? n / 3 : 0;
        s.count = kind == 0 ? 1 : kind == 1 ? 40 : int64_t(ranks.size());
        s.segments = dense(lines, n);
        s.segments.out_strides[0] = s.count;
        s.rank_count = kind == 2 ? int32_t(ranks.size()) : 0;
        if (kind == 2) std::copy(ranks.begin(), ranks.end(), s.rank);
        Bytes values(dtype, lines * s.count);
        const int launches = 3 + itemsize(dtype) + (kind == 1 ? 1 : 0);
        const Bytes places = twice(name, Op::topk, Bytes(DType::int64, lines * s.count), launches,
                                   [&](const params::Queue& q, Bytes& out) {
                                     s.values = values.get();
                                     s.indices = static_cast<int64_t*>(out.get());
                                     std::vector<unsigned char> scratch(size_t(kernels::sort::sort_scratch(h200, s)));
                                     kernels::sort::sort(q, s, scratch.data());
                                   });
        expect(
            name, places,
            [&](int64_t i) {
              const int64_t k = i % s.count, place = kind == 2 ? ranks[size_t(k)] : s.first + k;
              return double(order[size_t(i / s.count)][size_t(place)]);
            },
            0);
        expect(
            name + ": values", values, [&](int64_t i) { return real(x, i / s.count * n + int64_t(real(places, i))); },
            0);
      }
    }
  }
}

void test_complex() {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (DType dtype : {DType::complex64, DType::complex128}) {
    const int64_t lines = 3, n = 700;
    Bytes x(dtype, lines * n);
    const double parts[] = {-1, -0.0, 0.0, 2, nan, std::numeric_limits<double>::infinity()};
    for (int64_t i = 0; i < lines * n; ++i) write(x, i, {parts[i * 7 % 6], parts[i / 6 * 5 % 6]});
    const auto rank = [&](int64_t i) {
      const Value v = read(x, i);
      const bool re = std::isnan(v.real()), im = std::isnan(v.imag());
      return std::tuple{2 * re + im, re ? 0 : v.real(), im ? 0 : v.imag()};
    };
    std::vector<int64_t> want(size_t(lines * n));
    for (int64_t line = 0; line < lines; ++line) {
      const auto begin = want.begin() + line * n;
      std::iota(begin, begin + n, 0);
      std::stable_sort(begin, begin + n, [&](int64_t a, int64_t b) { return rank(line * n + a) < rank(line * n + b); });
    }
    std::vector<uint64_t> keys(size_t(lines * n));
    std::vector<int64_t> order(size_t(lines * n)), second(size_t(lines * n));
    Bytes values(dtype, lines * n);
    const bool two = dtype == DType::complex128;
    const Bytes got = twice(
        "complex", Op::argsort, Bytes(DType::int64, lines * n), two ? 5 : 3, [&](const params::Queue& q, Bytes& out) {
          params::ComplexKeys k{x.get(), dtype, nullptr, keys.data(), false, false, n, 1, dense(lines, n)};
          params::Sort s{};
          s.x = keys.data();
          s.key = key_codec(DType::uint64);
          s.n = s.count = n;
          s.x_step = s.out_step = 1;
          s.segments = dense(lines, n);
          s.indices = order.data();
          kernels::sort::complex_keys(q, k);
          kernels::sort::sort(q, s, nullptr);
          if (two) {
            k.order = order.data();
            k.high = true;
            s.indices = second.data();
            kernels::sort::complex_keys(q, k);
            kernels::sort::sort(q, s, nullptr);
          }
          kernels::sort::complex_gather(q, {x.get(), dtype, s.indices, k.order, values.get(),
                                            static_cast<int64_t*>(out.get()), n, 1, 1, dense(lines, n)});
        });
    expect("complex: indices", got, [&](int64_t i) { return double(want[size_t(i)]); }, 0);
    Bytes line(dtype, n);
    std::copy_n(values.data.begin(), line.data.size(), line.data.begin());
    const Bytes found =
        twice("complex: isin", Op::isin, Bytes(DType::bool_, n), 1, [&](const params::Queue& q, Bytes& out) {
          kernels::sort::complex_search(
              q, {line.get(), x.get(), dtype, static_cast<bool*>(out.get()), true, n, dense(n, 1)});
        });
    expect("complex: isin", found, [&](int64_t i) { return double(std::get<0>(rank(i)) != 0); }, 0);
  }
}

void test_quantile_and_mode() {
  const int64_t lines = 3, n = 700;
  Bytes sorted(DType::float32, lines * n);
  for (int64_t i = 0; i < lines * n; ++i) write(sorted, i, double(i % n / 3));
  params::Quantile p{};
  p.sorted = sorted.get();
  p.dtype = p.out_dtype = DType::float32;
  p.segments = lines;
  p.n = n;
  p.count = 64;
  for (int k = 0; k < 64; ++k) p.index[k] = k * 10, p.fraction[k] = 0.5;
  const Bytes got =
      twice("quantile", Op::quantile, Bytes(DType::float32, 64 * lines), 1, [&](const params::Queue& q, Bytes& out) {
        p.out = out.get();
        kernels::sort::quantile(q, p);
      });
  expect(
      "quantile", got, [&](int64_t i) { return (double(i / lines * 10 / 3) + double((i / lines * 10 + 1) / 3)) / 2; },
      0);
  for (int64_t i = 300; i < 310; ++i) write(sorted, n + i, 100.0);
  Bytes values(DType::float32, lines);
  const Bytes counts = twice("mode", Op::mode, Bytes(DType::int64, lines), 1, [&](const params::Queue& q, Bytes& out) {
    kernels::sort::mode(
        q, {sorted.get(), values.get(), static_cast<int64_t*>(out.get()), key_codec(DType::float32), lines, n});
  });
  expect("mode", counts, [](int64_t line) { return line == 1 ? 10.0 : 3.0; }, 0);
  expect("mode", values, [](int64_t line) { return line == 1 ? 100.0 : 0.0; }, 0);
}

void test_search() {
  for (DType dtype : {DType::int8, DType::float16, DType::float32, DType::uint64})
    for (bool right : {false, true}) {
      const int64_t n = 40, m = 2100;
      Bytes boundaries(dtype, n), values(dtype, m);
      for (int64_t i = 0; i < n; ++i) write(boundaries, i, double(i / 2 * 2));
      for (int64_t i = 0; i < m; ++i) write(values, i, double(i % 45));
      params::Search p{};
      p.boundaries = boundaries.get();
      p.values = values.get();
      p.right = right;
      p.key = key_codec(dtype);
      p.n = n;
      p.step = p.per_row = 1;
      p.rows = dense(1, 0);
      p.elements = dense(m, 1);
      const Bytes got =
          twice("search", Op::searchsorted, Bytes(DType::int64, m), 1, [&](const params::Queue& q, Bytes& out) {
            p.out = static_cast<int64_t*>(out.get());
            kernels::sets::search(q, p);
          });
      expect(
          "search", got,
          [&](int64_t i) {
            const int64_t v = i % 45, before = std::min<int64_t>((v + 1) / 2 * 2, n);
            return double(right && v % 2 == 0 && v < n ? before + 2 : before);
          },
          0);
    }
}

void test_runs() {
  for (DType dtype : {DType::uint8, DType::float32, DType::float64}) {
    const int64_t n = 9001, length = 7, total = (n + length - 1) / length, capacity = total + 5;
    Bytes x(dtype, n), inverse(DType::int64, n), counts(DType::int64, capacity);
    for (int64_t i = 0; i < n; ++i) write(x, i, double(i / length % 100));
    int64_t tile = 0, found = 0;
    uint32_t counter = 0;
    params::Runs p{};
    p.x = x.get();
    p.key = key_codec(dtype);
    p.elements = dense(n, 1);
    p.n = n;
    p.tiles = kernels::sets::run_tiles(h200, n, &tile);
    check(p.tiles > 1, "runs: several tiles");
    std::vector<int64_t> tile_counts(size_t(p.tiles)), starts(size_t(capacity + 1));
    p.tile = tile;
    p.tile_counts = tile_counts.data();
    p.total = &found;
    p.counter = &counter;
    p.capacity = capacity;
    p.starts = starts.data();
    p.inverse = static_cast<int64_t*>(inverse.get());
    p.counts = static_cast<int64_t*>(counts.get());
    const Bytes values =
        twice("runs", Op::unique_consecutive, Bytes(dtype, capacity), 3, [&](const params::Queue& q, Bytes& out) {
          p.values = out.get();
          kernels::sets::count_runs(q, p);
          check(found == total && counter == 0, "runs: the total");
          kernels::sets::write_runs(q, p);
          kernels::sets::finish_runs(q, p);
        });
    expect("runs: values", values, [&](int64_t i) { return double(i < total ? i % 100 : 0); }, 0);
    expect("runs: inverse", inverse, [&](int64_t i) { return double(i / length); }, 0);
    expect(
        "runs: counts", counts,
        [&](int64_t i) { return double(i >= total      ? 0
                                       : i + 1 < total ? length
                                                       : n - i * length); }, 0);
  }
}

void test_histogram() {
  for (int64_t bins : {1, 10, 3000, 9000})
    for (params::Binning binning : {params::Binning::integers, params::Binning::uniform, params::Binning::even}) {
      const int64_t n = 10007;
      const bool whole = binning == params::Binning::integers;
      Bytes x(whole ? DType::int32 : DType::float32, n);
      for (int64_t i = 0; i < n; ++i) write(x, i, double(i % bins) + (whole ? 0 : 0.5));
      const bool own = bins <= params::Histogram::most_private;
      std::vector<int64_t> zero(static_cast<size_t>(bins));
      uint32_t counter = 0;
      params::Histogram p{};
      p.binning = binning;
      p.x = x.get();
      p.dtype = x.dtype;
      p.elements = dense(n, 1);
      p.bins = bins;
      p.high = double(bins);
      p.edge_dtype = DType::float64;
      p.counter = &counter;
      const Bytes got =
          twice("histogram", Op::histogram, Bytes(DType::int64, bins), 1, [&](const params::Queue& q, Bytes& out) {
            p.counts = own ? zero.data() : static_cast<int64_t*>(out.get());
            p.out = own ? out.get() : nullptr;
            p.out_dtype = DType::int64;
            kernels::sets::histogram(q, p);
            for (int64_t count : zero) check(count == 0, "histogram: the counts are left zero");
            check(counter == 0, "histogram: the counter is left zero");
          });
      expect("histogram", got, [&](int64_t b) { return double(n / bins + (b < n % bins)); }, 0);
    }
}

void test_bin_sums() {
  const int64_t n = 3000, bins = 11;
  Bytes ids(DType::uint32, n), order(DType::int64, n), weights = numbers(DType::float32, n, 2);
  for (int64_t i = 0; i < n; ++i) write(ids, i, double(i * 10 / n)), write(order, i, double(n - 1 - i));
  params::BinSums p{static_cast<uint32_t*>(ids.get()),
                    static_cast<int64_t*>(order.get()),
                    weights.get(),
                    DType::float32,
                    dense(n, 1),
                    nullptr,
                    true,
                    n,
                    bins};
  const Bytes got =
      twice("bin_sums", Op::bincount, Bytes(DType::float64, bins), 1, [&](const params::Queue& q, Bytes& out) {
        p.out = out.get();
        kernels::sets::bin_sums(q, p);
      });
  expect(
      "bin_sums", got,
      [&](int64_t bin) {
        double sum = 0;
        for (int64_t i = 0; i < n; ++i)
          if (i * 10 / n == bin) sum += real(weights, n - 1 - i);
        return sum;
      },
      1e-12);
}

}  // namespace

int main(int argc, char** argv) {
  return stator::test::run(argc, argv,
                           {{"sort", test_sort},
                            {"select", test_select},
                            {"complex", test_complex},
                            {"quantile_and_mode", test_quantile_and_mode},
                            {"search", test_search},
                            {"runs", test_runs},
                            {"histogram", test_histogram},
                            {"bin_sums", test_bin_sums}});
}
