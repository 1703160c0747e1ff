// The dense kernel: rows x cols with dense rows; each input is dense, or one value, along a row, and steps by any
// stride from row to row. One row is the contiguous case. Storage type T, result type R, no conversion but to opmath.
#pragma once

#include "device/convert.cuh"
#include "device/group.cuh"
#include "device/index.cuh"
#include "device/launch.cuh"
#include "device/vector.cuh"
#include "kernels/elementwise.hpp"
#include "kernels/elementwise_types.cuh"

namespace stator::STATOR_COLUMN {

// Loads in flight a thread: the memory of an H200 needs about 32 KiB a multiprocessor to stay busy.
struct DenseTuning {
  static constexpr int block = 256;
  static constexpr int bytes_in_flight = 64;        // of all inputs of a thread
  static constexpr int64_t host_tile = 64 * 1024;   // bytes of an operand that a block reads
  static constexpr int64_t host_shortest_row = 32;  // shorter rows leave too little to a vector loop
  template <class T, int N>
  static constexpr int unroll = bytes_in_flight / (16 * N) < 1 ? 1 : bytes_in_flight / (16 * N);
};

template <class T, int N>
struct DenseInput {
  const T* data[N];  // null: `value` everywhere
  int64_t row_stride[N];
  T value[N];
  bool along[N];  // dense along a row, else one value
};

template <class T, class R, int N>
struct Dense {
  R* out;
  int64_t out_row_stride;
  DenseInput<T, N> in;
  int64_t rows, cols;
  int64_t units;             // accesses of vector_width elements that cover rows x cols
  int64_t tail;              // elements after the units; only where rows is 1
  FastDivmod units_per_row;  // unused where rows is 1
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

// Where blocks have threads: a thread loads all of its units before it stores the first, in W elements each.
template <class T, class R, int N, int W>
struct DenseThread {
  static constexpr int units = DenseTuning::unroll<T, N>;
  int64_t row[units], col[units];
  Vec<T, W> x[N][units];

  STATOR_PART void load(const Dense<T, R, N>& p, int64_t first, int threads) {
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
      const T* data = p.in.data[k];
      if (data != nullptr && p.in.along[k]) {
        STATOR_UNROLL()
        for (int u = 0; u < units; ++u)
          if (first + u * threads < p.units) x[k][u] = load_vector<W>(data + row[u] * p.in.row_stride[k] + col[u]);
      } else {
        STATOR_UNROLL()
        for (int u = 0; u < units; ++u) {
          T value = p.in.value[k];
          if (data != nullptr && first + u * threads < p.units) value = data[row[u] * p.in.row_stride[k]];
          STATOR_UNROLL()
          for (int j = 0; j < W; ++j) x[k][u][j] = value;
        }
      }
    }
  }
};

template <class F, class T, class R, int N, int W, int Size>
STATOR_FN void dense_units(const Group<Size>& group, const Dense<T, R, N>& p) {
  DenseThread<T, R, N, W> thread;
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
    store_vector(p.out + thread.row[u] * p.out_row_stride + thread.col[u], y);
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

// Binds input after input to its form, so that the loop inside has none to choose.
template <class F, int K, class T, class R, int N, int Size, class... Bound>
STATOR_FN void dense_segment(const Group<Size>& group, const Dense<T, R, N>& p, int64_t row, int64_t col, int64_t n,
                             Bound... bound) {
  if constexpr (K == N) {
    R* out = p.out + row * p.out_row_stride + col;
    group.for_each(n, [=](int64_t i) { out[i] = apply<F, T, R>(bound[i]...); });
  } else {
    const T* data = p.in.data[K];
    if (data == nullptr)
      data = &p.in.value[K];
    else
      data += row * p.in.row_stride[K];
    if (p.in.along[K])
      dense_segment<F, K + 1>(group, p, row, col, n, bound..., Along<T>{data + col});
    else
      dense_segment<F, K + 1>(group, p, row, col, n, bound..., Constant<T>{*data});
  }
}

}  // namespace detail

template <class F, class T, class R, int N, int Size>
STATOR_KERNEL void elementwise_dense_kernel(Dense<T, R, N> p) {
  const Group<Size> group;
  if constexpr (fast_host) {
    constexpr int64_t tile = DenseTuning::host_tile / int64_t(sizeof(T));
    const int64_t begin = group.block() * tile;
    const int64_t end = begin + tile < p.rows * p.cols ? begin + tile : p.rows * p.cols;
    for (int64_t i = begin; i < end;) {
      const int64_t row = p.rows == 1 ? 0 : i / p.cols, col = i - row * p.cols;
      const int64_t n = p.cols - col < end - i ? p.cols - col : end - i;
      detail::dense_segment<F, 0>(group, p, row, col, n);
      i += n;
    }
  } else {
    detail::dense_units<F, T, R, N, vector_width<T>>(group, p);
    if (group.block() == 0 && group.rank() < p.tail) {
      const int64_t at = p.cols - p.tail + group.rank();
      T element[N];
      for (int k = 0; k < N; ++k) {
        const T* data = p.in.data[k];
        element[k] = data == nullptr ? p.in.value[k] : data[p.in.along[k] ? at : 0];
      }
      p.out[at] = detail::apply_at<F, T, R>(element, std::make_integer_sequence<int, N>{});
    }
  }
}

// False when the layout is not rows x cols or not aligned to whole accesses. `value[k]`: an immediate operand in the
// storage type. Functors share it.
template <class T, class R, int N>
STATOR_COMMON bool launch_dense_kernel(const abi::Queue& q, const char* name, const abi::Elementwise& e,
                                       const T (&value)[N], void (*kernel)(Dense<T, R, N>)) {
  if (e.ndim > 2) return false;
  const int inner = e.ndim - 1, outer = e.ndim - 2;
  if (e.ndim > 0 && e.out.strides[inner] != 1) return false;
  Dense<T, R, N> p{};
  p.rows = e.ndim == 2 ? e.shape[outer] : 1;
  p.cols = e.ndim > 0 ? e.shape[inner] : 1;
  if (fast_host && p.rows > 1 && p.cols < DenseTuning::host_shortest_row) return false;
  p.out = static_cast<R*>(e.out.data);
  p.out_row_stride = e.ndim == 2 ? e.out.strides[outer] : 0;
  uintptr_t misaligned = reinterpret_cast<uintptr_t>(p.out) % (sizeof(R) * vector_width<T>);
  int64_t steps = p.out_row_stride;  // offsets of rows that begin an access
  for (int k = 0; k < N; ++k) {
    const abi::ElementwiseOperand& in = e.in[k];
    p.in.value[k] = value[k];
    if (in.immediate) continue;
    const int64_t step = e.ndim > 0 ? in.strides[inner] : 0;
    if (step != 0 && step != 1) return false;
    p.in.data[k] = static_cast<const T*>(in.data);
    p.in.along[k] = step == 1;
    p.in.row_stride[k] = e.ndim == 2 ? in.strides[outer] : 0;
    if (step == 1) {
      misaligned |= reinterpret_cast<uintptr_t>(in.data) % 16;
      steps |= p.in.row_stride[k];
    }
  }
  constexpr int64_t width = vector_width<T>;
  if (!fast_host && (misaligned != 0 || (p.rows > 1 && (steps | p.cols) % width != 0))) return false;
  const int64_t per_row = p.cols / width;
  p.units = p.rows * per_row;
  p.tail = p.rows == 1 ? p.cols % width : 0;
  if (p.rows > 1) {
    if (p.units + (int64_t(1) << 16) >= int64_t(1) << 31) return false;
    p.units_per_row = FastDivmod(int32_t(per_row));
  }
  constexpr int block = DenseTuning::block;
  const int64_t blocks = fast_host ? ceil_div(e.size, DenseTuning::host_tile / int64_t(sizeof(T)))
                                   : std::max<int64_t>(1, ceil_div(p.units, block * DenseTuning::unroll<T, N>));
  if (blocks >= int64_t(1) << 31) return false;
  launch(q, name, kernel, {blocks, block}, p);
  return true;
}

template <class F, class T, class R, int N>
bool launch_dense(const abi::Queue& q, const char* name, const abi::Elementwise& e, const T (&value)[N]) {
  return launch_dense_kernel<T, R, N>(q, name, e, value, elementwise_dense_kernel<F, T, R, N, DenseTuning::block>);
}

}  // namespace stator::STATOR_COLUMN
