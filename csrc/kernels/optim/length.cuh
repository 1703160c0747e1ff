// The length of many numbers, whose squares may leave the range of their type.
#pragma once

#include "device/functional.cuh"
#include "device/rescale.cuh"

namespace stator::STATOR_TARGET::optim {

// Of n numbers x(i), in an order of additions that n gives.
template <class A, class Group, class F>
STATOR_FN double length_of(const Group& group, int64_t n, F x) {
  const A sum = group.template map_sum<A>(n, [=](int64_t i) { return x(i) * x(i); });
  if (SquareRange<A>::has(sum)) return sqrt(double(sum));
  const A largest = group.template map_reduce<A>(n, Max{}, [=](int64_t i) { return abs(x(i)); });
  const A factor = SquareRange<A>::factor(largest);
  const A scaled = group.template map_sum<A>(n, [=](int64_t i) {
    const A v = x(i) * factor;
    return v * v;
  });
  return sqrt(double(scaled)) / double(factor);
}

}  // namespace stator::STATOR_TARGET::optim
