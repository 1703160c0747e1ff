// Concatenation. The list of pieces is part of the kernel's parameters.
#include "host/launcher.hpp"
#include "kernels/movement/rows.cuh"
#include "params/movement.hpp"

namespace stator::STATOR_TARGET::movement {
namespace {

struct ConcatTuning {
  static constexpr int few = 64, many = 640;  // pieces in 4 KiB and 32 KiB of parameters
  static constexpr int block = 256;
  static constexpr int64_t narrow = 16;       // columns per piece: below it the fast host writes column by column
  static constexpr int64_t rows_tile = 4096;  // elements of a block that writes columns
};

template <class Bits, int Capacity>
struct ConcatSource {
  params::ConcatPiece pieces[Capacity];
  int64_t inner, first, cols;  // the columns of this launch's pieces begin at `first`
  int32_t count;

  struct Row {
    int64_t outer;
    int32_t piece;  // that had the last column
  };
  STATOR_FN Row row(int64_t r) const { return {r, 0}; }
  STATOR_FN Span<Bits> span(Row& row, int64_t c) const {
    c += first;
    int at = row.piece;
    if (at + 1 < count && c >= pieces[at + 1].begin) {
      int last = count - 1;  // the last piece that begins at or before c
      ++at;
      if (at < last && c >= pieces[at + 1].begin)
        while (at < last) {
          const int middle = (at + last + 1) / 2;
          if (pieces[middle].begin <= c)
            at = middle;
          else
            last = middle - 1;
        }
      row.piece = at;
    }
    const params::ConcatPiece& p = pieces[at];
    const int64_t end = at + 1 < count ? pieces[at + 1].begin : first + cols;
    const Bits* from = static_cast<const Bits*>(p.data) + row.outer * p.outer_stride;
    const int64_t i = c - p.begin;
    if (inner == 1) return {from + i * p.axis_stride, p.axis_stride, end - first, Bits{}};
    if (p.axis_stride == inner * p.inner_stride)
      return {from + i * p.inner_stride, p.inner_stride, end - first, Bits{}};
    const int64_t k = i / inner;
    return {from + k * p.axis_stride + (i - k * inner) * p.inner_stride, p.inner_stride,
            p.begin + (k + 1) * inner - first, Bits{}};
  }
};

// Fast host, pieces of few columns: a tile of whole rows is written column by column while it is in the cache.
template <class Bits, int Capacity, int Size>
STATOR_KERNEL(Size) void concat_columns_kernel(ConcatSource<Bits, Capacity> source, Bits* out, int64_t rows,
                                               int64_t pitch) {
  const Group<Size> group;
  const int64_t tile = ConcatTuning::rows_tile / source.cols + 1, first = group.block() * tile;
  const int64_t n = rows - first < tile ? rows - first : tile;
  auto row = source.row(first);
  for (int64_t c = 0; c < source.cols; ++c) {
    const Span<Bits> s = source.span(row, c);
    const Bits* from = s.from;
    Bits* to = out + first * pitch + c;
    const int64_t step = source.pieces[row.piece].outer_stride;
    if (step == 1)
      group.for_each(n, [=](int64_t i) { to[i * pitch] = from[i]; });
    else
      group.for_each(n, [=](int64_t i) { to[i * pitch] = from[i * step]; });
  }
}

template <class Bits, int Capacity>
void launch_pieces(const params::Queue& q, const params::Concat& p, int first) {
  ConcatSource<Bits, Capacity> source{};
  source.inner = p.inner;
  source.first = p.pieces[first].begin;
  for (int i = first; i < p.count && Capacity > source.count; ++i) source.pieces[source.count++] = p.pieces[i];
  const int next = first + source.count;
  source.cols = (next < p.count ? p.pieces[next].begin : p.cols) - source.first;
  Bits* const out = static_cast<Bits*>(p.out) + source.first;
  if constexpr (fast_host) {
    if (p.outer > 16 && source.cols < ConcatTuning::narrow * source.count && source.cols < ConcatTuning::rows_tile)
      return launch(q, "concat_columns", concat_columns_kernel<Bits, Capacity, ConcatTuning::block>,
                    {ceil_div(p.outer, ConcatTuning::rows_tile / source.cols + 1), ConcatTuning::block}, source, out,
                    p.outer, p.cols);
  }
  launch_rows(q, "concat", source, out, p.outer, source.cols, p.cols);
}

void concat(const params::Queue& q, const params::Concat& p) {
  using Tune = ConcatTuning;
  with_bits(p.itemsize, [&]<class Bits>(Bits) {
    if (p.count <= Tune::few) return launch_pieces<Bits, Tune::few>(q, p, 0);
    for (int first = 0; first < p.count; first += Tune::many) launch_pieces<Bits, Tune::many>(q, p, first);
  });
}

}  // namespace

}  // namespace stator::STATOR_TARGET::movement

STATOR_LAUNCHER(movement, concat)
