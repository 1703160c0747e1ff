// Short-time transforms: cuts a signal into frames, and adds frames up to a signal.
#include "device/convert.cuh"
#include "device/group.cuh"
#include "device/index.cuh"
#include "device/math/math.cuh"
#include "host/launch.hpp"
#include "host/launcher.hpp"
#include "params/fft.hpp"

namespace stator::STATOR_TARGET::fft {

namespace {

struct FramesTuning {
  static constexpr int block = 256;
  static constexpr int tile = by_target<2048, 16384>::value;    // points per block, in whole frames, at least one
  static constexpr int samples = by_target<1024, 1024>::value;  // samples per block of overlap_add
};

template <class T, class R>
STATOR_FN T weighted(R weight, T v) {
  if constexpr (is_complex<T>)
    return T(weight * v.re, weight * v.im);
  else
    return weight * v;
}

// Sample j of a signal of `length` samples that continues beyond its ends.
template <class T>
STATOR_FN T sample(const T* x, int64_t step, int64_t length, int64_t j, params::Padding padding) {
  if (j < 0 || j >= length) {
    switch (padding) {
      case params::Padding::reflected: j = j < 0 ? -j : 2 * (length - 1) - j; break;
      case params::Padding::repeated: j = j < 0 ? 0 : length - 1; break;
      case params::Padding::wrapped: j += j < 0 ? length : -length; break;
      default: return T(0);
    }
  }
  return x[j * step];
}

template <class T, int Size>
STATOR_KERNEL(Size) void frames_kernel(params::Frames p, int64_t frames_per_block) {
  using R = real_t<T>;
  const Group<Size> group;
  const int64_t tiles = (p.frames + frames_per_block - 1) / frames_per_block;
  const int64_t signal = group.block() / tiles, first = (group.block() - signal * tiles) * frames_per_block;
  // Where the signal starts.
  int64_t offset = 0, rest = signal;
  for (int d = p.ndim - 1; d >= 0; --d) {
    offset += rest % p.shape[d] * p.strides[d];
    rest /= p.shape[d];
  }
  const T* const x = static_cast<const T*>(p.x) + offset;
  const R* const window = static_cast<const R*>(p.window);
  // One frame at a time.
  for (int64_t t = first; t < first + frames_per_block && t < p.frames; ++t) {
    T* const out = static_cast<T*>(p.out) + (signal * p.frames + t) * p.n;
    const int64_t at = t * p.hop - p.before, left = p.left, end = p.left + p.width;
    const auto put = [=](int64_t i) {
      T v = T(0);
      if (i >= left && i < end) {
        v = sample(x, p.step, p.length, at + i, p.padding);
        if (window) v = weighted(window[i - left], v);
      }
      out[i] = v;
    };
    if constexpr (fast_host) {  // samples within the signal need no test
      const int64_t from = std::min(p.n, std::max(left, -at)), to = std::max(from, std::min(end, p.length - at));
      group.for_each(from, put);
      const T* const inside = x + (at + from) * p.step;
      const int64_t step = p.step;
      if (!window) {
        group.for_each(to - from, [=](int64_t i) { out[from + i] = inside[i * step]; });
      } else if (step == 1) {
        const R* const w = window + from - left;
        group.for_each(to - from, [=](int64_t i) { out[from + i] = weighted(w[i], inside[i]); });
      } else {
        const R* const w = window + from - left;
        group.for_each(to - from, [=](int64_t i) { out[from + i] = weighted(w[i], inside[i * step]); });
      }
      group.for_each(p.n - to, [=](int64_t i) { put(to + i); });
    } else {
      group.for_each(p.n, put);
    }
  }
}

template <class R>
struct Sums {
  R of[FramesTuning::samples];
};

// Whether the squares of a window sum to so little that a division by the sum is meaningless.
template <class R>
STATOR_FN bool vanishing(R squares) {
  return !(squares > R(1e-11));
}

template <class T, int Size>
STATOR_KERNEL(Size) void overlap_add_kernel(params::OverlapAdd p, FastDivmod64 per_hop) {
  using R = real_t<T>;
  const Group<Size> group;
  const int64_t tiles = (p.length + FramesTuning::samples - 1) / FramesTuning::samples;
  const int64_t signal = group.block() / tiles, tile = group.block() - signal * tiles;
  const int64_t first = tile * FramesTuning::samples;
  const int64_t count = p.length - first < FramesTuning::samples ? p.length - first : FramesTuning::samples;
  const T* const frames = static_cast<const T*>(p.x) + signal * p.frames * p.n;
  const R* const window = static_cast<const R*>(p.window);
  T* const out = static_cast<T*>(p.out) + signal * p.length + first;
  const int64_t begin = p.start + first, covered = (p.frames - 1) * p.hop + p.n;  // in samples of the frames
  const int64_t hop = p.hop, n = p.n, left = p.left, width = p.width;
  // Frame t covers sample g when left <= g - t * hop < left + width.
  const auto first_frame = [=](int64_t g) {
    const int64_t over = g - left - width + 1;
    return over <= 0 ? int64_t(0) : per_hop.divide(over + hop - 1);
  };
  const auto last_frame = [=](int64_t g) {
    const int64_t t = g < left ? int64_t(-1) : per_hop.divide(g - left);
    return t < p.frames ? t : p.frames - 1;
  };
  int32_t missing = 0;
  if constexpr (fast_host) {
    // Add the frames one after the other.
    T sum[FramesTuning::samples];
    R squares[FramesTuning::samples];
    for (int64_t i = 0; i < count; ++i) {
      sum[i] = T(0);
      squares[i] = R(0);
    }
    for (int64_t t = first_frame(begin); t <= last_frame(begin + count - 1); ++t) {
      const int64_t from = std::max<int64_t>(0, t * hop + left - begin);
      const int64_t to = std::min<int64_t>(count, t * hop + left + width - begin);
      const T* const frame = frames + t * n + begin - t * hop;
      const R* const w = window ? window + (begin - t * hop - left) : nullptr;
      if (w)
        for (int64_t i = from; i < to; ++i) {
          sum[i] = sum[i] + weighted(w[i], frame[i]);
          squares[i] += w[i] * w[i];
        }
      else
        for (int64_t i = from; i < to; ++i) {
          sum[i] = sum[i] + frame[i];
          squares[i] += R(1);
        }
    }
    // Divide by the sums of squares.
    const int64_t within = std::clamp<int64_t>(covered - begin, 0, count);
    for (int64_t i = 0; i < within; ++i) {
      missing |= int32_t(vanishing(squares[i]));
      out[i] = weighted(R(1) / squares[i], sum[i]);
    }
    for (int64_t i = within; i < count; ++i) out[i] = T(0);
  } else {
    for (int64_t i = group.rank(); i < count; i += Group<Size>::size) {
      const int64_t g = begin + i, last = last_frame(g);
      T sum = T(0);
      R squares = R(0);
      for (int64_t t = first_frame(g); t <= last; ++t) {
        const R w = window ? window[g - t * hop - left] : R(1);
        sum = sum + weighted(w, frames[t * n + g - t * hop]);
        squares += w * w;
      }
      missing |= int32_t(g < covered && vanishing(squares));
      out[i] = g < covered ? weighted(R(1) / squares, sum) : T(0);
    }
    missing = group.reduce(missing, Sum{});
  }
  if (p.vanishes && signal == 0 && group.rank() == 0) p.vanishes[tile] = missing;
}

void frames(const params::Queue& q, const params::Frames& p) {
  const int64_t each = std::max<int64_t>(1, FramesTuning::tile / p.n);
  visit<dtypes::blas>(p.dtype, [&]<class T>(type_tag<T>) {
    launch(q, "stft_frames", frames_kernel<T, FramesTuning::block>,
           {p.signals * ceil_div(p.frames, each), FramesTuning::block}, p, each);
  });
}

void overlap_add(const params::Queue& q, const params::OverlapAdd& p) {
  visit<dtypes::blas>(p.dtype, [&]<class T>(type_tag<T>) {
    launch(q, "overlap_add", overlap_add_kernel<T, FramesTuning::block>,
           {p.signals * ceil_div(p.length, FramesTuning::samples), FramesTuning::block}, p, FastDivmod64(p.hop));
  });
}

int64_t overlap_tile(const params::DeviceLimits&) { return FramesTuning::samples; }

}  // namespace

}  // namespace stator::STATOR_TARGET::fft

STATOR_LAUNCHER(fft, overlap_tile)
STATOR_LAUNCHER(fft, frames)
STATOR_LAUNCHER(fft, overlap_add)
