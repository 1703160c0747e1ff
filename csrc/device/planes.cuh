// The elements of planes of up to three axes, divided among blocks.
#pragma once

#include "group.cuh"
#include "index.cuh"

namespace stator::STATOR_TARGET {

// An element: its linear index, its plane, and its coordinates in the plane, slowest first.
struct Position {
  int64_t linear, plane;
  int at[3];
};

// Each block handles `Elements` elements. A plane has at most 2^31 - 1 elements.
template <int Elements>
struct Planes {
  int64_t total;
  int extent[3];
  FastDivmod64 of_plane;
  FastDivmod of_slice, of_row;

  STATOR_HD Planes(int64_t planes, int d, int h, int w) : extent{d, h, w} {
    of_row = FastDivmod(w);
    of_slice = FastDivmod(h * w);
    of_plane = FastDivmod64(int64_t(d) * h * w);
    total = planes * d * h * w;
  }
  STATOR_HD int64_t blocks() const { return ceil_div(total, Elements); }
  // For the fast host, whose blocks handle whole rows.
  STATOR_HD int64_t rows_per_block() const { return Elements > extent[2] ? Elements / extent[2] : 1; }
  STATOR_HD int64_t row_blocks() const { return ceil_div(total / extent[2], rows_per_block()); }

  STATOR_FN Position position(int64_t linear) const {
    Position found{linear, 0, {}};
    int64_t rest;
    found.plane = of_plane.divmod(linear, rest);
    int32_t in_slice, in_row;
    found.at[0] = of_slice.divmod(int32_t(rest), in_slice);
    found.at[1] = of_row.divmod(in_slice, in_row);
    found.at[2] = in_row;
    return found;
  }

  // Calls f for each element of this block; neighbouring threads have neighbouring elements.
  template <int Size, class F>
  STATOR_FN void for_each(const Group<Size>& group, F f) const {
    const int64_t begin = group.block() * Elements, end = begin + Elements < total ? begin + Elements : total;
    if constexpr (fast_host) {
      Position at = position(begin);
      for (; at.linear < end; ++at.linear) {
        f(at);
        if (++at.at[2] < extent[2]) continue;
        at.at[2] = 0;
        if (++at.at[1] < extent[1]) continue;
        at.at[1] = 0;
        if (++at.at[0] < extent[0]) continue;
        at.at[0] = 0;
        ++at.plane;
      }
    } else {
      STATOR_UNROLL(1)
      for (int64_t i = begin + group.rank(); i < end; i += Size) f(position(i));
    }
  }

  // Calls f(position of the first element, count) for the rows of this block, in tiles.
  template <int Tile, int Size, class F>
  STATOR_FN void for_rows(const Group<Size>& group, int64_t rows_per_block, F f) const {
    const int64_t rows = total / extent[2], first = group.block() * rows_per_block;
    const int64_t end = first + rows_per_block < rows ? first + rows_per_block : rows;
    for (int64_t row = first; row < end; ++row) {
      Position at = position(row * extent[2]);
      for (; at.at[2] < extent[2]; at.at[2] += Tile, at.linear += Tile) {
        const int rest = extent[2] - at.at[2];
        f(at, rest < Tile ? rest : Tile);
      }
    }
  }
};

}  // namespace stator::STATOR_TARGET
