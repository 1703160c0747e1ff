// The names of calls in errors: an op of the table, or one of the other calls, which are numbered after the ops.
#pragma once

#include <stator/op_table.hpp>

#include <iterator>

namespace stator {

#define STATOR_OTHER_CALLS(X)                               \
  X(stream, "Backend.stream")                               \
  X(stream_pool, "Backend.streams.pool")                    \
  X(external_stream, "Backend.streams.external")            \
  X(priority_range, "Backend.streams.priority_range")       \
  X(empty_cache, "Backend.memory.empty_cache")              \
  X(prepare, "Backend.graphs.prepare")                      \
  X(record, "Stream.record")                                \
  X(wait, "Stream.wait")                                    \
  X(stream_done, "Stream.done")                             \
  X(stream_native, "Stream.native")                         \
  X(add_callback, "Stream.add_callback")                    \
  X(stream_close, "Stream.close")                           \
  X(event_done, "Event.done")                               \
  X(event_synchronize, "Event.synchronize")                 \
  X(milliseconds_since, "Event.milliseconds_since")         \
  X(compile, "Backend.compile")                             \
  X(occupancy, "Kernel.occupancy")                          \
  X(launch, "Kernel.launch")                                \
  X(capture, "Backend.capture")                             \
  X(graph_launch, "Graph.launch")                           \
  X(while_loop, "Backend.graphs.while_loop")                \
  X(branch, "Backend.graphs.cond")                          \
  X(write_ranges, "Backend.transfers.write_ranges")         \
  X(read_ranges, "Backend.transfers.read_ranges")           \
  X(lend, "memory.PoolAllocator.allocate")                  \
  X(reclaim, "memory.PoolAllocator.deallocate")             \
  X(register_host, "memory.register_host")                  \
  X(record_memory, "Backend.memory.record")                 \
  X(open, "Backend")                                        \
  X(telemetry, "Backend.telemetry")                         \
  X(take_warning, "Backend.synchronize")                    \
  X(managed, "Backend.memory.managed")                      \
  X(lend_to_host, "memory.host_view")                       \
  X(prefetch, "Backend.memory.prefetch_to_device")          \
  X(prefetch_to_host, "Backend.memory.prefetch_to_host")    \
  X(advise, "Backend.memory.advise")                        \
  X(migrated, "UnifiedAllocation.migration_stats")          \
  X(advice_state, "UnifiedAllocation.access_hints")         \
  X(set_memory_hook, "Backend.memory.set_failure_callback") \
  X(scoped, "Backend.scoped")                               \
  X(trim_memory, "Backend.memory.trim")                     \
  X(trim_pinned, "Backend.memory.trim_pinned")              \
  X(reset_peak, "Backend.memory.reset_peak")                \
  X(set_memory_limit, "Backend.telemetry.set_resource_limits")

namespace call {
enum : uint16_t {
  last_op = op_count - 1,
#define STATOR_X(name, text) name,
  STATOR_OTHER_CALLS(STATOR_X)
#undef STATOR_X
};
}  // namespace call

inline constexpr uint16_t no_op = 0xffff;

// The name in Python, empty for no_op.
inline std::string_view op_name(uint16_t op) {
#define STATOR_X(name, text) text,
  constexpr std::string_view other[] = {STATOR_OTHER_CALLS(STATOR_X)};
#undef STATOR_X
  if (op < op_count) return op_info(Op(op)).call;
  const size_t at = size_t(op) - size_t(op_count);
  return at < std::size(other) ? other[at] : std::string_view();
}

}  // namespace stator
