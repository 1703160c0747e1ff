// Scans where blocks have threads. A block takes `tile` lines at once, 2^along threads each, a run of elements a
// thread. Elements pass through shared memory, so that neighbouring threads read and write neighbours in memory, along
// the lines or across them, whichever way each side lies.
#pragma once

#include "kernels/scan/work.cuh"

namespace stator::STATOR_TARGET::scan {

template <class R, int Size>
struct ScanShared {
  static constexpr int K = R::run;
  int64_t in_apart, out_apart;  // here, so that no register keeps their multiples from one tile to the next
  typename R::Acc acc[2][Size];
  typename R::In tile[Size * (K + 1)];  // a line's slots, and one unused so that lines start in different banks
};

// What a thread moves between memory and the tile: elements of one line, as many apart as threads take a line.
struct ScanSide {
  int slot;        // of the tile
  int at;          // along the line; beyond any where the block has no such line
  int64_t offset;  // of that element, in the tile to come
};

template <class R, class G>
struct ThreadScan {
  using In = typename R::In;
  using Acc = typename R::Acc;
  static constexpr int K = R::run, Size = G::size;
  using Shared = ScanShared<R, Size>;

  const G& group;
  const ScanWork& w;
  const R& r;
  Shared& shared;
  ScanTile t;
  int along, slots;  // threads along a line; elements of a line at once
  int x, y;          // the line that this thread scans, and its place in it
  ScanSide from, to;

  STATOR_FN ThreadScan(const G& g, const ScanWork& work, const R& scan, Shared& s)
      : group(g), w(work), r(scan), shared(s), t(scan_tile(work, g.block())) {
    along = 1 << w.along;
    slots = along * K;
    x = group.rank() >> w.along;
    y = group.rank() & (along - 1);
    from = side(w.in_across, true);
    to = side(w.out_across, false);
  }

  STATOR_FN ScanSide side(bool lines_first, bool input) const {
    const int across = Size >> w.along;
    const int line = lines_first ? group.rank() & (across - 1) : x, at = lines_first ? group.rank() / across : y;
    const bool valid = t.first + line < t.last;
    int64_t in, out;
    w.lines.offsets(valid ? t.first + line : t.first, in, out);
    return {line * (slots + 1) + at, valid ? at : 1 << 30,
            input ? in + (t.begin + at) * w.in_step : out + (t.begin + at) * w.out_step};
  }
  // How many elements of the tile this thread moves, `left` elements of the line being left.
  STATOR_FN int moved(const ScanSide& s, int64_t left) const {
    return left >= s.at + slots ? K : left <= s.at ? 0 : (int(left) - s.at + along - 1) >> w.along;
  }

  STATOR_FN void read(int64_t left) {
    In value[K];
    const int count = moved(from, left);
    scan_load<R>(value, w.in, w.in_dtype, from.offset, shared.in_apart, count);
    STATOR_UNROLL()
    for (int j = 0; j < K; ++j)
      if (j < count) shared.tile[from.slot + j * along] = value[j];
    from.offset += K * shared.in_apart;
  }

  template <class Store>
  STATOR_FN void write(int64_t left, Store store) const {
    In value[K];
    const int count = moved(to, left);
    STATOR_UNROLL()
    for (int j = 0; j < K; ++j)
      if (j < count) value[j] = shared.tile[to.slot + j * along];
    store(value, to.offset, shared.out_apart, count);
  }

  // The accumulators of a line's threads before this one's, and of all of them: Hillis and Steele (CACM 29, 1986).
  STATOR_FN void scan_line(Acc mine, Acc& before, Acc& all) const {
    int now = 0;
    shared.acc[0][group.rank()] = mine;
    group.sync();
    for (int apart = 1; apart < along; apart *= 2) {
      const Acc here = shared.acc[now][group.rank()];
      shared.acc[1 - now][group.rank()] = y >= apart ? r.combine(shared.acc[now][group.rank() - apart], here) : here;
      now = 1 - now;
      group.sync();
    }
    before = y > 0 ? shared.acc[now][group.rank() - 1] : r.identity();
    all = shared.acc[now][group.rank() - y + along - 1];
    group.sync();
  }

  STATOR_FN Acc* partials() const {
    const int64_t line = t.first + x < t.last ? t.first + x : t.last - 1;
    return static_cast<Acc*>(w.partials) + line * w.parts;
  }

  STATOR_FN Acc parts_before() const {
    Acc acc = r.identity(), before, all;
    for (int p = y; p < t.part; p += along) acc = r.combine(acc, partials()[p]);
    scan_line(acc, before, all);
    return all;
  }

  STATOR_FN void run() {
    if (group.rank() == 0) {
      shared.in_apart = along * w.in_step;
      shared.out_apart = along * w.out_step;
    }
    group.sync();
    Acc carry = w.totals || t.part == 0 ? r.identity() : parts_before();
    if (w.initial && !w.totals && t.part == 0 && to.at == 0) {
      const In value[1] = {r.value(carry)};
      scan_store<R>(value, w.out, w.out_dtype, to.offset - w.out_step, 0, 1);
    }
    for (int64_t first = t.begin; first < t.end; first += slots) {
      read(t.end - first);
      group.sync();
      const int64_t own = first + y * K, left = t.end - own;
      const int count = left < 0 ? 0 : left < K ? int(left) : K;
      In* const slot = shared.tile + x * (slots + 1) + y * K;
      typename R::template Run<K> taken;
      In value[K];
      STATOR_UNROLL()
      for (int k = 0; k < K; ++k) value[k] = slot[k];
      const bool at_once = count == K && taken.take(value);
      Acc total = r.identity(), before, all;
      if (at_once) {
        total = taken.total();
      } else {
        STATOR_UNROLL()
        for (int k = 0; k < K; ++k)
          if (k < count) r.step(total, value[k], own + k);
      }
      if (w.totals) {
        carry = r.combine(carry, total);
        group.sync();
        continue;
      }
      scan_line(total, before, all);
      const Acc base = r.combine(carry, before);
      carry = r.combine(carry, all);
      int64_t index[R::indexed ? K : 1];
      if (at_once && taken.emit(base, value)) {
        STATOR_UNROLL()
        for (int k = 0; k < K; ++k) slot[k] = value[k];
      } else {
        Acc acc = base;
        STATOR_UNROLL()
        for (int k = 0; k < K; ++k)
          if (k < count) {
            r.step(acc, value[k], own + k);
            slot[k] = r.value(acc);
            if constexpr (R::indexed) index[k] = r.index(acc);
          }
      }
      group.sync();
      write(t.end - first, [this](const In(&v)[K], int64_t offset, int64_t apart, int n) {
        scan_store<R>(v, w.out, w.out_dtype, offset, apart, n);
      });
      if constexpr (R::indexed) {
        group.sync();
        STATOR_UNROLL()
        for (int k = 0; k < K; ++k)
          if (k < count) slot[k] = index[k];
        group.sync();
        write(t.end - first, [this](const In(&v)[K], int64_t offset, int64_t apart, int n) {
          scan_store_typed(v, w.indices + offset, apart, n);
        });
      }
      to.offset += K * shared.out_apart;
      group.sync();
    }
    if (w.totals) {
      Acc before, all;
      scan_line(carry, before, all);
      if (y == 0 && t.first + x < t.last) partials()[t.part] = all;
    }
  }
};

}  // namespace stator::STATOR_TARGET::scan
