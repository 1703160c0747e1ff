// Scans where blocks have threads. A block scans `tile` segments at once with 2^along threads each, and every thread
// takes a chunk of elements per iteration. Elements pass through shared memory, so that neighbouring threads read and
// write neighbours in memory, along the segments or across them: input and output may differ in this.
#pragma once

#include "kernels/scan/work.cuh"

namespace stator::STATOR_TARGET::scan {

template <class R, int Size>
struct ScanShared {
  static constexpr int K = R::thread_chunk;
  int64_t in_apart, out_apart;  // in shared memory, so that no registers hold their multiples across iterations
  typename R::Acc acc[2][Size];
  // The slots of each segment, and one for padding so that segments start in different banks.
  typename R::In tile[Size * (K + 1)];
};

// What a thread moves between global and shared memory: elements of one segment, 2^along apart.
struct ScanSide {
  int slot;        // of its first element in shared memory
  int at;          // index of that element along the segment; huge if the block has no such segment
  int64_t offset;  // of that element in global memory, in the next iteration
};

template <class R, class G>
struct ThreadScan {
  using In = typename R::In;
  using Acc = typename R::Acc;
  static constexpr int K = R::thread_chunk, Size = G::size;
  using Shared = ScanShared<R, Size>;

  const G& group;
  const ScanWork& w;
  const R& r;
  Shared& shared;
  ScanTile t;
  int along, slots;  // threads along a segment; elements of a segment per iteration
  int x, y;          // the segment that this thread scans, and its index along it
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

  STATOR_FN ScanSide side(bool segments_first, bool input) const {
    const int across = Size >> w.along;
    const int segment = segments_first ? group.rank() & (across - 1) : x,
              at = segments_first ? group.rank() / across : y;
    const bool valid = t.first + segment < t.last;
    int64_t in, out;
    w.segments.offsets(valid ? t.first + segment : t.first, in, out);
    return {segment * (slots + 1) + at, valid ? at : 1 << 30,
            input ? in + (t.begin + at) * w.in_step : out + (t.begin + at) * w.out_step};
  }
  // How many elements this thread moves in this iteration, if `left` elements of the segment are left.
  STATOR_FN int moved(const ScanSide& s, int64_t left) const {
    return left >= s.at + slots ? K : left <= s.at ? 0 : (int(left) - s.at + along - 1) >> w.along;
  }

  // Every slot gets a value, since a thread takes its whole chunk from them.
  STATOR_FN void read(int64_t left) {
    In value[K] = {};
    const int count = moved(from, left);
    scan_load<R>(value, w.in, w.in_dtype, from.offset, shared.in_apart, count);
    STATOR_UNROLL()
    for (int j = 0; j < K; ++j) shared.tile[from.slot + j * along] = value[j];
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

  // Scans the accumulators of the threads of a segment: those of all threads before this one, and those of all threads
  // (Hillis and Steele, CACM 29, 1986).
  STATOR_FN void scan_threads(Acc mine, Acc& before, Acc& all) const {
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
    const int64_t segment = t.first + x < t.last ? t.first + x : t.last - 1;
    return static_cast<Acc*>(w.partials) + segment * w.splits;
  }

  // The total of all splits before this one.
  STATOR_FN Acc partials_before() const {
    Acc acc = r.identity(), before, all;
    for (int p = y; p < t.split; p += along) acc = r.combine(acc, partials()[p]);
    scan_threads(acc, before, all);
    return all;
  }

  STATOR_FN void run() {
    if (group.rank() == 0) {
      shared.in_apart = along * w.in_step;
      shared.out_apart = along * w.out_step;
    }
    group.sync();
    Acc carry = w.totals || t.split == 0 ? r.identity() : partials_before();
    if (w.initial && !w.totals && t.split == 0 && to.at == 0) {
      const In value[1] = {r.value(carry)};
      scan_store<R>(value, w.out, w.out_dtype, to.offset - w.out_step, 0, 1);
    }
    for (int64_t first = t.begin; first < t.end; first += slots) {
      read(t.end - first);
      group.sync();
      // Thread total.
      const int64_t own = first + y * K, left = t.end - own;
      const int count = left < 0 ? 0 : left < K ? int(left) : K;
      In* const slot = shared.tile + x * (slots + 1) + y * K;
      typename R::template Chunk<K> taken;
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
      // Block scan of the totals.
      scan_threads(total, before, all);
      const Acc base = r.combine(carry, before);
      carry = r.combine(carry, all);
      // The thread's results after `base`.
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
      scan_threads(carry, before, all);
      if (y == 0 && t.first + x < t.last) partials()[t.split] = all;
    }
  }
};

}  // namespace stator::STATOR_TARGET::scan
