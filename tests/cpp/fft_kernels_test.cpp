// The Fourier transforms of the checked target, through the public API: every kind of line, block of lanes and stage,
// in two orders of blocks and threads with equal bits.
#include <stator/backend.hpp>
#include <stator/creation.hpp>
#include <stator/fft.hpp>

#include <cmath>
#include <complex>
#include <string>
#include <vector>

#include "check.hpp"
#include "core/testing.hpp"

namespace {

using namespace stator;
using test::check;
using Complex = std::complex<double>;

std::vector<Complex> values(int64_t n) {
  std::vector<Complex> x(static_cast<size_t>(n));
  for (int64_t i = 0; i < n; ++i) x[size_t(i)] = {double(i * 5 % 7) - 3, double(i * 3 % 11) - 5};
  return x;
}

std::vector<Complex> transformed(const std::vector<Complex>& x) {
  const auto n = int64_t(x.size());
  std::vector<Complex> y(x.size());
  for (int64_t k = 0; k < n; ++k)
    for (int64_t j = 0; j < n; ++j)
      y[size_t(k)] += x[size_t(j)] * std::polar(1.0, -2 * M_PI * double(j * k % n) / double(n));
  return y;
}

Array on_device(const Backend& be, const std::vector<Complex>& x, int64_t signals, bool real) {
  std::vector<Complex> all;
  std::vector<double> reals;
  for (int64_t l = 0; l < signals; ++l)
    for (const Complex& z : x) {
      all.push_back(z);
      reals.push_back(z.real());
    }
  const Dims shape{signals, int64_t(x.size())};
  return real ? from_host(be, reals.data(), DType::float64, shape, contiguous_strides(shape))
              : from_host(be, all.data(), DType::complex128, shape, contiguous_strides(shape));
}

std::vector<Complex> signals_of(const Array& a) {
  std::vector<Complex> x(static_cast<size_t>(a.size()));
  if (a.dtype() == DType::complex128) {
    a.to_host(x.data());
  } else {
    std::vector<double> reals(x.size());
    a.to_host(reals.data());
    for (size_t i = 0; i < x.size(); ++i) x[i] = reals[i];
  }
  return x;
}

template <class F>
void expect(const Backend& be, const std::string& name, const std::vector<Complex>& wanted, F call) {
  testing::set_block_seed(be, 1);
  const std::vector<Complex> got = signals_of(call());
  testing::set_block_seed(be, 2);
  const std::vector<Complex> again = signals_of(call());
  bool close = true, equal = got.size() == again.size();
  for (size_t i = 0; i < got.size(); ++i) {
    close = close && std::abs(got[i] - wanted[i % wanted.size()]) < 1e-10 * double(wanted.size() + 10);
    equal = equal && got[i] == again[i];
  }
  check(close, name);
  check(equal, name + ": in another order");
}

void test_signals(const Backend& be, int64_t n, int64_t signals) {
  const std::string name = "fft of " + std::to_string(n);
  const std::vector<Complex> x = values(n);
  std::vector<Complex> reals;
  for (const Complex& z : x) reals.push_back(z.real());
  const Array a = on_device(be, x, signals, false), r = on_device(be, x, signals, true);
  expect(be, name, transformed(x), [&] { return fft::fft(a, {.axes = std::vector<int64_t>{1}}); });
  std::vector<Complex> half = transformed(reals);
  half.resize(size_t(n / 2 + 1));
  expect(be, "r" + name, half, [&] { return fft::rfft(r, {.axes = std::vector<int64_t>{1}}); });
  const Array h = fft::rfft(r, {.axes = std::vector<int64_t>{1}});
  expect(be, "ir" + name, reals,
         [&] { return fft::irfft(h, {.lengths = std::vector<int64_t>{n}, .axes = std::vector<int64_t>{1}}); });
}

// Frames over several tiles, and back.
void test_frames(const Backend& be, int64_t n, int64_t samples) {
  const std::vector<Complex> x = values(samples);
  std::vector<Complex> reals;
  for (const Complex& z : x) reals.push_back(z.real());
  const Array r = on_device(be, x, 2, true), w = on_device(be, std::vector<Complex>(size_t(n), 0.5), 1, true);
  const Array window(w.buffer(), w.dtype(), Dims{n}, Dims{1}, w.offset());
  fft::StftOptions there;
  there.window = &window;
  fft::IstftOptions back;
  back.window = &window;
  back.length = samples;
  const Array spectrum = fft::stft(r, n, there);
  expect(be, "istft of " + std::to_string(n), reals, [&] { return fft::istft(spectrum, n, back); });
  const Array first = Array(spectrum.buffer(), spectrum.dtype(), Dims{1}, Dims{1}, spectrum.offset());
  Complex mean = 0;  // of frame 0: its frequency 0
  for (int64_t i = 0; i < n; ++i) mean += 0.5 * reals[size_t(std::abs(i - n / 2))];
  expect(be, "stft of " + std::to_string(n), {mean}, [&] { return copy(first); });
}

auto on_checked(void (*body)(const Backend&)) {
  return [body] {
    const Backend be = Backend::open("cpu");
    check(be.kernels() == "host_checked", "the checked target");
    body(be);
    be.close();
  };
}

}  // namespace

int main(int argc, char** argv) {
  return stator::test::run(
      argc, argv,
      {{"signals", on_checked([](const Backend& be) {
          for (int64_t n : {1, 2, 8, 15, 60, 77, 130}) test_signals(be, n, 9);
        })},
       {"bluestein", on_checked([](const Backend& be) { test_signals(be, 67, 2); })},    // in whole signals
       {"two_stages", on_checked([](const Backend& be) { test_signals(be, 512, 3); })},  // of one block
       {"radix_without_a_pass", on_checked([](const Backend& be) { test_signals(be, 289, 2); })},
       {"short_frames", on_checked([](const Backend& be) { test_frames(be, 60, 2500); })},
       {"long_frames", on_checked([](const Backend& be) { test_frames(be, 2100, 4300); })}});
}
