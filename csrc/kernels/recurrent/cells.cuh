// How the units of a step are divided among blocks, and the functions that gates go through.
#pragma once

#include "device/convert.cuh"
#include "device/group.cuh"
#include "device/index.cuh"
#include "device/math/elementary.cuh"
#include "device/math/math.cuh"
#include "host/launch.hpp"
#include "params/recurrent.hpp"

namespace stator::STATOR_TARGET::recurrent {

using params::RecurrentKind;
using Cell = params::RecurrentCell;
using Matrix = params::RecurrentRows;

struct RecurrentTuning {
  static constexpr int block = 128;
  static constexpr int units = by_target<128, 4096>::value;  // of a block
};

// The units of all rows. A thread has one, so that a step of a small batch has many blocks; the fast host takes rows.
struct Units {
  int64_t total, rows_per_block;
  FastDivmod64 of_row;

  explicit Units(const Cell& p)
      : total(p.batch * p.hidden),
        rows_per_block(std::max(int64_t(1), RecurrentTuning::units / std::max(p.hidden, int64_t(1)))),
        of_row(std::max(p.hidden, int64_t(1))) {}
  int64_t blocks(const Cell& p) const {
    if (total == 0) return 0;
    return fast_host ? ceil_div(p.batch, rows_per_block) : ceil_div(total, RecurrentTuning::units);
  }
};

// Row(p, b) has the pointers of row b; update(j) and hold(j) do a unit that takes part in the step, and one that does
// not.
template <class Row, int Size>
STATOR_FN void for_units(const Group<Size>& group, const Cell& p, const Units& units) {
  if constexpr (fast_host) {
    const int64_t first = group.block() * units.rows_per_block, last = first + units.rows_per_block;
    for (int64_t b = first; b < last && b < p.batch; ++b) {
      const Row row(p, b);
      if (p.lengths != nullptr && p.step >= p.lengths[b])
        group.for_each(p.hidden, [=](int64_t j) { row.hold(j); });
      else
        group.for_each(p.hidden, [=](int64_t j) { row.update(j); });
    }
  } else {
    const int64_t i = group.block() * RecurrentTuning::units + group.rank();
    if (i >= units.total) return;
    int64_t j;
    const int64_t b = units.of_row.divmod(i, j);
    const Row row(p, b);
    if (p.lengths != nullptr && p.step >= p.lengths[b])
      row.hold(j);
    else
      row.update(j);
  }
}

template <class T>
STATOR_FN T* row_of(const Matrix& m, int64_t b) {
  return m.data == nullptr ? nullptr : static_cast<T*>(m.data) + b * m.row;
}

// Without overflow: exp of what is not positive.
template <class A>
STATOR_FN A logistic(A x) {
  const A e = libm::normal_exp(x < A(0) ? x : -x);
  return (x < A(0) ? e : A(1)) / (A(1) + e);
}
template <class A>
STATOR_FN A logistic_slope(A y) {
  return (A(1) - y) * y;
}
// 1 - y^2 would lose digits near 1.
template <class A>
STATOR_FN A tanh_slope(A y) {
  return (A(1) - y) * (A(1) + y);
}

}  // namespace stator::STATOR_TARGET::recurrent
