// Fast host: the block that this OS thread runs, and its shared memory.
#pragma once

#include "params/launch.hpp"

#include <cstdlib>

namespace stator::STATOR_TARGET {

// CUDA's limit for static shared memory, which the fast host has too.
inline constexpr size_t static_shared_limit = 48 * 1024;

struct SharedObject {
  const void* key;  // identifies the type
  void* object;
};

struct Block {
  int64_t index, count;
  unsigned char* arena;
  size_t used;
  unsigned char* dynamic;
  int object_count;
  SharedObject objects[8];
};

__attribute__((tls_model("initial-exec"))) inline constinit thread_local Block* current_block = nullptr;

// The object of this block for `key`; its contents are undefined at first, as on cuda.
inline void* shared_object(const void* key, size_t bytes) {
  Block& b = *current_block;
  for (int k = 0; k < b.object_count; ++k)
    if (b.objects[k].key == key) return b.objects[k].object;
  const size_t room = (bytes + 63) & ~size_t(63);
  if (b.object_count == 8 || b.used + room > static_shared_limit) std::abort();  // nvcc refuses such a kernel
  void* object = b.arena + b.used;
  b.used += room;
  b.objects[b.object_count++] = {key, object};
  return object;
}

// Shared memory is on the stack, where pages that are not touched cost nothing and nothing must be freed.
inline const char* run_range(const params::Launch& launch, int64_t first, int64_t last,
                             void (*run)(const params::Launch&)) {
  alignas(64) unsigned char arena[static_shared_limit];
  Block block;
  Block* const outer = current_block;
  current_block = &block;
  block.count = launch.blocks;
  block.arena = arena;
  block.dynamic = nullptr;
  if (launch.shared_bytes > 0) {
    const auto raw = reinterpret_cast<uintptr_t>(__builtin_alloca(size_t(launch.shared_bytes) + 128));
    block.dynamic = reinterpret_cast<unsigned char*>((raw + 127) & ~uintptr_t(127));
  }
  for (int64_t i = first; i < last; ++i) {
    block.index = i;
    block.used = 0;
    block.object_count = 0;
    run(launch);
  }
  current_block = outer;
  return nullptr;
}

}  // namespace stator::STATOR_TARGET
