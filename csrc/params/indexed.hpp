// Parameters of the launchers that read or write an array through arrays of indices.
#pragma once

#include "params/launch.hpp"

namespace stator::abi {

// One array of indices. Its index i stands for i * step elements of the indexed array, after -extent..-1 is wrapped; an
// index outside goes to the error slot. raw: the entries are such offsets themselves, and right.
struct IndexEntry {
  const void* data;
  DType dtype;  // any integer dtype
  bool raw;
  int64_t extent, step;
  int64_t strides[max_dims];
};

// A space of `shape` (at least one axis, size > 0). Its place c is element other[c . other_strides] of the dense side
// and x[c . x_strides + what every entry adds] of the indexed one. An axis along which x_strides is 0 may meet the same
// element of x again; any other does not.
struct Indexed {
  static constexpr int most_entries = 8;
  void* x;
  void* other;  // null: `value`
  DType x_dtype, other_dtype;
  int32_t ndim, entry_count;
  int64_t size, shape[max_dims], x_strides[max_dims], other_strides[max_dims];
  int64_t x_begin, x_end;   // offsets of x that can occur
  unsigned char value[16];  // of x's dtype
  IndexEntry entries[most_entries];
};

enum class Accumulation : int32_t { add, multiply, minimum, maximum };

}  // namespace stator::abi

namespace stator::kernels {

struct IndexedTable {
  // other = x at the indices; 0 where one is outside. Moves bytes of x's item size.
  void (*get)(const abi::Queue&, const abi::Indexed&);
  // x at the indices = other. Of places that meet, the last in row-major order stays on the hosts' fast columns;
  // elsewhere any of them, or with `claims` the last: three launches, one without.
  void (*put)(const abi::Queue&, const abi::Indexed&, uint64_t* claims);
  int64_t (*claims)(const abi::Indexed&);  // how many numbers that is: 0 where the last stays in any case
  // x at the indices op= other. x is int32 (other: bool and integers of up to 32 bits), int64 (uint32, int64, uint64),
  // uint64, float32 (float16, bfloat16, float32) or float64. in_order: in row-major order,
  // so that equal input gives equal bits; else atomic (the fast host is always in order).
  void (*accumulate)(const abi::Queue&, const abi::Indexed&, abi::Accumulation, bool in_order);
};

}  // namespace stator::kernels
