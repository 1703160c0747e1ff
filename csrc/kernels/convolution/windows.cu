// Windows of images as columns, and the sums of columns at their positions in images.
#include "device/bits.cuh"
#include "device/convert.cuh"
#include "device/group.cuh"
#include "device/index.cuh"
#include "host/launch.hpp"
#include "host/launcher.hpp"
#include "kernels/convolution/axes.cuh"

#include <algorithm>

namespace stator::STATOR_TARGET::convolution {
namespace {

struct WindowTuning {
  static constexpr int block = 256;
  static constexpr int64_t tile = by_target<256 * 8, 1 << 14>::value;  // elements of the result per block
  static constexpr int batch = 512;                                    // pixels that the fast host sums at a time
  static constexpr int64_t short_row = 32, offsets = 4096;             // of images that the fast host has a table for
};

// The divisors of a flat index of the columns or of the images, and of the parts of one.
struct WindowDivisors {
  FastDivmod64 windows, taps;
  FastDivmod64 width;    // of a row of windows, or of pixels
  FastDivmod64 tap_row;  // the taps of a row
  FastDivmod64 stride[2];
};

// The k in [0, count) for which x + k * stride is in [0, extent).
struct Range {
  int64_t begin, end;
};

STATOR_FN Range covered(int64_t x, int64_t stride, int64_t extent, int64_t count) {
  const auto first_not_below = [=](int64_t bound) {
    const int64_t k = bound > x ? (bound - x + stride - 1) / stride : 0;
    return k < count ? k : count;
  };
  return {first_not_below(0), first_not_below(extent)};
}

// The window whose tap covers a position on one axis, or -1.
STATOR_FN int64_t window_of(const params::Windows& p, const WindowDivisors& divisors, int axis, int64_t position,
                            int64_t tap) {
  const int64_t offset = position + p.padding[axis] - tap * p.dilation[axis];
  const int64_t window = divisors.stride[axis].divide(offset);
  return offset >= 0 && window * p.stride[axis] == offset && window < p.count[axis] ? window : -1;
}

// Images of few elements on the fast host, all alike: where each element of the columns comes from, or which element of
// the columns each tap adds to a pixel, and -1 for none. Rows are too short for loops of their own.
bool has_offsets(const params::Windows& p) {
  const int64_t taps = p.taps[0] * p.taps[1], elements = std::max(p.count[0] * p.count[1], p.extent[0] * p.extent[1]);
  return fast_host && std::max(p.count[1], p.extent[1]) <= WindowTuning::short_row && taps <= WindowTuning::offsets &&
         elements * taps <= WindowTuning::offsets;
}
struct WindowOffsets {
  int32_t at[WindowTuning::offsets];

  // In the order of the columns of an image.
  STATOR_FN void of_columns(const params::Windows& p) {
    int32_t* to = at;
    for (int64_t a = 0; a < p.taps[0]; ++a)
      for (int64_t b = 0; b < p.taps[1]; ++b)
        for (int64_t i = 0; i < p.count[0]; ++i)
          for (int64_t j = 0; j < p.count[1]; ++j) {
            const int64_t y = i * p.stride[0] + a * p.dilation[0] - p.padding[0];
            const int64_t x = j * p.stride[1] + b * p.dilation[1] - p.padding[1];
            const bool inside = y >= 0 && y < p.extent[0] && x >= 0 && x < p.extent[1];
            *to++ = inside ? int32_t(y * p.extent[1] + x) : -1;
          }
  }
  // Tap by tap in the order of the pixels.
  STATOR_FN void of_pixels(const params::Windows& p, const WindowDivisors& divisors) {
    int32_t* to = at;
    for (int64_t a = 0; a < p.taps[0]; ++a)
      for (int64_t b = 0; b < p.taps[1]; ++b)
        for (int64_t i = 0; i < p.extent[0]; ++i)
          for (int64_t j = 0; j < p.extent[1]; ++j) {
            const int64_t y = window_of(p, divisors, 0, i, a), x = window_of(p, divisors, 1, j, b);
            *to++ = y < 0 || x < 0 ? -1 : int32_t(((a * p.taps[1] + b) * p.count[0] + y) * p.count[1] + x);
          }
  }
};

// Images [first, first + images) of a block.
template <int Size, class T>
STATOR_KERNEL(Size) void unfold_offsets_kernel(params::Windows p, int64_t images, int64_t all) {
  const Group<Size> group;
  WindowOffsets offsets;
  offsets.of_columns(p);
  const int64_t first = group.block() * images, count = all - first < images ? all - first : images;
  const int64_t pixels = p.extent[0] * p.extent[1];
  const int elements = int(p.taps[0] * p.taps[1] * p.count[0] * p.count[1]);
  const T* STATOR_RESTRICT from = static_cast<const T*>(p.from) + first * pixels;
  T* STATOR_RESTRICT to = static_cast<T*>(p.to) + first * elements;
  for (int64_t image = 0; image < count; ++image, from += pixels, to += elements)
    for (int i = 0; i < elements; ++i) {
      const int32_t at = offsets.at[i];
      const T value = from[at < 0 ? 0 : at];
      to[i] = at < 0 ? T(0) : value;
    }
}

template <int Size, class T>
STATOR_KERNEL(Size) void fold_offsets_kernel(params::Windows p, WindowDivisors divisors, int64_t images, int64_t all) {
  using Sum = std::conditional_t<std::is_same_v<T, double>, double, float>;
  const Group<Size> group;
  WindowOffsets offsets;
  offsets.of_pixels(p, divisors);
  const int64_t first = group.block() * images, count = all - first < images ? all - first : images;
  const int pixels = int(p.extent[0] * p.extent[1]), taps = int(p.taps[0] * p.taps[1]);
  const int64_t elements = taps * p.count[0] * p.count[1];
  const T* STATOR_RESTRICT from = static_cast<const T*>(p.from) + first * elements;
  T* STATOR_RESTRICT to = static_cast<T*>(p.to) + first * pixels;
  Sum sums[WindowTuning::offsets];
  for (int64_t image = 0; image < count; ++image, from += elements, to += pixels) {
    std::fill_n(sums, pixels, Sum(0));
    for (int t = 0; t < taps; ++t) {
      const int32_t* const at = offsets.at + t * pixels;
      for (int i = 0; i < pixels; ++i) {
        const Sum value = convert<Sum>(from[at[i] < 0 ? 0 : at[i]]);
        sums[i] += at[i] < 0 ? Sum(0) : value;
      }
    }
    for (int i = 0; i < pixels; ++i) to[i] = convert<T>(sums[i]);
  }
}

// Row r of the columns is tap r % taps of image r / taps; T is an integer of the elements' size.
template <int Size, class T>
STATOR_KERNEL(Size) void unfold_kernel(params::Windows p, WindowDivisors divisors, int64_t elements) {
  const Group<Size> group;
  const int64_t first = group.block() * WindowTuning::tile;
  const int64_t n = elements - first < WindowTuning::tile ? elements - first : WindowTuning::tile;
  const T* from = static_cast<const T*>(p.from);
  T* to = static_cast<T*>(p.to);
  // Copies elements of one row of windows, at most `most` from the i-th of the tile on; how many there were.
  const auto copy = [=](int64_t i, int64_t most) {
    int64_t window, tap, column, tap_column;
    const int64_t image = divisors.taps.divmod(divisors.windows.divmod(first + i, window), tap);
    const int64_t row = divisors.width.divmod(window, column), tap_row = divisors.tap_row.divmod(tap, tap_column);
    const int64_t y = row * p.stride[0] + tap_row * p.dilation[0] - p.padding[0];
    const int64_t x = column * p.stride[1] + tap_column * p.dilation[1] - p.padding[1];
    const bool inside = y >= 0 && y < p.extent[0];
    const T* const line = from + (image * p.extent[0] + y) * p.extent[1];
    if (!fast_host) {
      to[first + i] = inside && x >= 0 && x < p.extent[1] ? line[x] : T(0);
      return int64_t(1);
    }
    const int64_t count = most < p.count[1] - column ? most : p.count[1] - column;
    const auto [begin, end] = inside ? covered(x, p.stride[1], p.extent[1], count) : Range{count, count};
    for (int64_t k = 0; k < begin; ++k) to[first + i + k] = T(0);
    if (p.stride[1] == 1)
      for (int64_t k = begin; k < end; ++k) to[first + i + k] = line[x + k];
    else
      for (int64_t k = begin; k < end; ++k) to[first + i + k] = line[x + k * p.stride[1]];
    for (int64_t k = end; k < count; ++k) to[first + i + k] = T(0);
    return count;
  };
  if constexpr (fast_host)
    for (int64_t i = 0; i < n;) i += copy(i, n - i);
  else
    group.for_each(n, [&](int64_t i) { copy(i, 1); });
}

template <int Size, class T>
STATOR_KERNEL(Size) void fold_kernel(params::Windows p, WindowDivisors divisors, int64_t elements) {
  using Sum = std::conditional_t<std::is_same_v<T, double>, double, float>;
  const Group<Size> group;
  const int64_t first = group.block() * WindowTuning::tile;
  const int64_t n = elements - first < WindowTuning::tile ? elements - first : WindowTuning::tile;
  const T* from = static_cast<const T*>(p.from);
  T* to = static_cast<T*>(p.to);
  if constexpr (fast_host) {
    // A part of a row of pixels at a time; each pixel's sum is of the same terms in the same order.
    constexpr int batch = WindowTuning::batch;
    for (int64_t i = 0; i < n;) {
      int64_t pixel, column;
      const int64_t image = divisors.windows.divmod(first + i, pixel);
      const int64_t row = divisors.width.divmod(pixel, column);
      const int64_t left = p.extent[1] - column < n - i ? p.extent[1] - column : n - i;
      const int count = int(left < batch ? left : batch);
      Sum sums[batch] = {};
      for (int64_t a = 0; a < p.taps[0]; ++a) {
        const int64_t y = window_of(p, divisors, 0, row, a);
        if (y < 0) continue;
        for (int64_t b = 0; b < p.taps[1]; ++b) {
          const T* const line =
              from + ((image * p.taps[0] + a) * p.taps[1] + b) * p.count[0] * p.count[1] + y * p.count[1];
          const int64_t x = b * p.dilation[1] - p.padding[1] - column;  // of window 0, from the batch's first pixel
          const auto [begin, end] = covered(x, p.stride[1], count, p.count[1]);
          if (p.stride[1] == 1)
            for (int64_t k = begin; k < end; ++k) sums[x + k] += convert<Sum>(line[k]);
          else
            for (int64_t k = begin; k < end; ++k) sums[x + k * p.stride[1]] += convert<Sum>(line[k]);
        }
      }
      for (int k = 0; k < count; ++k) to[first + i + k] = convert<T>(sums[k]);
      i += count;
    }
    return;
  }
  group.for_each(n, [=](int64_t i) {
    int64_t pixel, column;
    const int64_t image = divisors.windows.divmod(first + i, pixel);
    const int64_t row = divisors.width.divmod(pixel, column);
    Sum sum = 0;
    for (int64_t a = 0; a < p.taps[0]; ++a) {
      const int64_t y = window_of(p, divisors, 0, row, a);
      if (y < 0) continue;
      for (int64_t b = 0; b < p.taps[1]; ++b) {
        const int64_t x = window_of(p, divisors, 1, column, b);
        if (x < 0) continue;
        sum += convert<Sum>(
            from[((image * p.taps[0] + a) * p.taps[1] + b) * p.count[0] * p.count[1] + y * p.count[1] + x]);
      }
    }
    to[first + i] = convert<T>(sum);
  });
}

// As many images for a block as a tile has elements.
template <class Kernel, class... Divisors>
void start_offsets(const params::Queue& q, const char* name, Kernel kernel, const params::Windows& p,
                   const Divisors&... divisors) {
  const int64_t all = p.samples * p.channels, elements = p.taps[0] * p.taps[1] * p.count[0] * p.count[1];
  const int64_t images = std::max<int64_t>(1, WindowTuning::tile / elements);
  launch(q, name, kernel, {ceil_div(all, images), WindowTuning::block}, p, divisors..., images, all);
}

void unfold_windows(const params::Queue& q, const params::Windows& p) {
  const int64_t windows = p.count[0] * p.count[1], taps = p.taps[0] * p.taps[1];
  const int64_t elements = p.samples * p.channels * taps * windows;
  const WindowDivisors divisors{
      FastDivmod64(windows), FastDivmod64(taps), FastDivmod64(p.count[1]), FastDivmod64(p.taps[1]), {}};
  with_bits<2, 4, 8>(itemsize(p.dtype), [&]<class T>(T) {
    constexpr int block = WindowTuning::block;
    if constexpr (fast_host)
      if (has_offsets(p)) return start_offsets(q, "unfold", unfold_offsets_kernel<block, T>, p);
    launch(q, "unfold", unfold_kernel<block, T>, {ceil_div(elements, WindowTuning::tile), block}, p, divisors,
           elements);
  });
}

void fold_windows(const params::Queue& q, const params::Windows& p) {
  const int64_t pixels = p.extent[0] * p.extent[1], elements = p.samples * p.channels * pixels;
  const WindowDivisors divisors{
      FastDivmod64(pixels), {}, FastDivmod64(p.extent[1]), {}, {FastDivmod64(p.stride[0]), FastDivmod64(p.stride[1])}};
  visit<dtypes::floats>(p.dtype, [&]<class T>(type_tag<T>) {
    constexpr int block = WindowTuning::block;
    if constexpr (fast_host)
      if (has_offsets(p)) return start_offsets(q, "fold", fold_offsets_kernel<block, T>, p, divisors);
    launch(q, "fold", fold_kernel<block, T>, {ceil_div(elements, WindowTuning::tile), block}, p, divisors, elements);
  });
}

}  // namespace

}  // namespace stator::STATOR_TARGET::convolution

STATOR_LAUNCHER(convolution, unfold_windows)
STATOR_LAUNCHER(convolution, fold_windows)
