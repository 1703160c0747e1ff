// Cross products of vectors of three elements along any axis, in one pass.
#include "device/convert.cuh"
#include "device/group.cuh"
#include "device/index.cuh"
#include "device/math/complex_math.cuh"
#include "host/launch.hpp"
#include "host/launcher.hpp"
#include "kernels/linalg/small.cuh"

namespace stator::STATOR_TARGET::linalg {
namespace {

struct CrossTuning {
  static constexpr int block = 256;
  static constexpr int64_t tile = by_target<512, 8192>::value;  // vectors per block
};

// Integers wrap around: they are multiplied as unsigned numbers.
template <class C>
STATOR_FN C determinant_of_two(C a, C b, C c, C d) {
  if constexpr (std::is_integral_v<C>)
    return C(uint64_t(a) * uint64_t(b) - uint64_t(c) * uint64_t(d));
  else
    return a * b - c * d;
}

template <class C>
struct Vector {
  C x, y, z;
};
template <class C>
STATOR_FN Vector<C> cross_of(Vector<C> a, Vector<C> b) {
  return {determinant_of_two(a.y, b.z, a.z, b.y), determinant_of_two(a.z, b.x, a.x, b.z),
          determinant_of_two(a.x, b.y, a.y, b.x)};
}

// For operands that all have the compute type and constant steps.
template <class C>
STATOR_FN void cross_dense(const params::Cross& p, int64_t first, int64_t n) {
  const int64_t sa = p.a_step, sb = p.b_step, so = p.out_step;
  const bool flat = p.first.ndim == 1;
  const int64_t ta = flat ? p.first.in[0].strides[0] : 0, tb = flat ? p.first.in[1].strides[0] : 0,
                to = flat ? p.first.out.strides[0] : 0;
  const C* a = static_cast<const C*>(p.first.in[0].data) + first * ta;
  const C* b = static_cast<const C*>(p.first.in[1].data) + first * tb;
  C* out = static_cast<C*>(p.first.out.data) + first * to;
  for (int64_t i = 0; i < n; ++i) {
    const Vector<C> r = cross_of<C>({a[0], a[sa], a[2 * sa]}, {b[0], b[sb], b[2 * sb]});
    out[0] = r.x, out[so] = r.y, out[2 * so] = r.z;
    a += ta, b += tb, out += to;
  }
}

template <class C, int Size>
STATOR_KERNEL(Size) void cross_kernel(params::Cross p, ShapeDivisors divisors, int dense) {
  const Group<Size> group;
  const int64_t begin = group.block() * CrossTuning::tile, left = p.first.size - begin;
  const int64_t n = left < CrossTuning::tile ? left : CrossTuning::tile;
  if constexpr (fast_host) {
    if (dense == int(sizeof(C))) return cross_dense<C>(p, begin, n);
    if constexpr (std::is_integral_v<C>)
      if (dense == 4) return cross_dense<int32_t>(p, begin, n);
  }
  group.for_each(n, [&](int64_t k) {  // by reference: a copy of the parameters would be on the stack of each thread
    const params::Elementwise& e = p.first;
    const auto load = [&](const params::ElementwiseOperand& v, int64_t step) {
      const int64_t at = divisors.offset_of(begin + k, e.ndim, v.strides);
      return Vector<C>{load_one<C>(v.data, v.dtype, at), load_one<C>(v.data, v.dtype, at + step),
                       load_one<C>(v.data, v.dtype, at + 2 * step)};
    };
    const Vector<C> r = cross_of<C>(load(e.in[0], p.a_step), load(e.in[1], p.b_step));
    const int64_t at = divisors.offset_of(begin + k, e.ndim, e.out.strides);
    store_one<C>(e.out.data, e.out.dtype, at, r.x);
    store_one<C>(e.out.data, e.out.dtype, at + p.out_step, r.y);
    store_one<C>(e.out.data, e.out.dtype, at + 2 * p.out_step, r.z);
  });
}

template <class C>
void cross_in(const params::Queue& q, const params::Cross& p) {
  const params::Elementwise& e = p.first;
  // The item size if all operands have one dtype and constant steps and need no conversion; else 0.
  const DType d = e.out.dtype;
  const bool same = e.ndim <= 1 && e.in[0].dtype == d && e.in[1].dtype == d;
  const int dense = same && (d == e.compute || std::is_integral_v<C>) ? itemsize(d) : 0;
  launch(q, "cross", cross_kernel<C, CrossTuning::block>, {ceil_div(e.size, CrossTuning::tile), CrossTuning::block}, p,
         ShapeDivisors(e.ndim, e.shape), dense);
}

void cross(const params::Queue& q, const params::Cross& p) {
  visit<dtypes::blas | dtype_bit(DType::int64)>(p.first.compute, [&]<class C>(type_tag<C>) { cross_in<C>(q, p); });
}

}  // namespace

}  // namespace stator::STATOR_TARGET::linalg

STATOR_LAUNCHER(linalg, cross)
