// Reads and writes through arrays of indices. Items are moved as bits of their size.
#include "device/atomic_update.cuh"
#include "host/launch.hpp"
#include "host/launcher.hpp"
#include "kernels/indexing/host.cuh"

#include <cstring>

namespace stator::STATOR_TARGET::indexing {
namespace {

struct IndexedTuning {
  static constexpr int block = 256;
  static constexpr int tile = by_target<1024, 16384>::value;  // positions of a block
  static constexpr int64_t alone = 65536;                     // fewer writes than this are done by one host thread
};

// --- blocks with threads -----------------------------------------------------------------------------------------

template <bool Write, int Size>
STATOR_KERNEL(Size) void indexed_threads_kernel(params::Indexed p, IndexedExtents extents, params::ErrorSlot slot,
                                                uint16_t op) {
  const Group<Size> group;
  const int64_t first = group.block() * IndexedTuning::tile;
  const int64_t n = p.size - first < IndexedTuning::tile ? p.size - first : IndexedTuning::tile;
  const int size = itemsize(p.x_dtype);
  // By reference: a copy of the parameters would be in local memory.
  group.for_each(n, [&](int64_t i) {
    const IndexedOffsets at = offsets_at(p, extents, first + i, slot, op);
    with_bits(size, [&]<class Bits>(Bits) {
      Bits* const x = static_cast<Bits*>(p.x);
      Bits* const other = static_cast<Bits*>(p.other);
      if constexpr (Write) {
        if (at.x != no_offset) x[at.x] = other == nullptr ? *reinterpret_cast<const Bits*>(p.value) : other[at.other];
      } else {
        other[at.other] = at.x == no_offset ? Bits{} : x[at.x];
      }
    });
  });
}

// Writes of which the last one in row-major order wins. Every position clears the claim of its element, then raises it
// to its own number, and then writes if the claim is its own number.
enum class PutStage : int32_t { clear, claim, write };

template <int Size>
STATOR_KERNEL(Size) void put_last_kernel(params::Indexed p, IndexedExtents extents, uint64_t* claims, PutStage stage,
                                         params::ErrorSlot slot, uint16_t op) {
  const Group<Size> group;
  const int64_t first = group.block() * IndexedTuning::tile;
  const int64_t n = p.size - first < IndexedTuning::tile ? p.size - first : IndexedTuning::tile;
  const int size = itemsize(p.x_dtype);
  group.for_each(n, [&](int64_t i) {
    const IndexedOffsets at = offsets_at(p, extents, first + i, slot, op);
    if (at.x == no_offset) return;
    uint64_t* const claim = claims + (at.x - p.x_begin);
    const uint64_t own = uint64_t(first + i) + 1;
    if (stage == PutStage::clear) {
      *claim = 0;
    } else if (stage == PutStage::claim) {
      atomic_update(claim, [=](uint64_t seen) { return seen < own ? own : seen; });
    } else if (*claim == own) {
      with_bits(size, [&]<class Bits>(Bits) { static_cast<Bits*>(p.x)[at.x] = static_cast<Bits*>(p.other)[at.other]; });
    }
  });
}

// --- the fast host -----------------------------------------------------------------------------------------------

template <class Bits>
STATOR_FN void get_elements(const params::Indexed& p, int64_t first, int64_t n, const params::ErrorSlot& slot,
                            uint16_t op) {
  const Bits* const x = static_cast<const Bits*>(p.x);
  Bits* const other = static_cast<Bits*>(p.other);
  const int64_t step = p.x_strides[p.ndim - 1];
  walk_offsets(
      p, first, n, slot, op,
      [=](int64_t from, int64_t to, int64_t stride, int64_t count) {
        Bits* const out = other + to;
        if (from == no_offset)
          for (int64_t i = 0; i < count; ++i) out[i * stride] = Bits{};
        else if (stride == 1 && step == 1)
          std::memcpy(static_cast<void*>(out), x + from, size_t(count) * sizeof(Bits));
        else
          for (int64_t i = 0; i < count; ++i) out[i * stride] = x[from + i * step];
      },
      [=](const int64_t* from, int64_t to, int64_t stride, int count) {
        Bits* const out = other + to;
        if (stride == 1)
          for (int i = 0; i < count; ++i) out[i] = from[i] == no_offset ? Bits{} : x[from[i]];
        else
          for (int i = 0; i < count; ++i) out[i * stride] = from[i] == no_offset ? Bits{} : x[from[i]];
      });
}

// Writes in order to the offsets in [begin, end).
template <class Bits>
STATOR_FN void put_elements(const params::Indexed& p, int64_t begin, int64_t end, const params::ErrorSlot& slot,
                            uint16_t op) {
  Bits* const x = static_cast<Bits*>(p.x);
  const Bits* const other = static_cast<const Bits*>(p.other);
  const int64_t step = p.x_strides[p.ndim - 1];
  Bits value;
  std::memcpy(static_cast<void*>(&value), p.value, sizeof(Bits));
  walk_offsets(
      p, 0, p.size, slot, op,
      [=](int64_t to, int64_t from, int64_t stride, int64_t count) {
        if (to < begin || to >= end) return;  // no_offset is below every `begin`
        if (step == 0)                        // only the last value stays
          x[to] = other == nullptr ? value : other[from + (count - 1) * stride];
        else if (other == nullptr)
          for (int64_t i = 0; i < count; ++i) x[to + i * step] = value;
        else if (stride == 1 && step == 1)
          std::memmove(static_cast<void*>(x + to), other + from, size_t(count) * sizeof(Bits));
        else
          for (int64_t i = 0; i < count; ++i) x[to + i * step] = other[from + i * stride];
      },
      [=](const int64_t* to, int64_t from, int64_t stride, int count) {
        for (int i = 0; i < count; ++i)
          if (to[i] >= begin && to[i] < end) x[to[i]] = other == nullptr ? value : other[from + i * stride];
      });
}

template <class Bits, bool Write, int Size>
STATOR_KERNEL(Size) void indexed_host_kernel(params::Indexed p, int axis, params::ErrorSlot slot, uint16_t op) {
  const Group<Size> group;
  if constexpr (!Write) {
    const int64_t first = group.block() * IndexedTuning::tile;
    get_elements<Bits>(p, first, p.size - first < IndexedTuning::tile ? p.size - first : IndexedTuning::tile, slot, op);
  } else {
    const HostTile tile = host_tile(p, axis, group.block(), group.blocks());
    put_elements<Bits>(tile.space, tile.begin, tile.end, slot, op);
  }
}

template <bool Write>
void move(const params::Queue& q, const params::Indexed& p) {
  using Tune = IndexedTuning;
  const char* name = Write ? "index_put" : "index_get";
  if constexpr (fast_host) {
    const HostSplit split =
        Write ? split_writes(*q.limits, p, Tune::alone) : HostSplit{ceil_div(p.size, Tune::tile), -1};
    const auto start = [&](auto kernel) {
      launch(q, name, kernel, {split.blocks, Tune::block}, p, split.axis, q.slot, q.op);
    };
    with_bits(itemsize(p.x_dtype), [&]<class Bits>(Bits) { start(indexed_host_kernel<Bits, Write, Tune::block>); });
  } else {
    launch(q, name, indexed_threads_kernel<Write, Tune::block>, {ceil_div(p.size, Tune::tile), Tune::block}, p,
           IndexedExtents(p), q.slot, q.op);
  }
}

void put(const params::Queue& q, const params::Indexed& p, uint64_t* claims) {
  using Tune = IndexedTuning;
  if constexpr (!fast_host) {
    if (claims != nullptr) {
      // One report of an index outside is enough.
      for (const PutStage stage : {PutStage::clear, PutStage::claim, PutStage::write})
        launch(q, "index_put_last", put_last_kernel<Tune::block>, {ceil_div(p.size, Tune::tile), Tune::block}, p,
               IndexedExtents(p), claims, stage, stage == PutStage::write ? q.slot : params::ErrorSlot{}, q.op);
      return;
    }
  }
  move<true>(q, p);
}

// Two positions cannot write different values to one element if they write the same number, or if a single mask gave
// the offsets.
int64_t claims(const params::DeviceLimits&, const params::Indexed& p) {
  bool distinct = p.other == nullptr || p.size == 1;
  for (int k = 0; k < p.entry_count && p.entry_count == 1; ++k) distinct = distinct || p.entries[k].raw;
  return fast_host || distinct ? 0 : p.x_end - p.x_begin;
}

}  // namespace

}  // namespace stator::STATOR_TARGET::indexing

STATOR_LAUNCHER(indexing, get, move<false>)
STATOR_LAUNCHER(indexing, put)
STATOR_LAUNCHER(indexing, claims)
