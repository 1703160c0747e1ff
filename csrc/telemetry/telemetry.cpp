#include <stator/telemetry/telemetry.hpp>

#include "core/context.hpp"
#include "core/text.hpp"
#include "libs/loader.hpp"
#include "runtime/nvtx.hpp"

#include <chrono>

namespace stator {
namespace {

using runtime::Call;
using runtime::Figure;
using runtime::Telemetry;

constexpr unsigned trace_modes = Telemetry::trace | Telemetry::trace_time;
constexpr unsigned modes_of_user = Telemetry::count | Telemetry::device_time | Telemetry::nvtx;

Context& require(const Backend& backend) {
  if (!backend.context())
    throw ValueError(op_text(call::telemetry), "got a default-constructed backend",
                     "Open one with Backend::open(device)");
  return *backend.context();
}

double seconds(uint64_t nanoseconds) { return double(nanoseconds) * 1e-9; }

void warn_of_wait(std::string_view op) { libs::give_warning(std::string(op) + " waits for work of the device"); }

int index_of(const Context& context, runtime::StreamHandle stream) {
  for (int i = 0; i < Backend::stream_limit; ++i)
    if (context.native_stream(i) == stream) return i;
  return -1;
}

}  // namespace

void set_telemetry(const Backend& backend, const TelemetryOptions& options) {
  const OpGuard guard(require(backend), call::telemetry);
  if (options.nvtx) {
    if (const runtime::NvtxState state = runtime::nvtx_state(); state.missing)
      throw UnsupportedError(op_text(call::telemetry), state.missing, state.remedy);
  }
  unsigned modes = 0;
  if (options.count) modes |= Telemetry::count;
  if (options.device_time) modes |= Telemetry::device_time;
  if (options.nvtx) modes |= Telemetry::nvtx;
  backend.context()->runtime().change_telemetry_modes(modes_of_user, modes);
}

TelemetryOptions telemetry_options(const Backend& backend) {
  const unsigned modes = require(backend).runtime().telemetry().modes();
  return {bool(modes & Telemetry::count), bool(modes & Telemetry::device_time), bool(modes & Telemetry::nvtx)};
}

std::vector<OpTelemetry> telemetry(const Backend& backend) {
  Context& context = require(backend);
  if (const OpenGuard open(context); open) {
    context.require_open(call::telemetry);
    context.runtime().telemetry().poll();
  }
  std::vector<OpTelemetry> out;
  for (const runtime::OpFigures& f : context.runtime().telemetry().figures()) {
    OpTelemetry t;
    t.op = op_name(f.op);
    t.calls = f[Figure::calls];
    t.dispatches = f[Figure::dispatches];
    t.untimed_dispatches = t.dispatches - std::min(t.dispatches, f[Figure::timed]);
    t.launches = f[Call::launch];
    t.library_calls = f[Call::library];
    t.graph_launches = f[Call::graph_launch];
    t.copies = f[Call::copy];
    t.fills = f[Call::fill];
    t.allocations = f[Call::allocate] + f[Call::allocate_pinned] + f[Call::allocate_managed];
    t.synchronisations = f[Call::stream_synchronize] + f[Call::event_synchronize] + f[Call::device_synchronize] +
                         f[Figure::waiting_copies];
    t.h2d_bytes = f[Figure::h2d_bytes];
    t.d2h_bytes = f[Figure::d2h_bytes];
    t.d2d_bytes = f[Figure::d2d_bytes];
    t.thread_slots = f[Figure::thread_slots];
    t.idle_thread_slots = f[Figure::unsized] > 0 ? -1 : int64_t(f[Figure::idle_slots]);
    t.wall_seconds = seconds(f[Figure::wall_ns]);
    t.longest_wall_seconds = seconds(f[Figure::longest_wall_ns]);
    t.device_seconds = seconds(f[Figure::device_ns]);
    t.longest_device_seconds = seconds(f[Figure::longest_device_ns]);
    out.push_back(std::move(t));
  }
  return out;
}

void reset_telemetry(const Backend& backend) {
  Context& context = require(backend);
  if (const OpenGuard open(context); open) {
    context.require_open(call::telemetry);
    context.runtime().telemetry().poll();
  }
  context.runtime().telemetry().reset();
}

void begin_trace(const Backend& backend) {
  const OpGuard guard(require(backend), call::telemetry);
  Context& context = *backend.context();
  StreamBox& stream = context.opened_stream(0);
  if (stream.is_captured())
    throw CaptureError(op_text(call::telemetry), "stream 0 is being captured", "Begin the trace before the capture");
  const runtime::StreamHandle native = stream.handle(call::telemetry);
  if (context.runtime().change_telemetry_modes(0, trace_modes) & Telemetry::trace)
    throw ValueError(op_text(call::telemetry), "a trace is being made", "End it first");
  context.runtime().telemetry().begin_trace(native);
}

std::vector<TraceRange> end_trace(const Backend& backend, uint64_t* dropped) {
  Context& context = require(backend);
  Telemetry& telemetry = context.runtime().telemetry();
  context.runtime().change_telemetry_modes(trace_modes, 0);
  if (const OpenGuard open(context); open && !context.is_shut()) context.synchronize_noexcept();
  int64_t begin = 0;
  const std::vector<runtime::TracedCall> calls = telemetry.end_trace(dropped, &begin);
  std::vector<TraceRange> out;
  out.reserve(calls.size());
  const auto since = [begin](int64_t time) { return double(time - begin) * 1e-3; };
  for (const runtime::TracedCall& c : calls) {
    TraceRange range{std::string(op_name(c.op)), c.thread, since(c.begin), since(c.end)};
    if (c.device_begin >= 0) {
      range.stream = index_of(context, c.stream);
      range.device_begin = since(c.device_begin);
      range.device_end = since(c.device_end);
    }
    out.push_back(std::move(range));
  }
  return out;
}

WaitReports report_waits(const Backend& backend, WaitReports reports) {
  const OpGuard guard(require(backend), call::telemetry);
  return WaitReports(backend.context()->runtime().set_sync_debug(runtime::SyncDebug(reports), warn_of_wait));
}

}  // namespace stator
