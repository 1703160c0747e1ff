// The rows of logits that cross entropy is of, and how they are divided among blocks.
#pragma once

#include "device/cascade.cuh"
#include "device/convert.cuh"
#include "device/functional.cuh"
#include "device/group.cuh"
#include "device/math/math.cuh"
#include "device/sum_blocks.cuh"
#include "host/launch.hpp"
#include "params/nn.hpp"

namespace stator::STATOR_TARGET::nn {

struct CrossEntropyTuning {
  static constexpr int block = 256;                     // threads per row for many classes
  static constexpr int warp = fast_host ? block : 32;   // and for few; the fast host needs one instance only
  static constexpr int rows = by_target<4, 64>::value;  // least rows of a block
  static constexpr int targets = 4;                     // per thread, that every block may sum by itself
  static constexpr int64_t weighed = by_target<2048, 65536>::value;  // least rows of a block that only sums targets
};

// Where a row's elements are.
struct LossOffsets {
  int64_t sample, within;

  STATOR_FN LossOffsets(const params::CrossEntropy& p, int64_t row)
      : sample(p.inner == 1 ? row : row / p.inner), within(p.inner == 1 ? 0 : row - sample * p.inner) {}
  template <class T>
  STATOR_FN const T* logits(const params::CrossEntropy& p) const {
    return static_cast<const T*>(p.logits) + sample * p.logit_strides[0] + within * p.logit_inner;
  }
  STATOR_FN int64_t target(const params::CrossEntropy& p) const {
    return sample * p.target_stride + within * p.target_inner;
  }
  STATOR_FN int64_t grad(const params::CrossEntropy& p) const {
    return p.reduction == params::LossReduction::none ? sample * p.grad_stride + within * p.grad_inner : 0;
  }
  template <class T>
  STATOR_FN T* gradient(T* out, const params::CrossEntropy& p) const {
    return out + sample * p.classes * p.inner + within;
  }
};

// What rows of both kinds of targets have.
template <class T>
struct LogitRow {
  using A = opmath_t<T>;
  LossOffsets offsets;
  const T* logits;
  const T* weight;
  int64_t stride, classes;

  STATOR_FN LogitRow(const params::CrossEntropy& p, int64_t row)
      : offsets(p, row),
        logits(offsets.logits<T>(p)),
        weight(static_cast<const T*>(p.weight)),
        stride(p.logit_strides[1]),
        classes(p.classes) {}

  STATOR_FN A logit(int64_t c) const { return A(logits[c * stride]); }
  STATOR_FN A class_weight(int64_t c) const { return weight ? A(weight[c]) : A(1); }
  template <class Group>
  STATOR_FN A largest(const Group& group) const {
    if (fast_host && stride == 1)
      return group.template map_reduce<A>(classes, Max{}, [x = logits](int64_t c) { return A(x[c]); });
    return group.template map_reduce<A>(classes, Max{}, [this](int64_t c) { return logit(c); });
  }
  template <class Group>
  STATOR_FN A exp_sum(const Group& group, A largest) const {
    if (fast_host && stride == 1) return chunked_exp_sum(group, largest);
    return group.template map_sum<A>(classes, [this, largest](int64_t c) { return exp(logit(c) - largest); });
  }
  // Fast host: of contiguous logits, in loops that become vector instructions.
  template <class Group>
  STATOR_FN A chunked_exp_sum(const Group& group, A largest) const {
    constexpr int64_t chunk = 256, vector = 16;  // what a vector has beyond the row counts as no logit
    A power[chunk];
    Cascade<A> sum;
    for (int64_t first = 0; first < classes; first += chunk) {
      const int64_t count = classes - first < chunk ? classes - first : chunk;
      const int64_t whole = (count + vector - 1) / vector * vector;
      const T* STATOR_RESTRICT const x = logits + first;
      for (int64_t c = 0; c < count; ++c) power[c] = A(x[c]) - largest;
      for (int64_t c = count; c < whole; ++c) power[c] = -limits<A>::infinity();
      for (int64_t c = 0; c < whole; ++c) power[c] = exp(power[c]);
      sum.add(group.template map_sum<A>(count, [&](int64_t c) { return power[c]; }));
    }
    return sum.value();
  }
  template <class Group>
  STATOR_FN A weight_sum(const Group& group) const {
    return weight ? group.template map_sum<A>(classes, [this](int64_t c) { return class_weight(c); }) : A(classes);
  }
};

// A row that is read once where the registers of a block hold it.
template <class T, int Size>
struct RegisterRow {
  using A = opmath_t<T>;
  static constexpr int per_thread = fast_host ? 1 : 8;
  const Group<Size>& group;
  const LogitRow<T>& row;
  const bool fits;
  A value[per_thread];

  STATOR_FN RegisterRow(const Group<Size>& group_, const LogitRow<T>& row_)
      : group(group_), row(row_), fits(!fast_host && row.classes <= per_thread * Size) {
    STATOR_UNROLL()
    for (int i = 0; i < per_thread; ++i) {
      const int64_t c = group.rank() + i * Size;
      value[i] = fits && c < row.classes ? row.logit(c) : A(0);
    }
  }
  // Calls f(class, its logit) for those of the calling thread.
  template <class F>
  STATOR_FN void for_each(F f) const {
    if (fits) {
      STATOR_UNROLL()
      for (int i = 0; i < per_thread; ++i)
        if (group.rank() + i * Size < row.classes) f(int64_t(group.rank() + i * Size), value[i]);
    } else {
      group.for_each(row.classes, [&](int64_t c) { f(c, row.logit(c)); });
    }
  }
  STATOR_FN A largest() const {
    if (!fits) return row.largest(group);
    A mine = Max{}.template identity<A>();
    for_each([&](int64_t, A logit) { mine = Max{}(mine, logit); });
    return group.reduce(mine, Max{});
  }
  STATOR_FN A exp_sum(A largest) const {
    if (!fits) return row.exp_sum(group, largest);
    A mine = A(0);
    for_each([&](int64_t, A logit) { mine += exp(logit - largest); });
    return group.reduce(mine, Sum{});
  }
};

// One row's view of the parameters, where the target is a class.
template <class T>
struct LossRow : LogitRow<T> {
  int64_t target;
  bool counts;  // the target is neither ignored nor out of range

  STATOR_FN LossRow(const params::CrossEntropy& p, int64_t row)
      : LogitRow<T>(p, row),
        target(load_as<int64_t>(p.target, p.target_dtype, this->offsets.target(p))),
        counts(target != p.ignore_index && target >= 0 && target < p.classes) {}
};

struct LossGrid {
  int64_t blocks, rows_per_block;
};

inline LossGrid grid(const params::DeviceLimits& limits, const params::CrossEntropy& p, int threads,
                     int64_t least = CrossEntropyTuning::rows) {
  const int64_t most = waves(limits, threads);
  const int64_t n = p.n > 0 ? p.n : 1;  // an empty batch is one block without rows
  const int64_t wanted = ceil_div(n, least);
  const int64_t rows = ceil_div(n, wanted < most ? wanted : most);
  return {ceil_div(n, rows), rows};
}

inline int threads_for(const params::CrossEntropy& p) {
  return p.classes <= CrossEntropyTuning::block ? CrossEntropyTuning::warp : CrossEntropyTuning::block;
}

}  // namespace stator::STATOR_TARGET::nn
