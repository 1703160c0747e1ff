#include "device/convert.cuh"
#include "kernels/elementwise_runs.cuh"

#include <algorithm>

namespace stator::STATOR_COLUMN {
namespace {

template <class T, class C>
void load_typed(C* to, const T* from, int64_t stride, int64_t length) {
  if (stride == 1)
    for (int64_t i = 0; i < length; ++i) to[i] = convert<C>(from[i]);
  else if (stride == 2)  // constant: shuffles instead of single loads
    for (int64_t i = 0; i < length; ++i) to[i] = convert<C>(from[2 * i]);
  else if (stride == 0)
    std::fill_n(to, length, convert<C>(*from));
  else
    for (int64_t i = 0; i < length; ++i) to[i] = convert<C>(from[i * stride]);
}

template <class T, class C>
void store_typed(const C* values, T* base, const Walk& walk) {
  walk.for_each_run([=](int64_t offset, int64_t stride, int64_t position, int64_t length) {
    T* to = base + offset;
    const C* from = values + position;
    if (stride == 1)
      for (int64_t i = 0; i < length; ++i) to[i] = convert<T>(from[i]);
    else
      for (int64_t i = 0; i < length; ++i) to[i * stride] = convert<T>(from[i]);
  });
}

}  // namespace

// Other columns have no use for them.
template <class C>
void load_line(C* out, const void* base, DType dtype, int64_t offset, int64_t step, int64_t count) {
  if constexpr (fast_host) {
#define STATOR_CASE(name, type) \
  case DType::name: return load_typed(out, static_cast<const type*>(base) + offset, step, count);
    STATOR_DTYPE_SWITCH(dtype, STATOR_CASE)
#undef STATOR_CASE
  }
}

template <class C>
void load_runs(C* out, const void* base, DType dtype, Walk walk) {
  if constexpr (fast_host)
    walk.for_each_run([=](int64_t offset, int64_t stride, int64_t position, int64_t length) {
      load_line(out + position, base, dtype, offset, stride, length);
    });
}

template <class C>
void store_runs(const C* values, void* base, DType dtype, Walk walk) {
  if constexpr (fast_host) {
#define STATOR_CASE(name, type) \
  case DType::name: return store_typed(values, static_cast<type*>(base), walk);
    STATOR_DTYPE_SWITCH(dtype, STATOR_CASE)
#undef STATOR_CASE
  }
}

#define STATOR_RUNS(C)                                                           \
  template void load_line<C>(C*, const void*, DType, int64_t, int64_t, int64_t); \
  template void load_runs<C>(C*, const void*, DType, Walk);                      \
  template void store_runs<C>(const C*, void*, DType, Walk);
STATOR_RUNS(int64_t)
STATOR_RUNS(uint64_t)
STATOR_RUNS(float)
STATOR_RUNS(double)
STATOR_RUNS(complex64)
STATOR_RUNS(complex128)
template void store_runs<bool>(const bool*, void*, DType, Walk);
#undef STATOR_RUNS

}  // namespace stator::STATOR_COLUMN
