// Replaces operator new of a whole process (LD_PRELOAD), and makes one allocation, or all from one on, fail on request.
#include <atomic>
#include <cstdlib>
#include <new>

namespace {

std::atomic<long> seen{0}, failing{0};
std::atomic<bool> onwards{false}, armed{false};

bool fails() {
  if (!armed.load(std::memory_order_acquire)) return false;
  const long at = seen.fetch_add(1) + 1;
  return at == failing.load() || (onwards.load() && at > failing.load());
}

}  // namespace

// The k-th allocation from now fails, counted from 1 over all threads; 0: none, they are only counted.
extern "C" void fail_allocation(long k, int and_every_later_one) {
  seen = 0;
  failing = k;
  onwards = and_every_later_one != 0 && k > 0;
  armed.store(true, std::memory_order_release);
}

// Ends this, and returns how many allocations there were.
extern "C" long allocations() {
  armed = false;
  return seen.load();
}

void* operator new(std::size_t bytes) {
  if (!fails()) {
    if (void* memory = std::malloc(bytes ? bytes : 1)) return memory;
  }
  throw std::bad_alloc();
}

void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
