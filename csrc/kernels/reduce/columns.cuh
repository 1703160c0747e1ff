// Reductions down columns: neighbouring outputs are neighbours in memory, so a block takes a tile of columns and reads
// along the rows. Several blocks may split the rows of a tile; the last one to finish combines their partial results.
#pragma once

#include "kernels/reduce/work.cuh"

namespace stator::STATOR_TARGET::reduce {

struct ColumnTuning {
  static constexpr int block = 256;
  static constexpr int rows = 4;      // that a cuda thread has in flight at once
  static constexpr int width = 1024;  // columns of a fast-host tile: lanes and accumulators stay in L1 and L2
  static constexpr int narrow = 32;   // fewer columns are always taken as wider rows
  // The fast host reduces rows of up to this many elements and bytes as columns, in tiles of at most these bytes.
  static constexpr int64_t short_row = 32, short_row_bytes = 128, short_tile_bytes = 16384;
};

// Where a block works: rows [begin, end) of `width` columns. `column` is the first output, `group` the number of the
// tile among all tiles.
struct ColumnTile {
  int64_t base, mask_base, group, column, width, split, begin, end;
};

STATOR_COLD ColumnTile column_tile(const ReductionWork& w, int64_t block) {
  const int64_t tiles = (w.columns + w.tile - 1) / w.tile;
  ColumnTile t;
  t.split = block % w.splits;
  t.group = block / w.splits;
  const int64_t outer = t.group / tiles;
  t.column = (t.group - outer * tiles) * w.tile;
  t.width = w.columns - t.column < w.tile ? w.columns - t.column : w.tile;
  t.base = w.kept.offset(outer) + t.column * w.column_step;
  t.mask_base = w.kept.mask_offset(outer) + t.column * w.mask_column_step;
  t.column += outer * w.columns;  // from here on the index of the output
  t.begin = t.split * w.split_size;
  t.end = t.begin + w.split_size < w.count ? t.begin + w.split_size : w.count;
  return t;
}

// Blocks with threads: thread (x, y) takes every `high`-th row from y on of column x of the tile.
template <class R, class Source, class G>
STATOR_FN void reduce_column_threads(const G& group, const ReductionWork& w) {
  using Acc = typename R::Acc;
  constexpr int U = ColumnTuning::rows;
  const R r{w.mode};
  const Source source(w.in, w.in_dtype);
  const ColumnTile t = column_tile(w, group.block());
  const int x = group.rank() & (w.threads - 1), y = group.rank() / w.threads, high = group.size / w.threads;
  // Thread reduce.
  Acc acc = r.identity();
  if (x < t.width) {
    int64_t at = t.base + x * w.column_step, row = t.begin + y;
    if (w.mask != nullptr) {
      const bool* const mask = w.mask + t.mask_base + x * w.mask_column_step;
      STATOR_UNROLL(1)
      for (; row < t.end; row += high)
        if (mask[w.reduced.mask_offset(row)])
          acc = r.combine(acc, r.single(source.at(at + w.reduced.offset(row)), row));
    }
    // Along a single axis `at` is advanced with the row. Offsets along several axes are computed for each row.
    const bool single = w.reduced.ndim == 1;
    const int64_t step = single ? high * w.reduced.strides[0] : 0;
    if (single) at += row * w.reduced.strides[0];
    while (row + int64_t(U - 1) * high < t.end) {
      typename R::template Lanes<U> lanes;
      lanes.clear(r, U);
      const int64_t first = row;
      STATOR_UNROLL(1)
      for (int k = 0; k < R::lane_steps && row + int64_t(U - 1) * high < t.end; ++k, row += int64_t(U) * high) {
        Items<int64_t, U> offset;
        STATOR_UNROLL()
        for (int j = 0; j < U; ++j, at += step)
          offset[j] = single ? at : at + w.reduced.offset(row + int64_t(j) * high);
        const Items<typename R::In, U> value = source.many(offset);
        STATOR_UNROLL()
        for (int j = 0; j < U; ++j) lanes.enter(r, j, value[j], k);
      }
      acc = r.combine(acc, lanes.total(r, first, int64_t(U) * high, high));
    }
    STATOR_UNROLL(1)
    for (; row < t.end; row += high, at += step)
      acc = r.combine(acc, r.single(source.at(single ? at : at + w.reduced.offset(row)), row));
  }
  // Block reduce.
  acc = fold_threads(r, group, acc, w.threads, group.size);
  const bool mine = y == 0 && x < t.width;
  // The last block of the tile reduces the partial results of all splits.
  if (w.splits > 1) {
    Acc* const partials = static_cast<Acc*>(w.partials) + t.group * w.splits * w.tile;
    if (mine) partials[t.split * w.tile + x] = acc;
    if (!group.last_block(w.counters + t.group, uint32_t(w.splits))) return;
    acc = r.identity();
    if (x < t.width) {
      STATOR_UNROLL(1)
      for (int s = y; s < w.splits; s += high) acc = r.combine(acc, partials[s * w.tile + x]);
    }
    acc = fold_threads(r, group, acc, w.threads, group.size);
  }
  if (mine) store_result(r, w, t.column + x, acc);
}

// Puts one row into the lanes. One copy of the inner loop serves elements in place and elements in the buffer.
template <class R, class Source>
STATOR_FN void enter_row(const R& r, typename R::template Lanes<ColumnTuning::width>& lanes, const Source& source,
                         int64_t offset, int64_t step, int width, int k) {
  typename R::In buffer[chunk_length];
  int64_t count = 0;
  for (int64_t j = 0; j < width; j += count) {
    count = width - j;
    const typename R::In* const p = source.chunk(buffer, offset + j * step, step, count);
#pragma GCC ivdep
    for (int i = 0; i < int(count); ++i) lanes.enter(r, int(j) + i, p[i], k);
  }
}

// Adds four rows of n elements to others.
template <class A, class F>
STATOR_FN void add_rows(A* STATOR_RESTRICT to, const A* const (&row)[4], int n, F taken) {
  const A *const a = row[0], *const b = row[1], *const c = row[2], *const d = row[3];
#pragma GCC ivdep
  for (int i = 0; i < n; ++i) to[i] = to[i] + ((taken(a[i]) + taken(b[i])) + (taken(c[i]) + taken(d[i])));
}

// Puts the sums of four wide rows into the lanes.
template <class R, class Source>
STATOR_FN void enter_four_rows(const R& r, typename R::template Lanes<ColumnTuning::width>& lanes, const Source& source,
                               const ReductionWork& w, const ColumnTile& t, int64_t row, int together) {
  using In = typename R::In;
  In buffer[4][chunk_length];
  const In* p[4];
  const int64_t width = together * t.width;
  int64_t count = 0;
  for (int64_t j = 0; j < width; j += count) {
    for (int k = 0; k < 4; ++k) {
      count = width - j;
      const int64_t at = t.base + w.reduced.offset(row + int64_t(k) * together) + j * w.column_step;
      p[k] = source.chunk(buffer[k], at, w.column_step, count);
    }
    if (r.mode.skip_nan)
      add_rows(lanes.value + j, p, int(count), [&](In v) { return r.taken(v); });
    else if constexpr (is_complex<In>)
      add_rows(&lanes.value[j].re, {&p[0]->re, &p[1]->re, &p[2]->re, &p[3]->re}, 2 * int(count),
               [](auto v) { return v; });
    else
      add_rows(lanes.value + j, p, int(count), [](In v) { return v; });
  }
}

// Fast host: rows [row, row + rows) of a tile, `together` of them as one wide row: acc[j] is what column j of the wide
// rows is reduced to. The last wide row may be shorter.
template <class R, class Source>
  requires takes_column_runs<R>
STATOR_FN void reduce_chunk(const R& r, const Source& source, const ReductionWork& w, const ColumnTile& t, int64_t row,
                            int rows, int together, typename R::Acc* acc) {
  constexpr int strip = ColumnRun::columns;
  typename R::In buffer[ColumnRun::rows][strip];
  const typename R::In* wide_row[ColumnRun::rows];
  const int width = int(t.width), wide = std::min(rows, together) * width;
  const int wide_rows = (rows + together - 1) / together, shorter = (rows - (wide_rows - 1) * together) * width;
  for (int j = 0, count = 0; j < wide; j += count) {
    const int n = j < shorter ? wide_rows : wide_rows - 1;
    count = std::min(strip, (j < shorter ? shorter : wide) - j);
    for (int k = 0; k < n; ++k) {
      const int64_t at = t.base + w.reduced.offset(row + int64_t(k) * together) + j * w.column_step;
      int64_t all = count;
      wide_row[k] = source.chunk(buffer[k], at, w.column_step, all);
    }
    run_of_columns(r, wide_row, n, count, acc + j);
  }
}
template <class R, class Source>
STATOR_FN void reduce_chunk(const R& r, const Source& source, const ReductionWork& w, const ColumnTile& t, int64_t row,
                            int rows, int together, typename R::Acc* acc) {
  const int width = int(t.width), wide = std::min(rows, together) * width;
  typename R::template Lanes<ColumnTuning::width> lanes;
  lanes.clear(r, wide);
  int k = 0, done = 0;
  if constexpr (adds_rows<R>)
    for (; done + 4 * together <= rows; done += 4 * together)
      enter_four_rows(r, lanes, source, w, t, row + done, together);
  for (; done < rows; ++k, done += together)
    enter_row<R>(r, lanes, source, t.base + w.reduced.offset(row + done), w.column_step,
                 std::min(rows - done, together) * width, k);
  for (int i = 0, j = 0; j < wide; ++i)
    for (const int end = j + width; j < end; ++j) acc[j] = lanes.fold(r, j, row + i, together);
}

// Fast host: one accumulator per column, row after row, so that memory is read in order. If a row is a few adjacent
// columns, several rows are taken at a time, as one wide row.
template <class R, class Source, class G>
STATOR_FN void reduce_column_tile(const G& group, const ReductionWork& w, int64_t block) {
  using Acc = typename R::Acc;
  constexpr int W = ColumnTuning::width, steps = takes_column_runs<R> ? ColumnRun::rows
                                                 : adds_rows<R>       ? ColumnRun::added
                                                                      : R::lane_steps;
  const R r{w.mode};
  const Source source(w.in, w.in_dtype);
  const ColumnTile t = column_tile(w, block);
  const int width = int(t.width);
  const bool dense =
      w.reduced.ndim == 1 && w.column_step == 1 && w.reduced.strides[0] == w.columns && width == w.columns;
  // Few enough that chunks do not have few wide rows, since the columns of each are combined by themselves.
  const int64_t useful = std::max<int64_t>((t.end - t.begin) / steps, ColumnTuning::narrow / width);
  const int together = dense ? int(std::clamp<int64_t>(useful, 1, W / width)) : 1;
  Acc acc[W], part[W];
  for (int j = 0; j < width; ++j) acc[j] = r.identity();
  int64_t row = t.begin;
  // Masked elements, one by one.
  if constexpr (Source::erased) {
    for (; w.mask != nullptr && row < t.end; ++row) {
      const bool* const mask = w.mask + t.mask_base + w.reduced.mask_offset(row);
      const int64_t at = t.base + w.reduced.offset(row);
      for (int j = 0; j < width; ++j)
        if (mask[j * w.mask_column_step]) take_one(r, acc[j], source, at + j * w.column_step, row);
    }
  }
  // Chunks of a few rows. The first is reduced to the accumulators themselves.
  for (int rows = 0; row < t.end; row += rows) {
    rows = int(std::min<int64_t>(int64_t(steps) * together, t.end - row));
    const bool first = row == t.begin;
    Acc* const found = first ? acc : part;
    reduce_chunk(r, source, w, t, row, rows, together, found);
    for (int i = first; i < std::min(rows, together); ++i)
      for (int j = 0; j < width; ++j) acc[j] = r.combine(acc[j], found[i * width + j]);
  }
  // The last block of the tile reduces the partial results of all splits.
  if (w.splits > 1) {
    Acc* const partials = static_cast<Acc*>(w.partials) + t.group * w.splits * w.tile;
    std::copy_n(acc, width, partials + t.split * w.tile);
    if (!group.last_block(w.counters + t.group, uint32_t(w.splits))) return;
    std::copy_n(partials, width, acc);
    for (int s = 1; s < w.splits; ++s)
      for (int j = 0; j < width; ++j) acc[j] = r.combine(acc[j], partials[s * w.tile + j]);
  }
  store_results(r, w, t.column, acc, width);
}

// Limits the registers of moments, for a third block. Other kernels fit as many as `resident`, and would spill with it.
template <class R, class Source>
inline constexpr int column_limit = !Source::erased && resident<R, Source> == 2 ? 3 : 0;

template <class R, class Source, int Size>
STATOR_KERNEL_RESIDENT(Size*(column_limit<R, Source> > 0), (column_limit<R, Source>)) void reduce_columns(
    ReductionWork w) {
  const Group<Size> group;
  if constexpr (fast_host) {
    const int64_t first = group.block() * w.batch, tiles = w.kept.size * ((w.columns + w.tile - 1) / w.tile);
    const int64_t blocks = tiles * w.splits;
    const int64_t last = first + w.batch < blocks ? first + w.batch : blocks;
    for (int64_t block = first; block < last; ++block) reduce_column_tile<R, Source>(group, w, block);
  } else {
    reduce_column_threads<R, Source>(group, w);
  }
}

}  // namespace stator::STATOR_TARGET::reduce
