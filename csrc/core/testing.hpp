// Test hooks: injected failures, and the runtime layer's own counts, which tests compare with the Tracker. Not
// installed.
#pragma once

#include <stator/backend.hpp>

#include <array>

namespace stator::testing {

struct Injection {
  int64_t fail_at = -1;       // the k-th runtime call from now fails; -1: none
  bool until_lifted = false;  // and every call after it
  bool allocations = false;   // only allocations count, and fail
  int64_t drop_wait_at = -1;  // the k-th stream wait is not performed
};
STATOR_API void inject(const Backend&, const Injection&);
STATOR_API int64_t lift(const Backend&);            // ends the injection; returns how many runtime calls it saw
STATOR_API void fault_next_launch(const Backend&);  // cpu: an asynchronous, sticky fault, as on a device
// true: warnings are counted and not shown, for failures that are injected. Returns the count since the last call.
STATOR_API int64_t hold_warnings(bool hold);
STATOR_API void leak_buffer(const Backend&, size_t bytes);  // not tracked: the leak check must find it
// {memory, pinned, streams, events, contexts}: what the runtime's table counts as not released.
STATOR_API std::array<int64_t, 6> outstanding(DeviceType);
STATOR_API void set_block_seed(const Backend&, uint64_t seed);  // checked target: order of blocks and fibers

}  // namespace stator::testing
