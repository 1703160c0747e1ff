// Attention: softmax(scale q k^T + mask) v of each head. Keys come in blocks; what was summed is rescaled when a
// larger score appears (Milakov and Gimelshein, 2018), so that no score is stored.
#include "device/vector.cuh"
#include "host/launch.hpp"
#include "host/launcher.hpp"
#include "kernels/attention/fast.cuh"
#include "kernels/attention/matrix.cuh"
#include "kernels/attention/tiles.cuh"

#include <algorithm>

namespace stator::STATOR_TARGET::attention {
namespace {

int64_t query_tiles(const Attention& p, int rows) { return p.batches * ceil_div(p.queries, rows); }

// Whether rows of q, k and v can be read in vectors.
bool in_vectors(const Attention& p) {
  const int width = 16 / itemsize(p.dtype);
  for (int k : {Attention::q, Attention::k, Attention::v}) {
    const int columns = k == Attention::v ? p.value_size : p.size;
    if (!is_aligned(p.data[k]) || columns % width != 0) return false;
    if (p.column[k] != 1 || p.row[k] % width != 0) return false;
    for (int d = 0; d < p.ndim; ++d)
      if (p.strides[k][d] % width != 0) return false;
  }
  return true;
}

template <class T>
void launch_fast(const params::Queue& q, const Attention& p) {
  using A = opmath_t<T>;
  constexpr int block = FastTuning::block, many = 4;
  if constexpr (std::is_same_v<T, A>)
    if (fits_rows<T>(p))
      return launch(q, "attention_row", attention_fast_row_kernel<T, block>, {p.batches * p.queries, block}, p);
  const auto with = [&]<int Count>(std::integral_constant<int, Count>) {
    const int64_t numbers = fast_numbers<T, A, Count>(p);
    launch(q, "attention", attention_fast_kernel<T, Count, block>,
           {query_tiles(p, QueryLanes<A, Count>::queries), block, int(numbers * int64_t(sizeof(A)))}, p, numbers);
  };
  if (p.queries > QueryLanes<A, 1>::queries)
    with(std::integral_constant<int, many>{});
  else
    with(std::integral_constant<int, 1>{});
}

// D: the kernels' sizes of heads.
template <class T, int D>
void launch_blocks(const params::Queue& q, const Attention& p) {
  if constexpr (has_tensor_cores && is_half<T>) {
    const auto with = [&]<int Strips>(std::integral_constant<int, Strips>) {
      using Tune = MatrixTuning<D, Strips>;
      launch(q, "attention_matrix", attention_matrix_kernel<T, D, Strips, Tune::block>,
             {query_tiles(p, Tune::rows), Tune::block, Tune::shared_bytes}, p, in_vectors(p));
    };
    // Two strips of larger heads do not fit into registers.
    if constexpr (D == 64)
      if (query_tiles(p, MatrixTuning<D, 2>::rows) >= q.limits->multiprocessors)
        return with(std::integral_constant<int, 2>{});
    with(std::integral_constant<int, 1>{});
  } else {
    launch(q, "attention_tile", attention_tile_kernel<T, D, TileTuning::block>,
           {query_tiles(p, TileTuning::rows), TileTuning::block}, p, in_vectors(p));
  }
}

template <class T>
void launch_attention(const params::Queue& q, const Attention& p) {
  const int size = std::max(p.size, p.value_size);
  if constexpr (fast_host)
    launch_fast<T>(q, p);
  else if (size <= 64)
    launch_blocks<T, 64>(q, p);
  else if (size <= 128)
    launch_blocks<T, 128>(q, p);
  else
    launch_blocks<T, 256>(q, p);
}

void attention(const params::Queue& q, const Attention& p) {
  visit<dtypes::floats>(p.dtype, [&]<class T>(type_tag<T>) { launch_attention<T>(q, p); });
}

}  // namespace

}  // namespace stator::STATOR_TARGET::attention

STATOR_LAUNCHER(attention, attention)
