// Stands before the include of half.hpp, whose conversions it affects: at -O2, or with comparisons that may trap, g++
// vectorises no such loop.
#pragma GCC optimize("O3", "no-trapping-math")

#include "libs/host/halves.hpp"

namespace stator::libs {
namespace {

template <class From, class To>
[[gnu::always_inline]] inline void loop(const From* from, int64_t from_leading, To* to, int64_t to_leading,
                                        int64_t rows, int64_t cols) {
  for (int64_t row = 0; row < rows; ++row) {
    const From* __restrict__ source = from + row * from_leading;
    To* __restrict__ target = to + row * to_leading;
    for (int64_t col = 0; col < cols; ++col) target[col] = To(static_cast<float>(source[col]));
  }
}

template <class From, class To>
void convert_rows(const From* from, int64_t from_leading, To* to, int64_t to_leading, int64_t rows, int64_t cols) {
  loop(from, from_leading, to, to_leading, rows, cols);
}
template <class From, class To>
[[gnu::target("avx2")]] void convert_rows_avx2(const From* from, int64_t from_leading, To* to, int64_t to_leading,
                                               int64_t rows, int64_t cols) {
  loop(from, from_leading, to, to_leading, rows, cols);
}

template <class From, class To>
void convert(const From* from, int64_t from_leading, To* to, int64_t to_leading, int64_t rows, int64_t cols) {
  if (cols == from_leading && cols == to_leading) {
    cols *= rows;
    rows = 1;
  }
  const auto rows_of = __builtin_cpu_supports("avx2") ? convert_rows_avx2<From, To> : convert_rows<From, To>;
  rows_of(from, from_leading, to, to_leading, rows, cols);
}

}  // namespace

template <class Half>
void widen(const Half* from, int64_t leading, float* to, int64_t rows, int64_t cols) {
  convert(from, leading, to, cols, rows, cols);
}

template <class Half>
void narrow(const float* from, Half* to, int64_t leading, int64_t rows, int64_t cols) {
  convert(from, cols, to, leading, rows, cols);
}

template void widen(const float16*, int64_t, float*, int64_t, int64_t);
template void widen(const bfloat16*, int64_t, float*, int64_t, int64_t);
template void narrow(const float*, float16*, int64_t, int64_t, int64_t);
template void narrow(const float*, bfloat16*, int64_t, int64_t, int64_t);

}  // namespace stator::libs
