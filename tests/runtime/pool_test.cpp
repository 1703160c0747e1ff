// The pool: reuse on one stream and across streams, limits, page-locked memory, and each runtime call failing in turn.
#include "core_support.hpp"

#include "memory/overlap.hpp"
#include "memory/pool/pool_lists.hpp"

#include <stator/creation.hpp>
#include <stator/movement.hpp>

#include <chrono>

namespace {

using namespace stator;
using namespace stator::test;

void size_classes() {
  for (size_t bytes :
       {0ul, 1ul, 512ul, 513ul, 768ul, 769ul, 1024ul, 1025ul, 700000ul, 1048576ul, 1048577ul, 5ul << 20}) {
    CHECK(block_size(bytes) >= bytes && block_size(block_size(bytes)) == block_size(bytes));
  }
  CHECK(block_size(600) == 768 && block_size(800) == 1024 && block_size((1 << 20) + 1) == 2 << 20);
}

void reuse() {
  Backend backend = open_host({.checks = 3});
  const Stream one = backend.stream(1), two = backend.stream(2);
  std::atomic<int> order{0};
  void* memory;
  {
    const Array array = make(backend, 1000, one);
    memory = array.data_ptr();
  }
  CHECK(make(backend, 900, one).data_ptr() == memory);  // the same stream, the same class
  const std::function<void(const params::ErrorSlot&)> slow = [&](const params::ErrorSlot&) { pause(10), order = 1; };
  const std::function<void(const params::ErrorSlot&)> check = [&](const params::ErrorSlot&) {
    CHECK(order == 1), order = 2;
  };
  {
    const Array array = make(backend, 1000, one);
    enqueue(array, slow, one);
  }
  {
    // Another stream takes the block over and waits for the first one. The order checker would object otherwise.
    const Array array = make(backend, 1000, two);
    CHECK(array.data_ptr() == memory);
    enqueue(array, check, two);
    enqueue(array, slow, [&] {
      const Event event = two.record();
      one.wait(event);
      return one;
    }());
  }
  const Array array = make(backend, 1000, two);  // freed after use on a second stream
  CHECK(array.data_ptr() == memory);
  enqueue(array, check, two);
  backend.synchronize();
  CHECK(order == 2);
  const MemoryStats stats = backend.memory();
  CHECK(stats.live_bytes == 1024 && stats.cached_bytes == 0 && stats.peak_bytes == 1024 && stats.reuses == 4);
  backend.close();
  CHECK(left() == nothing);
}

void limits() {
  Backend backend = open_host({.memory_limit = size_t(8) << 20});
  {
    const Array a = make(backend, 4 << 20);
    CHECK(!THROWN(OutOfMemoryError, make(backend, 6 << 20)).empty());
    const std::string text = THROWN(OutOfMemoryError, make(backend, int64_t(1) << 40));
    CHECK(text.find("requested 1.0 TiB") != std::string::npos &&
          text.find("largest owner 4.0 MiB empty") != std::string::npos);
    CHECK(backend.memory().live_bytes == 4 << 20);
  }
  CHECK(backend.memory().cached_bytes == 4 << 20);
  const Array b = make(backend, 6 << 20);  // trims the cache
  CHECK(backend.memory().cached_bytes == 0 && backend.memory().live_bytes == 6 << 20);
  Backend unlimited = open_host();
  CHECK(!THROWN(OutOfMemoryError, make(unlimited, int64_t(1) << 50)).empty());
  CHECK(unlimited.memory().live_bytes == 0);
}

void pinned() {
  Backend backend = open_host();
  std::atomic<bool> go{false};
  const std::function<void(const params::ErrorSlot&)> wait = [&](const params::ErrorSlot&) {
    while (!go) pause(1);
  };
  void* memory;
  {
    const Array array(backend.context()->pool().allocate_pinned(100, 0xffff), DType::uint8, Dims{100}, Dims{1}, 0);
    memory = array.data_ptr();
    enqueue(array, wait);
  }
  const Ref<Buffer> other = backend.context()->pool().allocate_pinned(100, 0xffff);
  CHECK(other->memory(0xffff) != memory);  // the host may not write what the device still reads
  go = true;
  backend.synchronize();
  CHECK(backend.context()->pool().allocate_pinned(100, 0xffff)->memory(0xffff) == memory);
  backend.close();
  CHECK(left() == nothing);
}

void frees_at_once() {
  Backend backend = open_host({.pool_policy = PoolPolicy::none, .checks = 3});
  const Stream one = backend.stream(1), two = backend.stream(2);
  std::atomic<bool> done{false};
  const std::function<void(const params::ErrorSlot&)> slow = [&](const params::ErrorSlot&) { pause(10), done = true; };
  {
    const Array array = make(backend, 1000, one);
    enqueue(array, slow, two);  // the free on its home stream waits for it, or writes to freed memory are found
  }
  CHECK(backend.memory().live_bytes == 0 && backend.memory().cached_bytes == 0);
  backend.synchronize();
  CHECK(done);
  const Array again = make(backend, 1000, one);
  const MemoryStats stats = backend.memory();
  CHECK(stats.reuses == 0 && stats.allocations == 2 && stats.deallocations == 1 && stats.failures == 0);
  backend.close();
  CHECK(left() == nothing);
}

void changed_limit() {
  Backend backend = open_host();
  const Array a = make(backend, 4 << 20);
  { const Array b = make(backend, 6 << 20); }
  CHECK(!THROWN(ValueError, backend.set_memory_limit(1 << 20)).empty());
  CHECK(backend.memory().limit == 0 && backend.memory().cached_bytes == 6 << 20);
  backend.set_memory_limit(4 << 20);
  CHECK(backend.memory().cached_bytes == 0);
  CHECK(!THROWN(OutOfMemoryError, make(backend, 512)).empty() && backend.memory().failures == 1);
  backend.set_memory_limit(0);
  CHECK(make(backend, 512).size() == 512);
  CHECK(!THROWN(ValueError, open_host({.stream_pool_size = 0})).empty());
  CHECK(!THROWN(ValueError, open_host({.memory_limit = 1, .memory_pool_size = 2})).empty());
}

// The runtime calls of one step of work.
void step(const Backend& backend) {
  static const std::function<void(const params::ErrorSlot&)> touch = [](const params::ErrorSlot&) { pause(1); };
  const Stream one = backend.stream(1), two = backend.stream(2);
  char bytes[3000] = {};
  {
    const Array array = make(backend, 3000, one);
    enqueue(array, touch, one);
    const Event event = one.record();
    two.wait(event);
    enqueue(array, touch, two);
    array.to_host(bytes, two);
    backend.context()->zeroed_scratch(*two.box(), 64, 0xffff);
  }
  const Array array = make(backend, 3000, two);
  const Ref<Buffer> staging = backend.context()->pool().allocate_pinned(3000, 0xffff);
  enqueue(array, touch, two);
  backend.synchronize();
  backend.empty_cache();
}

void injection(PoolPolicy policy) {
  for (const bool until_lifted : {false, true}) {
    int64_t k = 0, made = 0;
    int failures = 0;
    for (; made >= k; ++k) {  // until the k-th call is not made any more
      Backend backend = open_host({.pool_policy = policy, .checks = 3});
      testing::inject(backend, {.fail_at = k, .until_lifted = until_lifted});
      try {
        step(backend);
      } catch (const Error&) {
        ++failures;
      }
      made = testing::lift(backend);
      CHECK(THROWN(Error, step(backend)) == "");
      backend.empty_cache();
      for (const Resource& resource : backend.resources()) CHECK(resource.kind == "stream");
      CHECK(backend.memory().live_bytes == 0 && backend.memory().cached_bytes == 0);
      const size_t streams = backend.resources().size();
      CHECK(left() == (std::array<int64_t, 6>{int64_t(streams) + 1, int64_t(streams), int64_t(streams), 0, 1, 0}));
      testing::inject(backend, {.fail_at = k % 12, .until_lifted = until_lifted});
      backend.close();
      CHECK(left() == nothing);
    }
    std::printf("%lld runtime calls, %d of the failures seen\n", static_cast<long long>(k), failures);
    CHECK(k > 20 && failures > 10);
  }
}

void overlaps() {
  Backend backend = open_host();
  const Array x = make(backend, 100);
  const auto view = [&](Dims shape, Dims strides, int64_t offset) { return as_strided(x, shape, strides, offset); };
  CHECK(!may_overlap(view({50}, {2}, 0), view({50}, {2}, 1)));
  CHECK(may_overlap(view({50}, {2}, 0), view({49}, {2}, 2)));
  CHECK(!may_overlap(view({10, 4}, {10, 1}, 0), view({10, 5}, {10, 1}, 4)));
  CHECK(may_overlap(view({10, 5}, {10, 1}, 0), view({10, 5}, {10, 1}, 4)));
  CHECK(!may_overlap(view({50}, {1}, 0), view({50}, {-1}, 99)));
  CHECK(may_overlap(view({50}, {-1}, 49), view({10}, {3}, 20)));
  CHECK(!may_overlap(view({16}, {6}, 0), view({30}, {3}, 1)));
  CHECK(same_view(view({10, 10}, {10, 1}, 0), view({10, 10}, {10, 1}, 0)));
  const Array all = view({100}, {1}, 0), shifted = view({99}, {1}, 1), rest = view({99}, {1}, 0);
  OpCall call(Op::add, {&rest}, {});
  CHECK(!THROWN(ValueError, call.output(Dims{99}, DType::uint8, &shifted)).empty());
  CHECK(!THROWN(ShapeError, call.output(Dims{98}, DType::uint8, &rest)).empty());
  CHECK(!THROWN(DTypeError, call.output(Dims{99}, DType::float32, &rest)).empty());
  CHECK(THROWN(Error, call.output(Dims{99}, DType::uint8, &rest)).empty());
  CHECK(!THROWN(ShapeError, view({100}, {1}, 1)).empty());
}

void speed() {
  Backend backend = open_host({.checks = 0});
  Pool& pool = backend.context()->pool();
  const Stream stream = backend.stream(0);
  double best = 1e9;
  for (int batch = 0; batch < 200; ++batch) {
    constexpr int rounds = 1000;
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < rounds; ++i) pool.allocate(1000, *stream.box(), 0xffff);
    best = std::min(
        best, std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - start).count() / rounds);
  }
  std::printf("allocate and free: %.0f ns\n", best);
}

}  // namespace

int main(int argc, char** argv) {
  setenv("STATOR_HOST_MODE", "checked", 0);
  keep_warnings();
  return stator::test::run(argc, argv,
                           {{"size_classes", size_classes},
                            {"reuse", reuse},
                            {"limits", limits},
                            {"pinned", pinned},
                            {"overlaps", overlaps},
                            {"frees_at_once", frees_at_once},
                            {"changed_limit", changed_limit},
                            {"injection", [] { injection(PoolPolicy::caching); }},
                            {"injection_none", [] { injection(PoolPolicy::none); }},
                            {"speed", speed}},
                           [] { CHECK(left() == nothing); });
}
