// What the softmax kernels share where blocks have threads: access to lines, and the sums of a line. A line is the n
// elements along the axis.
#pragma once

#include "device/cascade.cuh"
#include "device/convert.cuh"
#include "device/functional.cuh"
#include "device/group.cuh"
#include "device/math/math.cuh"
#include "device/vector.cuh"
#include "params/nn.hpp"

namespace stator::STATOR_TARGET::nn {

// exp for results of type T. Softmax multiplies its error, which is 2 units for the approximate instruction of
// CUDA's exp: nothing to a 16-bit result, but half of what a float may err by.
template <class T, class A>
STATOR_FN A exp_for(A x) {
  if constexpr (sizeof(T) == 2)
    return exp(x);
  else
    return libm::polynomial_exp(x);
}

// Operands of one floating type T, or of float16 and bfloat16 (T is Half), only in accesses of `vector` neighbours.
struct Half {};
template <class T>
struct TypedAccess {
  using A = opmath_t<T>;
  static constexpr bool always_vectors = true;
  static constexpr int row_vector = vector_width<T>;
  static constexpr int column_vector = row_vector < 4 ? row_vector : 4;

  STATOR_FN static A exponential(A x) { return exp_for<T>(x); }
  // Calls f with the tag of the operand's type.
  template <class F>
  STATOR_FN static void with_type(DType, F f) {
    f(type_tag<T>{});
  }
};

// Both have the arithmetic of float, so one kernel is made for both.
template <>
struct TypedAccess<Half> {
  using A = float;
  static constexpr bool always_vectors = true;
  static constexpr int row_vector = 8, column_vector = 4;

  STATOR_FN static A exponential(A x) { return exp_for<float16>(x); }
  template <class F>
  STATOR_FN static void with_type(DType d, F f) {
    if (d == DType::float16)
      f(type_tag<float16>{});
    else
      f(type_tag<bfloat16>{});
  }
};

// Operands of floating dtypes that are known at run time, computed in C: float64 only if C is double.
template <class C>
struct ErasedAccess {
  using A = C;
  static constexpr bool always_vectors = false;
  static constexpr int row_vector = vector_width<C>;
  static constexpr int column_vector = 1;

  STATOR_FN static A exponential(A x) { return exp_for<C>(x); }
  template <class F>
  STATOR_FN static void with_type(DType d, F f) {
    if (d == DType::float16)
      f(type_tag<float16>{});
    else if (d == DType::bfloat16)
      f(type_tag<bfloat16>{});
    else if (std::is_same_v<C, float> || d == DType::float32)
      f(type_tag<float>{});
    else
      f(type_tag<double>{});
  }
};

// `count` of N elements at `at`, `at` + apart, ... of an operand of ErasedAccess, or N / V vectors as far apart. They
// are calls, which all kernels share: for each dtype such loads would be most of a kernel's code.
template <class C, int N, int V>
STATOR_CALL Items<C, N> load_erased(const void* base, DType dtype, int64_t at, int64_t apart, int count, bool vectors) {
  Items<C, N> value;
  ErasedAccess<C>::with_type(dtype, [&]<class T>(type_tag<T>) {
    const T* const from = static_cast<const T*>(base) + at;
    if (vectors) {
      STATOR_UNROLL()
      for (int i = 0; i < N; i += V) {
        Vec<T, V> in{};
        if (i < count) in = load_vector<V>(from + i / V * apart);
        STATOR_UNROLL()
        for (int j = 0; j < V; ++j) value[i + j] = convert<C>(in[j]);
      }
    } else {
      STATOR_UNROLL()
      for (int i = 0; i < N; ++i) value[i] = i < count ? convert<C>(from[i * apart]) : C(0);
    }
  });
  return value;
}
template <class C, int N, int V>
STATOR_CALL void store_erased(void* base, DType dtype, int64_t at, int64_t apart, int count, bool vectors,
                              Items<C, N> value) {
  ErasedAccess<C>::with_type(dtype, [&]<class T>(type_tag<T>) {
    T* const to = static_cast<T*>(base) + at;
    if (vectors) {
      STATOR_UNROLL()
      for (int i = 0; i < N; i += V) {
        Vec<T, V> out;
        STATOR_UNROLL()
        for (int j = 0; j < V; ++j) out[j] = convert<T>(value[i + j]);
        if (i < count) store_vector(to + i / V * apart, out);
      }
    } else {
      STATOR_UNROLL()
      for (int i = 0; i < N; ++i)
        if (i < count) to[i * apart] = convert<T>(value[i]);
    }
  });
}

// Where a line starts in each operand.
struct LineOffsets {
  int64_t x = 0, saved = 0, y = 0;
};
STATOR_FN LineOffsets line_offsets(const params::Softmax& p, int64_t line) {
  LineOffsets at;
  int64_t rest = line;
  STATOR_UNROLL(1)
  for (int d = p.ndim - 1; d >= 0; --d) {
    const int64_t i = d == 0 ? rest : rest % p.shape[d];
    rest = d == 0 ? 0 : rest / p.shape[d];
    at.x += i * p.x_strides[d];
    at.saved += i * p.saved_strides[d];
    at.y += i * p.y_strides[d];
  }
  return at;
}

// Forward: the maximum, and the sum of exp(x - largest). Backward: the sum; largest is not used.
template <class A>
struct LineTotal {
  A largest, sum;
};

// exp(from - to), where both may be the same infinity.
template <class A>
STATOR_FN A rescaling(A from, A to) {
  return from == to ? A(1) : exp_for<A>(from - to);
}

// A thread's part of a line, in one pass (Milakov and Gimelshein, 2018): the terms are relative to a reference, and the
// sum is rescaled when the reference moves. It moves only when an element is well above it, because each rescaling
// rounds.
template <class Io, bool Backward>
struct LineSums {
  using A = typename Io::A;
  static constexpr A slack = A(2);
  A largest = -limits<A>::infinity(), reference = -limits<A>::infinity();
  Cascade<A> sum;

  // Elements that are -infinity count for nothing, but do not make the sum NaN.
  template <int N>
  STATOR_FN void add(const A (&x)[N]) {
    A partial = A(0);
    if constexpr (Backward) {
      STATOR_UNROLL()
      for (int k = 0; k < N; ++k) partial += x[k];
    } else {
      A most = x[0];
      STATOR_UNROLL()
      for (int k = 1; k < N; ++k) most = Max{}(most, x[k]);
      if (most == -limits<A>::infinity()) return;
      largest = Max{}(largest, most);
      if (!(most <= reference + slack)) {  // also if it is NaN
        const A scale = exp_for<A>(reference - most);
        sum.sum *= scale;
        sum.error *= scale;
        reference = most;
      }
      STATOR_UNROLL()
      for (int k = 0; k < N; ++k) partial += Io::exponential(x[k] - reference);
    }
    sum.add(partial);
  }
  // The sum relative to the line's maximum.
  STATOR_FN A relative_to(A maximum) const {
    return Backward ? sum.value() : sum.value() * rescaling(reference, maximum);
  }
};

// The factor of softmax, or the term of log-softmax, that a line's sum gives.
template <class A>
STATOR_FN A softmax_scale(A sum, bool log_of) {
  return log_of ? log(sum) : A(1) / sum;
}

// The results of N elements of a line, in their slots; `inside(i)` tells which exist.
//   forward, from x:          softmax y = exp(x - largest) scale,  log-softmax y = x - largest - scale
//   backward, from g and y:   softmax dx = y (g - scale),          log-softmax dx = g - exp(y) scale
template <class Io, bool Backward, int N, class A, class Inside>
STATOR_FN void finish_line(A (&value)[N], [[maybe_unused]] const A (&saved)[N], [[maybe_unused]] A largest, A scale,
                           bool log_of, Inside inside) {
  if (Backward == log_of) {  // the two that have an exponential
    STATOR_UNROLL()
    for (int i = 0; i < N; ++i) {
      if (!inside(i)) continue;
      if constexpr (Backward)
        value[i] -= Io::exponential(saved[i]) * scale;
      else
        value[i] = Io::exponential(value[i] - largest) * scale;
    }
  } else {
    STATOR_UNROLL()
    for (int i = 0; i < N; ++i) value[i] = Backward ? saved[i] * (value[i] - scale) : (value[i] - largest) - scale;
  }
}

// How a launch cuts lines that do not fit registers: among `splits` blocks of `size` elements. With more than one block
// a line takes two launches, one for its total and one for the results.
enum class LinePhase : int32_t { whole, total, result };
struct LineCut {
  LinePhase phase;
  int32_t splits, wide;  // wide: threads side by side, of the column kernels
  int64_t size;
};

// The totals of a tile's parts, and of the tile: `lines` of each, side by side.
template <class A>
struct LineTotals {
  LineTotal<A>*of_parts, *of_tile;
  int64_t lines;

  STATOR_FN LineTotals(const params::Softmax& p, const LineCut& cut, int64_t tile, int64_t lines_)
      : of_parts(static_cast<LineTotal<A>*>(p.partials) + tile * (cut.splits + 1) * lines_),
        of_tile(of_parts + cut.splits * lines_),
        lines(lines_) {}
  STATOR_FN LineTotal<A>& part(int64_t split, int64_t line) const { return of_parts[split * lines + line]; }
};

}  // namespace stator::STATOR_TARGET::nn
