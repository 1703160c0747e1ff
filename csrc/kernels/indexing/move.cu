// Reads and writes through arrays of indices: words of the item's size.
#include "device/atomic_update.cuh"
#include "device/launch.cuh"
#include "device/launcher.cuh"
#include "kernels/indexing/host.cuh"

#include <cstring>

namespace stator::STATOR_TARGET::indexing {
namespace {

struct IndexedTuning {
  static constexpr int block = 256;
  static constexpr int tile = by_target<1024, 16384>::value;  // places of a block
  static constexpr int64_t alone = 65536;                     // fewer writes than this stay with one host thread
};

// --- blocks with threads -----------------------------------------------------------------------------------------

template <bool Write, int Size>
STATOR_KERNEL void indexed_threads_kernel(params::Indexed p, IndexedExtents extents, params::ErrorSlot slot, uint16_t op) {
  const Group<Size> group;
  const int64_t first = group.block() * IndexedTuning::tile;
  const int64_t n = p.size - first < IndexedTuning::tile ? p.size - first : IndexedTuning::tile;
  const int size = itemsize(p.x_dtype);
  // By reference: a copy of the parameters would be a thread's own memory.
  group.for_each(n, [&](int64_t i) {
    const IndexedPlace at = place_of(p, extents, first + i, slot, op);
    with_word(size, [&]<class Word>(Word) {
      Word* const x = static_cast<Word*>(p.x);
      Word* const other = static_cast<Word*>(p.other);
      if constexpr (Write) {
        if (at.x != no_place) x[at.x] = other == nullptr ? *reinterpret_cast<const Word*>(p.value) : other[at.other];
      } else {
        other[at.other] = at.x == no_place ? Word{} : x[at.x];
      }
    });
  });
}

// Writes of which the last in row-major order stays: every place clears the claim of its element, claims it with its
// number, and writes if the claim is still its own.
enum class PutStage : int32_t { clear, claim, write };

template <int Size>
STATOR_KERNEL void put_last_kernel(params::Indexed p, IndexedExtents extents, uint64_t* claims, PutStage stage,
                                   params::ErrorSlot slot, uint16_t op) {
  const Group<Size> group;
  const int64_t first = group.block() * IndexedTuning::tile;
  const int64_t n = p.size - first < IndexedTuning::tile ? p.size - first : IndexedTuning::tile;
  const int size = itemsize(p.x_dtype);
  group.for_each(n, [&](int64_t i) {
    const IndexedPlace at = place_of(p, extents, first + i, slot, op);
    if (at.x == no_place) return;
    uint64_t* const claim = claims + (at.x - p.x_begin);
    const uint64_t own = uint64_t(first + i) + 1;
    if (stage == PutStage::clear) {
      *claim = 0;
    } else if (stage == PutStage::claim) {
      atomic_update(claim, [=](uint64_t seen) { return seen < own ? own : seen; });
    } else if (*claim == own) {
      with_word(size, [&]<class Word>(Word) { static_cast<Word*>(p.x)[at.x] = static_cast<Word*>(p.other)[at.other]; });
    }
  });
}

// --- the fast host -----------------------------------------------------------------------------------------------

template <class Word>
STATOR_FN void get_places(const params::Indexed& p, int64_t first, int64_t n, const params::ErrorSlot& slot, uint16_t op) {
  const Word* const x = static_cast<const Word*>(p.x);
  Word* const other = static_cast<Word*>(p.other);
  const int64_t step = p.x_strides[p.ndim - 1];
  for_each_place(
      p, first, n, slot, op,
      [=](int64_t from, int64_t to, int64_t stride, int64_t count) {
        Word* const out = other + to;
        if (from == no_place)
          for (int64_t i = 0; i < count; ++i) out[i * stride] = Word{};
        else if (stride == 1 && step == 1)
          std::memcpy(static_cast<void*>(out), x + from, size_t(count) * sizeof(Word));
        else
          for (int64_t i = 0; i < count; ++i) out[i * stride] = x[from + i * step];
      },
      [=](const int64_t* from, int64_t to, int64_t stride, int count) {
        Word* const out = other + to;
        if (stride == 1)
          for (int i = 0; i < count; ++i) out[i] = from[i] == no_place ? Word{} : x[from[i]];
        else
          for (int i = 0; i < count; ++i) out[i * stride] = from[i] == no_place ? Word{} : x[from[i]];
      });
}

// Writes in order. [begin, end) are the offsets that are the block's own.
template <class Word>
STATOR_FN void put_places(const params::Indexed& p, int64_t begin, int64_t end, const params::ErrorSlot& slot, uint16_t op) {
  Word* const x = static_cast<Word*>(p.x);
  const Word* const other = static_cast<const Word*>(p.other);
  const int64_t step = p.x_strides[p.ndim - 1];
  Word value;
  std::memcpy(static_cast<void*>(&value), p.value, sizeof(Word));
  for_each_place(
      p, 0, p.size, slot, op,
      [=](int64_t to, int64_t from, int64_t stride, int64_t count) {
        if (to < begin || to >= end) return;  // no_place is below any
        if (step == 0)                        // only the last place's stays
          x[to] = other == nullptr ? value : other[from + (count - 1) * stride];
        else if (other == nullptr)
          for (int64_t i = 0; i < count; ++i) x[to + i * step] = value;
        else if (stride == 1 && step == 1)
          std::memmove(static_cast<void*>(x + to), other + from, size_t(count) * sizeof(Word));
        else
          for (int64_t i = 0; i < count; ++i) x[to + i * step] = other[from + i * stride];
      },
      [=](const int64_t* to, int64_t from, int64_t stride, int count) {
        for (int i = 0; i < count; ++i)
          if (to[i] >= begin && to[i] < end) x[to[i]] = other == nullptr ? value : other[from + i * stride];
      });
}

template <class Word, bool Write, int Size>
STATOR_KERNEL void indexed_host_kernel(params::Indexed p, int axis, params::ErrorSlot slot, uint16_t op) {
  const Group<Size> group;
  if constexpr (!Write) {
    const int64_t first = group.block() * IndexedTuning::tile;
    get_places<Word>(p, first, p.size - first < IndexedTuning::tile ? p.size - first : IndexedTuning::tile, slot, op);
  } else {
    const HostShare share = host_share(p, axis, group.block(), group.blocks());
    put_places<Word>(share.part, share.begin, share.end, slot, op);
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
    with_word(itemsize(p.x_dtype), [&]<class Word>(Word) { start(indexed_host_kernel<Word, Write, Tune::block>); });
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

// Numbers, and offsets that a mask gave, cannot disagree.
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
