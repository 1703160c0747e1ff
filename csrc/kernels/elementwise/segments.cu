// Loads and stores of strided segments of any dtype, for the fast host.
#include "device/convert.cuh"
#include "kernels/elementwise/segments.cuh"

#include <algorithm>

namespace stator::STATOR_TARGET::elementwise {
namespace {

// Strided elements pass through a buffer of their own type, of this length: gather and scatter then have one loop per
// type, and only the loops over contiguous elements convert.
constexpr int64_t chunk_length = 512;

template <class T>
STATOR_COMMON void gather(T* to, const T* from, int64_t stride, int64_t length) {
  if (stride == 2)  // a constant stride compiles to shuffles instead of single loads
    for (int64_t i = 0; i < length; ++i) to[i] = from[2 * i];
  else
    for (int64_t i = 0; i < length; ++i) to[i] = from[i * stride];
}
template <class T>
STATOR_COMMON void scatter(T* to, const T* from, int64_t stride, int64_t length) {
  for (int64_t i = 0; i < length; ++i) to[i * stride] = from[i];
}

template <class T, class C>
void load_dense(C* to, const T* from, int64_t length) {
  for (int64_t i = 0; i < length; ++i) to[i] = convert<C>(from[i]);
}

template <class T, class C>
void load_typed(C* to, const T* from, int64_t stride, int64_t length) {
  if (stride == 1) return load_dense(to, from, length);
  if (stride == 0) {
    std::fill_n(to, length, convert<C>(*from));
  } else if constexpr (std::is_same_v<T, C>) {
    gather(to, from, stride, length);
  } else {
    T buffer[chunk_length];
    for (int64_t done = 0; done < length; done += chunk_length) {
      const int64_t n = std::min(chunk_length, length - done);
      gather(buffer, from + done * stride, stride, n);
      load_dense(to + done, buffer, n);
    }
  }
}

template <class T, class C>
void store_dense(const C* from, T* to, int64_t length) {
  for (int64_t i = 0; i < length; ++i) to[i] = convert<T>(from[i]);
}

template <class T, class C>
void store_typed(const C* from, T* to, int64_t stride, int64_t length) {
  if (stride == 1) return store_dense(from, to, length);
  if constexpr (std::is_same_v<T, C>) {
    scatter(to, from, stride, length);
  } else {
    T buffer[chunk_length];
    for (int64_t done = 0; done < length; done += chunk_length) {
      const int64_t n = std::min(chunk_length, length - done);
      store_dense(from + done, buffer, n);
      scatter(to + done * stride, buffer, stride, n);
    }
  }
}

}  // namespace

// Other targets do not use what follows.
template <class C>
void load_strided(C* out, const void* base, DType dtype, int64_t offset, int64_t step, int64_t count) {
  if constexpr (fast_host) {
#define STATOR_CASE(name, type) \
  case DType::name: return load_typed(out, static_cast<const type*>(base) + offset, step, count);
    STATOR_DTYPE_SWITCH(dtype, STATOR_CASE)
#undef STATOR_CASE
  }
}

template <class C>
void store_strided(const C* values, void* base, DType dtype, int64_t offset, int64_t step, int64_t count) {
  if constexpr (fast_host) {
#define STATOR_CASE(name, type) \
  case DType::name: return store_typed(values, static_cast<type*>(base) + offset, step, count);
    STATOR_DTYPE_SWITCH(dtype, STATOR_CASE)
#undef STATOR_CASE
  }
}

namespace {

// What functors compute in or results have.
constexpr DTypeSet wide = dtypes::blas | dtypes::boolean | dtype_bit(DType::int64) | dtype_bit(DType::uint64);

}  // namespace

void load_segments(void* out, DType compute, const void* base, DType dtype, const Walk& walk) {
  walk.for_each_segment([=](int64_t offset, int64_t step, int64_t position, int64_t count) {
    visit<wide>(compute, [=]<class C>(type_tag<C>) {
      if constexpr (!std::is_same_v<C, bool>)
        load_strided(static_cast<C*>(out) + position, base, dtype, offset, step, count);
    });
  });
}

void store_segments(const void* values, DType result, void* base, DType dtype, const Walk& walk) {
  walk.for_each_segment([=](int64_t offset, int64_t step, int64_t position, int64_t count) {
    visit<wide>(result, [=]<class C>(type_tag<C>) {
      store_strided(static_cast<const C*>(values) + position, base, dtype, offset, step, count);
    });
  });
}

template void load_strided<int64_t>(int64_t*, const void*, DType, int64_t, int64_t, int64_t);
template void load_strided<uint64_t>(uint64_t*, const void*, DType, int64_t, int64_t, int64_t);
template void load_strided<float>(float*, const void*, DType, int64_t, int64_t, int64_t);
template void load_strided<double>(double*, const void*, DType, int64_t, int64_t, int64_t);
template void load_strided<complex64>(complex64*, const void*, DType, int64_t, int64_t, int64_t);
template void load_strided<complex128>(complex128*, const void*, DType, int64_t, int64_t, int64_t);
template void store_strided<bool>(const bool*, void*, DType, int64_t, int64_t, int64_t);
template void store_strided<int64_t>(const int64_t*, void*, DType, int64_t, int64_t, int64_t);
template void store_strided<uint64_t>(const uint64_t*, void*, DType, int64_t, int64_t, int64_t);
template void store_strided<float>(const float*, void*, DType, int64_t, int64_t, int64_t);
template void store_strided<double>(const double*, void*, DType, int64_t, int64_t, int64_t);
template void store_strided<complex64>(const complex64*, void*, DType, int64_t, int64_t, int64_t);
template void store_strided<complex128>(const complex128*, void*, DType, int64_t, int64_t, int64_t);

}  // namespace stator::STATOR_TARGET::elementwise
