// What calls cost, per op; reports of calls that wait; and a trace of calls.
#pragma once

#include <stator/backend.hpp>

#include <cstdint>
#include <string>
#include <vector>

#include <stator/macros/aside.inc>

namespace stator {

struct TelemetryOptions {
  bool count = false;        // the figures of telemetry()
  bool device_time = false;  // two events around the work of each call
  bool nvtx = false;         // a range of NVTX per call
};

// The calls of one op since the counters were reset. A call is what the user made; what it calls itself is a part of
// it. Times are in seconds.
struct OpTelemetry {
  std::string op;                                              // empty: work of no call, such as releases
  uint64_t calls = 0, dispatches = 0, untimed_dispatches = 0;  // dispatches: calls that enqueued work
  uint64_t launches = 0, library_calls = 0, graph_launches = 0, copies = 0, fills = 0;
  uint64_t allocations = 0;       // of the runtime; those that the pool served from its cache are in MemoryStats
  uint64_t synchronisations = 0;  // waits of the host for the device
  uint64_t h2d_bytes = 0, d2h_bytes = 0, d2d_bytes = 0;
  // Threads of launches, and those of them beyond the number of elements; -1 where the number of elements of any launch
  // is not known.
  uint64_t thread_slots = 0;
  int64_t idle_thread_slots = 0;
  double wall_seconds = 0, longest_wall_seconds = 0;
  double device_seconds = 0, longest_device_seconds = 0;  // of work that has finished and was timed
};

// Holds for calls that begin later. UnsupportedError for nvtx if no tool records ranges. Counters stay until reset.
STATOR_API void set_telemetry(const Backend&, const TelemetryOptions&);
STATOR_API TelemetryOptions telemetry_options(const Backend&);
STATOR_API std::vector<OpTelemetry> telemetry(const Backend&);  // does not wait; may be called after close()
STATOR_API void reset_telemetry(const Backend&);

// A call of the trace, in microseconds since its beginning.
struct TraceRange {
  std::string op;
  int64_t thread = 0;  // of the operating system
  double begin = 0, end = 0;
  // index of the stream of its work; -1 if it enqueued none, or its device times or stream are unknown
  int stream = -1;
  double device_begin = 0, device_end = 0;
};
// Between the two, every call is recorded, with the time of its work on the device. begin_trace waits for stream 0,
// end_trace for all streams. `dropped`, which must not be null, gets the number of calls beyond a trace's capacity.
// ValueError if a trace is being made, CaptureError while stream 0 is captured.
STATOR_API void begin_trace(const Backend&);
STATOR_API std::vector<TraceRange> end_trace(const Backend&, uint64_t* dropped);

// Calls that wait for the device warn, as libraries do (stator/libraries.hpp), or throw SynchronizationError before
// they wait. Backend::close waits all the same.
enum class WaitReports : uint8_t { none, warnings, errors };
STATOR_API WaitReports report_waits(const Backend&, WaitReports);  // returns the previous mode

}  // namespace stator

#include <stator/macros/back.inc>
