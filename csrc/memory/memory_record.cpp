#include <stator/memory/memory_record.hpp>

#include "core/context.hpp"
#include "core/text.hpp"

namespace stator {

void record_memory(const Backend& backend, size_t most_events) {
  const OpGuard guard(*backend.context(), call::record_memory);
  if (most_events)
    backend.context()->memory_record().begin(most_events);
  else
    backend.context()->memory_record().end();
}

MemoryHistory memory_history(const Backend& backend) {
  ReleaseQueue::drain();
  MemoryRecord& record = backend.context()->memory_record();
  MemoryHistory out;
  out.recording = record.on();
  for (const MemoryRecord::Entry& entry : record.entries(&out.dropped))
    out.events.push_back({double(entry.time) * 1e-9, entry.bytes, op_text(entry.op)});
  return out;
}

}  // namespace stator
