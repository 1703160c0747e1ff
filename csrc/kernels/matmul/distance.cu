// Pairwise distances. Differences are computed before they are squared, so that near points keep their precision. A
// block computes a tile of pairs from features that are staged in shared memory.
#include "device/group.cuh"
#include "device/math/math.cuh"
#include "device/rescale.cuh"
#include "host/launch.hpp"
#include "host/launcher.hpp"
#include "params/matmul.hpp"

#include <cmath>

namespace stator::STATOR_TARGET::matmul {
namespace {

struct DistanceTuning {
  static constexpr int block = 256;
  static constexpr int rows = 32, cols = 64;  // of a tile
  static constexpr int features = 32;         // features in shared memory at once
};

struct CountNorm {
  static constexpr bool raises = false;  // whether powers of differences may leave the range of their type
  template <class T>
  STATOR_FN T add(T sum, T d, T) const {
    return sum + (d != T(0) ? T(1) : T(0));
  }
  template <class T>
  STATOR_FN T merge(T a, T b) const {
    return a + b;
  }
  template <class T>
  STATOR_FN T finish(T sum, T) const {
    return sum;
  }
};
struct OneNorm : CountNorm {
  template <class T>
  STATOR_FN T add(T sum, T d, T) const {
    return sum + (d < T(0) ? -d : d);
  }
};
struct TwoNorm : CountNorm {
  static constexpr bool raises = true;
  template <class T>
  STATOR_FN T add(T sum, T d, T) const {
    return sum + d * d;
  }
  template <class T>
  STATOR_FN T finish(T sum, T) const {
    return sqrt(sum);
  }
};
struct LargestNorm : CountNorm {
  template <class T>
  STATOR_FN T add(T sum, T d, T) const {
    return merge(d < T(0) ? -d : d, sum);
  }
  template <class T>
  STATOR_FN T merge(T a, T b) const {
    return ((a > b) | (a != a)) ? a : b;
  }
};
struct GeneralNorm : CountNorm {
  static constexpr bool raises = true;
  template <class T>
  STATOR_FN T add(T sum, T d, T p) const {
    return sum + pow(d < T(0) ? -d : d, p);
  }
  template <class T>
  STATOR_FN T finish(T sum, T p) const {
    return pow(sum, T(1) / p);
  }
};

template <class T>
struct DistanceTile {
  T a[DistanceTuning::features][DistanceTuning::rows + 1], b[DistanceTuning::features][DistanceTuning::cols];
};

// The distance of a pair whose powers are too large or too small for T: the largest difference times the length of the
// differences divided by it.
template <class Norm, class T>
STATOR_COLD T rescaled_distance(const params::Distance& p, const T* x, const T* y, T otherwise) {
  const auto difference = [&](int64_t k) { return abs(x[k * p.a_strides[2]] - y[k * p.b_strides[2]]); };
  T largest = T(0), sum = T(0);
  STATOR_UNROLL(1)
  for (int64_t k = 0; k < p.features; ++k) largest = Max{}(largest, difference(k));
  if (!(largest > T(0)) || !isfinite(largest)) return otherwise;
  STATOR_UNROLL(1)
  for (int64_t k = 0; k < p.features; ++k) sum = Norm{}.add(sum, difference(k) / largest, T(p.p));
  return largest * Norm{}.finish(sum, T(p.p));
}

template <class T, class Norm, int Size>
STATOR_KERNEL(Size) void distance_kernel(params::Distance p) {
  using Tune = DistanceTuning;
  constexpr int I = Tune::rows, J = Tune::cols, K = Tune::features, per_thread = I * J / Group<Size>::size;
  const Group<Size> group;
  const Norm norm;
  const T power = T(p.p);
  const int64_t row_tiles = (p.rows + I - 1) / I, col_tiles = (p.cols + J - 1) / J;
  const int64_t batch = group.block() / (row_tiles * col_tiles), tile = group.block() % (row_tiles * col_tiles);
  const int64_t first_row = tile / col_tiles * I, first_col = tile % col_tiles * J;
  const T* const a = static_cast<const T*>(p.a) + batch * p.a_strides[0];
  const T* const b = static_cast<const T*>(p.b) + batch * p.b_strides[0];
  DistanceTile<T>& shared = group.template shared<DistanceTile<T>>();
  // Pair n of a thread is pair n * size + rank of the tile.
  T total[per_thread];
  for (int n = 0; n < per_thread; ++n) total[n] = T(0);
  for (int64_t k0 = 0; k0 < p.features; k0 += K) {
    const int depth = p.features - k0 < K ? int(p.features - k0) : K;
    group.sync();
    // Load some features of the tile's rows and columns.
    group.for_each(I * K, [&](int64_t at) {
      const int64_t i = at / K, k = at % K, row = first_row + i;
      shared.a[k][i] = k < depth && row < p.rows ? a[row * p.a_strides[1] + (k0 + k) * p.a_strides[2]] : T(0);
    });
    group.for_each(J * K, [&](int64_t at) {
      const int64_t j = at / K, k = at % K, col = first_col + j;
      shared.b[k][j] = k < depth && col < p.cols ? b[col * p.b_strides[1] + (k0 + k) * p.b_strides[2]] : T(0);
    });
    group.sync();
    // Add their contribution to the sums of the pairs.
    if constexpr (fast_host) {
      const int rows = p.rows - first_row < I ? int(p.rows - first_row) : I;
      for (int i = 0; i < rows; ++i) {
        T partial[J];
        for (int j = 0; j < J; ++j) partial[j] = T(0);
        for (int k = 0; k < depth; ++k) {
          const T x = shared.a[k][i];
          for (int j = 0; j < J; ++j) partial[j] = norm.add(partial[j], x - shared.b[k][j], power);
        }
        for (int j = 0; j < J; ++j) total[i * J + j] = norm.merge(total[i * J + j], partial[j]);
      }
    } else {
      T partial[per_thread];
      STATOR_UNROLL()
      for (int n = 0; n < per_thread; ++n) partial[n] = T(0);
      const int j = group.rank() % J, i = group.rank() / J;
      for (int k = 0; k < depth; ++k) {
        const T y = shared.b[k][j];
        STATOR_UNROLL()
        for (int n = 0; n < per_thread; ++n)
          partial[n] = norm.add(partial[n], shared.a[k][i + n * (Size / J)] - y, power);
      }
      STATOR_UNROLL()
      for (int n = 0; n < per_thread; ++n) total[n] = norm.merge(total[n], partial[n]);
    }
  }
  // Store.
  T* const out = static_cast<T*>(p.out) + batch * p.rows * p.cols;
  STATOR_UNROLL()
  for (int n = 0; n < per_thread; ++n) {
    const int at = n * Group<Size>::size + group.rank();
    const int64_t row = first_row + at / J, col = first_col + at % J;
    if (row >= p.rows || col >= p.cols) continue;
    T found = norm.finish(total[n], power);
    if constexpr (Norm::raises)
      if (!SquareRange<T>::has(total[n]))
        found = rescaled_distance<Norm>(p, a + row * p.a_strides[1], b + col * p.b_strides[1], found);
    out[row * p.cols + col] = found;
  }
}

template <class T, class Norm>
void launch_distance(const params::Queue& q, const params::Distance& p) {
  using Tune = DistanceTuning;
  const int64_t blocks = p.batch * ceil_div(p.rows, Tune::rows) * ceil_div(p.cols, Tune::cols);
  launch(q, "cdist", distance_kernel<T, Norm, Tune::block>, {blocks, Tune::block}, p);
}

template <class T>
void cdist_as(const params::Queue& q, const params::Distance& p) {
  if (p.p == 0) return launch_distance<T, CountNorm>(q, p);
  if (p.p == 1) return launch_distance<T, OneNorm>(q, p);
  if (p.p == 2) return launch_distance<T, TwoNorm>(q, p);
  if (std::isinf(p.p)) return launch_distance<T, LargestNorm>(q, p);
  return launch_distance<T, GeneralNorm>(q, p);
}

void cdist(const params::Queue& q, const params::Distance& p) {
  if (p.dtype == DType::float32)
    cdist_as<float>(q, p);
  else
    cdist_as<double>(q, p);
}

}  // namespace

}  // namespace stator::STATOR_TARGET::matmul

STATOR_LAUNCHER(matmul, cdist)
