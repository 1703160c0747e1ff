// Test hooks: failures on purpose, and the counts that the Tracker is held against. Not installed.
#pragma once

#include <stator/backend.hpp>

#include <array>

namespace stator::testing {

struct Injection {
  int64_t fail_at = -1;       // the k-th seam call from now fails; -1 never
  bool until_lifted = false;  // and every one after it
  int64_t drop_wait_at = -1;  // the k-th stream wait is not performed
};
STATOR_API void inject(const Backend&, const Injection&);
STATOR_API int64_t lift(const Backend&);            // ends it; how many seam calls were made under it
STATOR_API void fault_next_launch(const Backend&);  // cpu: asynchronous and sticky, as a device fault is
// Counts warnings instead of showing them, while releases fail on purpose; how many since the last call.
STATOR_API int64_t hold_warnings(bool hold);
STATOR_API void leak_buffer(const Backend&, size_t bytes);  // behind the Tracker: a canary for the leak check
STATOR_API std::array<int64_t, 5> outstanding(
    DeviceType);  // memory, pinned, streams, events, contexts: the table's own count
STATOR_API void set_block_seed(const Backend&, uint64_t seed);  // checked target: order of blocks and fibers

}  // namespace stator::testing
