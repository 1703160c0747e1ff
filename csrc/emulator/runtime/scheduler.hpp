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
#include <thread>
#include <vector>

namespace stator::emulator::runtime {

struct Device;
struct Graph;
struct Node;
struct Stream;

// Values of cudaStreamCaptureMode.
enum class CaptureMode : int { global = 0, local = 1, relaxed = 2 };

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
  std::shared_ptr<Graph> graph = {};
  uint64_t id = 0;
  CaptureMode mode = CaptureMode::global;
  std::thread::id thread = {};  // that began it
  bool given = false;           // the graph was there before
  bool valid = true;
};

struct Stream {
  Device* device = nullptr;
  bool blocking = true;  // waits for the legacy default stream, and that for it
  int priority = 0;      // which no order is bound to
  bool destroyed = false;
  std::deque<Work> queue = {};
  uint64_t enqueued = 0, done = 0;
  std::shared_ptr<Capture> capture = {};  // null while it is not captured
  std::vector<Node*> captured = {};       // on which the next captured work depends
  std::vector<void*> handles = {};        // of these, for the last who asked
};

// The next number of a splitmix64 generator.
inline uint64_t splitmix(uint64_t& state) {
  uint64_t z = state += 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

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
  // A number to draw an order with; 0 without a seed.
  uint64_t seed() { return adversary_ ? splitmix(state_) | 1 : 0; }
  // With a seed: runs a few pieces of whatever may run.
  void disturb(Lock&);

 private:
  Stream* next_for(const Point&);
  std::vector<Stream*> ready();
  void run_one(Lock&, Stream&);
  uint64_t draw(uint64_t below) { return splitmix(state_) % below; }

  std::mutex mutex_;
  std::condition_variable changed_;
  bool busy_ = false;
  std::vector<std::shared_ptr<Stream>> streams_;  // that exist or still have work
  uint64_t state_;
  const bool adversary_;
};

}  // namespace stator::emulator::runtime
