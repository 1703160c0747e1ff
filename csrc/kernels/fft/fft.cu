// Fourier transforms of the host target, and of devices without cuFFT.
#include "device/launcher.cuh"
#include "kernels/fft/lines.cuh"

namespace stator::STATOR_TARGET::fft {

void double_lines(const params::Queue& q, const params::FftLines& p);  // fft_double.cu

namespace {

struct FftTuning {
  static constexpr int block = 128;
  static constexpr int tangle_tile = by_target<512, 4096>::value;  // points of a block
};

template <class T, int Size>
STATOR_KERNEL void fft_tangle_kernel(params::FftTangle p) {
  const Group<Size> group;
  const int64_t m = p.n, pairs = m / 2 + 1;
  const int64_t tiles = (pairs + FftTuning::tangle_tile - 1) / FftTuning::tangle_tile;
  const int64_t line = group.block() / tiles, first = (group.block() - line * tiles) * FftTuning::tangle_tile;
  const int64_t count = pairs - first < FftTuning::tangle_tile ? pairs - first : FftTuning::tangle_tile;
  const T* in = line_base<T>(p.in, line, p.ndim, p.shape);
  T* out = line_base<T>(p.out, line, p.ndim, p.shape);
  const T* w = static_cast<const T*>(p.real_roots);
  const T scale = T(p.scale), in_sign = p.in.conjugate ? T(-1) : T(1), out_scale = p.out.conjugate ? -scale : scale;
  group.for_each(count, [=](int64_t i) {
    const int64_t k = first + i, other = p.untangle && k == 0 ? 0 : m - k;
    const auto load = [=](int64_t at) {
      if (at >= p.in.count) return Point<T>{T(0), T(0)};
      const T* x = in + 2 * at * p.in.step;
      const bool real = !p.untangle && (at == 0 || at == m);
      return Point<T>{x[0], real ? T(0) : x[1] * in_sign};
    };
    Point<T> a = load(k), b = load(other);
    if (p.untangle)
      tangle_pair<true>(a, b, w[2 * k], w[2 * k + 1]);
    else
      tangle_pair<false>(a, b, w[2 * k], w[2 * k + 1]);
    T* x = out + 2 * k * p.out.step;
    x[0] = a.re * scale;
    x[1] = a.im * out_scale;
    if (!p.untangle && k == 0) return;
    T* y = out + 2 * (m - k) * p.out.step;
    y[0] = b.re * scale;
    y[1] = b.im * out_scale;
  });
}

void lines(const params::Queue& q, const params::FftLines& p) {
  if (p.is_double)
    double_lines(q, p);
  else
    launch_lines<float>(q, p);
}

void tangle(const params::Queue& q, const params::FftTangle& p) {
  const auto kernel =
      p.is_double ? fft_tangle_kernel<double, FftTuning::block> : fft_tangle_kernel<float, FftTuning::block>;
  launch(q, "fft_tangle", kernel, {p.lines * ceil_div(p.n / 2 + 1, FftTuning::tangle_tile), FftTuning::block}, p);
}

int32_t lanes(const params::DeviceLimits&, bool is_double) {
  return is_double ? LaneVector<double>::count : LaneVector<float>::count;
}
int32_t blocks_per_multiprocessor(const params::DeviceLimits&) { return by_target<4, 2>::value; }

}  // namespace

}  // namespace stator::STATOR_TARGET::fft

STATOR_LAUNCHER(fft, lanes)
STATOR_LAUNCHER(fft, blocks_per_multiprocessor)
STATOR_LAUNCHER(fft, lines)
STATOR_LAUNCHER(fft, tangle)
