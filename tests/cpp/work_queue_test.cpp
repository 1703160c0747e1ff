// The device's side of a work queue beside a host that puts items meanwhile, which no emulated device can do: a thread
// per block, of one CUDA thread, and a stream of launches. The host's side is that of stator.programs.work_queue.
#include "check.hpp"

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <cstring>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

struct Place {
  unsigned x = 0, y = 0, z = 0;
};
thread_local Place threadIdx, blockIdx;
thread_local Place blockDim{1, 1, 1};

namespace {

void __syncthreads() {}
void __threadfence_system() { std::atomic_thread_fence(std::memory_order_seq_cst); }
void __nanosleep(unsigned) { std::this_thread::yield(); }
unsigned long long atomicAdd(unsigned long long* at, unsigned long long n) {
  return __atomic_fetch_add(at, n, __ATOMIC_RELAXED);
}
unsigned long long atomicCAS(unsigned long long* at, unsigned long long expected, unsigned long long value) {
  __atomic_compare_exchange_n(at, &expected, value, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
  return expected;
}

}  // namespace

#define __device__
#define __shared__ static thread_local
#include "../../python/stator/programs/include/stator/work_queue.hpp"

namespace {

struct Item {
  int64_t number, twice;
};

// What the host packs for the parameter.
struct Parameter {
  void *words, *slots, *claimed;
  uint64_t capacity;
  uint32_t item_bytes, polls;
  uint64_t none;
};
static_assert(sizeof(Parameter) == sizeof(stator::WorkQueue<Item>));

struct Launch {
  std::atomic<bool> done{false};
};

// Runs launches one after the other, all blocks of one at once.
class Stream {
 public:
  Stream() : thread_([this] { run(); }) {}
  ~Stream() {
    push({});
    thread_.join();
  }
  void push(std::function<void()> work) {
    const std::lock_guard lock(mutex_);
    queue_.push_back(std::move(work));
    changed_.notify_one();
  }

 private:
  void run() {
    while (true) {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [this] { return !queue_.empty(); });
      const std::function<void()> work = std::move(queue_.front());
      queue_.pop_front();
      lock.unlock();
      if (!work) return;
      work();
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> queue_;
  std::thread thread_;
};

class Ring {
 public:
  Ring(uint64_t capacity, unsigned blocks, unsigned polls, std::function<void(const Item&)> work)
      : capacity_(capacity),
        blocks_(blocks),
        polls_(polls),
        work_(std::move(work)),
        words_(2 + capacity + blocks),
        slots_(capacity) {}

  void put(const Item& item) {
    for (; !is_free(); std::this_thread::yield()) follow();
    slots_[put_ % capacity_] = item;
    words()[0] = ++put_;
    owed_ = true;
    follow();
  }

  void finish() {
    for (; !running_.empty(); std::this_thread::yield()) follow();
    for (uint64_t i = put_ > capacity_ ? put_ - capacity_ : 0; i < put_; ++i)
      CHECK(words()[2 + i % capacity_] == i + 1);
    CHECK(claimed_ == put_);
  }

  int launches() const { return launches_; }

 private:
  volatile uint64_t* words() { return words_.data(); }

  bool is_free() { return words()[2 + put_ % capacity_] == (put_ < capacity_ ? 0 : put_ - capacity_ + 1); }

  void follow() {
    while (!running_.empty() && running_.front()->done) running_.pop_front();
    if (owed_ && running_.size() < 2) launch();
    owed_ = false;
  }

  void launch() {
    ++launches_;
    const auto made = running_.emplace_back(std::make_shared<Launch>());
    stream_.push([this, made] {
      std::vector<std::thread> threads;
      for (unsigned block = 0; block < blocks_; ++block) threads.emplace_back([this, block] { run_block(block); });
      for (std::thread& thread : threads) thread.join();
      made->done = true;
    });
  }

  void run_block(unsigned block) {
    blockIdx.x = block;
    const Parameter parameter{words_.data(), slots_.data(), &claimed_, capacity_, sizeof(Item), polls_, ~uint64_t(0)};
    stator::WorkQueue<Item> queue;
    std::memcpy(static_cast<void*>(&queue), &parameter, sizeof parameter);
    Item item;
    while (queue.take(item)) work_(item);
  }

  const uint64_t capacity_;
  const unsigned blocks_, polls_;
  const std::function<void(const Item&)> work_;
  std::vector<uint64_t> words_;
  std::vector<Item> slots_;
  unsigned long long claimed_ = 0;
  uint64_t put_ = 0;
  bool owed_ = false;
  int launches_ = 0;
  std::deque<std::shared_ptr<Launch>> running_;
  Stream stream_;
};

// Few polls make the blocks leave between items, so that the end of a launch meets a put in every way.
void test_every_item_is_taken_once(uint64_t capacity, unsigned blocks, unsigned polls) {
  constexpr int64_t count = 300;
  std::vector<std::atomic<int>> taken(count);
  std::atomic<bool> whole{true};
  Ring ring(capacity, blocks, polls, [&](const Item& item) {
    if (item.twice != 2 * item.number) whole = false;
    ++taken[size_t(item.number)];
  });
  for (int64_t i = 0; i < count; ++i) {
    ring.put({i, 2 * i});
    if (i % 7 == 0) std::this_thread::yield();
  }
  ring.finish();
  CHECK(whole);
  for (const std::atomic<int>& times : taken) CHECK(times == 1);
  CHECK(ring.launches() <= count);
}

}  // namespace

int main(int argc, char** argv) {
  return stator::test::run(argc, argv, {{"every item is taken once", [] {
                                           for (const uint64_t capacity : {1, 2, 7, 64})
                                             for (const unsigned blocks : {1, 3})
                                               for (const unsigned polls : {0, 1, 50})
                                                 test_every_item_is_taken_once(capacity, blocks, polls);
                                         }}});
}
