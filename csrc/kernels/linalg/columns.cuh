// Column-major matrices in global memory, on each of which one block works.
#pragma once

#include "kernels/linalg/reflector.cuh"

namespace stator::STATOR_TARGET::linalg {

// The columns of one matrix, and the threads that work on them.
template <class T, int Size>
struct Columns {
  const Group<Size>& group;
  const Team<Size>& team;
  T* data;
  int64_t step;
  int m, n;

  STATOR_FN T* operator[](int64_t j) const { return data + j * step; }

  // f(j) for every column, each by one team.
  template <class F>
  STATOR_FN void for_each_column(F f) const {
    for (int j = team.index(); j < n; j += Team<Size>::count) f(j);
  }
  // f(i, j) for every element.
  template <class F>
  STATOR_FN void for_each_element(F f) const {
    for_each_column([=, this](int64_t j) { team.for_each(0, m, [=](int64_t i) { f(i, j); }); });
  }
};

// The columns become R and the reflectors below it; tau has one element for each reflector. Ends synchronised.
template <class T, int Size>
STATOR_FN void factor_qr(const Columns<T, Size>& a, T* tau) {
  constexpr int stride = Team<Size>::count * reflected_columns;
  const int least = a.m < a.n ? a.m : a.n;
  for (int k = 0; k < least; ++k) {
    const T own = reflect(a.group, a[k] + k, 1, a.m - k);
    if (a.group.rank() == 0) tau[k] = own;
    for (int j = k + 1 + a.team.index() * reflected_columns; j < a.n; j += stride) {
      const int left = a.n - j;
      reflect_columns(a.team, a[k], k, a.m, conjugate(own), a[j], a.step,
                      left < reflected_columns ? left : reflected_columns);
    }
    a.group.sync();
  }
}

}  // namespace stator::STATOR_TARGET::linalg
