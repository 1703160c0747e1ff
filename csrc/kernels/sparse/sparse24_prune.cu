// 2:4 sparsity: of each four neighbours along an axis the two largest magnitudes are kept.
#include "device/bits.cuh"
#include "host/launcher.hpp"
#include "kernels/sparse/rows.cuh"
#include "params/sparse.hpp"

namespace stator::STATOR_TARGET::sparse {
namespace {

struct Sparse24PruneTuning {
  static constexpr int block = 256;
  static constexpr int tile = by_target<256, 8192>::value;  // groups of four per block
};

template <class A>
STATOR_FN bool beats(A x, A y) {
  return x > y || (x != x && y == y);
}

struct GroupOfFour {
  int64_t outer, group, inner;
  STATOR_FN GroupOfFour(int64_t at, int64_t groups, int64_t inner_size) {
    // Divide in 32 bits where possible: 64-bit divisions would take most of the time.
    const bool small = ((at | groups | inner_size) >> 31) == 0;
    const int64_t outer_group = inner_size == 1 ? at
                                : small         ? int64_t(uint32_t(at) / uint32_t(inner_size))
                                                : at / inner_size;
    outer = small ? int64_t(uint32_t(outer_group) / uint32_t(groups)) : outer_group / groups;
    group = outer_group - outer * groups;
    inner = at - outer_group * inner_size;
  }
};

template <class T, int Size>
STATOR_KERNEL(Size) void sparse24_prune_kernel(params::Sparse24Prune p) {
  using A = opmath_t<T>;
  const Group<Size> group;
  const int64_t groups = (p.n + 3) / 4, all = p.outer * groups * p.inner;
  const int64_t first = group.block() * Sparse24PruneTuning::tile;
  group.for_each(all - first < Sparse24PruneTuning::tile ? all - first : Sparse24PruneTuning::tile, [=](int64_t i) {
    const GroupOfFour g(first + i, groups, p.inner);
    const int64_t from = g.group * 4;
    const T* x =
        static_cast<const T*>(p.x) + g.outer * p.x_strides[0] + from * p.x_strides[1] + g.inner * p.x_strides[2];
    // Load the group.
    T value[4];
    A size[4];
    for (int k = 0; k < 4; ++k) {
      const bool there = from + k < p.n;
      value[k] = there ? x[k * p.x_strides[1]] : T(0);
      size[k] = there ? abs(A(value[k])) : A(-1);
    }
    // Keep an element if fewer than two others are better.
    int kept[2] = {0, 0}, count = 0;
    for (int k = 0; k < 4; ++k) {
      int better = 0;
      for (int other = 0; other < 4; ++other)
        better += other != k && (beats(size[other], size[k]) || (other < k && !beats(size[k], size[other])));
      if (better >= 2) {
        if (p.out && from + k < p.n) static_cast<T*>(p.out)[(g.outer * p.n + from + k) * p.inner + g.inner] = T(0);
        continue;
      }
      if (count < 2) kept[count] = k;
      ++count;
      if (p.out && from + k < p.n) static_cast<T*>(p.out)[(g.outer * p.n + from + k) * p.inner + g.inner] = value[k];
    }
    if (p.out) return;
    // Store the compressed form.
    const int64_t pair = (g.outer * groups + g.group) * 2 * p.inner + g.inner;
    static_cast<T*>(p.values)[pair] = value[kept[0]];
    static_cast<T*>(p.values)[pair + p.inner] = value[kept[1]];
    p.positions[(g.outer * groups + g.group) * p.inner + g.inner] = uint8_t(kept[0] | kept[1] << 2);
  });
}

template <class Bits, int Size>
STATOR_KERNEL(Size) void sparse24_expand_kernel(params::Sparse24Expand p) {
  const Group<Size> group;
  const int64_t groups = (p.n + 3) / 4, all = p.outer * groups * p.inner;
  const int64_t first = group.block() * Sparse24PruneTuning::tile;
  group.for_each(all - first < Sparse24PruneTuning::tile ? all - first : Sparse24PruneTuning::tile, [=](int64_t i) {
    const GroupOfFour g(first + i, groups, p.inner);
    const int64_t pair = (g.outer * groups + g.group) * 2 * p.inner + g.inner;
    const int positions = p.positions[(g.outer * groups + g.group) * p.inner + g.inner];
    for (int k = 0; k < 4 && g.group * 4 + k < p.n; ++k) {
      Bits bits = 0;
      if ((positions & 3) == k)
        bits = static_cast<const Bits*>(p.values)[pair];
      else if ((positions >> 2 & 3) == k)
        bits = static_cast<const Bits*>(p.values)[pair + p.inner];
      static_cast<Bits*>(p.out)[(g.outer * p.n + g.group * 4 + k) * p.inner + g.inner] = bits;
    }
  });
}

int64_t blocks_of(int64_t outer, int64_t n, int64_t inner) {
  return ceil_div(outer * ceil_div(n, 4) * inner, Sparse24PruneTuning::tile);
}

void sparse24_prune(const params::Queue& q, const params::Sparse24Prune& p) {
  visit<dtypes::floats>(p.dtype, [&]<class T>(type_tag<T>) {
    launch(q, "sparse24_prune", sparse24_prune_kernel<T, Sparse24PruneTuning::block>,
           {blocks_of(p.outer, p.n, p.inner), Sparse24PruneTuning::block}, p);
  });
}

void sparse24_expand(const params::Queue& q, const params::Sparse24Expand& p) {
  with_bits<2, 4, 8>(p.itemsize, [&]<class W>(W) {
    launch(q, "sparse24_expand", sparse24_expand_kernel<W, Sparse24PruneTuning::block>,
           {blocks_of(p.outer, p.n, p.inner), Sparse24PruneTuning::block}, p);
  });
}

}  // namespace

}  // namespace stator::STATOR_TARGET::sparse

STATOR_LAUNCHER(sparse, sparse24_prune)
STATOR_LAUNCHER(sparse, sparse24_expand)
