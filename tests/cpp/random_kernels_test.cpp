// Draws by weight of the checked target: see kernel_support.hpp.
#include "kernel_support.hpp"

#include <bit>

namespace {

using namespace stator;

constexpr uint64_t one = uint64_t(1) << 62;

// Probabilities of whole parts, every fifth one 0.
Bytes probabilities(DType dtype, int64_t n, int64_t step) {
  Bytes p(dtype, n * step);
  double total = 0;
  for (int64_t i = 0; i < n; ++i) total += i % 5 == 2 ? 0 : double(i % 7 + 1);
  for (int64_t i = 0; i < n; ++i) write(p, i * step, i % 5 == 2 ? 0 : double(i % 7 + 1) / total);
  return p;
}

std::vector<uint64_t> sums(const Bytes& p, int64_t n, int64_t step) {
  std::vector<uint64_t> cdf;
  uint64_t sum = 0;
  for (int64_t i = 0; i < n; ++i) cdf.push_back(sum += uint64_t(real(p, i * step) * double(one)));
  return cdf;
}

void test_build_cdf() {
  for (int64_t n : {1, 2, 8, 1000, 8191, 8192, 8193, 20011})
    for (int64_t step : {1, 3}) {
      Bytes p = probabilities(DType::float64, n, step);
      const Bytes got = run("build_cdf", Op::choice, Bytes(DType::uint64, n), [&](const params::Queue& q, Bytes& out) {
        kernels::random::build_cdf(q, {p.get(), p.dtype, n, step, 1, 1e-9, static_cast<uint64_t*>(out.get())});
      });
      const std::vector<uint64_t> want = sums(p, n, step);
      check(std::memcmp(got.data.data(), want.data(), got.data.size()) == 0, "build_cdf: sums", n);
    }
}

// What the error slot says of n probabilities of 1 / n, but one; the last entry of the sums is then 0.
params::FaultRecord refused(int64_t n, int64_t at, double value, int64_t least) {
  Bytes p(DType::float64, n);
  for (int64_t i = 0; i < n; ++i) write(p, i, i == at ? value : 1.0 / double(n));
  std::vector<uint64_t> cdf(static_cast<size_t>(n), 99);
  Recorder device;
  kernels::random::build_cdf(device.queue(Op::choice), {p.get(), p.dtype, n, 1, least, 1e-9, cdf.data()});
  check((cdf.back() == 0) == (device.record.fault != 0), "build_cdf: refused sums end with 0", n);
  return device.record;
}

void test_refusals() {
  for (int64_t n : {4, 9000}) {
    for (double value : {-0.5, double(INFINITY), double(-INFINITY)}) {
      const params::FaultRecord r = refused(n, n - 2, value, 0);
      check(r.fault == int32_t(params::Fault::bad_probability) && r.position == n - 2 &&
                std::bit_cast<double>(r.value) == value,
            "build_cdf: the bad probability", n);
    }
    check(refused(n, 1, std::nan(""), 0).position == 1, "build_cdf: NaN", n);
    check(refused(n, 1, 0.9, 0).position == params::sum_of_probabilities, "build_cdf: the sum", n);
    check(refused(n, 0, 1.0 / double(n), n).fault == 0, "build_cdf: as many as are drawn", n);
    const params::FaultRecord few = refused(n, 0, 1.0 / double(n), n + 1);
    check(few.position == params::few_probabilities && few.value == n, "build_cdf: too few", n);
  }
  // Five ones are 2^62 modulo 2^64.
  Bytes ones(DType::float64, 5);
  for (int64_t i = 0; i < 5; ++i) write(ones, i, 1);
  std::vector<uint64_t> cdf(5);
  Recorder device;
  kernels::random::build_cdf(device.queue(Op::choice), {ones.get(), ones.dtype, 5, 1, 0, 1e-9, cdf.data()});
  check(device.record.position == params::sum_of_probabilities, "build_cdf: sums saturate");
}

void test_indices() {
  for (int64_t n : {1, 2, 3, 129, 3000}) {
    Bytes p = probabilities(DType::float64, n, 1);
    const std::vector<uint64_t> cdf = sums(p, n, 1);
    const Bytes got =
        run("categorical", Op::choice, Bytes(DType::int64, 2051), [&](const params::Queue& q, Bytes& out) {
          kernels::random::categorical(q, {cdf.data(), static_cast<int64_t*>(out.get()), n, 2051, {7, 3, nullptr}});
        });
    expect(
        "categorical", got,
        [&](int64_t i) -> Value {
          uint32_t w[4];
          kernels::random::philox(h200, 7, 3 + uint64_t(i / 2), 0, w);
          const uint64_t word = uint64_t(w[2 * (i % 2)] >> 5) << 26 | w[2 * (i % 2) + 1] >> 6;
          const uint64_t value = uint64_t((unsigned __int128)word * cdf.back() >> 53);
          return double(std::upper_bound(cdf.begin(), cdf.end(), value) - cdf.begin());
        },
        0);
    const Bytes keys =
        run("exponential_keys", Op::choice, Bytes(DType::float64, n), [&](const params::Queue& q, Bytes& out) {
          kernels::random::exponential_keys(q,
                                            {p.get(), p.dtype, n, 1, static_cast<double*>(out.get()), {7, 3, nullptr}});
        });
    for (int64_t i = 0; i < n; ++i) {
      uint32_t w[4];
      kernels::random::philox(h200, 7, 3 + uint64_t(i / 2), 0, w);
      const double u = (double(uint64_t(w[2 * (i % 2)] >> 5) << 26 | w[2 * (i % 2) + 1] >> 6) + 1) * 0x1p-53;
      const double key = real(keys, i), want = -std::log(u) * 0x1p-60 / real(p, i);
      check(i % 5 == 2 ? std::isinf(key) : std::abs(key - want) <= 4e-16 * want, "exponential_keys", i);
    }
  }
}

void test_counts() {
  const int64_t n = 11, experiments = 300;
  Bytes p = probabilities(DType::float64, n, 1);
  const std::vector<uint64_t> cdf = sums(p, n, 1);
  for (int64_t trials : {int64_t(0), int64_t(7), int64_t(100000), int64_t(1) << 50}) {
    const Bytes got = run(
        "multinomial", Op::multinomial, Bytes(DType::int64, n * experiments), [&](const params::Queue& q, Bytes& out) {
          kernels::random::multinomial(
              q, {cdf.data(), static_cast<int64_t*>(out.get()), n, trials, experiments, {7, 3, nullptr}});
        });
    for (int64_t e = 0; e < experiments; ++e) {
      double total = 0;
      for (int64_t k = 0; k < n; ++k) {
        const double count = real(got, e * n + k);
        total += count;
        check(count >= 0 && (k % 5 != 2 || count == 0), "multinomial: counts", e);
      }
      check(total == double(trials), "multinomial: trials", e);
    }
  }
}

void test_rejection() {
  for (DType dtype : {DType::float16, DType::float32, DType::float64, DType::int64})
    for (double mean : {0.3, 3.0, 47.0}) {
      const auto& launcher = dtype == DType::int64 ? kernels::random::poisson : kernels::random::gamma;
      const Bytes got = run("rejection", Op::gamma, Bytes(dtype, 2051), [&](const params::Queue& q, Bytes& out) {
        launcher(q, {out.get(), dtype, 2051, {5, 9, nullptr}, mean, 1});
      });
      double sum = 0;
      for (int64_t i = 0; i < got.size(); ++i) sum += real(got, i);
      check(std::abs(sum / 2051 - mean) < 5 * std::sqrt(mean / 2051), "rejection: the mean", int64_t(mean));
    }
}

}  // namespace

int main(int argc, char** argv) {
  return stator::test::run(argc, argv,
                           {{"build_cdf", test_build_cdf},
                            {"refusals", test_refusals},
                            {"indices", test_indices},
                            {"counts", test_counts},
                            {"rejection", test_rejection}});
}
