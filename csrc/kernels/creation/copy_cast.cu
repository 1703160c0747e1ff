// Conversion of dense data: one kernel per destination type, with a switch over the source type.
#include "device/convert.cuh"
#include "device/group.cuh"
#include "device/vector.cuh"
#include "host/launch.hpp"
#include "kernels/creation/copy.cuh"

namespace stator::STATOR_TARGET::creation {
namespace {

struct CastTuning {
  static constexpr int block = 256;
  static constexpr int unroll = 2;             // accesses of 16 bytes per thread
  static constexpr int64_t host_tile = 16384;  // elements per block
};

struct Cast {
  const void* in;
  void* out;
  int64_t n;
  DType from;
};

// Elements of one access: 16 bytes of the larger type.
constexpr int cast_width(int from, int to) { return 16 / (from > to ? from : to); }

template <class To, class From, int Size>
STATOR_FN void cast_block(const Group<Size>& group, const From* in, To* out, int64_t n) {
  if constexpr (std::is_same_v<To, From>) {
    return;  // a copy, not a cast
  } else if constexpr (fast_host) {
    const int64_t begin = group.block() * CastTuning::host_tile;
    const int64_t left = n - begin;
    group.for_each(left < CastTuning::host_tile ? left : CastTuning::host_tile,
                   [=](int64_t i) { out[begin + i] = convert<To>(in[begin + i]); });
  } else {
    constexpr int W = cast_width(sizeof(From), sizeof(To)), Unroll = CastTuning::unroll;
    const int64_t units = n / W;
    const int64_t first = group.block() * (Size * Unroll) + group.rank();
    Vec<From, W> x[Unroll];
    STATOR_UNROLL()
    for (int u = 0; u < Unroll; ++u)
      if (first + u * Size < units) x[u] = load_vector<W>(in + (first + u * Size) * W);
    STATOR_UNROLL()
    for (int u = 0; u < Unroll; ++u) {
      if (first + u * Size >= units) break;
      Vec<To, W> y;
      STATOR_UNROLL()
      for (int j = 0; j < W; ++j) y[j] = convert<To>(x[u][j]);
      store_vector(out + (first + u * Size) * W, y);
    }
    const int64_t tail = units * W + group.rank();
    if (group.block() == 0 && tail < n) out[tail] = convert<To>(in[tail]);
  }
}

template <class To, int Size>
STATOR_KERNEL(Size) void cast_kernel(Cast p) {
  const Group<Size> group;
#define STATOR_CASE(name, type) \
  case DType::name: return cast_block(group, static_cast<const type*>(p.in), static_cast<To*>(p.out), p.n);
  STATOR_DTYPE_SWITCH(p.from, STATOR_CASE)
#undef STATOR_CASE
}

}  // namespace

bool launch_cast(const params::Queue& q, const params::Elementwise& e) {
  const params::ElementwiseOperand& in = e.in[0];
  if (e.ndim > 1 || in.immediate || (e.ndim == 1 && (in.strides[0] != 1 || e.out.strides[0] != 1))) return false;
  if (!fast_host && !(is_aligned(in.data) && is_aligned(e.out.data))) return false;
  const Cast p{in.data, e.out.data, e.size, in.dtype};
  constexpr int block = CastTuning::block;
  const int64_t tile = fast_host ? CastTuning::host_tile
                                 : block * CastTuning::unroll * cast_width(itemsize(in.dtype), itemsize(e.out.dtype));
  visit(e.out.dtype, [&](auto tag) {
    launch(q, "cast", cast_kernel<typename decltype(tag)::type, block>, {ceil_div(e.size, tile), block}, p);
  });
  return true;
}

}  // namespace stator::STATOR_TARGET::creation
