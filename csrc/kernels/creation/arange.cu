// start + i * step: integers exactly, floating dtypes in double with one rounding.
#include "device/convert.cuh"
#include "device/group.cuh"
#include "host/launch.hpp"
#include "host/launcher.hpp"
#include "params/creation.hpp"

namespace stator::STATOR_TARGET::creation {
namespace {

struct ArangeTuning {
  static constexpr int block = 256;
  static constexpr int tile = by_target<1024, 16384>::value;  // elements per block
};

template <class A, int Size>
STATOR_KERNEL(Size) void arange_kernel(void* out, DType dtype, int64_t n, A start, A step) {
  const Group<Size> group;
  const int64_t first = group.block() * ArangeTuning::tile;
  const int64_t left = n - first, count = left < ArangeTuning::tile ? left : ArangeTuning::tile;
#define STATOR_CASE(name, type)                                                                              \
  case DType::name: {                                                                                        \
    type* to = static_cast<type*>(out) + first;                                                              \
    return group.for_each(count, [=](int64_t i) { to[i] = convert<type>(A(start + A(first + i) * step)); }); \
  }
  STATOR_DTYPE_SWITCH(dtype, STATOR_CASE)
#undef STATOR_CASE
}

void arange(const params::Queue& q, const params::Arange& p) {
  constexpr int block = ArangeTuning::block;
  const Config config{ceil_div(p.size, ArangeTuning::tile), block};
  // Unsigned arithmetic wraps around where signed arithmetic would be undefined, and gives the same bits.
  if (kind_of(p.dtype) == Kind::floating || kind_of(p.dtype) == Kind::complex_floating)
    launch(q, "arange", arange_kernel<double, block>, config, p.out, p.dtype, p.size, p.start, p.step);
  else
    launch(q, "arange", arange_kernel<uint64_t, block>, config, p.out, p.dtype, p.size, uint64_t(p.start_int),
           uint64_t(p.step_int));
}

}  // namespace

}  // namespace stator::STATOR_TARGET::creation

STATOR_LAUNCHER(creation, arange)
