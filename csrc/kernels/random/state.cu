// The kernel that writes the state of a generator which a graph's draws are made with.
#include "device/group.cuh"
#include "host/launch.hpp"
#include "host/launcher.hpp"
#include "kernels/random/unit.cuh"

namespace stator::STATOR_TARGET::random {
namespace {

template <int Size>
STATOR_KERNEL(Size) void set_state_kernel(params::SetState p) {
  const Group<Size> group;
  group.for_each(1, [=](int64_t) {
    const auto [seed, offset] = start_of(p.from);
    p.to[0] = seed;
    p.to[1] = offset;
  });
}

void set_state(const params::Queue& q, const params::SetState& p) {
  launch(q, "set_state", set_state_kernel<32>, {1, 32}, p);
}

}  // namespace
}  // namespace stator::STATOR_TARGET::random

STATOR_LAUNCHER(random, set_state)
