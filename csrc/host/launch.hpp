// Launching a kernel: launch(queue, "name", kernel<...>, {blocks, threads, shared_bytes}, arguments...).
#pragma once

#include "device/index.cuh"
#include "params/launch.hpp"
#if defined(STATOR_HOST)
#include "host/host_entry.hpp"
#endif

#include <algorithm>
#include <type_traits>

namespace stator::STATOR_TARGET {

// A one-dimensional grid. CUDA has at most 2^31-1 blocks, so launchers limit the grid and kernels stride over their
// work. `threads` is the kernel's Group size (the fast host ignores it).
struct Config {
  int64_t blocks;
  int threads;
  int shared_bytes = 0;  // what group.dynamic<T>() points to
};

// The number of blocks that are resident at once, which is a good grid for kernels that stride over their work. On the
// fast host a few blocks per worker, so that the wait for the last worker is short.
inline int64_t waves(const params::DeviceLimits& limits, int threads) {
  const int fit =
      std::min(limits.max_threads_per_multiprocessor / std::max(threads, 32), limits.max_blocks_per_multiprocessor);
  return int64_t(std::max(1, limits.multiprocessors)) * (fast_host ? 4 : std::max(1, fit));
}

// The bytes of a kernel's parameters, each at its alignment.
template <class... P>
constexpr size_t parameter_bytes() {
  size_t end = 0;
  ((end = (end + alignof(P) - 1) / alignof(P) * alignof(P) + sizeof(P)), ...);
  return end;
}

// Arguments are copied when the launch is submitted. A grid without blocks launches nothing.
template <class... P>
void launch(const params::Queue& q, const char* name, void (*kernel)(P...), Config c,
            const std::type_identity_t<P>&... args) {
  static_assert((std::is_trivially_copyable_v<P> && ...), "kernel arguments are copied as bytes");
  static_assert((!std::is_reference_v<P> && ...), "kernel arguments outlive the caller's");
  static_assert(parameter_bytes<P...>() <= 32764, "CUDA passes at most 32,764 bytes of parameters");
  if (c.blocks <= 0) return;
  params::Launch l{};
  l.name = name;
  l.kernel = reinterpret_cast<const void*>(kernel);
  l.blocks = c.blocks;
  l.threads = c.threads;
  l.shared_bytes = c.shared_bytes;
#if defined(STATOR_HOST)
  const Pack<P...> pack = make_pack<P...>(args...);
  l.entry = run_blocks<P...>;
  l.arguments = &pack;
  l.argument_bytes = sizeof(pack);
  l.whole = !fast_host;
  q.submit(q, l);
#else
  void* params[] = {const_cast<void*>(static_cast<const void*>(&args))..., nullptr};
  l.params = params;
  q.submit(q, l);
#endif
}

// Calls f(type_tag<T>{}, type_tag<S>{}) for a floating dtype and that of states or sums, which is the same or, for a
// half, float32.
template <class F>
void visit_mixed(DType dtype, DType sums, F f) {
  visit<dtypes::floats>(dtype, [&]<class T>(type_tag<T> t) {
    if constexpr (in(dtype_of_v<T>, dtypes::halves))
      if (sums != dtype) return f(t, type_tag<float>{});
    f(t, t);
  });
}

// The function that sets the order of blocks and fibers; null for targets without one.
inline auto block_seed_setter() -> void (*)(uint64_t) {
#if defined(STATOR_CHECKED)
  return set_block_seed;
#else
  return nullptr;
#endif
}

}  // namespace stator::STATOR_TARGET
