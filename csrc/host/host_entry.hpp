// Host targets: packed kernel arguments, and the function that unpacks them and runs a range of blocks.
#pragma once

#include "params/launch.hpp"
#if defined(STATOR_CHECKED)
#include "host/fiber.hpp"
#else
#include "host/block_fast.hpp"
#endif

namespace stator::STATOR_TARGET {

// A trivially copyable tuple, which std::tuple is not.
template <class... P>
struct Pack {};
template <class Head, class... Tail>
struct Pack<Head, Tail...> {
  Head head;
  [[no_unique_address]] Pack<Tail...> tail;
};

template <class... P>
Pack<P...> make_pack(const P&... values);
template <>
inline Pack<> make_pack<>() {
  return {};
}
template <class Head, class... Tail>
Pack<Head, Tail...> make_pack_of(const Head& head, const Tail&... tail) {
  return {head, make_pack<Tail...>(tail...)};
}
template <class... P>
Pack<P...> make_pack(const P&... values) {
  return make_pack_of(values...);
}

template <class... P, class... Taken>
void call_unpacked(void (*kernel)(P...), const Pack<>&, const Taken&... taken) {
  kernel(taken...);
}
template <class... P, class Head, class... Tail, class... Taken>
void call_unpacked(void (*kernel)(P...), const Pack<Head, Tail...>& pack, const Taken&... taken) {
  call_unpacked(kernel, pack.tail, taken..., pack.head);
}

template <class... P>
void run_thread(const params::Launch& launch) {
  const auto kernel = reinterpret_cast<void (*)(P...)>(const_cast<void*>(launch.kernel));
  call_unpacked(kernel, *static_cast<const Pack<P...>*>(launch.arguments));
}

// One instance per kernel signature; the launch has the kernel.
template <class... P>
const char* run_blocks(const params::Launch& launch, int64_t first, int64_t last) {
  return run_range(launch, first, last, run_thread<P...>);
}

}  // namespace stator::STATOR_TARGET
