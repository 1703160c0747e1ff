// Dropout and its gradient, which are the same function of their operand, and dropout with a residual. The mask is
// never stored, but drawn again.
#include "device/group.cuh"
#include "device/index.cuh"
#include "device/math/math.cuh"
#include "device/vector.cuh"
#include "host/launch.hpp"
#include "host/launcher.hpp"
#include "kernels/random/unit.cuh"

namespace stator::STATOR_TARGET::random {
namespace {

struct DropoutTuning {
  static constexpr int block = 256;
  static constexpr int counters = by_target<1, 128>::value;  // Philox blocks that a thread draws at a time
};

template <class T, int Size>
STATOR_KERNEL(Size) void dropout_kernel(params::Dropout p, ShapeDivisors divisors) {
  const auto [seed, offset] = start_of(p.from);
  constexpr int C = DropoutTuning::counters;
  using A = opmath_t<T>;
  const Group<Size> group;
  const A scale = A(p.scale);
  const int64_t blocks = (p.size + 3) / 4, stride = group.blocks() * group.size * C;
  for (int64_t first = (group.block() * group.size + group.rank()) * C; first < blocks; first += stride) {
    // Random bits.
    uint32_t bits[4 * C];
    if constexpr (fast_host) {
      uint32_t row[4][C];
      for (int c = 0; c < C; ++c) {
        const Philox4 x = philox4x32_10(seed, offset + uint64_t(first + c), 0);
        for (int j = 0; j < 4; ++j) row[j][c] = x.x[j];
      }
      for (int c = 0; c < C; ++c)
        for (int j = 0; j < 4; ++j) bits[4 * c + j] = row[j][c];
    } else {
      const Philox4 x = philox4x32_10(seed, offset + uint64_t(first), 0);
      for (int j = 0; j < 4; ++j) bits[j] = x.x[j];
    }
    const int64_t begin = first * 4, left = p.size - begin, n = left < 4 * C ? left : 4 * C;
    const T* x = static_cast<const T*>(p.x);
    T* out = static_cast<T*>(p.out) + begin;
    const T* added = static_cast<const T*>(p.residual);
    const auto apply = [&](T value, uint32_t w) { return w >= p.threshold ? T(A(value) * scale) : T(A(0)); };
    const auto apply_to = [&](T value, uint32_t w, T to) {
      return T((w >= p.threshold ? A(value) * scale : A(0)) + A(to));
    };
    // Strided operand.
    if (p.ndim > 0) {
      // One division per inner row, along which the offset grows by a constant.
      const int64_t extent = p.shape[p.ndim - 1], step = p.strides[p.ndim - 1];
      const int64_t added_step = p.residual_strides[p.ndim - 1];
      int64_t inner = begin, at = divisors.offset_of(begin, p.ndim, p.strides);
      if (p.ndim > 1) divisors(p.ndim - 1, begin, inner);
      int64_t added_at = added != nullptr ? divisors.offset_of(begin, p.ndim, p.residual_strides) : 0;
      STATOR_UNROLL()
      for (int k = 0; k < 4 * C; ++k) {
        if (k >= n) break;
        out[k] = added != nullptr ? apply_to(x[at], bits[k], added[added_at]) : apply(x[at], bits[k]);
        at += step;
        added_at += added_step;
        if (++inner < extent) continue;
        inner = 0;
        if (k + 1 >= n) continue;
        at = divisors.offset_of(begin + k + 1, p.ndim, p.strides);
        if (added != nullptr) added_at = divisors.offset_of(begin + k + 1, p.ndim, p.residual_strides);
      }
      continue;
    }
    // Contiguous operand.
    x += begin;
    if (added != nullptr) added += begin;
    constexpr int alignment = items_alignment(sizeof(T), 4);
    const bool vectors = is_aligned(x, alignment) && is_aligned(added, alignment);
    if (fast_host || n < 4 || !vectors) {
      if (added != nullptr) {
#pragma GCC ivdep
        for (int k = 0; k < n; ++k) out[k] = apply_to(x[k], bits[k], added[k]);
        continue;
      }
#pragma GCC ivdep
      for (int k = 0; k < n; ++k) out[k] = apply(x[k], bits[k]);
    } else {
      constexpr int W = vector_width<T> < 4 ? vector_width<T> : 4;
      STATOR_UNROLL()
      for (int k = 0; k < 4; k += W) {
        Vec<T, W> v = load_vector<W>(x + k), to{};
        if (added != nullptr) to = load_vector<W>(added + k);
        STATOR_UNROLL()
        for (int j = 0; j < W; ++j)
          v[j] = added != nullptr ? apply_to(v[j], bits[k + j], to[j]) : apply(v[j], bits[k + j]);
        store_vector(out + k, v);
      }
    }
  }
}

template <class T>
void dropout_of(const params::Queue& q, const params::Dropout& p) {
  using Tune = DropoutTuning;
  const int64_t needed = ceil_div(ceil_div(p.size, 4), int64_t(Tune::counters) * (fast_host ? 16 : Tune::block));
  launch(q, "dropout", dropout_kernel<T, Tune::block>, {std::min(needed, waves(*q.limits, Tune::block)), Tune::block},
         p, ShapeDivisors(p.ndim, p.shape));
}

void dropout(const params::Queue& q, const params::Dropout& p) {
  visit<dtypes::floats>(p.dtype, [&]<class T>(type_tag<T>) { dropout_of<T>(q, p); });
}

}  // namespace

}  // namespace stator::STATOR_TARGET::random

STATOR_LAUNCHER(random, dropout)
