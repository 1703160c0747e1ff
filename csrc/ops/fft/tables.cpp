// Tables of roots of unity and of chirps.
#include "ops/fft/tables.hpp"

#include "params/fft.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <utility>

namespace stator::fft {
namespace {

using Complex = std::complex<long double>;
constexpr int largest_radix = 61;  // kernels/fft/passes.cuh

// exp(-2 pi i k / n), 0 <= k < n. The angle is reduced exactly to an eighth of the circle. Long tables are products of
// two short ones.
class Roots {
 public:
  explicit Roots(int64_t n) : n_(n) {
    while (fine_ * fine_ < n) fine_ *= 2;
    if (n <= 1024) fine_ = n;
    for (int64_t k = 0; k < std::min(fine_, n); ++k) low_.push_back(exact(k));
    for (int64_t k = 0; k < n; k += fine_) high_.push_back(exact(k));
  }
  Complex operator()(int64_t k) const {
    const int64_t high = k / fine_, low = k - high * fine_;
    return high == 0 ? low_[size_t(low)] : low == 0 ? high_[size_t(high)] : high_[size_t(high)] * low_[size_t(low)];
  }

 private:
  Complex exact(int64_t k) const {
    const int64_t eighth = 8 * k / n_;         // n below 2^60
    const int64_t rest = 8 * k - eighth * n_;  // the rest, in units of 1 / (8 n) of the circle
    const bool odd = eighth % 2 == 1;
    const long double angle = 2 * 3.141592653589793238462643383279502884L * (odd ? n_ - rest : rest) / (8.0L * n_);
    long double c = std::cos(angle), s = std::sin(angle);
    if (odd) std::swap(c, s);
    switch (eighth / 2) {
      case 0: return {c, -s};
      case 1: return {-s, -c};
      case 2: return {-c, s};
      default: return {s, c};
    }
  }

  int64_t n_, fine_ = 1;
  std::vector<Complex> low_, high_;
};

std::vector<int> factors(int64_t n) {
  int twos = 0;
  std::vector<int> result;
  for (; n % 2 == 0; n /= 2) ++twos;
  for (; twos >= 5 || twos == 3; twos -= 3) result.push_back(8);
  for (; twos >= 2; twos -= 2) result.push_back(4);
  if (twos == 1) result.push_back(2);
  for (int p = 3; p <= largest_radix && n > 1; p += 2)
    for (; n % p == 0; n /= p) result.push_back(p);
  if (n > 1) result.clear();
  return result;
}

// Numbers computed in long double and rounded once to the type of the transform.
class Numbers {
 public:
  explicit Numbers(bool is_double) : is_double_(is_double) {}
  void push(long double v) {
    if (is_double_)
      doubles_.push_back(double(v));
    else
      floats_.push_back(float(v));
  }
  void push(const Complex& z) {
    push(z.real());
    push(z.imag());
  }
  const void* data() const { return is_double_ ? static_cast<const void*>(doubles_.data()) : floats_.data(); }
  size_t bytes() const { return doubles_.size() * sizeof(double) + floats_.size() * sizeof(float); }

 private:
  const bool is_double_;
  std::vector<double> doubles_;
  std::vector<float> floats_;
};

void pass_tables(int64_t n, Numbers& out) {
  int64_t left = n;
  for (const int radix : factors(n)) {
    if (radix % 2 == 1) {
      const Roots roots(radix);
      for (int t = 0; t < radix; ++t) out.push(std::conj(roots(t)));
    }
    const Roots roots(left);
    for (int64_t p = 0; p < left / radix; ++p)
      for (int k = 1; k < radix; ++k) out.push(roots(p * k));
    left /= radix;
  }
}

// A transform in long double, for the filters of Bluestein's algorithm. The length is a power of two times a few small
// factors.
void transform(std::vector<Complex>& x) {
  const int64_t n = int64_t(x.size());
  std::vector<Complex> y(x.size());
  int64_t left = n, s = 1;
  for (const int radix : factors(n)) {
    const int64_t m = left / radix;
    const Roots roots(left);
    for (int64_t p = 0; p < m; ++p)
      for (int k = 0; k < radix; ++k)
        for (int64_t q = 0; q < s; ++q) {
          Complex sum = 0;
          for (int r = 0; r < radix; ++r) sum += x[size_t((p + m * r) * s + q)] * roots(m * (r * k % radix));
          y[size_t((p * radix + k) * s + q)] = sum * roots(p * k);
        }
    x.swap(y);
    left = m;
    s *= radix;
  }
}

}  // namespace

bool is_smooth(int64_t n) { return n == 1 || !factors(n).empty(); }

int64_t convenient_length(int64_t n) {
  int64_t best = 1;
  while (best < n) best *= 2;
  for (const int64_t odd : {3, 5, 9, 15}) {
    int64_t m = odd * 16;  // so that rows and columns are whole vectors
    while (m < n) m *= 2;
    best = std::min(best, m);
  }
  return best;
}

struct Tables::Key {
  int64_t kind, a, b, is_double, lanes;
};

Tables::Tables(OpCall& call, bool is_double)
    : call_(call),
      is_double_(is_double),
      lanes_(kernels::fft::lanes(call.limits(), is_double)),
      cache_(libs::lease_plans(call.context(), call.stream())) {}

template <class Make>
const char* Tables::table(Key key, Make make) {
  auto result = cache_->get<libs::DeviceTable>(key, [&]() -> libs::PlanCache::Entry {
    Numbers numbers(is_double_);
    make(numbers);
    if (numbers.bytes() == 0) numbers.push(0.0L);
    auto made = std::make_shared<const libs::DeviceTable>(call_.context(), call_.stream(), numbers.data(),
                                                          numbers.bytes(), uint16_t(call_.op()));
    return {made, made->bytes()};
  });
  tables_.push_back(result);
  call_.keep(result);
  return result->data();
}

params::FftPasses Tables::passes(int64_t n) {
  params::FftPasses passes{};
  passes.n = int32_t(n);
  for (const int radix : factors(n)) passes.radix[passes.count++] = uint8_t(radix);
  passes.tables = table({0, n, 0, is_double_, 0}, [n](Numbers& out) { pass_tables(n, out); });
  return passes;
}

void Tables::columns(int64_t n1, int64_t n2, const void** lane_roots, const void** block_roots) {
  const int64_t n = n1 * n2;
  *lane_roots = table({1, n1, n2, is_double_, lanes_}, [&](Numbers& out) {
    const Roots roots(n);
    for (int64_t k = 0; k < n1; ++k) {
      for (int l = 0; l < lanes_; ++l) out.push(roots(k * l % n).real());
      for (int l = 0; l < lanes_; ++l) out.push(roots(k * l % n).imag());
    }
  });
  *block_roots = table({2, n1, n2, is_double_, lanes_}, [&](Numbers& out) {
    const Roots roots(n);
    for (int64_t t = 0; t * lanes_ < n; ++t) out.push(roots(t * lanes_));
  });
}

const void* Tables::real_roots(int64_t m) {
  return table({3, m, 0, is_double_, 0}, [m](Numbers& out) {
    const Roots roots(2 * m);
    for (int64_t k = 0; k <= m; ++k) out.push(roots(k));
  });
}

Tables::Chirp Tables::chirp(int64_t n, int64_t m) {
  const int64_t apart = m + lanes_;
  // k^2 modulo 2n, without overflow.
  const auto exponents = [n](auto&& each) {
    for (int64_t k = 0, square = 0; k < n; ++k) {
      each(k, square);
      square = (square + 2 * k + 1) % (2 * n);
    }
  };
  const char* chirp = table({4, n, m, is_double_, lanes_}, [&](Numbers& out) {
    const Roots roots(2 * n);
    std::vector<Complex> values(static_cast<size_t>(apart));
    exponents([&](int64_t k, int64_t square) { values[size_t(k)] = roots(square); });
    for (const Complex& z : values) out.push(z.real());
    for (const Complex& z : values) out.push(z.imag());
    for (const Complex& z : values) out.push(-z.imag());
  });
  const char* filter = table({5, n, m, is_double_, lanes_}, [&](Numbers& out) {
    const Roots roots(2 * n);
    std::vector<Complex> values(static_cast<size_t>(m));
    exponents([&](int64_t k, int64_t square) {
      const Complex z = std::conj(roots(square));
      values[size_t(k)] = z;
      if (k > 0) values[size_t(m - k)] = z;
    });
    transform(values);
    values.resize(static_cast<size_t>(apart));
    const auto scale = 1.0L / static_cast<long double>(m);
    for (const Complex& z : values) out.push(z.real() * scale);
    for (const Complex& z : values) out.push(z.imag() * scale);
  });
  return {chirp, filter, apart};
}

}  // namespace stator::fft
