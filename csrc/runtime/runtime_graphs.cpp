// The members of Runtime for graphs.
#include "runtime/runtime.hpp"

#include "runtime/waiting/waiting.hpp"

#include <utility>

namespace stator::runtime {

void Runtime::Noted::note(StreamHandle stream, GraphCall::Kind kind, const char* name, const Record& record) {
  uint64_t id = 0;
  if (!stream || runtime_.table_.graphs->id(runtime_.context_, stream, &id) || id == 0) return;
  GraphCall call{kind, record.op, name, {}};
  for (int i = 0; i < record.access_count; ++i)
    call.uses.push_back({record.accesses[i].buffer, record.accesses[i].write});
  const std::lock_guard lock(runtime_.notes_mutex_);
  runtime_.notes_[id].push_back(std::move(call));
  id_ = id;
}

void Runtime::Noted::drop() noexcept {
  const std::lock_guard lock(runtime_.notes_mutex_);
  if (const auto found = runtime_.notes_.find(id_); found != runtime_.notes_.end()) found->second.pop_back();
}

bool Runtime::is_captured(StreamHandle stream) const noexcept {
  uint64_t id = 0;
  return captures_.load(std::memory_order_acquire) > 0 && context_ && stream &&
         table_.graphs->id(context_, stream, &id) == status::success && id != 0;
}

void Runtime::capture_begin(StreamHandle stream, uint16_t op) {
  check(Call::capture_begin, enter(Call::capture_begin), op);
  captures_.fetch_add(1);
  const Status code = table_.graphs->begin(context_, stream);
  if (code) captures_.fetch_sub(1);
  check(Call::capture_begin, code, op);
}

Runtime::Captured Runtime::capture_end(StreamHandle stream, uint16_t op) {
  check(Call::capture_end, enter(Call::capture_end), op);
  uint64_t id = 0;
  table_.graphs->id(context_, stream, &id);
  Captured out;
  const Status code = table_.graphs->end(context_, stream, &out.graph);
  captures_.fetch_sub(1);
  {
    const std::lock_guard lock(notes_mutex_);
    if (const auto found = notes_.find(id); found != notes_.end()) {
      out.calls = std::move(found->second);
      notes_.erase(found);
    }
  }
  check(Call::capture_end, code, op);
  return out;
}

Runtime::CapturedWork Runtime::captured_work(StreamHandle stream, uint16_t op) {
  CapturedWork out;
  uint64_t id = 0;
  check(Call::capture_begin, table_.graphs->id(context_, stream, &id), op);
  if (id == 0) return out;
  check(Call::capture_begin, table_.graphs->size(context_, stream, &out.nodes), op);
  const std::lock_guard lock(notes_mutex_);
  if (const auto found = notes_.find(id); found != notes_.end()) out.calls = found->second.size();
  return out;
}

uint64_t Runtime::capture_condition(StreamHandle stream, uint16_t op) {
  uint64_t handle = 0;
  check(Call::capture_begin, enter(Call::capture_begin), op);
  check(Call::capture_begin, table_.graphs->condition(context_, stream, &handle), op);
  return handle;
}

void Runtime::capture_enter(StreamHandle stream, uint64_t handle, const uint32_t* more, bool repeats, uint16_t op) {
  check(Call::capture_begin, enter(Call::capture_begin), op);
  Noted noted(*this, stream, repeats ? GraphCall::Kind::loop : GraphCall::Kind::branch, repeats ? "while" : "if", {op});
  check(Call::capture_begin, table_.graphs->enter(context_, stream, handle, more, repeats), op);
  noted.keep();
}

void Runtime::capture_leave(StreamHandle stream, uint16_t op) {
  check(Call::capture_end, enter(Call::capture_end), op);
  Noted noted(*this, stream, GraphCall::Kind::end, "end", {op});
  check(Call::capture_end, table_.graphs->leave(context_, stream), op);
  noted.keep();
}

void Runtime::capture_drop_noexcept(StreamHandle stream) {
  uint64_t id = 0;
  if (!context_ || !stream) return;
  table_.graphs->id(context_, stream, &id);
  if (id == 0) return;
  table_.graphs->end(context_, stream, nullptr);
  captures_.fetch_sub(1);
  const std::lock_guard lock(notes_mutex_);
  notes_.erase(id);
}

void Runtime::graph_instantiate(GraphHandle graph, GraphHandle previous, uint16_t op) {
  check(Call::graph_instantiate, enter(Call::graph_instantiate), op);
  check(Call::graph_instantiate, table_.graphs->instantiate(context_, graph, previous), op);
}

void Runtime::graph_launch(GraphHandle graph, const char* name, StreamHandle stream, const Record& record) {
  check(Call::graph_launch, enter(Call::graph_launch), record.op);
  check(Call::graph_launch, before_work(table_, stream, record.synchronous), record.op);
  Noted noted(*this, stream, GraphCall::Kind::graph, name, record);
  if (!noted.captured()) order(stream, name, record);
  check(Call::graph_launch, table_.graphs->launch(context_, graph, record.synchronous, stream), record.op);
  enqueued(noted, stream, record);
  if (!noted.captured()) finished(stream, record);
}

Status Runtime::graph_destroy_noexcept(GraphHandle graph) {
  const Status injected = enter(Call::graph_destroy);
  if (!context_) return status::context_destroyed;
  const Status done = table_.graphs->destroy(context_, graph);
  return injected ? injected : done;
}

void Runtime::graph_write(GraphHandle graph, size_t call, size_t offset, uint64_t value, uint16_t op) {
  check(Call::graph_launch, table_.graphs->write(graph, call, offset, value), op);
}

}  // namespace stator::runtime
