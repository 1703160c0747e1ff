// What follows an exact product of int8 in one pass: zero points, scales, a bias, relu, rounding to the result. On the
// fast host a chunk of a row at a time; where blocks have threads, four neighbours per thread.
#include "device/index.cuh"
#include "device/vector.cuh"
#include "host/launcher.hpp"
#include "kernels/quantization/lines.cuh"

namespace stator::STATOR_TARGET::quantization {
namespace {

struct EpilogueTuning {
  static constexpr int block = 256;
  static constexpr int64_t tile = by_target<4096, 32768>::value;  // elements per block
  static constexpr int chunk = 512;                               // fast host: elements of a row at once
};

STATOR_FN int32_t zero_of(const params::ProductNumbers& n, int64_t i) {
  return (n.zero ? n.zero[i * n.zero_step] : n.zero_number) - n.shift;
}
STATOR_FN float scale_of(const params::ProductNumbers& n, int64_t i) {
  return n.scale ? n.scale[i * n.scale_step] : n.scale_number;
}
STATOR_FN bool is_byte(DType d) { return itemsize(d) == 1; }
STATOR_FN Step<float> result_step(const params::QuantizedEpilogue& p) {
  const bool is_signed = p.out_dtype == DType::int8;
  return {scale_of(p.result, 0), float(zero_of(p.result, 0)), is_signed ? -128.0 : 0.0, is_signed ? 127.0 : 255.0};
}

// What a row has for all of its columns. Sums are added as unsigned numbers, which wrap.
struct RowNumbers {
  uint32_t zero, lack;  // lack: what a column's zero point is multiplied by
  float scale;

  STATOR_FN RowNumbers(const params::QuantizedEpilogue& p, int64_t row) {
    const int64_t i = row % p.period;
    zero = uint32_t(zero_of(p.of_rows, i));
    lack = uint32_t(p.terms) * zero - (p.row_sums ? uint32_t(p.row_sums[row % p.row_sum_period]) : 0u);
    scale = scale_of(p.of_rows, i);
  }
};

STATOR_FN float element_of(const params::QuantizedEpilogue& p, const RowNumbers& numbers, int64_t row, int64_t col,
                           int32_t x) {
  uint32_t sum = uint32_t(x);
  if (p.col_sums) sum -= numbers.zero * uint32_t(p.col_sums[row / p.matrix_rows * p.col_sum_pitch + col]);
  sum += uint32_t(zero_of(p.of_cols, col)) * numbers.lack;
  const int64_t at = p.bias_of_rows ? row % p.period : col;
  const bool exact = p.bias && p.bias_dtype == DType::int32;
  if (exact) sum += static_cast<const uint32_t*>(p.bias)[at];
  float v = float(int32_t(sum)) * (numbers.scale * scale_of(p.of_cols, col));
  if (p.bias && !exact) v += load_one<float>(p.bias, p.bias_dtype, at);
  return p.relu && v < 0.0f ? 0.0f : v;
}

template <int N>
STATOR_FN void epilogue_vector(const params::QuantizedEpilogue& p, int64_t row, int64_t col) {
  const RowNumbers numbers(p, row);
  const int64_t i = row * p.cols + col;
  const Vec<int32_t, N> x = load_vector<N>(p.x + i);
  Items<float, N> y;
  STATOR_UNROLL()
  for (int k = 0; k < N; ++k) y[k] = element_of(p, numbers, row, col + k, x[k]);
  if (is_byte(p.out_dtype)) {
    const Step<float> step = result_step(p);
    Vec<uint8_t, N> bytes;
    STATOR_UNROLL()
    for (int k = 0; k < N; ++k) bytes[k] = step.byte(y[k]);
    return store_vector(static_cast<uint8_t*>(p.out) + i, bytes);
  }
  store_items<float, dtypes::floats>(p.out, p.out_dtype, i, y);
}

// Fast host: n elements of a row from column `col` on.
STATOR_CALL void epilogue_chunk(const params::QuantizedEpilogue& p, int64_t row, int64_t col, int64_t n) {
  const RowNumbers numbers(p, row);
  const int32_t* x = p.x + row * p.cols + col;
  uint32_t sum[EpilogueTuning::chunk];
  float y[EpilogueTuning::chunk];
  for (int64_t k = 0; k < n; ++k) sum[k] = uint32_t(x[k]);
  if (p.col_sums && numbers.zero != 0) {
    const int64_t* sums = p.col_sums + row / p.matrix_rows * p.col_sum_pitch + col;
    for (int64_t k = 0; k < n; ++k) sum[k] -= numbers.zero * uint32_t(sums[k]);
  }
  if (p.of_cols.zero && p.of_cols.zero_step == 1) {
    const int32_t* zero = p.of_cols.zero + col;
    const int32_t shift = p.of_cols.shift;
    for (int64_t k = 0; k < n; ++k) sum[k] += uint32_t(zero[k] - shift) * numbers.lack;
  } else if (const uint32_t more = uint32_t(zero_of(p.of_cols, 0)) * numbers.lack; more != 0) {
    for (int64_t k = 0; k < n; ++k) sum[k] += more;
  }
  const int64_t at = p.bias_of_rows ? row % p.period : col, step = p.bias_of_rows ? 0 : 1;
  const bool exact = p.bias && p.bias_dtype == DType::int32;
  if (exact) {
    const uint32_t* bias = static_cast<const uint32_t*>(p.bias) + at;
    for (int64_t k = 0; k < n; ++k) sum[k] += bias[k * step];
  }
  if (p.of_cols.scale && p.of_cols.scale_step == 1) {
    const float* scale = p.of_cols.scale + col;
    for (int64_t k = 0; k < n; ++k) y[k] = float(int32_t(sum[k])) * (numbers.scale * scale[k]);
  } else {
    const float scale = numbers.scale * scale_of(p.of_cols, 0);
    for (int64_t k = 0; k < n; ++k) y[k] = float(int32_t(sum[k])) * scale;
  }
  if (p.bias && !exact) {
    visit<dtypes::floats>(p.bias_dtype, [&]<class T>(type_tag<T>) {
      const auto* bias = static_cast<const T*>(p.bias) + at;
      if (step == 0) {
        const float one = convert<float>(bias[0]);
        for (int64_t k = 0; k < n; ++k) y[k] += one;
      } else {
        for (int64_t k = 0; k < n; ++k) y[k] += convert<float>(bias[k]);
      }
    });
  }
  if (p.relu)
    for (int64_t k = 0; k < n; ++k) y[k] = y[k] < 0.0f ? 0.0f : y[k];
  if (is_byte(p.out_dtype)) {
    const Step<float> to = result_step(p);
    uint8_t* out = static_cast<uint8_t*>(p.out) + row * p.cols + col;
    for (int64_t k = 0; k < n; ++k) out[k] = to.byte(y[k]);
    return;
  }
  visit<dtypes::floats>(p.out_dtype, [&]<class T>(type_tag<T>) {
    T* out = static_cast<T*>(p.out) + row * p.cols + col;
    for (int64_t k = 0; k < n; ++k) out[k] = convert<T>(y[k]);
  });
}

template <int Size>
STATOR_KERNEL(Size) void quantized_epilogue_kernel(params::QuantizedEpilogue p, FastDivmod64 columns, bool vectors) {
  const Group<Size> group;
  const int64_t size = p.rows * p.cols, first = group.block() * EpilogueTuning::tile;
  const int64_t last = first + EpilogueTuning::tile < size ? first + EpilogueTuning::tile : size;
  if constexpr (fast_host) {
    for (int64_t i = first; i < last;) {
      const int64_t row = i / p.cols, col = i - row * p.cols;
      int64_t n = p.cols - col < last - i ? p.cols - col : last - i;
      n = n < EpilogueTuning::chunk ? n : EpilogueTuning::chunk;
      epilogue_chunk(p, row, col, n);
      i += n;
    }
  } else if (vectors) {
    group.for_each((last - first) / 4, [&](int64_t v) {
      int64_t col;
      const int64_t row = columns.divmod(first + 4 * v, col);
      epilogue_vector<4>(p, row, col);
    });
  } else {
    group.for_each(last - first, [&](int64_t k) {
      int64_t col;
      const int64_t row = columns.divmod(first + k, col);
      epilogue_vector<1>(p, row, col);
    });
  }
}

void epilogue(const params::Queue& q, const params::QuantizedEpilogue& p) {
  constexpr int block = EpilogueTuning::block;
  const bool vectors = p.cols % 4 == 0 && is_aligned(p.x) && is_aligned(p.out);
  launch(q, "quantized_epilogue", quantized_epilogue_kernel<block>,
         {ceil_div(p.rows * p.cols, EpilogueTuning::tile), block}, p, FastDivmod64(p.cols), vectors);
}

// The windows of images. A thread has four neighbouring elements of a window where their number permits.
struct WindowTuning {
  static constexpr int block = 256;
  static constexpr int64_t tile = by_target<8192, 65536>::value;  // elements per block
};

// Where a window begins, which may be before its image.
struct WindowOrigin {
  const uint8_t* image;
  int64_t at[3];

  STATOR_FN WindowOrigin(const params::ByteWindows& p, int64_t window) {
    STATOR_UNROLL()
    for (int d = 2; d >= 0; --d) {
      const int64_t rest = window / p.windows[d];
      at[d] = (window - rest * p.windows[d]) * p.stride[d] - p.padding[d];
      window = rest;
    }
    image = p.x + window * (p.channels / p.groups) * p.extent[0] * p.extent[1] * p.extent[2];
  }
};

STATOR_FN uint8_t tap_of(const params::ByteWindows& p, const WindowOrigin& origin, int32_t k, uint8_t padding) {
  int64_t at[3];
  bool inside = true;
  STATOR_UNROLL()
  for (int d = 2; d >= 0; --d) {
    const int32_t rest = k / int32_t(p.kernel[d]);
    at[d] = origin.at[d] + (k - rest * int32_t(p.kernel[d])) * p.dilation[d];
    inside &= at[d] >= 0 && at[d] < p.extent[d];
    k = rest;
  }
  if (!inside) return padding;
  return uint8_t(origin.image[((k * p.extent[0] + at[0]) * p.extent[1] + at[1]) * p.extent[2] + at[2]] ^ p.flip);
}

template <int Size>
STATOR_KERNEL(Size) void byte_windows_kernel(params::ByteWindows p, int64_t each, int64_t windows, int64_t length) {
  const Group<Size> group;
  const uint8_t padding = uint8_t(p.zero ? *p.zero : p.zero_number) ^ p.flip;
  const int64_t begin = group.block() * each, end = begin + each < windows ? begin + each : windows;
  if constexpr (fast_host) {
    const int64_t channels = p.channels / p.groups, width = p.kernel[2], step = p.dilation[2];
    for (int64_t w = begin; w < end; ++w) {
      const WindowOrigin origin(p, w);
      uint8_t* out = p.out + w * length;
      const int64_t x = origin.at[2];
      const bool inside = x >= 0 && x + (width - 1) * step < p.extent[2];
      for (int64_t c = 0; c < channels; ++c)
        for (int64_t kz = 0; kz < p.kernel[0]; ++kz)
          for (int64_t ky = 0; ky < p.kernel[1]; ++ky, out += width) {
            const int64_t z = origin.at[0] + kz * p.dilation[0], y = origin.at[1] + ky * p.dilation[1];
            const uint8_t* from = origin.image + ((c * p.extent[0] + z) * p.extent[1] + y) * p.extent[2] + x;
            if (z < 0 || z >= p.extent[0] || y < 0 || y >= p.extent[1])
              for (int64_t k = 0; k < width; ++k) out[k] = padding;
            else if (inside)
              for (int64_t k = 0; k < width; ++k) out[k] = from[k * step] ^ p.flip;
            else
              for (int64_t k = 0; k < width; ++k) {
                const int64_t at = x + k * step;
                out[k] = at >= 0 && at < p.extent[2] ? uint8_t(from[k * step] ^ p.flip) : padding;
              }
          }
    }
  } else {
    const bool fours = length % 4 == 0;
    const int64_t units = fours ? length / 4 : length;
    group.for_each((end - begin) * units, [&](int64_t u) {
      const int64_t w = begin + u / units, k = (u % units) * (fours ? 4 : 1);
      const WindowOrigin origin(p, w);
      if (fours) {
        Vec<uint8_t, 4> v;
        STATOR_UNROLL()
        for (int j = 0; j < 4; ++j) v[j] = tap_of(p, origin, int32_t(k + j), padding);
        store_vector(p.out + w * length + k, v);
      } else {
        p.out[w * length + k] = tap_of(p, origin, int32_t(k), padding);
      }
    });
  }
}

void byte_windows(const params::Queue& q, const params::ByteWindows& p) {
  constexpr int block = WindowTuning::block;
  const int64_t windows = p.n * p.groups * p.windows[0] * p.windows[1] * p.windows[2];
  const int64_t length = p.channels / p.groups * p.kernel[0] * p.kernel[1] * p.kernel[2];
  const int64_t each = std::max(int64_t(1), WindowTuning::tile / std::max(length, int64_t(1)));
  launch(q, "quantized_windows", byte_windows_kernel<block>, {ceil_div(windows, each), block}, p, each, windows,
         length);
}

}  // namespace

}  // namespace stator::STATOR_TARGET::quantization

STATOR_LAUNCHER(quantization, epilogue)
STATOR_LAUNCHER(quantization, byte_windows)
