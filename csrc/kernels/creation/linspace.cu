// Evenly spaced numbers.
#include "device/convert.cuh"
#include "device/group.cuh"
#include "device/math/math.cuh"
#include "host/launch.hpp"
#include "host/launcher.hpp"
#include "params/creation.hpp"

namespace stator::STATOR_TARGET::creation {
namespace {

struct LinspaceTuning {
  static constexpr int block = 256;
  static constexpr int tile = by_target<1024, 16384>::value;  // elements per block
};

template <int Size>
STATOR_KERNEL(Size) void linspace_kernel(params::Linspace p) {
  const Group<Size> group;
  const int64_t first = group.block() * LinspaceTuning::tile, left = p.count - first;
  const int64_t n = left < LinspaceTuning::tile ? left : LinspaceTuning::tile;
  const auto part = [=](int64_t i, int k) { return (p.start[k] + double(i) * p.step[k]) * p.scale[k]; };
#define STATOR_CASE(name, type)                                                      \
  case DType::name: {                                                                \
    type* const to = static_cast<type*>(p.out) + first;                              \
    group.for_each(n, [=](int64_t i) {                                               \
      const bool end = first + i == p.count - 1;                                     \
      const double re = end ? p.last[0] : part(first + i, 0);                        \
      if constexpr (is_complex<type>)                                                \
        to[i] = convert<type>(complex128(re, end ? p.last[1] : part(first + i, 1))); \
      else                                                                           \
        to[i] = convert<type>(std::is_integral_v<type> ? floor(re) : re);            \
    });                                                                              \
    return;                                                                          \
  }
  STATOR_DTYPE_SWITCH(p.dtype, STATOR_CASE)
#undef STATOR_CASE
}

void linspace(const params::Queue& q, const params::Linspace& p) {
  constexpr int block = LinspaceTuning::block;
  launch(q, "linspace", linspace_kernel<block>, {ceil_div(p.count, LinspaceTuning::tile), block}, p);
}

}  // namespace

}  // namespace stator::STATOR_TARGET::creation

STATOR_LAUNCHER(creation, linspace)
