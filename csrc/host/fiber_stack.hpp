// Stacks of fibers and the switch between them (x86-64 System V).
#pragma once

#include "params/launch.hpp"

#include <sys/mman.h>

#include <new>
#include <vector>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

// Saves the callee-saved registers and the stack pointer in *from, and continues at `to`.
extern "C" __attribute__((visibility("hidden"))) void stator_fiber_switch(void** from, void* to);

namespace stator::STATOR_TARGET::fiber {

#if defined(__SANITIZE_ADDRESS__)
inline constexpr size_t stack_bytes = 256 * 1024;  // instrumented frames are several times larger
#else
inline constexpr size_t stack_bytes = 64 * 1024;
#endif
inline constexpr size_t guard_bytes = 4096;

// The fiber stacks of one OS thread, mapped when first needed and unmapped when the thread ends.
class StackPool {
 public:
  StackPool() = default;
  StackPool(const StackPool&) = delete;
  ~StackPool() {
    for (unsigned char* mapping : mappings_) munmap(mapping, guard_bytes + stack_bytes);
  }

  // Makes every stack free again, because the fibers of a failed launch are abandoned.
  void reset() { free_ = all_; }

  // Returns the lowest usable address of a stack.
  unsigned char* take() {
    if (free_.empty()) map();
    unsigned char* const stack = free_.back();
    free_.pop_back();
#if defined(__SANITIZE_ADDRESS__)
    __asan_unpoison_memory_region(stack, stack_bytes);  // frames of an abandoned fiber
#endif
    return stack;
  }
  void give(unsigned char* stack) { free_.push_back(stack); }

 private:
  void map() {
    void* const mapping = mmap(nullptr, guard_bytes + stack_bytes, PROT_READ | PROT_WRITE,
                               MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
    if (mapping == MAP_FAILED) throw std::bad_alloc();
    auto* const bytes = static_cast<unsigned char*>(mapping);
    mprotect(bytes, guard_bytes, PROT_NONE);
    mappings_.push_back(bytes);
    all_.push_back(bytes + guard_bytes);
    free_.push_back(bytes + guard_bytes);
  }

  std::vector<unsigned char*> mappings_, all_, free_;
};

// Prepares a stack that starts in `entry` when it is switched to; entry must not return. Stacks start at different
// distances from their ends, because frames at equal page offsets would compete for the same cache sets.
inline void* prepare_stack(unsigned char* stack, void (*entry)(), int rank) {
  void** top = reinterpret_cast<void**>(stack + stack_bytes - size_t(rank % 61) * 64);
  *--top = nullptr;  // entry's return address, which also gives the stack the alignment that the ABI requires
  *--top = reinterpret_cast<void*>(entry);
  for (int saved = 0; saved < 6; ++saved) *--top = nullptr;
  return top;
}

}  // namespace stator::STATOR_TARGET::fiber
