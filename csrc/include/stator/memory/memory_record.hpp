// What a backend's memory was used for over time, by the ops that took it.
#pragma once

#include <stator/backend.hpp>

namespace stator {

struct MemoryEvent {
  double seconds;  // since the recording began
  int64_t bytes;   // as asked for; negative where they were freed
  std::string op;  // that took them
};

struct MemoryHistory {
  bool recording = false;
  uint64_t dropped = 0;  // events beyond the most that were asked for
  std::vector<MemoryEvent> events;
};

// From now on, allocations of the pool and their ends are noted, at most `most_events`; what was noted before is
// forgotten. What is live already is not seen. 0: no more are noted, and memory_history() has what was.
STATOR_API void record_memory(const Backend&, size_t most_events);
STATOR_API MemoryHistory memory_history(const Backend&);

}  // namespace stator
