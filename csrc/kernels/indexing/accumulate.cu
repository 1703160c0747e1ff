// Sums, products and extremes accumulated into an array through indices.
#include "device/atomic_update.cuh"
#include "device/functional.cuh"
#include "host/launch.hpp"
#include "host/launcher.hpp"
#include "kernels/indexing/host.cuh"

namespace stator::STATOR_TARGET::indexing {
namespace {

struct AccumulateTuning {
  static constexpr int block = 256;
  static constexpr int tile = 1024;         // positions of a block with threads
  static constexpr int64_t alone = 32768;   // fewer positions than this are done by one host thread
  static constexpr int64_t owners = 65536;  // threads of the kernel in order
  static constexpr int64_t most_ranges = 1024;
};

// The dtypes whose values are accumulated in T.
template <class T>
inline constexpr DTypeSet accumulated =
    std::is_same_v<T, float>    ? dtype_bit(DType::float16) | dtype_bit(DType::bfloat16) | dtype_bit(DType::float32)
    : std::is_same_v<T, double> ? dtype_bit(DType::float64)
    : std::is_same_v<T, int32_t>
        ? (dtypes::integers | dtypes::boolean) & ~(dtype_bit(DType::int64) | dtype_bit(DType::uint64))
    : std::is_same_v<T, int64_t> ? dtype_bit(DType::uint32) | dtype_bit(DType::int64) | dtype_bit(DType::uint64)
                                 : dtype_bit(DType::uint64);

// The dtypes T of accumulated<T>.
inline constexpr DTypeSet accumulators =
    dtype_bit(DType::int32) | dtype_bit(DType::int64) | dtype_bit(DType::uint64) | dtypes::full_floats;

template <class T>
STATOR_FN T load_value(const void* base, DType d, int64_t i) {
#define STATOR_CASE(name, type)                                                                          \
  case DType::name:                                                                                      \
    if constexpr (in(DType::name, accumulated<T>)) return convert<T>(static_cast<const type*>(base)[i]); \
    break;
  STATOR_DTYPE_SWITCH(d, STATOR_CASE)
#undef STATOR_CASE
  return T(0);
}

template <class T>
STATOR_FN T combine(params::Accumulation how, T a, T b) {
  switch (how) {
    case params::Accumulation::add: return Sum{}(a, b);
    case params::Accumulation::multiply: return Product{}(a, b);
    case params::Accumulation::minimum: return Min{}(a, b);
    default: return Max{}(a, b);
  }
}

// --- blocks with threads -----------------------------------------------------------------------------------------

template <class T, int Size>
STATOR_KERNEL(Size) void accumulate_atomic_kernel(params::Indexed p, IndexedExtents extents, params::Accumulation how,
                                                  params::ErrorSlot slot, uint16_t op) {
  const Group<Size> group;
  const int64_t first = group.block() * AccumulateTuning::tile;
  const int64_t n = p.size - first < AccumulateTuning::tile ? p.size - first : AccumulateTuning::tile;
  T* const x = static_cast<T*>(p.x);
  group.for_each(n, [&](int64_t i) {
    const IndexedOffsets at = offsets_at(p, extents, first + i, slot, op);
    if (at.x == no_offset) return;
    const T value =
        p.other == nullptr ? *reinterpret_cast<const T*>(p.value) : load_value<T>(p.other, p.other_dtype, at.other);
    if (how == params::Accumulation::add)
      atomic_add(x + at.x, value);
    else
      atomic_update(x + at.x, [=](T old) { return combine(how, old, value); });
  });
}

// A thread owns the offsets in one range of x, at one position of the axes that x steps along, and walks the other axes
// in row-major order. So no element has two owners.
template <class T, int Size>
STATOR_KERNEL(Size) void accumulate_in_order_kernel(params::Indexed p, IndexedExtents extents, params::Accumulation how,
                                                    int64_t kept, int64_t ranges, params::ErrorSlot slot, uint16_t op) {
  const Group<Size> group;
  const int64_t owner = group.block() * Size + group.rank();
  if (owner >= kept * ranges) return;
  const int64_t range = owner / kept, length = (p.x_end - p.x_begin + ranges - 1) / ranges;
  const int64_t begin = p.x_begin + range * length, end = range + 1 == ranges ? p.x_end : begin + length;
  T* const x = static_cast<T*>(p.x);
  for (int64_t w = 0; w < p.size / kept; ++w) {
    int64_t walked = w, rest = owner % kept, linear = 0, scale = 1;
    for (int d = p.ndim - 1; d >= 0; --d) {
      int64_t& from = p.x_strides[d] == 0 ? walked : rest;
      linear += from % p.shape[d] * scale;
      from /= p.shape[d];
      scale *= p.shape[d];
    }
    const IndexedOffsets at = offsets_at(p, extents, linear, slot, op);
    if (at.x == no_offset || at.x < begin || at.x >= end) continue;
    const T value =
        p.other == nullptr ? *reinterpret_cast<const T*>(p.value) : load_value<T>(p.other, p.other_dtype, at.other);
    x[at.x] = combine(how, x[at.x], value);
  }
}

// --- the fast host -----------------------------------------------------------------------------------------------

template <class T>
STATOR_CALL void load_values(T* STATOR_RESTRICT out, const params::Indexed& p, int64_t from, int64_t stride,
                             int count) {
  if (p.other == nullptr) {
    for (int i = 0; i < count; ++i) out[i] = *reinterpret_cast<const T*>(p.value);
    return;
  }
#define STATOR_CASE(name, type)                                            \
  case DType::name:                                                        \
    if constexpr (in(DType::name, accumulated<T>)) {                       \
      const type* const at = static_cast<const type*>(p.other) + from;     \
      for (int i = 0; i < count; ++i) out[i] = convert<T>(at[i * stride]); \
    }                                                                      \
    return;
  STATOR_DTYPE_SWITCH(p.other_dtype, STATOR_CASE)
#undef STATOR_CASE
}

// Calls f with the operation, so that one walk over the positions is compiled for all of them.
template <class F>
STATOR_FN void with_operation(params::Accumulation how, F f) {
  switch (how) {
    case params::Accumulation::add: return f(Sum{});
    case params::Accumulation::multiply: return f(Product{});
    case params::Accumulation::minimum: return f(Min{});
    case params::Accumulation::maximum: return f(Max{});
  }
}

template <class T>
STATOR_CALL void accumulate_along(params::Accumulation how, const params::Indexed& p, int64_t to, int64_t step,
                                  int64_t from, int64_t stride, int64_t count) {
  T values[indexed_chunk];
  for (int64_t i = 0; i < count; i += indexed_chunk) {
    const int n = count - i < indexed_chunk ? int(count - i) : indexed_chunk;
    load_values(values, p, from + i * stride, stride, n);
    T* const out = static_cast<T*>(p.x) + to + i * step;
    with_operation(how, [=, &values](auto op) {
      if (step == 0) {
        T total = *out;
        for (int j = 0; j < n; ++j) total = op(total, values[j]);
        *out = total;
      } else if (step == 1) {
        for (int j = 0; j < n; ++j) out[j] = op(out[j], values[j]);
      } else {
        for (int j = 0; j < n; ++j) out[j * step] = op(out[j * step], values[j]);
      }
    });
  }
}

// Accumulates into those of the offsets `to` that are in [begin, end).
template <class T>
STATOR_CALL void accumulate_scattered(params::Accumulation how, const params::Indexed& p, const int64_t* to,
                                      int64_t begin, int64_t end, int64_t from, int64_t stride, int n) {
  T values[indexed_chunk];
  load_values(values, p, from, stride, n);
  T* const x = static_cast<T*>(p.x);
  with_operation(how, [=, &values](auto op) {
    for (int i = 0; i < n; ++i)
      if (to[i] >= begin && to[i] < end) x[to[i]] = op(x[to[i]], values[i]);
  });
}

template <int Size>
STATOR_KERNEL(Size) void accumulate_host_kernel(params::Indexed p, params::Accumulation how, int axis,
                                                params::ErrorSlot slot, uint16_t op) {
  const Group<Size> group;
  const HostTile tile = host_tile(p, axis, group.block(), group.blocks());
  const int64_t step = p.x_strides[p.ndim - 1];
  walk_offsets(
      tile.space, 0, tile.space.size, slot, op,
      [&](int64_t to, int64_t from, int64_t stride, int64_t count) {
        if (to < tile.begin || to >= tile.end) return;
        visit<accumulators>(p.x_dtype, [&]<class T>(type_tag<T>) {
          accumulate_along<T>(how, tile.space, to, step, from, stride, count);
        });
      },
      [&](const int64_t* to, int64_t from, int64_t stride, int count) {
        visit<accumulators>(p.x_dtype, [&]<class T>(type_tag<T>) {
          accumulate_scattered<T>(how, tile.space, to, tile.begin, tile.end, from, stride, count);
        });
      });
}

template <class T>
void accumulate_with_threads(const params::Queue& q, const params::Indexed& p, params::Accumulation how,
                             bool in_order) {
  using Tune = AccumulateTuning;
  if constexpr (!std::is_same_v<T, uint64_t>) {  // of which there are only extremes, the same in any order
    if (in_order) {
      int64_t kept = 1;
      for (int d = 0; d < p.ndim; ++d) kept *= p.x_strides[d] == 0 ? 1 : p.shape[d];
      const int64_t ranges = std::clamp<int64_t>(
          Tune::owners / kept, 1, std::min(Tune::most_ranges, std::max<int64_t>(1, p.x_end - p.x_begin)));
      return launch(q, "accumulate_in_order", accumulate_in_order_kernel<T, Tune::block>,
                    {ceil_div(kept * ranges, Tune::block), Tune::block}, p, IndexedExtents(p), how, kept, ranges,
                    q.slot, q.op);
    }
  }
  launch(q, "accumulate", accumulate_atomic_kernel<T, Tune::block>, {ceil_div(p.size, Tune::tile), Tune::block}, p,
         IndexedExtents(p), how, q.slot, q.op);
}

void accumulate(const params::Queue& q, const params::Indexed& p, params::Accumulation how, bool in_order) {
  using Tune = AccumulateTuning;
  if constexpr (fast_host) {
    const HostSplit split = split_writes(*q.limits, p, Tune::alone);
    launch(q, "accumulate", accumulate_host_kernel<Tune::block>, {split.blocks, Tune::block}, p, how, split.axis,
           q.slot, q.op);
  } else {
    visit<accumulators>(p.x_dtype, [&]<class T>(type_tag<T>) { accumulate_with_threads<T>(q, p, how, in_order); });
  }
}

}  // namespace

}  // namespace stator::STATOR_TARGET::indexing

STATOR_LAUNCHER(indexing, accumulate)
