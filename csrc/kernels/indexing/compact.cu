// The positions where a mask is true. One launch counts them tile by tile, and its last block scans the counts; a
// second launch uses their ranks.
#include "device/bits.cuh"
#include "device/fault.cuh"
#include "device/group.cuh"
#include "device/index.cuh"
#include "device/vector.cuh"
#include "host/launch.hpp"
#include "host/launcher.hpp"
#include "params/indexing.hpp"

#include <algorithm>
#include <cstring>

namespace stator::STATOR_TARGET::indexing {
namespace {

struct CompactTuning {
  static constexpr int block = 256;
  static constexpr int items = 4;  // neighbouring positions of a thread
  static constexpr int word = 16;  // those whose mask a thread loads at a time
  static constexpr int64_t least_tile = by_target<4096, 16384>::value;
  static constexpr int chunk = 512;  // fast host: positions at a time
};

struct Compact : params::Compact {
  ShapeDivisors divisors;

  explicit Compact(const params::Compact& p) : params::Compact(p), divisors(p.ndim, p.shape) {}
};

struct Tile {
  int64_t first, end;
};
STATOR_FN Tile tile_of(const Compact& p, int64_t block) {
  const int64_t first = block * p.tile;
  return {first, first + p.tile < p.size ? first + p.tile : p.size};
}

STATOR_FN int64_t offset_in(const Compact& p, const int64_t* strides, int64_t linear) {
  return p.ndim == 1 ? linear * strides[0] : p.divisors.offset_of(linear, p.ndim, strides);
}

// Fast host: f(linear, mask, mask stride, count, coordinates) for chunks of the tile's rows.
template <class F>
STATOR_FN void for_each_chunk(const Compact& p, const Tile& t, const F& f) {
  if (t.first >= t.end) return;  // an empty mask, whose extents divide nothing
  const int last = p.ndim - 1;
  int64_t c[params::max_dims], rest = t.first;
  for (int d = last; d >= 0; --d) {
    c[d] = rest % p.shape[d];
    rest /= p.shape[d];
  }
  for (int64_t i = t.first; i < t.end;) {
    int64_t at = 0;
    for (int d = 0; d <= last; ++d) at += c[d] * p.mask_strides[d];
    const int64_t length = std::min({p.shape[last] - c[last], t.end - i, int64_t(CompactTuning::chunk)});
    f(i, p.mask + at, p.mask_strides[last], int(length), c);
    i += length;
    c[last] += length;
    for (int d = last; d > 0 && c[d] == p.shape[d]; --d) {
      c[d] = 0;
      ++c[d - 1];
    }
  }
}

STATOR_FN int64_t at_coordinates(const Compact& p, const int64_t* c, const int64_t* strides) {
  int64_t at = 0;
  for (int d = 0; d < p.ndim; ++d) at += c[d] * strides[d];
  return at;
}

// Fast host: lists the positions in a chunk where the mask is true, without a branch. Returns how many there are.
STATOR_FN int true_positions(const uint8_t* mask, int64_t stride, int count, int32_t* positions) {
  int n = 0;
  for (int i = 0; i < count; ++i) {
    positions[n] = i;
    n += mask[i * stride] != 0;
  }
  return n;
}

// Blocks with threads: a bit for each of the positions first, ... where the mask is true.
STATOR_FN uint32_t mask_bits(const Compact& p, bool dense, int64_t first, int64_t end) {
  constexpr int word = CompactTuning::word;
  const uint8_t* const at = p.mask + first;
  const int count = end - first < word ? int(end - first) : word;
  uint32_t bits = 0;
  if (dense && count == word && is_aligned(at, word)) {
    const Vec<uint8_t, word> bytes = load_vector<word>(at);
    STATOR_UNROLL()
    for (int k = 0; k < word; ++k) bits |= uint32_t(bytes[k] != 0) << k;
  } else if (dense) {
    STATOR_UNROLL()
    for (int k = 0; k < word; ++k) bits |= uint32_t(k < count && at[k] != 0) << k;
  } else {
    STATOR_UNROLL(4)
    for (int k = 0; k < count; ++k) bits |= uint32_t(p.mask[offset_in(p, p.mask_strides, first + k)] != 0) << k;
  }
  return bits;
}

template <int Size>
STATOR_KERNEL(Size) void mask_count_kernel(Compact p) {
  const Group<Size> group;
  const Tile t = tile_of(p, group.block());
  int64_t count = 0;
  if constexpr (fast_host) {
    for_each_chunk(p, t, [&](int64_t, const uint8_t* mask, int64_t stride, int n, const int64_t*) {
      int32_t found = 0;
      if (stride == 1)
        for (int i = 0; i < n; ++i) found += mask[i] != 0;
      else
        for (int i = 0; i < n; ++i) found += mask[i * stride] != 0;
      count += found;
    });
  } else {
    constexpr int word = CompactTuning::word;
    const bool dense = is_row_major(p.ndim, p.shape, p.mask_strides);
    count = group.template map_reduce<int64_t>((t.end - t.first + word - 1) / word, Sum{}, [&](int64_t i) {
      return int64_t(count_bits(mask_bits(p, dense, t.first + i * word, t.end)));
    });
  }
  if (group.rank() == 0) p.base[group.block()] = count;
  // The last block scans the counts.
  if (!group.last_block(p.counter, uint32_t(p.tiles))) return;
  int64_t before = 0;
  for (int64_t i = 0; i < p.tiles; i += Group<Size>::size) {
    const int64_t k = i + group.rank();
    const int64_t own = k < p.tiles ? p.base[k] : 0;
    const int64_t through = group.inclusive_scan(own, Sum{});
    const int64_t all = group.reduce(own, Sum{});
    if (k < p.tiles) p.base[k] = before + through - own;
    before += all;
  }
  if (group.rank() == 0) p.base[p.tiles] = before;
}

// Blocks with threads: f(linear, whether the mask is true, rank) for the positions of the tile.
template <int Size, class F>
STATOR_FN void for_each_rank(const Group<Size>& group, const Compact& p, const F& f) {
  constexpr int items = CompactTuning::items;
  const Tile t = tile_of(p, group.block());
  int64_t before = p.base[group.block()];
  for (int64_t start = t.first; start < t.end; start += Size * items) {
    const int64_t mine = start + group.rank() * items;
    bool set[items];
    int32_t own = 0;
    STATOR_UNROLL()
    for (int k = 0; k < items; ++k) {
      set[k] = mine + k < t.end && p.mask[offset_in(p, p.mask_strides, mine + k)] != 0;
      own += set[k];
    }
    const int32_t through = group.inclusive_scan(own, Sum{});
    const int32_t all = group.reduce(own, Sum{});
    int64_t rank = before + through - own;
    STATOR_UNROLL()
    for (int k = 0; k < items; ++k) {
      if (mine + k < t.end) f(mine + k, set[k], rank);
      rank += set[k];
    }
    before += all;
  }
}

// Blocks with threads: f(linear, rank) for the positions of the tile where the mask is true. They are listed in shared
// memory, so that neighbouring threads have neighbouring ranks.
template <int Size, class F>
STATOR_FN void for_each_found(const Group<Size>& group, const Compact& p, const F& f) {
  constexpr int word = CompactTuning::word;
  struct Offsets {
    uint16_t of[Size * word];
  };
  Offsets& offsets = group.template shared<Offsets>();
  const bool dense = is_row_major(p.ndim, p.shape, p.mask_strides);
  const Tile t = tile_of(p, group.block());
  int64_t before = p.base[group.block()];
  for (int64_t start = t.first; start < t.end; start += Size * word) {
    const int64_t mine = start + group.rank() * word;
    uint32_t bits = mine < t.end ? mask_bits(p, dense, mine, t.end) : 0;
    const int32_t own = count_bits(bits);
    const int32_t through = group.inclusive_scan(own, Sum{});
    const int32_t all = group.reduce(own, Sum{});
    for (int32_t at = through - own; bits != 0; bits &= bits - 1, ++at)
      offsets.of[at] = uint16_t(group.rank() * word + count_bits(~bits & (bits - 1)));
    group.sync();
    for (int32_t at = group.rank(); at < all; at += Size) f(start + offsets.of[at], before + at);
    group.sync();  // the list is used again
    before += all;
  }
}

// Writes `fill` beyond the total in each of the columns. All blocks take part.
template <class T, int Size>
STATOR_FN void fill_rest(const Group<Size>& group, const Compact& p, int columns) {
  const int64_t all = p.base[p.tiles], left = p.capacity - all;
  if (left <= 0) return;
  T value;
  memcpy(static_cast<void*>(&value), p.fill, sizeof(T));
  T* const out = static_cast<T*>(p.out);
  const int64_t tile = (left + group.blocks() - 1) / group.blocks();
  const int64_t first = all + group.block() * tile;
  const int64_t n = first + tile < p.capacity ? tile : p.capacity - first;
  for (int d = 0; d < columns; ++d) group.for_each(n, [&](int64_t i) { out[d * p.capacity + first + i] = value; });
}

// --- the fast host: a kernel for each item size ------------------------------------------------------------------

template <class Bits, int Size>
STATOR_KERNEL(Size) void select_host_kernel(Compact p) {
  const Group<Size> group;
  const Bits* const x = static_cast<const Bits*>(p.x);
  Bits* const out = static_cast<Bits*>(p.out);
  int64_t rank = p.base[group.block()];
  const int64_t step = p.x_strides[p.ndim - 1];
  for_each_chunk(p, tile_of(p, group.block()),
                 [&](int64_t, const uint8_t* mask, int64_t stride, int n, const int64_t* c) {
                   int32_t positions[CompactTuning::chunk];
                   const Bits* const from = x + at_coordinates(p, c, p.x_strides);
                   const int found = true_positions(mask, stride, n, positions);
                   const int64_t room = p.capacity - rank, wanted = room < found ? room : found;
                   for (int64_t k = 0; k < wanted; ++k) out[rank + k] = from[positions[k] * step];
                   rank += found;
                 });
  fill_rest<Bits>(group, p, 1);
}

template <class Bits, int Size>
STATOR_KERNEL(Size) void spread_host_kernel(Compact p, params::ErrorSlot slot, uint16_t op) {
  const Group<Size> group;
  const Bits* const x = static_cast<const Bits*>(p.x);
  const Bits* const source = static_cast<const Bits*>(p.source);
  Bits* const out = static_cast<Bits*>(p.out);
  int64_t rank = p.base[group.block()];
  const int64_t x_step = p.x_strides[p.ndim - 1], out_step = p.out_strides[p.ndim - 1];
  for_each_chunk(
      p, tile_of(p, group.block()), [&](int64_t i, const uint8_t* mask, int64_t stride, int n, const int64_t* c) {
        int32_t positions[CompactTuning::chunk];
        Bits* const to = out + at_coordinates(p, c, p.out_strides);
        if (x == out) {
          // In place: the other elements stay.
        } else if (x == nullptr) {
          for (int k = 0; k < n; ++k) to[k * out_step] = Bits{};
        } else {
          const Bits* const from = x + at_coordinates(p, c, p.x_strides);
          for (int k = 0; k < n; ++k) to[k * out_step] = from[k * x_step];
        }
        const int found = true_positions(mask, stride, n, positions);
        const int64_t room = p.source_size > rank ? p.source_size - rank : 0, wanted = room < found ? room : found;
        for (int64_t k = 0; k < wanted; ++k) to[positions[k] * out_step] = source[(rank + k) * p.source_stride];
        if (wanted < found) report(slot, op, params::Fault::index_out_of_range, i + positions[wanted], rank + wanted);
        rank += found;
      });
}

// --- blocks with threads: a switch in one kernel -----------------------------------------------------------------

template <int Size>
STATOR_KERNEL(Size) void select_threads_kernel(Compact p) {
  const Group<Size> group;
  for_each_found(group, p, [&](int64_t i, int64_t rank) {
    if (rank >= p.capacity) return;
    const int64_t at = offset_in(p, p.x_strides, i);
    with_bits(p.itemsize,
              [&]<class Bits>(Bits) { static_cast<Bits*>(p.out)[rank] = static_cast<const Bits*>(p.x)[at]; });
  });
  with_bits(p.itemsize, [&]<class Bits>(Bits) { fill_rest<Bits>(group, p, 1); });
}

template <int Size>
STATOR_KERNEL(Size) void spread_threads_kernel(Compact p, params::ErrorSlot slot, uint16_t op) {
  const Group<Size> group;
  for_each_rank(group, p, [&](int64_t i, bool set, int64_t rank) {
    const int64_t to = offset_in(p, p.out_strides, i);
    const bool given = set && rank < p.source_size;
    if (set && !given) report(slot, op, params::Fault::index_out_of_range, i, rank);
    if (!given && p.x == p.out) return;  // in place: the other elements stay
    const int64_t from = given ? rank * p.source_stride : offset_in(p, p.x_strides, i);
    const void* const source = given ? p.source : p.x;
    with_bits(p.itemsize, [&]<class Bits>(Bits) {
      static_cast<Bits*>(p.out)[to] = source == nullptr ? Bits{} : static_cast<const Bits*>(source)[from];
    });
  });
}

template <int Size>
STATOR_KERNEL(Size) void nonzero_kernel(Compact p, bool columns) {
  const Group<Size> group;
  int64_t* const out = static_cast<int64_t*>(p.out);
  if constexpr (fast_host) {
    int64_t rank = p.base[group.block()];
    const int last = p.ndim - 1;
    for_each_chunk(p, tile_of(p, group.block()),
                   [&](int64_t, const uint8_t* mask, int64_t stride, int n, const int64_t* c) {
                     int32_t positions[CompactTuning::chunk];
                     const int found = true_positions(mask, stride, n, positions);
                     const int64_t room = p.capacity - rank, wanted = room < found ? room : found;
                     if (!columns) {
                       const int64_t at = at_coordinates(p, c, p.x_strides), step = p.x_strides[last];
                       for (int64_t k = 0; k < wanted; ++k) out[rank + k] = at + positions[k] * step;
                     }
                     for (int d = 0; columns && d <= last; ++d) {
                       int64_t* const column = out + d * p.capacity + rank;
                       const int64_t at = c[d];
                       if (d == last)
                         for (int64_t k = 0; k < wanted; ++k) column[k] = at + positions[k];
                       else
                         for (int64_t k = 0; k < wanted; ++k) column[k] = at;
                     }
                     rank += found;
                   });
  } else {
    for_each_found(group, p, [&](int64_t i, int64_t rank) {
      if (rank >= p.capacity) return;
      if (!columns) {
        out[rank] = offset_in(p, p.x_strides, i);
        return;
      }
      for (int d = p.ndim - 1; d > 0; --d) {
        int64_t coordinate;
        i = p.divisors(d, i, coordinate);
        out[d * p.capacity + rank] = coordinate;
      }
      out[rank] = i;
    });
  }
  fill_rest<int64_t>(group, p, columns ? p.ndim : 1);
}

int64_t tile(const params::DeviceLimits&, int64_t size) {
  const int64_t least = ceil_div(size, kernels::indexing::most_tiles);
  return std::max(CompactTuning::least_tile, ceil_div(least, 1024) * 1024);
}

void count(const params::Queue& q, const params::Compact& p) {
  launch(q, "mask_count", mask_count_kernel<CompactTuning::block>, {p.tiles, CompactTuning::block}, Compact(p));
}

// Fast is always true: it keeps these kernels out of targets whose blocks have threads.
template <bool Fast, template <class> class Kernel>
auto host_kernel(int itemsize) {
  return with_bits(itemsize, []<class Bits>(Bits) { return Kernel<Bits>::value; });
}
template <class Bits>
struct SelectHost {
  static constexpr auto value = select_host_kernel<Bits, CompactTuning::block>;
};
template <class Bits>
struct SpreadHost {
  static constexpr auto value = spread_host_kernel<Bits, CompactTuning::block>;
};

template <bool Fast>
void select(const params::Queue& q, const params::Compact& p) {
  auto kernel = [&] {
    if constexpr (Fast)
      return host_kernel<Fast, SelectHost>(p.itemsize);
    else
      return select_threads_kernel<CompactTuning::block>;
  }();
  launch(q, "mask_select", kernel, {p.tiles, CompactTuning::block}, Compact(p));
}

template <bool Fast>
void spread(const params::Queue& q, const params::Compact& p) {
  auto kernel = [&] {
    if constexpr (Fast)
      return host_kernel<Fast, SpreadHost>(p.itemsize);
    else
      return spread_threads_kernel<CompactTuning::block>;
  }();
  launch(q, "mask_spread", kernel, {p.tiles, CompactTuning::block}, Compact(p), q.slot, q.op);
}

void nonzero(const params::Queue& q, const params::Compact& p, bool columns) {
  launch(q, "nonzero", nonzero_kernel<CompactTuning::block>, {p.tiles, CompactTuning::block}, Compact(p), columns);
}

}  // namespace

}  // namespace stator::STATOR_TARGET::indexing

STATOR_LAUNCHER(indexing, tile)
STATOR_LAUNCHER(indexing, count)
STATOR_LAUNCHER(indexing, select, select<fast_host>)
STATOR_LAUNCHER(indexing, spread, spread<fast_host>)
STATOR_LAUNCHER(indexing, nonzero)
