// The calls for managed memory (stator/memory/managed.hpp).
#pragma once

#include <stator/memory/managed.hpp>

#include <array>
#include <cstddef>

namespace stator::runtime {

// What was set for all pages of a range; unused entries are location::none.
struct RangeAdvice {
  int read_mostly = 0, preferred = location::none;
  std::array<int, 32> accessed_by{};
};

// Members as those of Table (runtime.hpp): none throws, and Status is int.
struct ManagedTable {
  ManagedKind (*kind)(int device);
  int (*allocate)(void* context, size_t bytes, void** out);
  // Waits for the work of the device on cuda. May be called after the end of the context.
  int (*free)(int device, void* pointer, size_t bytes);
  // These do nothing where the memory does not migrate.
  int (*prefetch)(void* context, const void* pointer, size_t bytes, int to, void* stream);
  int (*advise)(void* context, const void* pointer, size_t bytes, Advice, int location);
  int (*range)(void* context, const void* pointer, size_t bytes, RangeAdvice* out);
};

}  // namespace stator::runtime
