// Streams and the order of their work. Nothing runs when it is enqueued: work runs on the thread that waits, one piece
// at a time and as late as the order of streams and events permits; with a seed, also earlier and in an order drawn by
// it.
#pragma once

#include "emulator/report.hpp"

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace stator::emulator::runtime {

struct Device;
struct Stream;

// All work of a stream up to and with a serial number. A point without a stream is always reached.
struct Point {
  std::shared_ptr<Stream> stream;
  uint64_t serial = 0;
  bool reached() const;
};

struct Work {
  std::string what;             // for reports
  std::function<Report()> run;  // called without the lock, at most once, and not after its device has failed
  std::vector<Point> after;
};

// What streams are captured into together.
struct Capture {
  const Stream* origin = nullptr;
  bool valid = true;
};

struct Stream {
  Device* device = nullptr;
  bool blocking = true;  // waits for the legacy default stream, and that for it
  bool destroyed = false;
  std::deque<Work> queue = {};
  uint64_t enqueued = 0, done = 0;
  std::shared_ptr<Capture> capture = {};  // null while it is not captured
};

class Scheduler {
 public:
  using Lock = std::unique_lock<std::mutex>;

  explicit Scheduler(uint64_t seed) : state_(seed), adversary_(seed != 0) {}

  Lock lock() { return Lock(mutex_); }
  void add(const std::shared_ptr<Stream>& stream) { streams_.push_back(stream); }
  const std::vector<std::shared_ptr<Stream>>& streams() const { return streams_; }

  // Members with a lock have it on entry and on return; wait and poll give it back in between.
  Point enqueue(Lock&, const std::shared_ptr<Stream>&, Work);
  // False when work itself calls, which must not wait.
  bool wait(Lock&, const Point&);
  // Whether the point is reached; if not, some work that leads to it runs, so that a loop of polls ends.
  bool poll(Lock&, const Point&);
  // With a seed: runs a few pieces of whatever may run.
  void disturb(Lock&);

 private:
  Stream* next_for(const Point&);
  std::vector<Stream*> ready();
  void run_one(Lock&, Stream&);
  uint64_t draw(uint64_t below);

  std::mutex mutex_;
  std::condition_variable changed_;
  bool busy_ = false;
  std::vector<std::shared_ptr<Stream>> streams_;  // that exist or still have work
  uint64_t state_;
  const bool adversary_;
};

}  // namespace stator::emulator::runtime
