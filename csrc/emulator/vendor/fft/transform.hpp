// Discrete Fourier transforms of any length: radices as they divide it, Bluestein's convolution for large primes.
#pragma once

#include "emulator/vendor/common/types.hpp"

#include <complex>
#include <cstdint>
#include <memory>
#include <vector>

namespace stator::emulator::vendor::fft {

template <class R>
class Transform {
 public:
  using Complex = std::complex<R>;

  explicit Transform(int64_t n);
  // In place, without a factor: sum of x[j] exp(-2 pi i j k / n), or with the other sign if `inverse`.
  void run(Complex* x, bool inverse) const;

 private:
  void forward(const Complex* in, int64_t step, int64_t n, Complex* out) const;
  void convolve(Complex* x) const;

  int64_t n_;
  std::vector<Complex> roots_;
  // Of Bluestein's algorithm, for lengths with a large prime factor.
  std::unique_ptr<Transform> inner_;
  std::vector<Complex> chirp_, kernel_;
};

extern template class Transform<double>;
extern template class Transform<long double>;

}  // namespace stator::emulator::vendor::fft
