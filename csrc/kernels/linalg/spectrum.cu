// Ranks, norms and pseudo-inverses from singular values, and the small steps around a library's batched routines.
#include "host/launcher.hpp"
#include "kernels/linalg/small.cuh"

namespace stator::STATOR_TARGET::linalg {
namespace {

struct SpectrumTuning {
  static constexpr int block = 128;
  static constexpr int64_t tile = by_target<1024, 16384>::value;  // elements per block
};

template <class R>
STATOR_FN R rtol_of(const params::Spectrum& p, int64_t matrix) {
  return p.rtols != nullptr ? static_cast<const R*>(p.rtols)[matrix] : R(p.rtol);
}

// NaN never counts; the first value is the largest.
template <class R>
STATOR_FN bool counts(const R* values, int64_t i, R rtol) {
  return values[i] > rtol * values[0];
}

// How many of the k values count; these are the first ones.
template <class R>
STATOR_FN int64_t rank_of(const R* values, int64_t k, R rtol) {
  int64_t low = 0, high = k;
  while (low < high) {
    const int64_t middle = (low + high) / 2;
    if (counts(values, middle, rtol))
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

template <class R, int Size>
STATOR_KERNEL(Size) void spectral_norm_kernel(params::Spectrum p) {
  const Group<Size> group;
  const int64_t matrix = group.block();
  const R* values = static_cast<const R*>(p.values) + matrix * p.k;
  R norm = 0;
  if (p.norm == params::SpectralNorm::sum) norm = group.template map_sum<R>(p.k, [=](int64_t i) { return values[i]; });
  if (group.rank() != 0) return;
  if (p.rank != nullptr) p.rank[matrix] = rank_of(values, p.k, rtol_of<R>(p, matrix));
  if (p.norms == nullptr) return;
  const R most = values[0], least = values[p.k - 1];
  if (p.norm == params::SpectralNorm::largest) norm = most;
  if (p.norm == params::SpectralNorm::smallest) norm = least;
  // 0 / 0 would be NaN for a zero matrix, whose condition number is infinite.
  if (p.norm == params::SpectralNorm::condition) norm = least == R(0) ? limits<R>::infinity() : most / least;
  if (p.norm == params::SpectralNorm::inverse_condition) norm = most == R(0) ? limits<R>::infinity() : least / most;
  static_cast<R*>(p.norms)[matrix] = norm;
}

// Handles the rows of `scaled`, then the rows of `other`. The block with the first row of a matrix writes its rank.
template <class T, int Size>
STATOR_KERNEL(Size) void pseudo_inverse_kernel(params::Spectrum p, int64_t per_block) {
  using R = real_t<T>;
  const Group<Size> group;
  const int64_t scaled_rows = p.count * p.scaled_rows, last = scaled_rows + p.count * p.other_rows;
  const int64_t begin = group.block() * per_block;
  for (int64_t r = begin; r < begin + per_block && r < last; ++r) {
    const bool is_scaled = r < scaled_rows;
    const int64_t each = is_scaled ? p.scaled_rows : p.other_rows, at = is_scaled ? r : r - scaled_rows;
    const int64_t matrix = at / each, i = at - matrix * each;
    const params::Matrices& m = is_scaled ? p.scaled : p.other;
    T* row = static_cast<T*>(m.data) + matrix * m.batch + i * m.row;
    const int64_t step = m.col;
    if (!is_scaled) {
      group.for_each(p.other_cols, [=](int64_t j) { row[j * step] = conjugate(row[j * step]); });
      continue;
    }
    const R* values = static_cast<const R*>(p.values) + matrix * p.k;
    const R rtol = rtol_of<R>(p, matrix);
    if (p.rank != nullptr && i == 0 && group.rank() == 0) p.rank[matrix] = rank_of(values, p.k, rtol);
    const bool by_column = p.by_column;
    group.for_each(p.scaled_cols, [=](int64_t j) {
      const int64_t k = by_column ? j : i;
      const R scale = counts(values, k, rtol) ? R(1) / values[k] : R(0);
      row[j * step] = scale == R(0) ? T(0) : scaled_by(conjugate(row[j * step]), scale);
    });
  }
}

// Column-major matrices are walked as their transposes.
void lay_out(params::Matrices& m, int64_t& rows, int64_t& cols, bool* by_column) {
  if (m.data == nullptr) rows = cols = 0;
  if (m.row != 1 || m.col == 1) return;
  std::swap(m.row, m.col);
  std::swap(rows, cols);
  if (by_column != nullptr) *by_column = !*by_column;
}

void spectrum(const params::Queue& q, const params::Spectrum& given) {
  constexpr int block = SpectrumTuning::block;
  params::Spectrum p = given;
  if (p.scaled.data == nullptr) {
    if (real_part(p.dtype) == DType::float32)
      return launch(q, "spectral_norm", spectral_norm_kernel<float, block>, {p.count, block}, p);
    return launch(q, "spectral_norm", spectral_norm_kernel<double, block>, {p.count, block}, p);
  }
  lay_out(p.scaled, p.scaled_rows, p.scaled_cols, &p.by_column);
  lay_out(p.other, p.other_rows, p.other_cols, nullptr);
  const int64_t rows = p.count * (p.scaled_rows + p.other_rows);
  const int64_t per_block = SpectrumTuning::tile / std::max(p.scaled_cols, p.other_cols) + 1;
  visit<dtypes::blas>(p.dtype, [&]<class T>(type_tag<T>) {
    launch(q, "pseudo_inverse", pseudo_inverse_kernel<T, block>, {ceil_div(rows, per_block), block}, p, per_block);
  });
}

// The index, counted from 1, of the first element on the diagonal of the group's matrix of which `wanted` is true; 0 if
// there is none. An element is `reals` real numbers.
template <class R, class G, class Wanted>
STATOR_FN int32_t first_on_diagonal(const G& group, const params::Matrices& matrices, int64_t n, int reals,
                                    Wanted wanted) {
  const R* a = static_cast<const R*>(matrices.data) + group.block() * matrices.batch * reals;
  const int64_t step = (matrices.row + matrices.col) * reals;
  const int32_t none = limits<int32_t>::max();
  const int32_t first = group.template map_reduce<int32_t>(
      n, Min{}, [=](int64_t i) { return wanted(a[i * step], a[i * step + reals - 1]) ? int32_t(i + 1) : none; });
  return first == none ? 0 : first;
}

template <class R, int Size>
STATOR_KERNEL(Size) void diagonal_zero_kernel(params::DiagonalZero p, int reals) {
  const Group<Size> group;
  const auto zero = [](R first, R last) { return first == R(0) && last == R(0); };
  const int32_t found = p.unit ? 0 : first_on_diagonal<R>(group, p.a, p.n, reals, zero);
  if (group.rank() == 0) p.info[group.block()] = found;
}

template <class R, int Size>
STATOR_KERNEL(Size) void diagonal_nan_kernel(params::DiagonalNan p, int reals) {
  const Group<Size> group;
  const auto nan = [](R first, R last) { return first != first || last != last; };
  const int32_t found = first_on_diagonal<R>(group, p.a, p.n, reals, nan);
  int32_t& info = p.info[group.block()];
  if (group.rank() == 0 && info == 0) info = found;
}

void diagonal_zero(const params::Queue& q, const params::DiagonalZero& p) {
  constexpr int block = SpectrumTuning::block;
  const DType real = real_part(p.dtype);
  const int reals = itemsize(p.dtype) / itemsize(real);
  if (real == DType::float32)
    launch(q, "diagonal_zero", diagonal_zero_kernel<float, block>, {p.count, block}, p, reals);
  else
    launch(q, "diagonal_zero", diagonal_zero_kernel<double, block>, {p.count, block}, p, reals);
}

void diagonal_nan(const params::Queue& q, const params::DiagonalNan& p) {
  constexpr int block = SpectrumTuning::block;
  const DType real = real_part(p.dtype);
  const int reals = itemsize(p.dtype) / itemsize(real);
  if (real == DType::float32)
    launch(q, "diagonal_nan", diagonal_nan_kernel<float, block>, {p.count, block}, p, reals);
  else
    launch(q, "diagonal_nan", diagonal_nan_kernel<double, block>, {p.count, block}, p, reals);
}

template <int Size>
STATOR_KERNEL(Size) void addresses_kernel(params::Addresses p) {
  const Group<Size> group;
  const int64_t first = group.block() * SpectrumTuning::tile, left = p.count - first;
  group.for_each(left < SpectrumTuning::tile ? left : SpectrumTuning::tile, [=](int64_t k) {
    p.out[first + k] = p.base + (first + k) * p.step;
    if (p.second != nullptr) p.second[first + k] = p.second_base + (first + k) * p.second_step;
  });
}

void addresses(const params::Queue& q, const params::Addresses& p) {
  launch(q, "addresses", addresses_kernel<SpectrumTuning::block>,
         {ceil_div(p.count, SpectrumTuning::tile), SpectrumTuning::block}, p);
}

}  // namespace

}  // namespace stator::STATOR_TARGET::linalg

STATOR_LAUNCHER(linalg, spectrum)
STATOR_LAUNCHER(linalg, diagonal_zero)
STATOR_LAUNCHER(linalg, diagonal_nan)
STATOR_LAUNCHER(linalg, addresses)
