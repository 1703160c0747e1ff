// From positions of a params::Indexed space to offsets of x and of the other array: one position at a time where blocks
// have threads; chunk by chunk on the fast host, where each loop is over one dtype and vectorises.
#pragma once

#include "device/bits.cuh"
#include "device/convert.cuh"
#include "device/fault.cuh"
#include "device/group.cuh"
#include "device/index.cuh"
#include "params/indexing.hpp"

#include <limits>

namespace stator::STATOR_TARGET::indexing {

inline constexpr int64_t no_offset = std::numeric_limits<int64_t>::min();

// Index i of an integer dtype. uint64 from 2^63 on becomes negative.
STATOR_FN int64_t load_index(const void* base, DType d, int64_t i) {
  const int size = itemsize(d);
  const bool is_signed = in(d, dtypes::signed_integers);
  if (size == 8) return static_cast<const int64_t*>(base)[i];
  const uint32_t bits = size == 4   ? static_cast<const uint32_t*>(base)[i]
                        : size == 2 ? static_cast<const uint16_t*>(base)[i]
                                    : static_cast<const uint8_t*>(base)[i];
  const int unused = 32 - 8 * size;
  return is_signed ? int64_t(int32_t(bits << unused) >> unused) : int64_t(bits);
}

// The offset that an entry adds for its index at `at`; no_offset and a report if the index is outside.
STATOR_FN int64_t entry_offset(const params::IndexEntry& e, int64_t at, const params::ErrorSlot& slot, uint16_t op,
                               int64_t position) {
  const int64_t value = load_index(e.data, e.dtype, at);
  if (e.raw) return value;
  const bool huge = e.dtype == DType::uint64 && value < 0;
  const int64_t index = value < 0 && !huge ? value + e.extent : value;
  if (!huge && index >= 0 && index < e.extent) return index * e.step;
  report_index(slot, op, position, value, huge);
  return no_offset;
}

struct IndexedOffsets {
  int64_t x, other;  // x is no_offset if an index is outside
};

// Division by the extents of a space. One kernel handles spaces of any size, as a variant for each width would double
// the code.
struct IndexedExtents {
  FastDivmod fast[params::max_dims];
  bool narrow;  // the size has at most 31 bits

  explicit IndexedExtents(const params::Indexed& p) : narrow(p.size < (int64_t(1) << 31)) {
    for (int d = 0; d < p.ndim && narrow; ++d) fast[d] = FastDivmod(int32_t(p.shape[d]));
  }
  // The coordinate along axis d: the remainder of `rest` by its extent. `rest` becomes the quotient.
  STATOR_FN int64_t coordinate(const params::Indexed& p, int d, int64_t& rest) const {
    if (narrow) {
      int32_t c;
      rest = fast[d].divmod(int32_t(rest), c);
      return c;
    }
    const int64_t quotient = rest / p.shape[d], c = rest - quotient * p.shape[d];
    rest = quotient;
    return c;
  }
};

// The offsets at position `linear` of the space, in row-major order.
STATOR_FN IndexedOffsets offsets_at(const params::Indexed& p, const IndexedExtents& extents, int64_t linear,
                                    const params::ErrorSlot& slot, uint16_t op) {
  int64_t x = 0, other = 0, at = 0, rest = linear;
  for (int d = p.ndim - 1; d >= 0; --d) {
    const int64_t c = d > 0 ? extents.coordinate(p, d, rest) : rest;
    x += c * p.x_strides[d];
    other += c * p.other_strides[d];
    at += c * p.entries[0].strides[d];
  }
  for (int k = 0; k < p.entry_count && x != no_offset; ++k) {
    if (k > 0) {
      at = 0;
      rest = linear;
      for (int d = p.ndim - 1; d > 0; --d) at += extents.coordinate(p, d, rest) * p.entries[k].strides[d];
      at += rest * p.entries[k].strides[0];
    }
    const int64_t more = entry_offset(p.entries[k], at, slot, op, linear);
    x = more == no_offset ? no_offset : x + more;
  }
  return {x, other};
}

// Fast host: adds to offsets[i] what the entry adds for its index i * stride, or sets it to no_offset. Reports the
// first index outside.
template <class I>
STATOR_FN void add_entry_typed(const params::IndexEntry& e, const I* indices, int64_t stride, int count,
                               int64_t* offsets, const params::ErrorSlot& slot, uint16_t op, int64_t position) {
  const int64_t extent = e.extent, step = e.step;
  int64_t bad = 0;
  for (int i = 0; i < count; ++i) {
    const int64_t wide = int64_t(indices[i * stride]);
    const int64_t index = std::is_signed_v<I> && wide < 0 ? wide + extent : wide;
    const bool good = uint64_t(index) < uint64_t(extent);
    offsets[i] = (offsets[i] != no_offset) & good ? offsets[i] + index * step : no_offset;
    bad += !good;
  }
  for (int i = 0; bad > 0 && i < count; ++i) {
    const int64_t wide = int64_t(indices[i * stride]);
    if (uint64_t(std::is_signed_v<I> && wide < 0 ? wide + extent : wide) < uint64_t(extent)) continue;
    report_index(slot, op, position + i, wide, !std::is_signed_v<I>);
    bad = 0;
  }
}
STATOR_CALL void add_entry(const params::IndexEntry& e, int64_t at, int64_t stride, int count, int64_t* offsets,
                           const params::ErrorSlot& slot, uint16_t op, int64_t position) {
  if (e.raw) {
    const int64_t* raw = static_cast<const int64_t*>(e.data) + at;
    for (int i = 0; i < count; ++i) offsets[i] = offsets[i] == no_offset ? no_offset : offsets[i] + raw[i * stride];
    return;
  }
#define STATOR_CASE(name, type)                                                                              \
  case DType::name:                                                                                          \
    if constexpr (std::is_integral_v<type>)                                                                  \
      add_entry_typed(e, static_cast<const type*>(e.data) + at, stride, count, offsets, slot, op, position); \
    return;
  STATOR_DTYPE_SWITCH(e.dtype, STATOR_CASE)
#undef STATOR_CASE
}

inline constexpr int indexed_chunk = 512;

// Fast host: walks positions [first, first + n) of the space, row by row. Calls along(x, other, other_stride, count)
// for positions whose offsets of x step by x_strides of the last axis; x is no_offset if an index is outside. Calls
// scattered(offsets, other, other_stride, count) for others, chunk by chunk.
template <class Along, class Scattered>
STATOR_FN void walk_offsets(const params::Indexed& p, int64_t first, int64_t n, const params::ErrorSlot& slot,
                            uint16_t op, const Along& along, const Scattered& scattered) {
  const int last = p.ndim - 1;
  int64_t c[params::max_dims], at[params::Indexed::most_entries];
  int64_t rest = first;
  for (int d = last; d >= 0; --d) {
    c[d] = rest % p.shape[d];
    rest /= p.shape[d];
  }
  bool constant = true;
  for (int k = 0; k < p.entry_count; ++k) constant = constant && p.entries[k].strides[last] == 0;
  int64_t offsets[indexed_chunk];
  for (int64_t done = 0; done < n;) {
    // Offsets of the row's first position.
    int64_t x = 0, other = 0;
    for (int k = 0; k < p.entry_count; ++k) at[k] = 0;
    for (int d = 0; d <= last; ++d) {
      x += c[d] * p.x_strides[d];
      other += c[d] * p.other_strides[d];
      for (int k = 0; k < p.entry_count; ++k) at[k] += c[d] * p.entries[k].strides[d];
    }
    const int64_t length = p.shape[last] - c[last] < n - done ? p.shape[last] - c[last] : n - done;
    const int64_t other_stride = p.other_strides[last];
    if (constant) {  // one index of each entry for the whole row
      for (int k = 0; k < p.entry_count && x != no_offset; ++k) {
        const int64_t more = entry_offset(p.entries[k], at[k], slot, op, first + done);
        x = more == no_offset ? no_offset : x + more;
      }
      along(x, other, other_stride, length);
    } else {
      for (int64_t i = 0; i < length; i += indexed_chunk) {
        const int count = length - i < indexed_chunk ? int(length - i) : indexed_chunk;
        for (int j = 0; j < count; ++j) offsets[j] = x + (i + j) * p.x_strides[last];
        for (int k = 0; k < p.entry_count; ++k) {
          const int64_t stride = p.entries[k].strides[last];
          add_entry(p.entries[k], at[k] + i * stride, stride, count, offsets, slot, op, first + done + i);
        }
        scattered(offsets, other + i * other_stride, other_stride, count);
      }
    }
    done += length;
    c[last] += length;
    for (int d = last; d > 0 && c[d] == p.shape[d]; --d) {
      c[d] = 0;
      ++c[d - 1];
    }
  }
}

}  // namespace stator::STATOR_TARGET::indexing
