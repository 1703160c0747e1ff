// Fourier transforms of the host targets, and of devices without cuFFT.
#include "host/launcher.hpp"
#include "kernels/fft/signals.cuh"

namespace stator::STATOR_TARGET::fft {

void double_signals(const params::Queue& q, const params::FftSignals& p);  // fft_double.cu

namespace {

struct FftTuning {
  static constexpr int block = 128;
  static constexpr int real_pass_tile = by_target<512, 4096>::value;  // points per block
};

template <class T, int Size>
STATOR_KERNEL(Size) void fft_real_pass_kernel(params::FftRealPass p) {
  const Group<Size> group;
  const int64_t m = p.n, pairs = m / 2 + 1;
  const int64_t tiles = (pairs + FftTuning::real_pass_tile - 1) / FftTuning::real_pass_tile;
  const int64_t signal = group.block() / tiles, first = (group.block() - signal * tiles) * FftTuning::real_pass_tile;
  const int64_t count = pairs - first < FftTuning::real_pass_tile ? pairs - first : FftTuning::real_pass_tile;
  const T* in = signal_base<T>(p.in, signal, p.ndim, p.shape);
  T* out = signal_base<T>(p.out, signal, p.ndim, p.shape);
  const T* w = static_cast<const T*>(p.real_roots);
  const T scale = T(p.scale), in_sign = p.in.conjugate ? T(-1) : T(1), out_scale = p.out.conjugate ? -scale : scale;
  group.for_each(count, [=](int64_t i) {
    const int64_t k = first + i, other = p.split && k == 0 ? 0 : m - k;
    const auto load = [=](int64_t at) {
      if (at >= p.in.count) return Point<T>{T(0), T(0)};
      const T* x = in + 2 * at * p.in.step;
      const bool real = !p.split && (at == 0 || at == m);
      return Point<T>{x[0], real ? T(0) : x[1] * in_sign};
    };
    Point<T> a = load(k), b = load(other);
    if (p.split)
      split_or_merge_real<true>(a, b, w[2 * k], w[2 * k + 1]);
    else
      split_or_merge_real<false>(a, b, w[2 * k], w[2 * k + 1]);
    T* x = out + 2 * k * p.out.step;
    x[0] = a.re * scale;
    x[1] = a.im * out_scale;
    if (!p.split && k == 0) return;
    T* y = out + 2 * (m - k) * p.out.step;
    y[0] = b.re * scale;
    y[1] = b.im * out_scale;
  });
}

void signals(const params::Queue& q, const params::FftSignals& p) {
  if (p.is_double)
    double_signals(q, p);
  else
    launch_signals<float>(q, p);
}

void real_pass(const params::Queue& q, const params::FftRealPass& p) {
  const auto kernel =
      p.is_double ? fft_real_pass_kernel<double, FftTuning::block> : fft_real_pass_kernel<float, FftTuning::block>;
  launch(q, "fft_real_pass", kernel, {p.signals * ceil_div(p.n / 2 + 1, FftTuning::real_pass_tile), FftTuning::block},
         p);
}

int32_t lanes(const params::DeviceLimits&, bool is_double) {
  return is_double ? LaneVector<double>::count : LaneVector<float>::count;
}
int32_t blocks_per_multiprocessor(const params::DeviceLimits&) { return by_target<4, 2>::value; }

}  // namespace

}  // namespace stator::STATOR_TARGET::fft

STATOR_LAUNCHER(fft, lanes)
STATOR_LAUNCHER(fft, blocks_per_multiprocessor)
STATOR_LAUNCHER(fft, signals)
STATOR_LAUNCHER(fft, real_pass)
