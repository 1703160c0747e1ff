// Telemetry: what the calls of users cost, per op, counted by Runtime while it is watched. A call is what a user made;
// what it calls itself is a part of it. CallScope: one such call.
#pragma once

#include "runtime/runtime.hpp"

#include <deque>
#include <utility>

namespace stator::runtime {

class CallScope;

// Sums of one op since the last reset, and two maxima. The counts of runtime calls, by Call, follow them.
enum class Figure : uint8_t {
  calls,
  dispatches,  // calls that enqueued work
  timed,       // those of them whose time on the device is known
  waiting_copies,
  h2d_bytes,
  d2h_bytes,
  d2d_bytes,
  thread_slots,  // blocks x threads of launches
  idle_slots,    // those beyond the number of elements
  unsized,       // launches of which the number of elements is not known
  wall_ns,
  longest_wall_ns,
  device_ns,
  longest_device_ns,
};
inline constexpr int figure_count = int(Figure::longest_device_ns) + 1;
struct OpFigures {
  uint16_t op = no_op;
  std::array<uint64_t, figure_count + call_count> values{};
  uint64_t operator[](Figure figure) const { return values[int(figure)]; }
  uint64_t operator[](Call call) const { return values[figure_count + int(call)]; }
};

// One call of the trace, in nanoseconds of the steady clock. Device times are negative where they are not known.
struct TracedCall {
  uint16_t op = no_op;
  int64_t thread = 0;  // as the operating system numbers it
  int64_t begin = 0, end = 0;
  StreamHandle stream = nullptr;
  int64_t device_begin = -1, device_end = -1;
};

// Of one Runtime. Thread-safe. Nothing of it waits for the device but begin_trace().
class Telemetry {
 public:
  enum Mode : unsigned { count = 1, device_time = 2, nvtx = 4, trace = 8, trace_time = 16 };
  static constexpr size_t most_traced = size_t(1) << 20;  // calls that are kept, 64 bytes each

  Telemetry(const Table& table, const ContextHandle& context) : table_(table), context_(context) {}
  ~Telemetry();

  unsigned modes() const { return modes_.load(std::memory_order_relaxed); }
  unsigned change_modes(unsigned off, unsigned on);  // returns the previous modes
  std::vector<OpFigures> figures();  // of the ops that were called; no_op stands for what no call of a user did
  void reset();

  // Device times are counted from a moment at which the stream has done its work.
  void begin_trace(StreamHandle stream);
  std::vector<TracedCall> end_trace(uint64_t* dropped, int64_t* begin);

  void poll() noexcept;     // takes the times of the work that has finished
  void release() noexcept;  // gives its events back, while the context exists

  // Of Runtime's calls, which belong to the call of a user that the thread makes.
  void called(Call call) noexcept;
  void copied(CopyKind kind, size_t bytes, bool waited) noexcept;
  void launched(int64_t slots, int64_t elements) noexcept;
  void work_begins(StreamHandle stream) noexcept;

 private:
  friend class CallScope;
  using Row = std::array<std::atomic<uint64_t>, figure_count + call_count>;
  static constexpr size_t row_count = size_t(op_count) + 64 + 1;  // ops, other calls, none
  struct Timed {
    Row* row;
    EventHandle from, to;
    int64_t traced;  // its index in the trace, -1: none
  };
  Row* row(uint16_t op) noexcept;
  Row* current_row() noexcept;
  void finish(CallScope& scope) noexcept;
  bool take_times(const Timed& timed) noexcept;
  EventHandle take_event() noexcept;
  void poll_locked(size_t most) noexcept;

  const Table& table_;
  const ContextHandle& context_;
  std::atomic<unsigned> modes_{0};
  std::array<std::atomic<Row*>, row_count> rows_{};
  std::mutex mutex_;  // guards the members below
  bool released_ = false;
  std::deque<Timed> timed_;          // whose times are not known yet
  std::vector<EventHandle> events_;  // to be used again; has room for all that were made
  size_t made_ = 0;
  std::vector<TracedCall> trace_;
  uint64_t dropped_ = 0;
  EventHandle base_event_ = nullptr;
  int64_t base_time_ = 0;
};

// Begun by the guard of every entry point where the Runtime is watched; a scope inside of another one of the same
// Runtime and thread does nothing.
class CallScope {
 public:
  CallScope() : telemetry_(nullptr) {}  // begin() sets the other members, which cost nothing before
  CallScope(const CallScope&) = delete;
  void begin(Telemetry& telemetry, uint16_t op) noexcept;
  void end() noexcept {
    if (telemetry_) [[unlikely]]
      finish();
  }
  // The scope of the calling thread for the Runtime of the Telemetry; null outside of calls.
  static CallScope* current(const Telemetry& telemetry) noexcept;
  uint16_t op() const { return op_; }
  // Whether this is the first time that it is asked: a call that waits more than once is reported once.
  bool report_wait() noexcept { return !std::exchange(wait_reported_, true); }

 private:
  friend class Telemetry;
  void finish() noexcept;
  Telemetry* telemetry_;
  CallScope* outer_;
  Telemetry::Row* row_;  // null where it is not counted
  StreamHandle stream_;  // of its first work
  EventHandle from_;     // before it, where its time on the device is taken
  int64_t begin_;
  uint16_t op_;
  bool dispatched_, pushed_, wait_reported_;
};

}  // namespace stator::runtime
