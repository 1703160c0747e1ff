// The steps around a library's decompositions: triangles, determinants, permutations, pivots, and the masking of
// matrices that hold NaN or infinity, on which iterative algorithms may not terminate.
#include "device/index.cuh"
#include "device/math/scaled.cuh"
#include "host/launcher.hpp"
#include "kernels/linalg/small.cuh"

#include <bit>

namespace stator::STATOR_TARGET::linalg {
namespace {

struct PartsTuning {
  static constexpr int block = 256;
  static constexpr int64_t tile = by_target<1024, 16384>::value;    // elements per block
  static constexpr int64_t matrices = by_target<256, 1024>::value;  // determinants per block
};

struct alignas(16) Item16 {
  uint64_t low, high;
};

template <class Item, int Size>
STATOR_KERNEL(Size) void triangle_kernel(params::Triangle p, Item one) {
  const Group<Size> group;
  const int64_t rows = p.count * p.rows, tile = PartsTuning::tile / p.cols + 1;
  const int64_t first = group.block() * tile;
  for (int64_t r = first; r < first + tile && r < rows; ++r) {
    const int64_t matrix = r / p.rows, i = r - matrix * p.rows;
    const int64_t begin = p.upper ? i : 0, end = p.upper ? p.cols : i + 1 < p.cols ? i + 1 : p.cols;
    const Item* from = static_cast<const Item*>(p.a.data) + matrix * p.a.batch + i * p.a.row;
    Item* to = static_cast<Item*>(p.out.data) + matrix * p.out.batch + i * p.out.row;
    const int64_t from_step = p.a.col, to_step = p.out.col;
    const bool unit = p.unit;
    group.for_each(p.cols, [=](int64_t j) {
      const bool inside = j >= begin && j < end;
      to[j * to_step] = unit && j == i ? one : inside ? from[j * from_step] : Item{};
    });
  }
}

void triangle(const params::Queue& q, const params::Triangle& p) {
  constexpr int block = PartsTuning::block;
  const Config grid{ceil_div(p.count * p.rows, PartsTuning::tile / p.cols + 1), block};
  visit<dtypes::blas>(p.dtype, [&]<class T>(type_tag<T>) {
    using Item = std::conditional_t<sizeof(T) == 16, Item16, std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>>;
    launch(q, "triangle", triangle_kernel<Item, block>, grid, p, std::bit_cast<Item>(T(1)));
  });
}

// x / |x|, also for infinities and subnormal numbers; 0 for 0.
STATOR_FN double phase_of(double x) { return x > 0 ? 1.0 : x < 0 ? -1.0 : x; }
STATOR_FN complex128 phase_of(complex128 x) {
  if (x.im == 0) return phase_of(x.re);
  int64_t exponent;
  const complex128 near_one = split_exponent(x, exponent);
  return near_one / complex128(abs(near_one));
}

template <class T, int Size>
STATOR_KERNEL(Size) void determinant_kernel(params::Determinant p) {
  using R = real_t<T>;
  using Wide = std::conditional_t<is_complex<T>, complex128, double>;
  const Group<Size> group;
  const int64_t first = group.block() * PartsTuning::matrices;
  const int64_t left = p.count - first;
  group.for_each(left < PartsTuning::matrices ? left : PartsTuning::matrices, [=](int64_t k) {
    const int64_t matrix = first + k;
    bool odd = false;
    Scaled<Wide> product = scaled(Wide(1));  // so that only the final product can overflow
    Wide sign = Wide(1);
    R log_size = 0;
    for (int64_t i = 0; i < p.n; ++i) {
      const T x = element<T>(p.lu, matrix, i, i);
      odd = odd != (p.pivots[matrix * p.n + i] != i);
      if (p.det != nullptr) {
        product = multiply(product, scaled(Wide(x)));
      } else {
        log_size = log_size + log(abs(x));
        sign = sign * phase_of(Wide(x));
      }
    }
    if (p.det != nullptr) {
      const T whole = T(value_of(product));
      static_cast<T*>(p.det)[matrix] = odd ? T(0) - whole : whole;
    }
    if (p.sign != nullptr) static_cast<T*>(p.sign)[matrix] = T(odd ? Wide(0) - sign : sign);
    if (p.log != nullptr) static_cast<R*>(p.log)[matrix] = log_size;
  });
}

void determinant(const params::Queue& q, const params::Determinant& p) {
  visit<dtypes::blas>(p.dtype, [&]<class T>(type_tag<T>) {
    launch(q, "determinant", determinant_kernel<T, PartsTuning::block>,
           {ceil_div(p.count, PartsTuning::matrices), PartsTuning::block}, p);
  });
}

// order[k]: the row of A that is row k of L U. One thread applies the exchanges, which depend on each other.
template <class T, int Size>
STATOR_KERNEL(Size) void permutation_kernel(params::RowExchanges p, FastDivmod64 of_row) {
  const Group<Size> group;
  const int64_t matrix = group.block(), n = p.n;
  int32_t* order = p.order + matrix * n;
  group.for_each(n, [=](int64_t i) { order[i] = int32_t(i); });
  group.sync();
  if (group.rank() == 0)
    for (int64_t i = 0; i < p.steps; ++i) {
      const int32_t other = p.pivots[matrix * p.steps + i], x = order[other];
      order[other] = order[i];
      order[i] = x;
    }
  group.sync();
  T* out = static_cast<T*>(p.p) + matrix * n * n;
  group.for_each(n * n, [=](int64_t at) {
    int64_t j;
    const int64_t i = of_row.divmod(at, j);
    out[at] = T(order[j] == i);
  });
}

void permutation(const params::Queue& q, const params::RowExchanges& p) {
  visit<dtypes::blas>(p.dtype, [&]<class T>(type_tag<T>) {
    launch(q, "permutation", permutation_kernel<T, PartsTuning::block>, {p.count, PartsTuning::block}, p,
           FastDivmod64(std::max<int64_t>(p.n, 1)));
  });
}

template <int Size>
STATOR_KERNEL(Size) void pivots_kernel(params::Pivots p) {
  const Group<Size> group;
  const int64_t first = group.block() * PartsTuning::tile, left = p.count - first;
  group.for_each(left < PartsTuning::tile ? left : PartsTuning::tile, [=](int64_t k) {
    const int64_t at = first + k;
    if (p.to_ours) {
      p.ours[at] = p.theirs != nullptr ? int32_t(p.theirs[at] - 1) : p.theirs_narrow[at] - 1;
      return;
    }
    const int64_t pivot = p.ours[at], theirs = (pivot >= 0 && pivot < p.rows ? pivot : at % p.each) + 1;
    if (p.theirs != nullptr)
      p.theirs[at] = theirs;
    else
      p.theirs_narrow[at] = int32_t(theirs);
  });
}

void pivots(const params::Queue& q, const params::Pivots& p) {
  launch(q, "pivots", pivots_kernel<PartsTuning::block>, {ceil_div(p.count, PartsTuning::tile), PartsTuning::block}, p);
}

template <class R, int Size>
STATOR_KERNEL(Size) void mask_nonfinite_kernel(params::MaskNonfinite p, int reals, FastDivmod64 per_column) {
  const Group<Size> group;
  const int64_t size = p.size * reals;
  const params::Part part = p.part;
  R* matrix = static_cast<R*>(p.a) + group.block() * size;
  // 0 times a finite number is 0; 0 times NaN or infinity is NaN.
  const R sum = group.template map_reduce<R>(size, Sum{}, [=](int64_t i) {
    if (part == params::Part::whole) return matrix[i] * R(0);
    int64_t row;
    const int64_t column = per_column.divmod(i, row);
    row >>= reals - 1;  // they are one or two
    return (part == params::Part::lower ? row >= column : row <= column) ? matrix[i] * R(0) : R(0);
  });
  if (group.rank() == 0) p.bad[group.block()] = sum != R(0);
  if (sum != R(0)) group.for_each(size, [=](int64_t i) { matrix[i] = R(0); });
}

void mask_nonfinite(const params::Queue& q, const params::MaskNonfinite& p) {
  const int reals = itemsize(p.dtype) / itemsize(real_part(p.dtype));
  const Config grid{p.count, PartsTuning::block};
  const FastDivmod64 per_column(std::max<int64_t>(p.rows * reals, 1));
  if (real_part(p.dtype) == DType::float32)
    launch(q, "mask_nonfinite", mask_nonfinite_kernel<float, PartsTuning::block>, grid, p, reals, per_column);
  else
    launch(q, "mask_nonfinite", mask_nonfinite_kernel<double, PartsTuning::block>, grid, p, reals, per_column);
}

template <int Size>
STATOR_KERNEL(Size) void restore_nan_kernel(params::RestoreNan p) {
  const Group<Size> group;
  const int64_t matrix = group.block();
  if (p.bad[matrix] == 0) return;
  STATOR_UNROLL()
  for (int k = 0; k < 3; ++k)  // unrolled, because an index would move the parameters to local memory
    group.for_each(k < p.results ? p.size[k] : 0, [&](int64_t i) {
      const int64_t at = matrix * p.size[k] + i;
      if (p.dtype[k] == DType::float32)
        static_cast<float*>(p.data[k])[at] = limits<float>::nan();
      else
        static_cast<double*>(p.data[k])[at] = limits<double>::nan();
    });
  if (group.rank() == 0) p.info[matrix] = -1;
}

void restore_nan(const params::Queue& q, const params::RestoreNan& params) {
  params::RestoreNan p = params;
  for (int k = 0; k < p.results; ++k) {
    p.size[k] *= itemsize(p.dtype[k]) / itemsize(real_part(p.dtype[k]));
    p.dtype[k] = real_part(p.dtype[k]);
  }
  launch(q, "restore_nan", restore_nan_kernel<PartsTuning::block>, {p.count, PartsTuning::block}, p);
}

}  // namespace

}  // namespace stator::STATOR_TARGET::linalg

STATOR_LAUNCHER(linalg, triangle)
STATOR_LAUNCHER(linalg, determinant)
STATOR_LAUNCHER(linalg, permutation)
STATOR_LAUNCHER(linalg, pivots)
STATOR_LAUNCHER(linalg, mask_nonfinite)
STATOR_LAUNCHER(linalg, restore_nan)
