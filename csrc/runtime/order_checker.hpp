// OrderChecker: vector clocks over the streams and the host. Two accesses to the same range of a buffer, at least one
// of them a write, must be ordered by a stream, an event or a synchronisation. All host threads share one clock, so
// that nothing is reported that any host thread has ordered.
#pragma once

#include "runtime/runtime.hpp"

#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

namespace stator::runtime {

class OrderChecker {
 public:
  using Clock = std::vector<uint64_t>;  // by stream

  // Checks and remembers the accesses of an operation that is about to be enqueued; StreamOrderError when an earlier
  // access is not ordered before one of them.
  void enqueue(StreamHandle stream, const char* what, const Record& record);
  void host_access(const params::Access& access, uint16_t op);
  void forget(const void* buffer);

  void record(EventHandle event, StreamHandle stream);
  void wait(StreamHandle stream, EventHandle event);
  // What the host knows to be done once the stream or event is: the snapshot is taken before the wait, and learned
  // after it.
  Clock snapshot_stream(StreamHandle stream);
  Clock snapshot_event(EventHandle event);
  void learn(const Clock& done);
  void drop_stream(StreamHandle stream);
  void drop_event(EventHandle event);

 private:
  struct Entry {
    int64_t begin, end;
    bool write;
    size_t stream;
    uint64_t tick;
    std::string what;
  };
  using History = std::vector<Entry>;

  size_t stream_index(StreamHandle stream);
  static void join(Clock& into, const Clock& from);
  static uint64_t at(const Clock& clock, size_t stream) { return stream < clock.size() ? clock[stream] : 0; }
  static const Entry* unordered(const History& history, const params::Access& access, size_t stream,
                                const Clock& clock);
  void remember(History& history, Entry entry);
  [[noreturn]] static void refuse(const std::string& what, const std::string& where, const params::Access& access,
                                  const Entry& earlier);

  std::mutex mutex_;
  std::unordered_map<StreamHandle, size_t> indices_;
  size_t streams_ = 0;
  std::vector<Clock> clocks_;  // for each stream, what its next operation comes after
  std::unordered_map<EventHandle, Clock> events_;
  Clock host_;
  std::unordered_map<const void*, History> histories_;
};

// The name of the op, such as "nn.softmax", or `what` when there is none.
std::string label(uint16_t op, const char* what);

}  // namespace stator::runtime
