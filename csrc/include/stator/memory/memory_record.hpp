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
  uint64_t dropped = 0;  // events beyond most_events
  std::vector<MemoryEvent> events;
};

// Records allocations of the pool and their ends from now on, at most `most_events`, and drops earlier records. Live
// memory is not recorded. 0 ends the recording; memory_history() keeps it.
STATOR_API void record_memory(const Backend&, size_t most_events);
STATOR_API MemoryHistory memory_history(const Backend&);

}  // namespace stator
