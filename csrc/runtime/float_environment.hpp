// The floating-point environment of work on the host: the default one, whatever the calling thread has set.
#pragma once

#include <xmmintrin.h>
#include <cstdint>

namespace stator::runtime {

// While it lives its thread rounds to nearest, keeps subnormal numbers and masks exceptions, in SSE and x87. A thread
// inherits its environment from the one that starts it, and an op is computed by several threads; so each task sets its
// own. A caller in the default environment keeps the exception flags that the work raises; another gets its own back.
class DefaultFloatEnvironment {
 public:
  DefaultFloatEnvironment() noexcept : mxcsr_(_mm_getcsr()) {
    asm volatile("fnstcw %0" : "=m"(x87_));
    if (changed()) [[unlikely]]
      set(default_mxcsr, default_x87);
  }
  ~DefaultFloatEnvironment() {
    if (changed()) [[unlikely]]
      set(mxcsr_, x87_);
  }
  DefaultFloatEnvironment(const DefaultFloatEnvironment&) = delete;
  DefaultFloatEnvironment& operator=(const DefaultFloatEnvironment&) = delete;

 private:
  static constexpr uint32_t mxcsr_flags = 0x3f;  // the flags of exceptions that were raised; the rest is control
  static constexpr uint32_t default_mxcsr = 0x1f80;
  static constexpr uint16_t default_x87 = 0x037f;

  bool changed() const noexcept { return (mxcsr_ & ~mxcsr_flags) != default_mxcsr || x87_ != default_x87; }
  static void set(uint32_t mxcsr, uint16_t x87) noexcept {
    _mm_setcsr(mxcsr);
    asm volatile("fldcw %0" : : "m"(x87));
  }

  uint32_t mxcsr_;
  uint16_t x87_;
};

}  // namespace stator::runtime
