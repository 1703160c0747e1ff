// Dense rows composed from spans of a source. A source describes each row as a sequence of spans, and the kernel copies
// them. Threads write 16 bytes each, and read 16 bytes at once where a span is dense and aligned.
#pragma once

#include "device/bits.cuh"
#include "device/group.cuh"
#include "device/index.cuh"
#include "device/vector.cuh"
#include "host/launch.hpp"

#include <algorithm>
#include <cstring>

namespace stator::STATOR_TARGET::movement {

// Columns of a row up to column `end`: the elements from `from` on, `step` apart, or `value` if `from` is null.
template <class Bits>
struct Span {
  const Bits* from;
  int64_t step, end;
  Bits value;
};

// The item in `fill` and `value` of the parameters.
template <class Bits>
Bits bits_of(const unsigned char* bytes) {
  Bits bits;
  std::memcpy(&bits, bytes, sizeof bits);
  return bits;
}

struct RowsTuning {
  static constexpr int block = 256;
  static constexpr int unroll = 4;  // accesses of 16 bytes per thread
  template <class Bits>
  static constexpr int64_t tile() {  // elements of a block on the fast host
    return 131072 / int64_t(sizeof(Bits));
  }
};

template <class Bits, int Size>
STATOR_FN void copy_span(const Group<Size>& group, Bits* to, const Span<Bits>& s, int64_t n) {
  const Bits* from = s.from;
  const int64_t step = s.step;
  if (from == nullptr || step == 0) {
    const Bits value = from == nullptr ? s.value : *from;
    group.for_each(n, [=](int64_t i) { to[i] = value; });
  } else if (step == 1) {
    group.for_each(n, [=](int64_t i) { to[i] = from[i]; });
  } else if (step == -1) {
    group.for_each(n, [=](int64_t i) { to[i] = from[-i]; });
  } else {
    group.for_each(n, [=](int64_t i) { to[i] = from[i * step]; });
  }
}

template <int W, class Bits>
STATOR_FN Vec<Bits, W> load_span(const Span<Bits>& s) {
  if (s.from != nullptr && s.step == 1 && is_aligned(s.from)) return load_vector<W>(s.from);
  Vec<Bits, W> v;
  STATOR_UNROLL()
  for (int k = 0; k < W; ++k) v[k] = s.from == nullptr ? s.value : s.from[k * s.step];
  return v;
}

// Calls source.row(r), then source.span(row, column) for ascending columns.
template <class Bits, class Source, int Size>
STATOR_KERNEL(Size) void rows_kernel(Source source, Bits* out, int64_t rows, int64_t cols, int64_t pitch,
                                     FastDivmod64 per_row) {
  const Group<Size> group;
  if constexpr (fast_host) {
    constexpr int64_t tile = RowsTuning::tile<Bits>();
    int64_t left = rows * cols - group.block() * tile;
    left = left < tile ? left : tile;
    int64_t r = group.block() * tile / cols, c = group.block() * tile - r * cols;
    for (; left > 0; ++r, c = 0) {
      auto row = source.row(r);
      const int64_t stop = cols - c < left ? cols : c + left;
      left -= stop - c;
      while (c < stop) {
        const Span<Bits> s = source.span(row, c);
        const int64_t end = s.end < stop ? s.end : stop;
        copy_span(group, out + r * pitch + c, s, end - c);
        c = end;
      }
    }
  } else {
    constexpr int W = vector_width<Bits>, Unroll = RowsTuning::unroll;
    const int64_t total = rows * int64_t(per_row.divisor);
    STATOR_UNROLL(1)
    for (int u = 0; u < Unroll; ++u) {
      const int64_t unit = group.block() * (Size * Unroll) + u * Size + group.rank();
      if (unit >= total) return;
      int64_t c;
      const int64_t r = per_row.divmod(unit, c);
      c *= W;
      Bits* const to = out + r * pitch + c;
      const int n = cols - c < W ? int(cols - c) : W;
      const bool wide = n == W && is_aligned(to);
      auto row = source.row(r);
      STATOR_UNROLL(1)
      for (int k = 0; k < n;) {
        const Span<Bits> s = source.span(row, c + k);
        if (wide && k == 0 && s.end - c >= W) {
          store_vector(to, load_span<W>(s));
          break;
        }
        const int end = s.end - c < n ? int(s.end - c) : n;
        STATOR_UNROLL(1)
        for (int begin = k; k < end; ++k) to[k] = s.from == nullptr ? s.value : s.from[(k - begin) * s.step];
      }
    }
  }
}

template <class Bits, class Source>
void launch_rows(const params::Queue& q, const char* name, const Source& source, Bits* out, int64_t rows, int64_t cols,
                 int64_t pitch) {
  using Tune = RowsTuning;
  const int64_t per_row = fast_host ? cols : ceil_div(cols, vector_width<Bits>);
  const int64_t blocks = ceil_div(rows * per_row, fast_host ? Tune::tile<Bits>() : Tune::block * Tune::unroll);
  launch(q, name, rows_kernel<Bits, Source, Tune::block>, {blocks, Tune::block}, source, out, rows, cols, pitch,
         FastDivmod64(std::max<int64_t>(per_row, 1)));
}

}  // namespace stator::STATOR_TARGET::movement
