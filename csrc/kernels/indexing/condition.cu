// The kernel that decides, within a graph, whether a part of it runs.
#include "params/indexing.hpp"

#include "device/fault.cuh"
#include "device/graph.cuh"
#include "device/group.cuh"
#include "host/launch.hpp"
#include "host/launcher.hpp"

namespace stator::STATOR_TARGET::indexing {
namespace {

template <int Size>
STATOR_KERNEL(Size) void condition_kernel(params::Condition p) {
  const Group<Size> group;
  group.for_each(1, [&](int64_t) {
    bool more = *p.condition;
    if (more && p.rounds) {
      if (*p.rounds < p.limit) {
        ++*p.rounds;
      } else {
        report(p.slot, p.op, params::Fault::loop_limit, 0, p.limit);
        more = false;
      }
    }
    *p.more = more;
    set_condition(p.handle, more);
  });
}

void condition(const params::Queue& q, const params::Condition& p) {
  launch(q, "condition", condition_kernel<32>, {1, 32}, p);
}

}  // namespace
}  // namespace stator::STATOR_TARGET::indexing

STATOR_LAUNCHER(indexing, condition)
