// The dense kernel, for rows x cols elements with contiguous rows: along a row each input is contiguous or one value,
// and rows may have any stride. One row is the contiguous case. Elements have storage type T, results type R, and
// nothing is converted but half types to float.
#pragma once

#include "device/convert.cuh"
#include "device/group.cuh"
#include "device/index.cuh"
#include "device/vector.cuh"
#include "host/launch.hpp"
#include "kernels/elementwise/types.cuh"
#include "params/elementwise.hpp"

#include <cstring>

namespace stator::STATOR_TARGET::elementwise {

// A thread has several loads in flight: the memory of an H200 needs about 32 KiB per multiprocessor to stay busy.
struct DenseTuning {
  static constexpr int block = 256;
  static constexpr int bytes_in_flight = 64;        // of all inputs of a thread
  static constexpr int64_t host_tile = 64 * 1024;   // bytes of an operand that a block reads
  static constexpr int64_t host_shortest_row = 32;  // shorter rows are too short for a vector loop
  template <int N>
  static constexpr int unroll = bytes_in_flight / (16 * N) < 1 ? 1 : bytes_in_flight / (16 * N);
};

// The parameters for any storage type, so that all types share one launcher.
template <int N>
struct Dense {
  void* out;
  int64_t out_row_stride;
  const void* in[N];  // null: `value` everywhere
  int64_t row_stride[N];
  alignas(16) unsigned char value[N][16];
  bool along[N];  // contiguous along a row, else one value
  int64_t rows, cols;
  int64_t units;             // accesses of vector_width elements that cover rows x cols
  int64_t tail;              // elements after the units; only where rows is 1
  FastDivmod units_per_row;  // unused where rows is 1

  // The value of input k where it is one value. Returned by value, because taking the address of kernel parameters
  // would copy all of them.
  template <class T>
  STATOR_FN T single(int k, int64_t at) const {
    T x;
    std::memcpy(&x, value[k], sizeof(T));
    return in[k] == nullptr ? x : static_cast<const T*>(in[k])[at];
  }
};

template <class F, class T, class R, class... X>
STATOR_FN R apply(X... x) {
  return convert<R>(F{}(convert<dense_t<T>>(x)...));
}

namespace detail {

template <class F, class T, class R, int N, int... K>
STATOR_FN R apply_at(const T (&x)[N], std::integer_sequence<int, K...>) {
  return apply<F, T, R>(x[K]...);
}

// Where blocks have threads: a thread loads all of its units, of W elements each, before it stores the first.
template <class T, int N, int W>
struct DenseThread {
  static constexpr int units = DenseTuning::unroll<N>;
  int64_t row[units], col[units];
  Vec<T, W> x[N][units];

  STATOR_PART void load(const Dense<N>& p, int64_t first, int threads) {
    STATOR_UNROLL()
    for (int u = 0; u < units; ++u) {
      const int64_t unit = first + u * threads;
      row[u] = 0;
      col[u] = unit * W;
      if (p.rows > 1) {
        int32_t in_row;
        row[u] = p.units_per_row.divmod(int32_t(unit), in_row);
        col[u] = int64_t(in_row) * W;
      }
    }
    STATOR_UNROLL()
    for (int k = 0; k < N; ++k) {
      const T* data = static_cast<const T*>(p.in[k]);
      const int64_t row_stride = p.row_stride[k];
      if (p.along[k]) {
        STATOR_UNROLL()
        for (int u = 0; u < units; ++u)
          if (first + u * threads < p.units) x[k][u] = load_vector<W>(data + row[u] * row_stride + col[u]);
      } else {
        STATOR_UNROLL()
        for (int u = 0; u < units; ++u) {
          if (first + u * threads >= p.units) continue;  // the value may be the output, which another thread writes
          const T value = p.template single<T>(k, row[u] * row_stride);
          STATOR_UNROLL()
          for (int j = 0; j < W; ++j) x[k][u][j] = value;
        }
      }
    }
  }
};

template <class F, class T, class R, int N, int W, int Size>
STATOR_FN void dense_units(const Group<Size>& group, const Dense<N>& p) {
  DenseThread<T, N, W> thread;
  const int64_t first = group.block() * (Size * thread.units) + group.rank();
  thread.load(p, first, Size);
  STATOR_UNROLL()
  for (int u = 0; u < thread.units; ++u) {
    if (first + u * Size >= p.units) break;
    Vec<R, W> y;
    STATOR_UNROLL()
    for (int j = 0; j < W; ++j) {
      T element[N];
      STATOR_UNROLL()
      for (int k = 0; k < N; ++k) element[k] = thread.x[k][u][j];
      y[j] = apply_at<F, T, R>(element, std::make_integer_sequence<int, N>{});
    }
    store_vector(static_cast<R*>(p.out) + thread.row[u] * p.out_row_stride + thread.col[u], y);
  }
}

template <class T>
struct Along {
  const T* data;
  STATOR_FN T operator[](int64_t i) const { return data[i]; }
};
template <class T>
struct Constant {
  T value;
  STATOR_FN T operator[](int64_t) const { return value; }
};

// Binds each input to its form (Along or Constant) in turn, so that the innermost loop has no choice to make.
template <class F, class T, class R, int K, int N, int Size, class... Bound>
STATOR_FN void dense_segment(const Group<Size>& group, const Dense<N>& p, int64_t row, int64_t col, int64_t n,
                             Bound... bound) {
  if constexpr (K == N) {
    R* out = static_cast<R*>(p.out) + row * p.out_row_stride + col;
    group.for_each(n, [=](int64_t i) { out[i] = apply<F, T, R>(bound[i]...); });
  } else {
    const int64_t at = row * p.row_stride[K];
    if (p.along[K])
      dense_segment<F, T, R, K + 1>(group, p, row, col, n, bound...,
                                    Along<T>{static_cast<const T*>(p.in[K]) + at + col});
    else
      dense_segment<F, T, R, K + 1>(group, p, row, col, n, bound..., Constant<T>{p.template single<T>(K, at)});
  }
}

}  // namespace detail

template <class F, class T, class R, int N, int Size>
STATOR_KERNEL(Size) void elementwise_dense_kernel(Dense<N> p) {
  const Group<Size> group;
  if constexpr (fast_host) {
    constexpr int64_t tile = DenseTuning::host_tile / int64_t(sizeof(T));
    const int64_t begin = group.block() * tile;
    const int64_t end = begin + tile < p.rows * p.cols ? begin + tile : p.rows * p.cols;
    for (int64_t i = begin; i < end;) {
      const int64_t row = p.rows == 1 ? 0 : i / p.cols, col = i - row * p.cols;
      const int64_t n = p.cols - col < end - i ? p.cols - col : end - i;
      detail::dense_segment<F, T, R, 0>(group, p, row, col, n);
      i += n;
    }
  } else {
    detail::dense_units<F, T, R, N, vector_width<T>>(group, p);
    if (group.block() == 0 && group.rank() < p.tail) {
      const int64_t at = p.cols - p.tail + group.rank();
      T element[N];
      for (int k = 0; k < N; ++k) element[k] = p.template single<T>(k, p.along[k] ? at : 0);
      static_cast<R*>(p.out)[at] = detail::apply_at<F, T, R>(element, std::make_integer_sequence<int, N>{});
    }
  }
}

// Returns false if the layout is not rows x cols or not aligned to whole accesses. `value[k]` is an immediate operand
// in the storage type, `size` the bytes of an element and `result_size` those of a result. All functors share it.
template <int N>
STATOR_COMMON bool launch_dense_kernel(const params::Queue& q, const char* name, const params::Elementwise& e, int size,
                                       int result_size, const unsigned char (&value)[N][16], void (*kernel)(Dense<N>)) {
  if (e.ndim > 2) return false;
  const int inner = e.ndim - 1, outer = e.ndim - 2;
  if (e.ndim > 0 && e.out.strides[inner] != 1) return false;
  Dense<N> p{};
  p.rows = e.ndim == 2 ? e.shape[outer] : 1;
  p.cols = e.ndim > 0 ? e.shape[inner] : 1;
  if (fast_host && p.rows > 1 && p.cols < DenseTuning::host_shortest_row) return false;
  const int64_t width = 16 / size;
  p.out = e.out.data;
  p.out_row_stride = e.ndim == 2 ? e.out.strides[outer] : 0;
  bool aligned = is_aligned(p.out, result_size * width);
  int64_t steps = p.out_row_stride;  // offsets of rows that begin an access
  std::memcpy(p.value, value, sizeof(value));
  for (int k = 0; k < N; ++k) {
    const params::ElementwiseOperand& in = e.in[k];
    if (in.immediate) continue;
    const int64_t step = e.ndim > 0 ? in.strides[inner] : 0;
    if (step != 0 && step != 1) return false;
    p.in[k] = in.data;
    p.along[k] = step == 1;
    p.row_stride[k] = e.ndim == 2 ? in.strides[outer] : 0;
    if (step == 1) {
      aligned &= is_aligned(in.data);
      steps |= p.row_stride[k];
    }
  }
  if (!fast_host && (!aligned || (p.rows > 1 && (steps | p.cols) % width != 0))) return false;
  const int64_t per_row = p.cols / width;
  p.units = p.rows * per_row;
  p.tail = p.rows == 1 ? p.cols % width : 0;
  if (p.rows > 1) {
    if (p.units + (int64_t(1) << 16) >= int64_t(1) << 31) return false;
    p.units_per_row = FastDivmod(int32_t(per_row));
  }
  constexpr int block = DenseTuning::block;
  const int64_t blocks = fast_host ? ceil_div(e.size, DenseTuning::host_tile / size)
                                   : std::max<int64_t>(1, ceil_div(p.units, block * DenseTuning::unroll<N>));
  if (blocks >= int64_t(1) << 31) return false;
  launch(q, name, kernel, {blocks, block}, p);
  return true;
}

template <class F, class T, class R, int N>
bool launch_dense(const params::Queue& q, const char* name, const params::Elementwise& e, const T (&value)[N]) {
  static_assert(vector_width<T> == 16 / int(sizeof(T)));
  alignas(16) unsigned char bytes[N][16]{};
  for (int k = 0; k < N; ++k) std::memcpy(bytes[k], &value[k], sizeof(T));
  return launch_dense_kernel<N>(q, name, e, int(sizeof(T)), int(sizeof(R)), bytes,
                                elementwise_dense_kernel<F, T, R, N, DenseTuning::block>);
}

}  // namespace stator::STATOR_TARGET::elementwise
