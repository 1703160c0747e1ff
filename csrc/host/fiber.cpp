// The scheduler of the checked target's fibers, its barriers and warp exchanges, and the checks that they make.
#include "host/fiber.hpp"

#include "host/fiber_stack.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

asm(R"(
.text
.globl stator_fiber_switch
.hidden stator_fiber_switch
.type stator_fiber_switch, @function
stator_fiber_switch:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
.size stator_fiber_switch, . - stator_fiber_switch
)");

namespace stator::STATOR_TARGET {
namespace fiber {
namespace {

constexpr unsigned char poison = 0xCB;
constexpr size_t static_shared_limit = 48 * 1024;

std::atomic<uint64_t> block_seed{0};
thread_local char message[512];
thread_local StackPool stacks;

enum class State : uint8_t { fresh, ready, at_barrier, in_exchange, done };

struct Fiber {
  int rank = 0;
  State state = State::fresh;
  unsigned char* stack = nullptr;
  void* stack_pointer = nullptr;
  void* fake_stack = nullptr;  // AddressSanitizer's
  Site site{};                 // of the collective it waits in
  // The exchange that it waits in:
  uint32_t mask = 0;
  int source = 0;
  size_t bytes = 0;
  const void* from = nullptr;
  void* to = nullptr;
};

struct Warp {
  uint32_t exchanging = 0, exited = 0;
};

struct FreeDeleter {
  void operator()(void* p) const { std::free(p); }
};
using Bytes = std::unique_ptr<unsigned char, FreeDeleter>;

struct SharedObject {
  const void* key;
  size_t bytes;
  Bytes memory;
  int64_t block;  // the last one that asked for it
};

// Exactly `bytes` long, so that AddressSanitizer's redzone begins where the object ends.
Bytes allocate(size_t bytes, size_t alignment) {
  void* p = nullptr;
  if (posix_memalign(&p, std::max(alignment, sizeof(void*)), std::max<size_t>(bytes, 1)) != 0) throw std::bad_alloc();
  return Bytes(static_cast<unsigned char*>(p));
}

class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}
  uint64_t next() {  // splitmix64
    uint64_t z = state_ += 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
  }
  template <class T>
  void shuffle(std::vector<T>& items) {
    for (size_t k = items.size(); k > 1; --k) std::swap(items[k - 1], items[next() % k]);
  }

 private:
  uint64_t state_;
};

class Run;
constinit thread_local Run* current_run = nullptr;

// One call of run_range.
class Run {
 public:
  Run(const params::Launch& launch, void (*body)(const params::Launch&))
      : launch_(launch), body_(body), seed_(block_seed.load(std::memory_order_relaxed)), random_(seed_) {
    if (launch.shared_bytes > 0) dynamic_ = allocate(size_t(launch.shared_bytes), 128);
    fibers_.resize(size_t(launch.threads));
    warps_.resize((size_t(launch.threads) + 31) / 32);
    stacks.reset();
  }

  const char* blocks(int64_t first, int64_t last) {
    std::vector<int64_t> order(static_cast<size_t>(last - first));
    for (size_t k = 0; k < order.size(); ++k) order[k] = first + int64_t(k);
    if (seed_ != 0) random_.shuffle(order);
    for (int64_t index : order) {
      block(index);
      if (failed_) return message;
    }
    return nullptr;
  }

  void check_block_size(int size) {
    if (size != launch_.threads) fail("a kernel for blocks of %d threads was launched with %d", size, launch_.threads);
  }

  void barrier(Site site) {
    Fiber& self = *running_;
    self.site = site;
    self.state = State::at_barrier;
    ++at_barrier_;
    release_barrier();
    if (self.state != State::ready) leave();
  }

  void exchange(void* to, const void* from, size_t bytes, int source, uint32_t mask, Site site) {
    Fiber& self = *running_;
    Warp& warp = warps_[size_t(self.rank) / 32];
    const uint32_t bit = 1u << (self.rank % 32);
    if (!(mask & bit))
      fail("thread %d calls with a mask 0x%x that leaves it out, at %s:%d", self.rank, mask, site.file, site.line);
    self.site = site;
    self.state = State::in_exchange;
    self.mask = mask;
    self.source = source;
    self.bytes = bytes;
    self.from = from;
    self.to = to;
    warp.exchanging |= bit;
    if (mask & warp.exited) missing_lane(self, mask & warp.exited);
    release_exchange(self);
    if (self.state != State::ready) leave();
  }

  void* shared_object(const void* key, size_t bytes, size_t alignment, Site site) {
    auto found = std::find_if(shared_.begin(), shared_.end(), [&](const SharedObject& o) { return o.key == key; });
    if (found == shared_.end()) {
      shared_bytes_ += bytes;
      if (shared_bytes_ > static_shared_limit)
        fail("%zu bytes of static shared memory, the limit is %zu, at %s:%d", shared_bytes_, static_shared_limit,
             site.file, site.line);
      shared_.push_back({key, bytes, allocate(bytes, alignment), -1});
      found = shared_.end() - 1;
    }
    if (found->block != id.block) {
      found->block = id.block;
      std::memset(found->memory.get(), poison, bytes);
    }
    return found->memory.get();
  }

  unsigned char* dynamic_shared(size_t bytes, Site site) {
    if (bytes > size_t(launch_.shared_bytes))
      fail("%zu bytes of dynamic shared memory used, %d launched with, at %s:%d", bytes, launch_.shared_bytes,
           site.file, site.line);
    return dynamic_.get();
  }

 private:
  // Ends the launch. Does not return if called on a fiber.
  template <class... Values>
  void fail(const char* format, Values... values) {
    if (!failed_) {
      const int start =
          std::snprintf(message, sizeof(message), "%s, block %lld: ", launch_.name, static_cast<long long>(id.block));
      const size_t used = std::min(size_t(std::max(start, 0)), sizeof(message) - 1);
      std::snprintf(message + used, sizeof(message) - used, format, values...);
      failed_ = true;
    }
    if (running_) leave();
  }

  void block(int64_t index) {
    if (dynamic_) std::memset(dynamic_.get(), poison, size_t(launch_.shared_bytes));
    ready_.clear();
    next_.clear();
    at_barrier_ = 0;
    alive_ = launch_.threads;
    for (int rank = 0; rank < launch_.threads; ++rank) {
      fibers_[size_t(rank)] = Fiber{};
      fibers_[size_t(rank)].rank = rank;
      next_.push_back(rank);
    }
    std::fill(warps_.begin(), warps_.end(), Warp{});
    if (const int rest = launch_.threads % 32) warps_.back().exited = ~0u << rest;
    id.block = index;
    id.blocks = launch_.blocks;
    while (!next_.empty()) {
      ready_.swap(next_);
      next_.clear();
      if (seed_ != 0) random_.shuffle(ready_);
      for (int rank : ready_) {
        enter(fibers_[size_t(rank)]);
        if (failed_) return;
      }
    }
    if (alive_ > 0) deadlock();
  }

  // Switches from the scheduler to a fiber, until it waits or is done.
  void enter(Fiber& fiber) {
    if (fiber.state == State::fresh) {
      fiber.stack = stacks.take();
      fiber.stack_pointer = prepare_stack(fiber.stack, &Run::main, fiber.rank);
    }
    fiber.state = State::ready;
    running_ = &fiber;
    id.rank = fiber.rank;
#if defined(__SANITIZE_ADDRESS__)
    void* fake_stack;
    __sanitizer_start_switch_fiber(&fake_stack, fiber.stack, stack_bytes);
    stator_fiber_switch(&scheduler_, fiber.stack_pointer);
    __sanitizer_finish_switch_fiber(fake_stack, nullptr, nullptr);
#else
    stator_fiber_switch(&scheduler_, fiber.stack_pointer);
#endif
    running_ = nullptr;
    if (fiber.state != State::done) return;
    stacks.give(fiber.stack);
    if (failed_) return;
    --alive_;
    warps_[size_t(fiber.rank) / 32].exited |= 1u << (fiber.rank % 32);
    check_missing(fiber.rank / 32);
    release_barrier();
  }

  // Switches from a fiber to the scheduler; returns when the fiber is entered again.
  void leave() {
    Fiber& self = *running_;
#if defined(__SANITIZE_ADDRESS__)
    const bool last = self.state == State::done;
    __sanitizer_start_switch_fiber(last ? nullptr : &self.fake_stack, scheduler_bottom_, scheduler_bytes_);
    stator_fiber_switch(&self.stack_pointer, scheduler_);
    __sanitizer_finish_switch_fiber(self.fake_stack, nullptr, nullptr);
#else
    stator_fiber_switch(&self.stack_pointer, scheduler_);
#endif
  }

  static void main() {
    Run& run = *current_run;
#if defined(__SANITIZE_ADDRESS__)
    __sanitizer_finish_switch_fiber(nullptr, &run.scheduler_bottom_, &run.scheduler_bytes_);
#endif
    run.body_(run.launch_);
    run.running_->state = State::done;
    run.leave();
    std::abort();  // a finished fiber is never entered again
  }

  void make_ready(Fiber& fiber) {
    fiber.state = State::ready;
    next_.push_back(fiber.rank);
  }

  static bool same(Site a, Site b) { return a.line == b.line && std::strcmp(a.file, b.file) == 0; }

  void release_barrier() {
    if (at_barrier_ == 0 || at_barrier_ < alive_) return;
    const Fiber* first = nullptr;
    for (const Fiber& fiber : fibers_) {
      if (fiber.state != State::at_barrier) continue;
      if (!first) first = &fiber;
      if (!same(first->site, fiber.site)) return diverged("block barrier", *first, fiber);
    }
    at_barrier_ = 0;
    for (Fiber& fiber : fibers_)
      if (fiber.state == State::at_barrier) make_ready(fiber);
    if (running_) resume_later();
  }

  // The last fiber to arrive is queued like the others, so that it does not always run first.
  void resume_later() {
    Fiber& self = *running_;
    leave();
    self.state = State::ready;
  }

  void release_exchange(Fiber& self) {
    const size_t base = size_t(self.rank) / 32 * 32;
    Warp& warp = warps_[base / 32];
    if ((warp.exchanging & self.mask) != self.mask) return;
    for (uint32_t lanes = self.mask; lanes; lanes &= lanes - 1) {
      const Fiber& other = fibers_[base + size_t(std::countr_zero(lanes))];
      if (other.mask != self.mask || other.bytes != self.bytes || !same(other.site, self.site))
        return diverged("warp collective", self, other);
    }
    for (uint32_t lanes = self.mask; lanes; lanes &= lanes - 1) {
      Fiber& lane = fibers_[base + size_t(std::countr_zero(lanes))];
      if (self.mask >> lane.source & 1u)
        std::memcpy(lane.to, fibers_[base + size_t(lane.source)].from, lane.bytes);
      else
        std::memset(lane.to, poison, lane.bytes);
    }
    warp.exchanging &= ~self.mask;
    for (uint32_t lanes = self.mask; lanes; lanes &= lanes - 1)
      make_ready(fibers_[base + size_t(std::countr_zero(lanes))]);
    resume_later();
  }

  void diverged(const char* what, const Fiber& a, const Fiber& b) {
    fail("divergent %s: thread %d is at %s:%d, thread %d at %s:%d", what, a.rank, a.site.file, a.site.line, b.rank,
         b.site.file, b.site.line);
  }

  // Fails if a lane of the warp waits for one that has exited.
  void check_missing(int warp_index) {
    const Warp& warp = warps_[size_t(warp_index)];
    for (uint32_t lanes = warp.exchanging; lanes; lanes &= lanes - 1) {
      const Fiber& waiting = fibers_[size_t(warp_index) * 32 + size_t(std::countr_zero(lanes))];
      if (waiting.mask & warp.exited) return missing_lane(waiting, waiting.mask & warp.exited);
    }
  }

  void missing_lane(const Fiber& waiting, uint32_t missing) {
    fail("missing lane: thread %d waits at %s:%d with mask 0x%x, whose lane %d has exited or never was", waiting.rank,
         waiting.site.file, waiting.site.line, waiting.mask, std::countr_zero(missing));
  }

  void deadlock() {
    const Fiber *first = nullptr, *other = nullptr;
    for (const Fiber& fiber : fibers_) {
      if (fiber.state == State::done) continue;
      if (!first)
        first = &fiber;
      else if (!other && !(same(fiber.site, first->site) && fiber.mask == first->mask))
        other = &fiber;
    }
    if (!other) other = first;
    fail("deadlock: thread %d waits at %s:%d, thread %d at %s:%d", first->rank, first->site.file, first->site.line,
         other->rank, other->site.file, other->site.line);
  }

  const params::Launch& launch_;
  void (*body_)(const params::Launch&);
  uint64_t seed_;
  Random random_;
  std::vector<Fiber> fibers_;
  std::vector<Warp> warps_;
  std::vector<int> ready_, next_;
  std::vector<SharedObject> shared_;
  size_t shared_bytes_ = 0;
  Bytes dynamic_;
  Fiber* running_ = nullptr;
  void* scheduler_ = nullptr;
  const void* scheduler_bottom_ = nullptr;
  size_t scheduler_bytes_ = 0;
  int alive_ = 0, at_barrier_ = 0;
  bool failed_ = false;
};

}  // namespace

void check_block_size(int size) { current_run->check_block_size(size); }
void barrier(Site site) { current_run->barrier(site); }
void exchange(void* to, const void* from, size_t bytes, int source, uint32_t mask, Site site) {
  current_run->exchange(to, from, bytes, source, mask, site);
}
void* shared_object(const void* key, size_t bytes, size_t alignment, Site site) {
  return current_run->shared_object(key, bytes, alignment, site);
}
unsigned char* dynamic_shared(size_t bytes, Site site) { return current_run->dynamic_shared(bytes, site); }

}  // namespace fiber

void set_block_seed(uint64_t seed) { fiber::block_seed.store(seed, std::memory_order_relaxed); }

const char* run_range(const params::Launch& launch, int64_t first, int64_t last, void (*run)(const params::Launch&)) {
  fiber::Run current(launch, run);
  fiber::current_run = &current;
  const char* const message = current.blocks(first, last);
  fiber::current_run = nullptr;
  return message;
}

}  // namespace stator::STATOR_TARGET
