// Softmax over chosen elements of lines, and of noisy ones. A block takes a line. Scores stay in shared memory where
// they fit; else they are made anew for the maximum, the sum and the result.
#include "device/convert.cuh"
#include "device/functional.cuh"
#include "device/group.cuh"
#include "device/launch.cuh"
#include "device/launcher.cuh"
#include "device/math/math.cuh"
#include "device/philox.cuh"
#include "params/nn.hpp"

namespace stator::STATOR_TARGET::nn {
namespace {

using params::ChosenSoftmax;

struct ChosenTuning {
  static constexpr int block = 256;
  static constexpr int64_t held_bytes = by_target<32 << 10, 256 << 10>::value;  // of scores in shared memory
};

// -log(-log(u)) of uniform u, an odd multiple of a unit that keeps it exact and inside (0, 1). In double but for
// halves, so that the noise is rounded once.
template <class T>
struct GumbelNoise {
  using A = opmath_t<T>;
  using C = std::conditional_t<is_half<T>, float, double>;
  uint64_t seed, offset;
  static constexpr int draws = sizeof(T) == 8 ? 2 : 4;  // of a Philox block

  STATOR_FN explicit GumbelNoise(const params::Draws& from) : seed(from.seed), offset(from.offset) {
    if (from.state == nullptr) return;
    seed = from.state[0];
    offset += from.state[1];
  }
  STATOR_FN A operator()(int64_t i) const {
    const Philox4 words = philox4x32_10(seed, offset + uint64_t(i / draws), 0);
    C u;
    if constexpr (draws == 2) {
      const bool second = i % 2 != 0;
      const uint64_t high = second ? words.x[2] : words.x[0], low = second ? words.x[3] : words.x[1];
      u = (C(int64_t((high << 32 | low) >> 12)) + C(0.5)) * C(0x1p-52);
    } else {
      const int k = int(i % 4);
      const uint32_t word = k == 0 ? words.x[0] : k == 1 ? words.x[1] : k == 2 ? words.x[2] : words.x[3];
      u = (C(int32_t(word >> 9)) + C(0.5)) * C(0x1p-23);
    }
    return A(-log(-log(u)));
  }
};

// The scores of one line.
template <class T>
struct ChosenLine {
  using A = opmath_t<T>;
  const T* x;
  const bool* mask;
  int64_t step, mask_step, index_step;
  int64_t y_at = 0, index = 0, end;  // of the elements that `causal` leaves
  A factor;
  bool noisy;
  GumbelNoise<T> noise;

  STATOR_FN ChosenLine(const ChosenSoftmax& p, int64_t line)
      : step(p.of.x_step),
        mask_step(p.mask_step),
        index_step(p.index_step),
        end(p.of.n),
        factor(A(p.of.factor)),
        noisy(p.noisy),
        noise(p.draws) {
    int64_t x_at = 0, mask_at = 0;
    STATOR_UNROLL(1)
    for (int d = p.of.ndim - 1; d >= 0; --d) {
      const int64_t rest = d == 0 ? 0 : line / p.of.shape[d], i = line - rest * p.of.shape[d];
      if (d == p.of.ndim - 1 && p.causal && i < end) end = i + 1;
      x_at += i * p.of.x_strides[d];
      y_at += i * p.of.y_strides[d];
      mask_at += i * p.mask_strides[d];
      index += i * p.index_strides[d];
      line = rest;
    }
    x = static_cast<const T*>(p.of.x) + x_at;
    mask = p.mask != nullptr ? p.mask + mask_at : nullptr;
  }
  STATOR_FN A operator()(int64_t j) const {
    if (j >= end || (mask != nullptr && !mask[j * mask_step])) return -limits<A>::infinity();
    const A value = A(x[j * step]);
    return (noisy ? value + noise(index + j * index_step) : value) * factor;
  }
};

template <class T, int Size>
STATOR_KERNEL(Size) void chosen_softmax_kernel(ChosenSoftmax p, bool hold) {
  using A = opmath_t<T>;
  const Group<Size> group;
  const ChosenLine<T> line(p, group.block());
  const int64_t n = p.of.n;
  // Each thread reads back what it wrote itself.
  A* const held = hold ? group.template dynamic<A>(n) : nullptr;
  if (hold) group.for_each(n, [=](int64_t j) { held[j] = line(j); });
  const auto score = [=](int64_t j) { return held != nullptr ? held[j] : line(j); };
  const A largest = group.template map_reduce<A>(n, Max{}, score);
  if (p.hardest) {
    // The first of the largest, or of NaN; none where nothing takes part.
    const int64_t at = group.template map_reduce<int64_t>(n, Min{}, [=](int64_t j) {
      const A s = score(j);
      return s == largest || s != s ? j : n;
    });
    const bool none = largest == -limits<A>::infinity();
    group.for_each(n, [=](int64_t j) {
      store_as(p.of.y, p.of.out_dtype, line.y_at + j * p.of.y_step, A(j == at && !none ? 1 : 0));
    });
    return;
  }
  const A reference = largest == -limits<A>::infinity() ? A(0) : largest;
  const auto power = [=](int64_t j) { return libm::polynomial_exp(score(j) - reference); };
  if (hold) group.for_each(n, [=](int64_t j) { held[j] = power(j); });
  const A sum = group.template map_sum<A>(n, [=](int64_t j) { return held != nullptr ? held[j] : power(j); });
  const A scale = sum == A(0) ? A(0) : A(1) / sum;
  group.for_each(n, [=](int64_t j) {
    store_as(p.of.y, p.of.out_dtype, line.y_at + j * p.of.y_step, (held != nullptr ? held[j] : power(j)) * scale);
  });
}

void chosen_softmax(const params::Queue& q, const ChosenSoftmax& p) {
  constexpr int block = ChosenTuning::block;
  const auto with = [&]<class T>(type_tag<T>) {
    const int64_t bytes = p.of.n * int64_t(sizeof(opmath_t<T>));
    const bool hold = bytes <= ChosenTuning::held_bytes;
    launch(q, "chosen_softmax", chosen_softmax_kernel<T, block>, {p.of.rows, block, hold ? int(bytes) : 0}, p, hold);
  };
  switch (p.of.dtype) {
    case DType::float16: return with(type_tag<float16>{});
    case DType::bfloat16: return with(type_tag<bfloat16>{});
    case DType::float32: return with(type_tag<float>{});
    default: return with(type_tag<double>{});
  }
}

}  // namespace

}  // namespace stator::STATOR_TARGET::nn

STATOR_LAUNCHER(nn, chosen_softmax)
