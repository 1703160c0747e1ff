// Softmax and log-softmax, forward and backward. Three kernels: rows that fit registers, rows of any length, and
// columns (an axis that is not the last, strided operands, or a conversion). The maximum of a row is subtracted first,
// so that no exponential overflows.
#include "device/cascade.cuh"
#include "device/convert.cuh"
#include "device/functional.cuh"
#include "device/group.cuh"
#include "device/launch.cuh"
#include "device/launcher.cuh"
#include "device/math/math.cuh"
#include "device/vector.cuh"
#include "params/nn.hpp"

namespace stator::STATOR_TARGET::nn {
namespace {

// Contiguous rows of any length, one block per row. The row is read three times: for the maximum, the sum and the
// result.
template <class T, int Size, bool Log>
STATOR_KERNEL(Size) void softmax_row_kernel(const T* x, T* y, int64_t n, int64_t row_stride) {
  using A = opmath_t<T>;
  const Group<Size> group;
  const T* row = x + group.block() * row_stride;
  T* out = y + group.block() * n;
  const A largest = group.template map_reduce<A>(n, Max{}, [=](int64_t i) { return A(row[i]); });
  if constexpr (fast_host && !Log && std::is_same_v<T, A>) {
    // One exponential per element, which is kept in the output until it is scaled.
    group.for_each(n, [=](int64_t i) { out[i] = exp(row[i] - largest); });
    const A sum = group.template map_sum<A>(n, [=](int64_t i) { return out[i]; });
    const A scale = A(1) / sum;
    group.for_each(n, [=](int64_t i) { out[i] = out[i] * scale; });
  } else {
    const A sum = group.template map_sum<A>(n, [=](int64_t i) { return exp(A(row[i]) - largest); });
    if constexpr (Log) {
      const A shift = log(sum);
      group.for_each(n, [=](int64_t i) { out[i] = T((A(row[i]) - largest) - shift); });
    } else {
      const A scale = A(1) / sum;
      group.for_each(n, [=](int64_t i) { out[i] = T(exp(A(row[i]) - largest) * scale); });
    }
  }
}

// Rows of at most Size * V * Items elements stay in registers, with one read and one write. Rows must be aligned to 16
// bytes.
template <class T, int Size, int V, int Items, bool Log>
STATOR_KERNEL(Size) void softmax_cached_kernel(const T* x, T* y, int64_t n, int64_t row_stride) {
  using A = opmath_t<T>;
  const Group<Size> group;
  const T* row = x + group.block() * row_stride;
  T* out = y + group.block() * n;
  // Load and maximum.
  A values[Items][V];
  A largest = -limits<A>::infinity();
  for (int k = 0; k < Items; ++k) {
    const int64_t first = (int64_t(k) * Size + group.rank()) * V;
    if (first < n) {
      const Vec<T, V> in = load_vector<V>(row + first);
      for (int j = 0; j < V; ++j) {
        values[k][j] = A(in.value[j]);
        largest = Max{}(largest, values[k][j]);
      }
    }
  }
  largest = group.reduce(largest, Max{});
  // Exponentials and their sum.
  A sum = 0;
  for (int k = 0; k < Items; ++k) {
    if ((int64_t(k) * Size + group.rank()) * V < n) {
      for (int j = 0; j < V; ++j) {
        values[k][j] -= largest;
        const A e = exp(values[k][j]);
        sum += e;
        if constexpr (!Log) values[k][j] = e;
      }
    }
  }
  sum = group.reduce(sum, Sum{});
  // Result.
  const A scale = Log ? log(sum) : A(1) / sum;
  for (int k = 0; k < Items; ++k) {
    const int64_t first = (int64_t(k) * Size + group.rank()) * V;
    if (first < n) {
      Vec<T, V> result;
      for (int j = 0; j < V; ++j) result.value[j] = T(Log ? values[k][j] - scale : values[k][j] * scale);
      store_vector(out + first, result);
    }
  }
}

// softmax: dx = y (g - sum(g y)). log-softmax: dx = g - exp(y) sum(g).
template <class T, int Size, bool Log>
STATOR_KERNEL(Size) void softmax_row_backward_kernel(const T* grad, const T* saved, T* dx, int64_t n,
                                                     int64_t grad_stride, int64_t saved_stride) {
  using A = opmath_t<T>;
  const Group<Size> group;
  const T* g = grad + group.block() * grad_stride;
  const T* y = saved + group.block() * saved_stride;
  T* out = dx + group.block() * n;
  const A sum = group.template map_sum<A>(n, [=](int64_t i) { return Log ? A(g[i]) : A(g[i]) * A(y[i]); });
  group.for_each(n, [=](int64_t i) { out[i] = T(Log ? A(g[i]) - exp(A(y[i])) * sum : A(y[i]) * (A(g[i]) - sum)); });
}

// Loads and stores of the column kernel, computed in A: operands of type T, or (ErasedAccess) of a dtype that is known
// at run time only.
template <class T>
struct TypedAccess {
  using A = opmath_t<T>;
  static constexpr bool side_by_side = fast_host;  // only for adjacent columns, so that loops over them vectorise
  static STATOR_FN A load(const void* base, DType, int64_t i) { return A(static_cast<const T*>(base)[i]); }
  static STATOR_FN void store(void* base, DType, int64_t i, A value) { static_cast<T*>(base)[i] = T(value); }
};
template <class C>
struct ErasedAccess {
  using A = C;
  static constexpr bool side_by_side = false;
  static STATOR_FN A load(const void* base, DType dtype, int64_t i) { return load_as<A>(base, dtype, i); }
  static STATOR_FN void store(void* base, DType dtype, int64_t i, A value) { store_as<A>(base, dtype, i, value); }
};

// A block takes a tile of columns (rows of params::Softmax that are strided) and goes down the axis, so that
// neighbouring threads access neighbouring columns.
template <class Io, int Size, int Tile, bool Log, bool Backward>
STATOR_KERNEL(Size) void softmax_column_kernel(params::Softmax p) {
  using A = typename Io::A;
  constexpr int items = Tile / Group<Size>::size;
  const Group<Size> group;
  // Where this thread's columns start.
  constexpr int offsets = Io::side_by_side ? 1 : items;
  int64_t x_at[offsets] = {}, saved_at[offsets] = {}, y_at[offsets] = {};
  int count = 0;
  for (int k = 0; k < items; ++k) {
    const int64_t c = group.block() * Tile + int64_t(k) * Group<Size>::size + group.rank();
    if (c >= p.rows) break;
    count = k + 1;
    if (k >= offsets) continue;
    int64_t rest = c;
    for (int d = p.ndim - 1; d >= 0; --d) {
      const int64_t at = d == 0 ? rest : rest % p.shape[d];
      rest = d == 0 ? 0 : rest / p.shape[d];
      x_at[k] += at * p.x_strides[d];
      saved_at[k] += at * p.saved_strides[d];
      y_at[k] += at * p.y_strides[d];
    }
  }
  const auto offset = [](const int64_t(&at)[offsets], int k) { return Io::side_by_side ? at[0] + k : at[k]; };
  const auto x = [&](int k, int64_t i) { return Io::load(p.x, p.dtype, offset(x_at, k) + i * p.x_step); };
  const auto saved = [&](int k, int64_t i) {
    return Io::load(p.saved, p.dtype, offset(saved_at, k) + i * p.saved_step);
  };
  const auto store = [&](int k, int64_t i, A v) { Io::store(p.y, p.out_dtype, offset(y_at, k) + i * p.y_step, v); };
  // One sum per column, compensated because it can be long.
  A largest[items], sum[items], error[items];
  for (int k = 0; k < items; ++k) {
    largest[k] = -limits<A>::infinity();
    sum[k] = error[k] = 0;
  }
  // Backward: the sum, then the gradient. Forward: the maximum, the sum, then the result.
  if constexpr (Backward) {
    for (int64_t i = 0; i < p.n; ++i)
      for (int k = 0; k < count; ++k) add_exactly(sum[k], error[k], Log ? x(k, i) : x(k, i) * saved(k, i));
    for (int k = 0; k < count; ++k) sum[k] = compensated(sum[k], error[k]);
    for (int64_t i = 0; i < p.n; ++i)
      for (int k = 0; k < count; ++k)
        store(k, i, Log ? x(k, i) - exp(saved(k, i)) * sum[k] : saved(k, i) * (x(k, i) - sum[k]));
  } else {
    for (int64_t i = 0; i < p.n; ++i)
      for (int k = 0; k < count; ++k) largest[k] = Max{}(largest[k], x(k, i));
    for (int64_t i = 0; i < p.n; ++i)
      for (int k = 0; k < count; ++k) add_exactly(sum[k], error[k], exp(x(k, i) - largest[k]));
    for (int k = 0; k < count; ++k) sum[k] = compensated(sum[k], error[k]);
    for (int k = 0; k < count; ++k) sum[k] = Log ? log(sum[k]) : A(1) / sum[k];
    for (int64_t i = 0; i < p.n; ++i)
      for (int k = 0; k < count; ++k) {
        const A shifted = x(k, i) - largest[k];
        store(k, i, Log ? shifted - sum[k] : exp(shifted) * sum[k]);
      }
  }
}

struct SoftmaxTuning {
  static constexpr int block = 256, wide = 1024;       // threads for medium and for long rows
  static constexpr int warp = fast_host ? block : 32;  // and for short ones; the fast host needs one instance only
  static constexpr int items = 2;                      // 16-byte vectors per thread of a row in registers
  static constexpr int columns = by_target<256, 128>::value;  // tile of the column kernel
};

[[maybe_unused]] bool aligned(const void* p) { return reinterpret_cast<uintptr_t>(p) % 16 == 0; }

template <class T, bool Log>
void launch_rows(const params::Queue& q, const params::Softmax& p) {
  using Tune = SoftmaxTuning;
  const T* x = static_cast<const T*>(p.x);
  T* y = static_cast<T*>(p.y);
  const int64_t stride = p.x_strides[0];
  if constexpr (!fast_host) {
    constexpr int v = vector_width<T>;
    const bool vectors = aligned(x) && aligned(y) && p.n % v == 0 && stride % v == 0;
    constexpr int reach = v * Tune::items;
    if (vectors && p.n <= Tune::warp * reach)
      return launch(q, "softmax_cached", softmax_cached_kernel<T, Tune::warp, v, Tune::items, Log>,
                    {p.rows, Tune::warp}, x, y, p.n, stride);
    if (vectors && p.n <= Tune::block * reach)
      return launch(q, "softmax_cached", softmax_cached_kernel<T, Tune::block, v, Tune::items, Log>,
                    {p.rows, Tune::block}, x, y, p.n, stride);
    if (vectors && p.n <= Tune::wide * reach)
      return launch(q, "softmax_cached", softmax_cached_kernel<T, Tune::wide, v, Tune::items, Log>,
                    {p.rows, Tune::wide}, x, y, p.n, stride);
  }
  if (p.n <= Tune::block)
    return launch(q, "softmax_row", softmax_row_kernel<T, Tune::warp, Log>, {p.rows, Tune::warp}, x, y, p.n, stride);
  launch(q, "softmax_row", softmax_row_kernel<T, Tune::block, Log>, {p.rows, Tune::block}, x, y, p.n, stride);
}

template <class T, bool Log>
void launch_rows_backward(const params::Queue& q, const params::Softmax& p) {
  using Tune = SoftmaxTuning;
  const T* g = static_cast<const T*>(p.x);
  const T* y = static_cast<const T*>(p.saved);
  T* dx = static_cast<T*>(p.y);
  if (p.n <= Tune::block)
    return launch(q, "softmax_row_backward", softmax_row_backward_kernel<T, Tune::warp, Log>, {p.rows, Tune::warp}, g,
                  y, dx, p.n, p.x_strides[0], p.saved_strides[0]);
  launch(q, "softmax_row_backward", softmax_row_backward_kernel<T, Tune::block, Log>, {p.rows, Tune::block}, g, y, dx,
         p.n, p.x_strides[0], p.saved_strides[0]);
}

template <class Io, bool Log, bool Backward>
void launch_columns(const params::Queue& q, const params::Softmax& p) {
  using Tune = SoftmaxTuning;
  launch(q, "softmax_column", softmax_column_kernel<Io, Tune::block, Tune::columns, Log, Backward>,
         {ceil_div(p.rows, Tune::columns), Tune::block}, p);
}

template <bool Log, bool Backward>
void dispatch(const params::Queue& q, const params::Softmax& p) {
  if (p.dtype != p.out_dtype) {
    const bool wide = p.dtype == DType::float64 || p.out_dtype == DType::float64;
    return wide ? launch_columns<ErasedAccess<double>, Log, Backward>(q, p)
                : launch_columns<ErasedAccess<float>, Log, Backward>(q, p);
  }
  const bool rows = p.ndim <= 1 && p.x_step == 1 && p.y_step == 1 && (!Backward || p.saved_step == 1);
  const bool side_by_side =
      p.ndim == 1 && p.x_strides[0] == 1 && p.y_strides[0] == 1 && (!Backward || p.saved_strides[0] == 1);
  const auto typed = [&]<class T>(type_tag<T>) {
    if (!rows && TypedAccess<T>::side_by_side && !side_by_side)
      return launch_columns<ErasedAccess<opmath_t<T>>, Log, Backward>(q, p);
    if (!rows) return launch_columns<TypedAccess<T>, Log, Backward>(q, p);
    if constexpr (Backward)
      return launch_rows_backward<T, Log>(q, p);
    else
      return launch_rows<T, Log>(q, p);
  };
  switch (p.dtype) {
    case DType::float16: return typed(type_tag<float16>{});
    case DType::bfloat16: return typed(type_tag<bfloat16>{});
    case DType::float32: return typed(type_tag<float>{});
    default: return typed(type_tag<double>{});
  }
}

void softmax(const params::Queue& q, const params::Softmax& p) {
  p.log ? dispatch<true, false>(q, p) : dispatch<false, false>(q, p);
}
void softmax_backward(const params::Queue& q, const params::Softmax& p) {
  p.log ? dispatch<true, true>(q, p) : dispatch<false, true>(q, p);
}

}  // namespace

}  // namespace stator::STATOR_TARGET::nn

STATOR_LAUNCHER(nn, softmax)
STATOR_LAUNCHER(nn, softmax_backward)
