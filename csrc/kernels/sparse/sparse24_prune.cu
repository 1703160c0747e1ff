// 2:4 sparsity: of each four neighbours along an axis the two largest magnitudes stay.
#include "device/launcher.cuh"
#include "params/sparse.hpp"
#include "kernels/sparse/rows.cuh"

namespace stator::STATOR_TARGET::sparse {
namespace {

struct TwoToFourTuning {
  static constexpr int block = 256;
  static constexpr int tile = by_target<256, 8192>::value;  // groups of four a block takes
};

template <class A>
STATOR_FN bool beats(A x, A y) {
  return x > y || (x != x && y == y);
}

struct GroupOfFour {
  int64_t outer, group, inner;
  STATOR_FN GroupOfFour(int64_t at, int64_t groups, int64_t inner_size) {
    // Divisions of 32 bits where they are enough: those of 64 take most of a group's time.
    const bool small = ((at | groups | inner_size) >> 31) == 0;
    const int64_t line = inner_size == 1 ? at : small ? int64_t(uint32_t(at) / uint32_t(inner_size)) : at / inner_size;
    outer = small ? int64_t(uint32_t(line) / uint32_t(groups)) : line / groups;
    group = line - outer * groups;
    inner = at - line * inner_size;
  }
};

template <class T, int Size>
STATOR_KERNEL void two_to_four_kernel(params::TwoToFour p) {
  using A = opmath_t<T>;
  const Group<Size> group;
  const int64_t groups = (p.n + 3) / 4, all = p.outer * groups * p.inner;
  const int64_t first = group.block() * TwoToFourTuning::tile;
  group.for_each(all - first < TwoToFourTuning::tile ? all - first : TwoToFourTuning::tile, [=](int64_t i) {
    const GroupOfFour g(first + i, groups, p.inner);
    const int64_t from = g.group * 4;
    const T* x =
        static_cast<const T*>(p.x) + g.outer * p.x_strides[0] + from * p.x_strides[1] + g.inner * p.x_strides[2];
    T value[4];
    A size[4];
    for (int k = 0; k < 4; ++k) {
      const bool there = from + k < p.n;
      value[k] = there ? x[k * p.x_strides[1]] : T(0);
      size[k] = there ? abs(A(value[k])) : A(-1);
    }
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
    const int64_t pair = (g.outer * groups + g.group) * 2 * p.inner + g.inner;
    static_cast<T*>(p.values)[pair] = value[kept[0]];
    static_cast<T*>(p.values)[pair + p.inner] = value[kept[1]];
    p.positions[(g.outer * groups + g.group) * p.inner + g.inner] = uint8_t(kept[0] | kept[1] << 2);
  });
}

template <class Word, int Size>
STATOR_KERNEL void from_two_to_four_kernel(params::FromTwoToFour p) {
  const Group<Size> group;
  const int64_t groups = (p.n + 3) / 4, all = p.outer * groups * p.inner;
  const int64_t first = group.block() * TwoToFourTuning::tile;
  group.for_each(all - first < TwoToFourTuning::tile ? all - first : TwoToFourTuning::tile, [=](int64_t i) {
    const GroupOfFour g(first + i, groups, p.inner);
    const int64_t pair = (g.outer * groups + g.group) * 2 * p.inner + g.inner;
    const int places = p.positions[(g.outer * groups + g.group) * p.inner + g.inner];
    for (int k = 0; k < 4 && g.group * 4 + k < p.n; ++k) {
      Word word = 0;
      if ((places & 3) == k)
        word = static_cast<const Word*>(p.values)[pair];
      else if ((places >> 2 & 3) == k)
        word = static_cast<const Word*>(p.values)[pair + p.inner];
      static_cast<Word*>(p.out)[(g.outer * p.n + g.group * 4 + k) * p.inner + g.inner] = word;
    }
  });
}

int64_t blocks_of(int64_t outer, int64_t n, int64_t inner) {
  return ceil_div(outer * ceil_div(n, 4) * inner, TwoToFourTuning::tile);
}

void two_to_four(const params::Queue& q, const params::TwoToFour& p) {
  const auto run = [&]<class T>(type_tag<T>) {
    launch(q, "two_to_four", two_to_four_kernel<T, TwoToFourTuning::block>,
           {blocks_of(p.outer, p.n, p.inner), TwoToFourTuning::block}, p);
  };
  switch (p.dtype) {
    case DType::float16: return run(type_tag<float16>{});
    case DType::bfloat16: return run(type_tag<bfloat16>{});
    case DType::float32: return run(type_tag<float>{});
    default: return run(type_tag<double>{});
  }
}

void from_two_to_four(const params::Queue& q, const params::FromTwoToFour& p) {
  const auto run = [&]<class W>(type_tag<W>) {
    launch(q, "from_two_to_four", from_two_to_four_kernel<W, TwoToFourTuning::block>,
           {blocks_of(p.outer, p.n, p.inner), TwoToFourTuning::block}, p);
  };
  switch (p.itemsize) {
    case 2: return run(type_tag<uint16_t>{});
    case 4: return run(type_tag<uint32_t>{});
    default: return run(type_tag<uint64_t>{});
  }
}

}  // namespace

}  // namespace stator::STATOR_TARGET::sparse

STATOR_LAUNCHER(sparse, two_to_four)
STATOR_LAUNCHER(sparse, from_two_to_four)
