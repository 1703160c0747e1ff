// The runtime layer over the host table: order, asynchrony, faults, injection, the order checker, poison, fork.
#include "runtime_support.hpp"
#include "threads.hpp"

#include "runtime/host/context.hpp"

#include <sys/wait.h>
#include <unistd.h>

namespace {

using namespace stator;
using namespace stator::runtime;
using namespace stator::test;

void test_order_and_asynchrony() {
  Runtime runtime(host_table(), 0, 0);
  const StreamHandle stream = runtime.stream_create();
  const Launcher launch{runtime, stream};
  std::vector<int> seen;
  std::atomic<bool> open{false};
  const std::function<void(int64_t, int64_t)> gate = [&](int64_t, int64_t) {
    while (!open) nap(1);
    seen.push_back(0);
  };
  std::vector<std::function<void(int64_t, int64_t)>> steps;
  for (int i = 1; i < 50; ++i) steps.push_back([&seen, i](int64_t, int64_t) { seen.push_back(i); });
  launch(gate);
  for (const auto& step : steps) launch(step, 1, 8);  // small, but the stream is busy: queued
  CHECK(!runtime.stream_query(stream));
  open = true;
  runtime.stream_synchronize(stream);
  CHECK(runtime.stream_query(stream));
  bool in_order = seen.size() == 50;
  for (size_t i = 0; i < seen.size(); ++i) in_order = in_order && seen[i] == int(i);
  CHECK(in_order);

  std::thread::id ran_on;
  const std::function<void(int64_t, int64_t)> where = [&](int64_t, int64_t) { ran_on = std::this_thread::get_id(); };
  launch(where, 1, 8);
  CHECK(ran_on == std::this_thread::get_id());  // small and idle: inline
  bool all = false;
  const std::function<void(int64_t, int64_t)> whole = [&](int64_t first, int64_t last) {
    all = first == 0 && last == 1000;
  };
  launch(whole, 1000, big, nullptr, true, true);
  CHECK(all);  // synchronous: done on return
  runtime.stream_destroy_noexcept(stream);
}

void test_blocks() {
  Runtime runtime(host_table(), 0, 0);
  const StreamHandle stream = runtime.stream_create();
  for (int64_t blocks : {1, 2, 3, 7, 8, 9, 1000, 12345}) {
    std::vector<std::atomic<int>> hits(blocks);
    const std::function<void(int64_t, int64_t)> body = [&](int64_t first, int64_t last) {
      for (int64_t i = first; i < last; ++i) hits[i].fetch_add(1);
    };
    Launcher{runtime, stream}(body, blocks);
    runtime.stream_synchronize(stream);
    bool once = true;
    for (auto& hit : hits) once = once && hit == 1;
    CHECK(once);
  }
  runtime.stream_destroy_noexcept(stream);
}

void test_events() {
  Runtime runtime(host_table(), 0, poison_checks);
  const StreamHandle a = runtime.stream_create(), b = runtime.stream_create();
  const EventHandle start = runtime.event_create(), event = runtime.event_create();
  CHECK(runtime.event_query(event));  // never recorded
  CHECK(!THROWN(CudaError, runtime.event_elapsed(start, event)).empty());
  int value = 0, read = -1;
  std::atomic<bool> go{false};
  const std::function<void(int64_t, int64_t)> slow = [&](int64_t, int64_t) {
    while (!go) nap(1);
    nap(20), value = 7;
  };
  const std::function<void(int64_t, int64_t)> reader = [&](int64_t, int64_t) { read = value; };
  const auto before = std::chrono::steady_clock::now();
  runtime.event_record(start, a);
  Launcher{runtime, a}(slow);
  runtime.event_record(event, a);
  CHECK(!runtime.event_query(event));
  go = true;
  runtime.stream_wait(b, event);
  Launcher{runtime, b}(reader);
  runtime.stream_synchronize(b);
  CHECK(read == 7);
  runtime.event_synchronize(event);
  CHECK(runtime.event_query(event));
  const float elapsed = runtime.event_elapsed(start, event);
  const std::chrono::duration<float, std::milli> all = std::chrono::steady_clock::now() - before;
  CHECK(elapsed > 15 && elapsed < all.count() + 1);

  // streams that hand work to and fro, queued all at once
  std::vector<EventHandle> events;
  int counter = 0;
  const std::function<void(int64_t, int64_t)> count = [&](int64_t, int64_t) { ++counter; };
  for (int i = 0; i < 200; ++i) {
    events.push_back(runtime.event_create());
    Launcher{runtime, i % 2 ? b : a}(count);
    runtime.event_record(events.back(), i % 2 ? b : a);
    runtime.stream_wait(i % 2 ? a : b, events.back());
  }
  runtime.stream_synchronize(a);
  runtime.stream_synchronize(b);
  CHECK(counter == 200);
  events.push_back(start);
  events.push_back(event);
  for (EventHandle each : events) CHECK(runtime.event_destroy_noexcept(each) == 0);
  runtime.stream_destroy_noexcept(a);
  runtime.stream_destroy_noexcept(b);
}

void test_copies() {
  for (unsigned checks : {0u, poison_checks}) {
    Runtime runtime(host_table(), 0, checks);
    const StreamHandle stream = runtime.stream_create();
    for (size_t bytes : {size_t(1), size_t(1000), size_t(3) << 20}) {
      void *device = nullptr, *other = nullptr, *pinned = nullptr;
      CHECK(runtime.allocate(bytes, stream, &device) == 0 && runtime.allocate(bytes, stream, &other) == 0);
      CHECK(runtime.allocate_pinned(bytes, &pinned) == 0);
      CHECK(uintptr_t(device) % (bytes >= (2u << 20) ? 2u << 20 : 64) == 0);
      std::vector<char> source(bytes, 'x'), result(bytes);
      runtime.copy(device, source.data(), bytes, CopyKind::host_to_device, stream, Record{no_op, nullptr, 0, false});
      std::fill(source.begin(), source.end(), 'y');  // ordinary memory: read already
      runtime.copy(other, device, bytes, CopyKind::device_to_device, stream, Record{no_op, nullptr, 0, false});
      runtime.copy(result.data(), other, bytes, CopyKind::device_to_host, stream, Record{no_op, nullptr, 0, false});
      CHECK(result == std::vector<char>(bytes, 'x'));  // ordinary memory: written on return
      runtime.fill(device, 'z', bytes, stream, Record{no_op, nullptr, 0, false});
      runtime.copy(pinned, device, bytes, CopyKind::device_to_host, stream, Record{no_op, nullptr, 0, false});
      runtime.stream_synchronize(stream);
      CHECK(std::string(static_cast<char*>(pinned), bytes) == std::string(bytes, 'z'));
      runtime.free_noexcept(device, bytes, stream);
      runtime.free_noexcept(other, bytes, stream);
      CHECK(runtime.free_pinned_noexcept(pinned) == 0);
    }
    const Counters counters = runtime.counters();
    CHECK(counters.h2d_bytes == 1001 + (3u << 20) && counters.d2h_bytes == 2 * counters.h2d_bytes);
    CHECK(counters.calls[int(Call::copy)] == 12 && counters.calls[int(Call::fill)] == 3);
    runtime.stream_destroy_noexcept(stream);
  }
}

void test_memory() {
  void *block = nullptr, *pinned = nullptr;
  {
    Runtime runtime(host_table(), 0, poison_checks);
    const StreamHandle stream = runtime.stream_create();
    CHECK(runtime.allocate(size_t(1) << 60, stream, &block) == status::out_of_memory);
    CHECK(runtime.allocate(SIZE_MAX, stream, &block) == status::out_of_memory);
    CHECK(runtime.allocate(100, stream, &block) == 0 && runtime.allocate_pinned(100, &pinned) == 0);
    CHECK(static_cast<unsigned char*>(block)[99] == 0xCB);
    size_t free = 0, total = 0;
    runtime.memory_info(&free, &total);
    CHECK(free <= total && total > 0);
    runtime.stream_destroy_noexcept(stream);
    CHECK(runtime.destroy_noexcept() == 0);
    CHECK(host_table().outstanding() == (std::array<int64_t, 6>{1, 1, 0, 0, 0, 0}));
    CHECK(runtime.free_noexcept(block, 100, nullptr) == 0);  // exported memory outlives its context
  }
  CHECK(host_table().free_pinned(nullptr, pinned) == 0);
  CHECK(nothing_outstanding());

  const size_t counted = host::live_memory();
  {
    Runtime runtime(host_table(), 0, poison_checks);
    const StreamHandle stream = runtime.stream_create();
    const size_t large = size_t(20) << 20;  // two of them are more than the quarantine keeps
    for (int i = 0; i < 3; ++i) {
      CHECK(runtime.allocate(large, stream, &block) == 0);
      runtime.free_noexcept(block, large, stream);
    }
    runtime.stream_synchronize(stream);
    CHECK(host::live_memory() - counted == large);
    runtime.stream_destroy_noexcept(stream);
  }
  CHECK(host::live_memory() == counted);

  Runtime runtime(host_table(), 0, poison_checks);
  const StreamHandle stream = runtime.stream_create();
  CHECK(runtime.allocate(4096, stream, &block) == 0);
  const std::function<void(int64_t, int64_t)> slow = [&](int64_t, int64_t) { nap(10), std::memset(block, 1, 4096); };
  Launcher{runtime, stream}(slow);
  runtime.free_noexcept(block, 4096, stream);  // in stream order: after the write
  runtime.stream_synchronize(stream);
  CHECK(static_cast<unsigned char*>(block)[7] == 0xCB);
  static_cast<unsigned char*>(block)[7] = 1;  // the quarantine sees a late write
  runtime.stream_destroy_noexcept(stream);
  CHECK(runtime.destroy_noexcept() == status::illegal_address);
}

void test_faults() {
  for (unsigned checks : {0u, poison_checks}) {
    Runtime runtime(host_table(), 0, checks);
    const StreamHandle stream = runtime.stream_create();
    const EventHandle event = runtime.event_create();
    void* block = nullptr;
    CHECK(runtime.allocate(64, stream, &block) == 0);
    std::atomic<int> later{0};
    const std::function<void(int64_t, int64_t)> nothing = [](int64_t, int64_t) {};
    const std::function<void(int64_t, int64_t)> count = [&](int64_t, int64_t) { ++later; };
    std::atomic<bool> go{false};
    const std::function<void(int64_t, int64_t)> slow = [&](int64_t, int64_t) {
      while (!go) nap(1);
    };
    Launcher launch{runtime, stream};
    launch(slow);
    launch(nothing, 4, big, "barrier missed by 3 lanes");
    launch(count);
    runtime.event_record(event, stream);
    go = true;
    const std::string text = THROWN(CudaError, runtime.stream_synchronize(stream));
    CHECK(text.find("barrier missed by 3 lanes") != std::string::npos && text.find("719") != std::string::npos);
    CHECK(later == 0);
    CHECK(!THROWN(CudaError, launch(count)).empty() && !THROWN(CudaError, runtime.event_query(event)).empty());
    void* none = nullptr;
    CHECK(!THROWN(CudaError, runtime.allocate(64, stream, &none)).empty());
    CHECK(runtime.free_noexcept(block, 64, stream) == 0);
    CHECK(runtime.event_destroy_noexcept(event) == 0 && runtime.stream_destroy_noexcept(stream) == 0);
    CHECK(runtime.destroy_noexcept() == 0);
  }
  for (int64_t bytes : {int64_t(8), big}) {
    Runtime runtime(host_table(), 0, 0);
    const StreamHandle stream = runtime.stream_create();
    const std::function<void(int64_t, int64_t)> nothing = [](int64_t, int64_t) {};
    runtime.inject_fault();
    CHECK(THROWN(CudaError, Launcher{runtime, stream}(nothing, 1, bytes)).empty());  // asynchronous: the launch is fine
    CHECK(THROWN(CudaError, runtime.stream_synchronize(stream)).find("injected fault") != std::string::npos);
    runtime.stream_destroy_noexcept(stream);
  }
  for (int64_t bytes : {int64_t(8), big}) {
    Runtime runtime(host_table(), 0, 0);
    const StreamHandle stream = runtime.stream_create();
    const params::Access access{nullptr, 0, bytes, true};
    const auto describe = [](int) { return "not positive definite"; };
    int ran = 0;
    runtime.library_in_pieces(
        "potrf", [&ran](int64_t) { return ++ran, 0; }, 1, describe, stream, Record{no_op, &access, 1, true});
    CHECK(ran == 1);
    const Record record{no_op, &access, 1, false};
    runtime.library_in_pieces("potrf", [](int64_t) { return 3; }, 1, describe, stream, record);
    CHECK(THROWN(CudaError, runtime.stream_synchronize(stream)).find("not positive definite") != std::string::npos);
    runtime.stream_destroy_noexcept(stream);
  }
}

// One step of everything; whatever happens, all is released.
void everything(Runtime& runtime) {
  struct Step {
    Runtime& runtime;
    StreamHandle a = nullptr, b = nullptr;
    EventHandle event = nullptr;
    void *block = nullptr, *pinned = nullptr;
    ~Step() {
      if (block) runtime.forget_buffer(block), runtime.free_noexcept(block, 64, a);
      if (pinned) runtime.free_pinned_noexcept(pinned);
      if (event) runtime.event_destroy_noexcept(event);
      if (b) runtime.stream_destroy_noexcept(b);
      if (a) runtime.stream_destroy_noexcept(a);
    }
  } step{runtime};
  step.a = runtime.stream_create();
  step.b = runtime.stream_create();
  step.event = runtime.event_create();
  if (runtime.allocate(64, step.a, &step.block)) throw OutOfMemoryError("everything", {});
  if (runtime.allocate_pinned(64, &step.pinned)) throw OutOfMemoryError("everything", {});
  const params::Access access{step.block, 0, 64, true};
  const Record record{no_op, &access, 1, false};
  runtime.fill(step.block, 1, 64, step.a, record);
  runtime.event_record(step.event, step.a);
  runtime.stream_wait(step.b, step.event);
  touch(runtime, step.b, step.block, true);
  runtime.event_query(step.event);
  runtime.event_synchronize(step.event);
  runtime.event_elapsed(step.event, step.event);
  runtime.library_in_pieces(
      "task", [](int64_t) { return 0; }, 1, [](int) -> const char* { return ""; }, step.b, record);
  runtime.copy(step.pinned, step.block, 64, CopyKind::device_to_host, step.b, record);
  runtime.stream_synchronize(step.b);
  runtime.stream_query(step.b);
}

void test_injection() {
  Runtime runtime(host_table(), 0, order_checks);
  const auto before = host_table().outstanding();
  runtime.set_injection({});
  everything(runtime);
  runtime.lift_injection();
  const int64_t calls = runtime.calls_since_injection();
  CHECK(calls == 21);
  for (bool until_lifted : {false, true}) {
    for (int64_t k = 0; k < calls; ++k) {
      Injection injection;
      injection.fail_at = k;
      injection.until_lifted = until_lifted;
      runtime.set_injection(injection);
      const bool threw = !THROWN(Error, everything(runtime)).empty();
      runtime.lift_injection();
      CHECK(threw == (k < 16));  // the releases at the end report, and release
      CHECK(host_table().outstanding() == before);
      CHECK(THROWN(Error, everything(runtime)).empty());
    }
  }
}

void test_order_checker() {
  Runtime runtime(host_table(), 0, order_checks);
  const StreamHandle a = runtime.stream_create(), b = runtime.stream_create();
  const EventHandle event = runtime.event_create();
  int x = 0, y = 0, z = 0;
  const auto ordered = [&](auto&&... args) { return THROWN(StreamOrderError, touch(runtime, args...)); };

  touch(runtime, a, &x, true);
  CHECK(ordered(a, &x, true).empty());      // one stream
  CHECK(ordered(b, &x, true, 64).empty());  // another range
  const std::string text = ordered(b, &x, false);
  CHECK(text.find("Reader on stream 1") != std::string::npos && text.find("writer on stream 0") != std::string::npos);
  CHECK(text.find("Record an event on stream 0") != std::string::npos);
  runtime.event_record(event, a);
  CHECK(!ordered(b, &x, false).empty());  // recorded, not waited for
  runtime.stream_wait(b, event);
  CHECK(ordered(b, &x, false).empty());
  CHECK(!ordered(a, &x, true).empty());  // a write over b's read
  runtime.stream_synchronize(b);
  CHECK(ordered(a, &x, true).empty());

  touch(runtime, a, &y, false);
  CHECK(ordered(b, &y, false).empty());  // two readers
  CHECK(!ordered(b, &y, true).empty());
  CHECK(!THROWN(StreamOrderError, runtime.host_access({&y, 0, 64, true}, no_op)).empty());
  CHECK(THROWN(StreamOrderError, runtime.host_access({&y, 0, 64, false}, no_op)).empty());
  while (!runtime.stream_query(a)) nap(1);
  runtime.event_record(event, b);
  runtime.event_synchronize(event);
  CHECK(THROWN(StreamOrderError, runtime.host_access({&y, 0, 64, true}, no_op)).empty());

  touch(runtime, a, &z, true);
  Injection injection;
  injection.drop_wait_at = 1;
  runtime.set_injection(injection);
  runtime.event_record(event, a);
  runtime.stream_wait(b, event);
  CHECK(ordered(b, &z, true).empty());
  runtime.event_record(event, b);
  runtime.stream_wait(a, event);  // dropped
  CHECK(!ordered(a, &z, true).empty());
  runtime.stream_wait(a, event);
  CHECK(ordered(a, &z, true).empty());
  runtime.lift_injection();
  runtime.forget_buffer(&z);
  CHECK(ordered(b, &z, true).empty());

  for (int i = 0; i < 2000; ++i) touch(runtime, a, &y, true, i * 64);  // a long history stays a short one
  CHECK(!ordered(b, &y, true, 1999 * 64).empty());
  runtime.event_destroy_noexcept(event);
  runtime.stream_destroy_noexcept(b);
  runtime.stream_destroy_noexcept(a);
}

void test_fork() {
#ifdef __SANITIZE_THREAD__  // it ends a child that starts threads
  return;
#endif
  Runtime runtime(host_table(), 0, 0);
  const StreamHandle stream = runtime.stream_create();
  void* block = nullptr;
  runtime.allocate(64, stream, &block);
  std::atomic<bool> begun{false}, go{false};
  const std::function<void(int64_t, int64_t)> slow = [&](int64_t, int64_t) {
    begun = true;
    while (!go) nap(1);
  };
  Launcher{runtime, stream}(slow);
  while (!begun) nap(1);
  wait_until_others_sleep();  // AddressSanitizer's allocator does not outlive a fork while a thread is starting
  const pid_t child = fork();
  if (child == 0) {
    alarm(300);
    bool fine = !THROWN(CudaError, runtime.stream_synchronize(stream)).empty();
    fine = fine && !THROWN(CudaError, Launcher{runtime, stream}(slow)).empty();
    fine = fine && runtime.free_noexcept(block, 64, stream) == 0 && runtime.stream_destroy_noexcept(stream) == 0;
    fine = fine && runtime.destroy_noexcept() == 0;
    Runtime own(host_table(), 0, 0);
    const StreamHandle of_child = own.stream_create();
    int ran = 0;
    const std::function<void(int64_t, int64_t)> body = [&](int64_t, int64_t) { ran = 1; };
    Launcher{own, of_child}(body);
    own.stream_synchronize(of_child);
    own.stream_destroy_noexcept(of_child);
    own.destroy_noexcept();
    _exit(fine && ran ? 0 : 1);
  }
  go = true;
  int state = -1;
  waitpid(child, &state, 0);
  CHECK(WIFEXITED(state) && WEXITSTATUS(state) == 0);
  runtime.free_noexcept(block, 64, stream);
  runtime.stream_destroy_noexcept(stream);
}

}  // namespace

int main(int argc, char** argv) {
  return stator::test::run(argc, argv,
                           {{"order_and_asynchrony", test_order_and_asynchrony},
                            {"blocks", test_blocks},
                            {"events", test_events},
                            {"copies", test_copies},
                            {"memory", test_memory},
                            {"faults", test_faults},
                            {"injection", test_injection},
                            {"order_checker", test_order_checker},
                            {"fork", test_fork}},
                           [] { CHECK(nothing_outstanding()); });
}
