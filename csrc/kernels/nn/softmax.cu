// Launchers of the softmax family: cached rows, long rows, columns.
#include "device/launch.cuh"
#include "device/launcher.cuh"
#include "params/nn.hpp"
#include "kernels/nn/softmax_columns.cuh"
#include "kernels/nn/softmax_rows.cuh"

namespace stator::STATOR_TARGET::nn {
namespace {

struct SoftmaxTuning {
  static constexpr int block = 256, wide = 1024;              // threads for medium and long rows,
  static constexpr int warp = fast_host ? block : 32;         // and for short ones; without threads one instance serves
  static constexpr int items = 2;                             // 16-byte vectors a thread keeps of a cached row
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
                    {p.lines, Tune::warp}, x, y, p.n, stride);
    if (vectors && p.n <= Tune::block * reach)
      return launch(q, "softmax_cached", softmax_cached_kernel<T, Tune::block, v, Tune::items, Log>,
                    {p.lines, Tune::block}, x, y, p.n, stride);
    if (vectors && p.n <= Tune::wide * reach)
      return launch(q, "softmax_cached", softmax_cached_kernel<T, Tune::wide, v, Tune::items, Log>,
                    {p.lines, Tune::wide}, x, y, p.n, stride);
  }
  if (p.n <= Tune::block)
    return launch(q, "softmax_row", softmax_row_kernel<T, Tune::warp, Log>, {p.lines, Tune::warp}, x, y, p.n, stride);
  launch(q, "softmax_row", softmax_row_kernel<T, Tune::block, Log>, {p.lines, Tune::block}, x, y, p.n, stride);
}

template <class T, bool Log>
void launch_rows_backward(const params::Queue& q, const params::Softmax& p) {
  using Tune = SoftmaxTuning;
  const T* g = static_cast<const T*>(p.x);
  const T* y = static_cast<const T*>(p.saved);
  T* dx = static_cast<T*>(p.y);
  if (p.n <= Tune::block)
    return launch(q, "softmax_row_backward", softmax_row_backward_kernel<T, Tune::warp, Log>, {p.lines, Tune::warp}, g,
                  y, dx, p.n, p.x_strides[0], p.saved_strides[0]);
  launch(q, "softmax_row_backward", softmax_row_backward_kernel<T, Tune::block, Log>, {p.lines, Tune::block}, g, y, dx,
         p.n, p.x_strides[0], p.saved_strides[0]);
}

template <class Io, bool Log, bool Backward>
void launch_columns(const params::Queue& q, const params::Softmax& p) {
  using Tune = SoftmaxTuning;
  launch(q, "softmax_column", softmax_column_kernel<Io, Tune::block, Tune::columns, Log, Backward>,
         {ceil_div(p.lines, Tune::columns), Tune::block}, p);
}

template <bool Log, bool Backward>
void dispatch(const params::Queue& q, const params::Softmax& p) {
  if (p.dtype != p.out_dtype) {
    const bool wide = p.dtype == DType::float64 || p.out_dtype == DType::float64;
    return wide ? launch_columns<Any<double>, Log, Backward>(q, p) : launch_columns<Any<float>, Log, Backward>(q, p);
  }
  const bool rows = p.ndim <= 1 && p.x_step == 1 && p.y_step == 1 && (!Backward || p.saved_step == 1);
  const bool side_by_side =
      p.ndim == 1 && p.x_strides[0] == 1 && p.y_strides[0] == 1 && (!Backward || p.saved_strides[0] == 1);
  const auto typed = [&]<class T>(type_tag<T>) {
    if (!rows && Typed<T>::side_by_side && !side_by_side) return launch_columns<Any<opmath_t<T>>, Log, Backward>(q, p);
    if (!rows) return launch_columns<Typed<T>, Log, Backward>(q, p);
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
