#include "runtime/order_checker.hpp"

#include "runtime/op_name.hpp"

#include <stator/error.hpp>

#include <algorithm>

namespace stator::runtime {
namespace {

constexpr size_t history_limit = 512;  // accesses kept per buffer; dropping the oldest never causes a false report
constexpr size_t host_index = SIZE_MAX;

std::string verb(bool write) { return write ? "writes" : "reads"; }
std::string past(bool write) { return write ? "writes to" : "reads from"; }

std::string range(int64_t begin, int64_t end) {
  return "bytes [" + std::to_string(begin) + ", " + std::to_string(end) + ")";
}

std::string hex(const void* pointer) {
  char text[20];
  std::snprintf(text, sizeof text, "%p", pointer);
  return text;
}

}  // namespace

std::string label(uint16_t op, const char* what) {
  const std::string_view name = op_name(op);
  return std::string(name.empty() ? what : name);
}

size_t OrderChecker::stream_index(StreamHandle stream) {
  const auto [found, added] = indices_.try_emplace(stream, streams_);
  if (added) {
    ++streams_;
    clocks_.emplace_back();
  }
  return found->second;
}

void OrderChecker::join(Clock& into, const Clock& from) {
  if (into.size() < from.size()) into.resize(from.size());
  for (size_t i = 0; i < from.size(); ++i) into[i] = std::max(into[i], from[i]);
}

const OrderChecker::Entry* OrderChecker::unordered(const History& history, const params::Access& access, size_t stream,
                                                   const Clock& clock) {
  if (access.bytes <= 0) return nullptr;
  for (const Entry& earlier : history) {
    const bool overlap = earlier.begin < access.offset + access.bytes && access.offset < earlier.end;
    if (!overlap || !(earlier.write || access.write) || earlier.stream == stream) continue;
    if (at(clock, earlier.stream) < earlier.tick) return &earlier;
  }
  return nullptr;
}

void OrderChecker::refuse(const std::string& what, const std::string& where, const params::Access& access,
                          const Entry& earlier) {
  const std::string stream = "stream " + std::to_string(earlier.stream);
  throw StreamOrderError(
      what,
      what + " on " + where + " " + verb(access.write) + " " + range(access.offset, access.offset + access.bytes) +
          " of buffer " + hex(access.buffer) + " while " + earlier.what + " on " + stream + " " + past(earlier.write) +
          " " + range(earlier.begin, earlier.end) + " of it, and nothing orders the two (streams count by first use)",
      "record an event on " + stream + " after " + earlier.what + " and " +
          (where == "the host" ? "synchronize with it first" : "make " + where + " wait for it before " + what));
}

void OrderChecker::enqueue(StreamHandle handle, const char* what, const Record& record) {
  const std::lock_guard lock(mutex_);
  const size_t stream = stream_index(handle);
  Clock& clock = clocks_[stream];
  join(clock, host_);
  if (clock.size() <= stream) clock.resize(stream + 1);
  const std::string name = label(record.op, what);
  for (int i = 0; i < record.access_count; ++i) {
    const params::Access& access = record.accesses[i];
    const auto history = histories_.find(access.buffer);
    if (history == histories_.end()) continue;
    if (const Entry* earlier = unordered(history->second, access, stream, clock))
      refuse(name, "stream " + std::to_string(stream), access, *earlier);
  }
  const uint64_t tick = ++clock[stream];
  for (int i = 0; i < record.access_count; ++i) {
    const params::Access& access = record.accesses[i];
    if (access.bytes <= 0) continue;
    remember(histories_[access.buffer],
             {access.offset, access.offset + access.bytes, access.write, stream, tick, name});
  }
}

// Entries that can add nothing to a later check are dropped: those that the host knows to be done, and those whose
// range the new access covers, if it is a write or both are reads of one stream.
void OrderChecker::remember(History& history, Entry entry) {
  std::erase_if(history, [&](const Entry& earlier) {
    if (at(host_, earlier.stream) >= earlier.tick) return true;
    const bool covered = entry.begin <= earlier.begin && earlier.end <= entry.end;
    return covered && (entry.write || (earlier.stream == entry.stream && !earlier.write));
  });
  if (history.size() >= history_limit) history.erase(history.begin());
  history.push_back(std::move(entry));
}

void OrderChecker::host_access(const params::Access& access, uint16_t op) {
  const std::lock_guard lock(mutex_);
  const auto history = histories_.find(access.buffer);
  if (history == histories_.end()) return;
  if (const Entry* earlier = unordered(history->second, access, host_index, host_))
    refuse(label(op, "an access"), "the host", access, *earlier);
}

void OrderChecker::forget(const void* buffer) {
  const std::lock_guard lock(mutex_);
  histories_.erase(buffer);
}

void OrderChecker::record(EventHandle event, StreamHandle stream) {
  const std::lock_guard lock(mutex_);
  Clock clock = clocks_[stream_index(stream)];
  join(clock, host_);
  events_[event] = std::move(clock);
}

void OrderChecker::wait(StreamHandle stream, EventHandle event) {
  const std::lock_guard lock(mutex_);
  const auto found = events_.find(event);
  if (found != events_.end()) join(clocks_[stream_index(stream)], found->second);
}

OrderChecker::Clock OrderChecker::snapshot_stream(StreamHandle stream) {
  const std::lock_guard lock(mutex_);
  return clocks_[stream_index(stream)];
}

OrderChecker::Clock OrderChecker::snapshot_event(EventHandle event) {
  const std::lock_guard lock(mutex_);
  const auto found = events_.find(event);
  return found == events_.end() ? Clock{} : found->second;
}

void OrderChecker::learn(const Clock& done) {
  const std::lock_guard lock(mutex_);
  join(host_, done);
}

void OrderChecker::drop_stream(StreamHandle stream) {
  const std::lock_guard lock(mutex_);
  indices_.erase(stream);
}

void OrderChecker::drop_event(EventHandle event) {
  const std::lock_guard lock(mutex_);
  events_.erase(event);
}

}  // namespace stator::runtime
