// Copies and fills. Without conversion only the item size matters. With conversion, dense data has kernels of its own,
// and other layouts use the general elementwise kernel.
#include "host/launcher.hpp"
#include "kernels/creation/copy.cuh"
#include "kernels/elementwise/dense.cuh"
#include "kernels/elementwise/strided.cuh"

namespace stator::STATOR_TARGET::creation {

using elementwise::for_each_small_subspace;
using elementwise::Identity;
using elementwise::is_row_major;
using elementwise::launch_dense;
using elementwise::launch_strided;
using elementwise::Layout;
using elementwise::make_layout;
using elementwise::visit_item;
using elementwise::Walk;
using elementwise::wide_t;

namespace {

struct CopyTuning {
  static constexpr int block = 256;
  static constexpr int items = 4;
  template <class T>
  static constexpr int64_t host_tile() {
    return 65536 / int64_t(sizeof(T));
  }
};

template <class T>
struct StridedCopy {
  Layout<2> layout;
  T* out;
  const T* in;  // null: `value`
  T value;
};

template <class T, int Size>
STATOR_FN void copy_items(const Group<Size>& group, const StridedCopy<T>& p) {
  constexpr int M = CopyTuning::items;
  const int32_t size = int32_t(p.layout.size), first = int32_t(group.block()) * (Size * M) + group.rank();
  int32_t linear[M];
  STATOR_UNROLL()
  for (int u = 0; u < M; ++u) linear[u] = first + u * Size < size ? first + u * Size : 0;
  Items<int64_t, M> at[2];
  p.layout.offsets(linear, at);
  T value[M];
  STATOR_UNROLL()
  for (int u = 0; u < M; ++u) value[u] = p.in == nullptr ? p.value : p.in[at[1][u]];
  STATOR_UNROLL()
  for (int u = 0; u < M; ++u)
    if (first + u * Size < size) p.out[at[0][u]] = value[u];
}

template <class T, int Size>
STATOR_FN void copy_segments(const Group<Size>& group, const StridedCopy<T>& p) {
  const Layout<2>& l = p.layout;
  const int64_t begin = group.block() * CopyTuning::host_tile<T>();
  const int64_t n = l.size - begin < CopyTuning::host_tile<T>() ? l.size - begin : CopyTuning::host_tile<T>();
  const bool dense_out = is_row_major(l, 0);
  T buffer[CopyTuning::host_tile<T>()];
  T* const values = dense_out ? p.out + begin : buffer;
  if (p.in == nullptr) {
    group.for_each(n, [=](int64_t i) { values[i] = p.value; });
  } else {
    Walk{l.shape, l.strides[1], l.ndim, begin, n}.for_each_segment(
        [&](int64_t offset, int64_t stride, int64_t position, int64_t length) {
          const T* from = p.in + offset;
          T* to = values + position;
          if (stride == 1)
            group.for_each(length, [=](int64_t i) { to[i] = from[i]; });
          else
            group.for_each(length, [=](int64_t i) { to[i] = from[i * stride]; });
        });
  }
  if (dense_out) return;
  Walk{l.shape, l.strides[0], l.ndim, begin, n}.for_each_segment(
      [&](int64_t offset, int64_t stride, int64_t position, int64_t length) {
        const T* from = values + position;
        T* to = p.out + offset;
        group.for_each(length, [=](int64_t i) { to[i * stride] = from[i]; });
      });
}

template <class T, int Size>
STATOR_KERNEL(Size) void copy_strided_kernel(StridedCopy<T> p) {
  const Group<Size> group;
  if constexpr (fast_host)
    copy_segments(group, p);
  else
    copy_items(group, p);
}

template <class T>
void copy_same(const params::Queue& q, const params::Elementwise& e) {
  T value[1] = {};
  if (e.in[0].immediate) std::memcpy(value, e.in[0].value, sizeof(T));
  if (launch_dense<Identity, T, T, 1>(q, e.in[0].immediate ? "fill" : "copy", e, value)) return;
  if (launch_transpose(q, e)) return;
  const int64_t tile = fast_host ? CopyTuning::host_tile<T>() : CopyTuning::block * CopyTuning::items;
  for_each_small_subspace(e, 0, [&](const params::Elementwise& part, int64_t) {
    const StridedCopy<T> p{make_layout<2>(part), static_cast<T*>(part.out.data),
                           part.in[0].immediate ? nullptr : static_cast<const T*>(part.in[0].data), value[0]};
    const Config config{ceil_div(part.size, tile), CopyTuning::block};
    launch(q, "copy_strided", copy_strided_kernel<T, CopyTuning::block>, config, p);
  });
}

void copy(const params::Queue& q, const params::Elementwise& e) {
  if (e.in[0].immediate || e.in[0].dtype == e.out.dtype)
    return visit_item(e.out.dtype, [&](auto tag) { copy_same<typename decltype(tag)::type>(q, e); });
  if (launch_cast(q, e)) return;
  // The wide type of the source represents it exactly, so only the store rounds.
  visit(e.in[0].dtype, [&](auto tag) {
    using C = wide_t<typename decltype(tag)::type>;
    launch_strided<Identity, C, C, 1>(q, "cast_strided", e);
  });
}

}  // namespace

}  // namespace stator::STATOR_TARGET::creation

STATOR_LAUNCHER(creation, copy)
