#include "emulator/vendor/fft/transform.hpp"

#include <algorithm>
#include <numbers>

namespace stator::emulator::vendor::fft {

namespace {

constexpr int64_t largest_radix = 31;

int64_t smallest_factor(int64_t n) {
  for (int64_t p = 2; p * p <= n; ++p)
    if (n % p == 0) return p;
  return n;
}
int64_t largest_factor(int64_t n) {
  int64_t p = 1;
  for (; n > 1; n /= p) p = smallest_factor(n);
  return p;
}

// exp(-2 pi i k / n).
template <class R>
std::complex<R> root(int64_t k, int64_t n) {
  const long double angle = -2 * std::numbers::pi_v<long double> * (long double)(k % n) / (long double)(n);
  return {R(std::cos(angle)), R(std::sin(angle))};
}

}  // namespace

template <class R>
Transform<R>::Transform(int64_t n) : n_(n) {
  if (largest_factor(n) <= largest_radix) {
    for (int64_t k = 0; k < n; ++k) roots_.push_back(root<R>(k, n));
    return;
  }
  int64_t length = 1;
  while (length < 2 * n) length *= 2;
  inner_ = std::make_unique<Transform>(length);
  kernel_.resize(size_t(length));
  for (int64_t k = 0; k < n; ++k) {
    chirp_.push_back(root<R>(int64_t((__int128(k) * k) % (2 * n)), 2 * n));
    kernel_[size_t(k)] = kernel_[size_t((length - k) % length)] = std::conj(chirp_.back());
  }
  inner_->run(kernel_.data(), false);
}

template <class R>
void Transform<R>::forward(const Complex* in, int64_t step, int64_t n, Complex* out) const {
  if (n == 1) {
    *out = *in;
    return;
  }
  const int64_t p = smallest_factor(n), part = n / p, turn = n_ / n;
  for (int64_t r = 0; r < p; ++r) forward(in + r * step, step * p, part, out + r * part);
  Complex terms[largest_radix];
  for (int64_t k = 0; k < part; ++k) {
    for (int64_t r = 0; r < p; ++r) terms[r] = times(out[r * part + k], roots_[size_t(r * k * turn)]);
    for (int64_t q = 0; q < p; ++q) {
      Complex sum = terms[0];
      for (int64_t r = 1; r < p; ++r) sum += times(terms[r], roots_[size_t((r * q % p) * part * turn)]);
      out[q * part + k] = sum;
    }
  }
}

template <class R>
void Transform<R>::convolve(Complex* x) const {
  const auto length = kernel_.size();
  std::vector<Complex> padded(length);
  for (size_t k = 0; k < size_t(n_); ++k) padded[k] = times(x[k], chirp_[k]);
  inner_->run(padded.data(), false);
  for (size_t k = 0; k < length; ++k) padded[k] = times(padded[k], kernel_[k]);
  inner_->run(padded.data(), true);
  for (size_t k = 0; k < size_t(n_); ++k) x[k] = times(padded[k], chirp_[k]) / R(length);
}

template <class R>
void Transform<R>::run(Complex* x, bool inverse) const {
  const auto flip = [&] {
    if (inverse) std::transform(x, x + n_, x, [](Complex value) { return std::conj(value); });
  };
  flip();
  if (inner_) {
    convolve(x);
  } else {
    const std::vector<Complex> in(x, x + n_);
    forward(in.data(), 1, n_, x);
  }
  flip();
}

template class Transform<double>;
template class Transform<long double>;

}  // namespace stator::emulator::vendor::fft
