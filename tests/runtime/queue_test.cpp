// The queues of the host's streams: their bound, what it must not hold up, and waits that end early.
#include "runtime_support.hpp"
#include "threads.hpp"

#include "runtime/waiting/waiting.hpp"

#include <pthread.h>

namespace {

using namespace stator;
using namespace stator::runtime;
using namespace stator::test;

using Work = std::function<void(int64_t, int64_t)>;

constexpr int many = 10'000, bound = 3'000;

// Work that holds its stream until it is opened.
struct Gate {
  std::atomic<bool> begun{false}, open{false};
  const Work work = [this](int64_t, int64_t) { pass(); };
  void pass() {
    begun = true;
    while (!open) nap(1);
  }
};

// Until a thread that counts its launches, and has made some, sleeps between them.
void wait_until_steady(const std::atomic<int>& launched, int some) {
  for (int before = -1; before != launched || before < some;) {
    before = launched;
    nap(20);
    CHECK(wait_until_others_sleep());
  }
}

// Launches from a thread of its own.
struct Caller {
  std::atomic<int> launched{0}, ran{0};
  const Work work = [this](int64_t, int64_t) { ran.fetch_add(1); };
  std::thread thread;

  Caller(Runtime& runtime, StreamHandle stream)
      : thread([this, &runtime, stream] {
          for (; launched < many; ++launched) Launcher{runtime, stream}(work);
        }) {}
  void wait_until_held_up() const { wait_until_steady(launched, 1000); }
};

void test_a_caller_waits_where_the_queue_is_long() {
  Runtime runtime(host_table(), 0, 0);
  const StreamHandle stream = runtime.stream_create();
  Gate gate;
  Launcher{runtime, stream}(gate.work);
  Caller caller(runtime, stream);
  caller.wait_until_held_up();
  CHECK(caller.launched < bound && caller.ran == 0 && host_queues_are_long());
  gate.open = true;
  caller.thread.join();
  runtime.stream_synchronize(stream);
  CHECK(caller.ran == many && !host_queues_are_long());
  runtime.stream_destroy_noexcept(stream);
}

void test_the_bound_counts_bytes_too() {
  Runtime runtime(host_table(), 0, 0);
  const StreamHandle stream = runtime.stream_create();
  Gate gate;
  Launcher{runtime, stream}(gate.work);
  std::vector<std::byte> arguments(size_t(1) << 20);
  std::atomic<int> launched{0};
  std::thread caller([&] {
    for (; launched < 100; ++launched) {
      params::Launch launch{};
      launch.name = "large_arguments";
      launch.blocks = launch.threads = 1;
      launch.entry = [](const params::Launch&, int64_t, int64_t) -> const char* { return nullptr; };
      launch.arguments = arguments.data();
      launch.argument_bytes = arguments.size();
      const params::Access access{&arguments, 0, big, true};
      runtime.launch(launch, stream, Record{no_op, &access, 1, false});
    }
  });
  wait_until_steady(launched, 2);
  CHECK(launched < 10);
  gate.open = true;
  caller.join();
  runtime.stream_synchronize(stream);
  runtime.stream_destroy_noexcept(stream);
}

void test_a_host_function_may_wait_for_the_caller() {
  Runtime runtime(host_table(), 0, 0);
  const StreamHandle stream = runtime.stream_create(), other = runtime.stream_create();
  Gate gate;
  runtime.host_function([](void* data) { static_cast<Gate*>(data)->pass(); }, &gate, stream, no_op);
  const EventHandle event = runtime.event_create();
  runtime.event_record(event, stream);
  runtime.stream_wait(other, event);
  std::atomic<int> ran{0};
  const Work work = [&](int64_t, int64_t) { ran.fetch_add(1); };
  for (int i = 0; i < many; ++i) Launcher{runtime, i % 2 ? stream : other}(work);
  gate.open = true;
  runtime.stream_synchronize(stream);
  runtime.stream_synchronize(other);
  CHECK(ran == many);
  runtime.event_destroy_noexcept(event);
  runtime.stream_destroy_noexcept(other);
  runtime.stream_destroy_noexcept(stream);
}

// It is enqueued when the queue is long already, so that its caller is waiting when it begins.
void test_a_host_function_lets_a_waiting_caller_through() {
  Runtime runtime(host_table(), 0, 0);
  const StreamHandle stream = runtime.stream_create();
  Gate first, second;
  Launcher{runtime, stream}(first.work);
  runtime.host_function([](void* data) { static_cast<Gate*>(data)->pass(); }, &second, stream, no_op);
  Caller caller(runtime, stream);
  caller.wait_until_held_up();
  first.open = true;
  caller.thread.join();
  second.open = true;
  runtime.stream_synchronize(stream);
  CHECK(caller.ran == many);
  runtime.stream_destroy_noexcept(stream);
}

void test_a_long_queue_may_wait_for_another_stream() {
  Runtime runtime(host_table(), 0, 0);
  const StreamHandle first = runtime.stream_create(), second = runtime.stream_create();
  const EventHandle event = runtime.event_create();
  Gate gate;
  Launcher{runtime, first}(gate.work);
  runtime.event_record(event, first);
  runtime.stream_wait(second, event);
  Caller caller(runtime, second);
  caller.wait_until_held_up();
  Caller helper(runtime, first);
  gate.open = true;
  caller.thread.join();
  helper.thread.join();
  runtime.stream_synchronize(second);
  runtime.stream_synchronize(first);
  CHECK(caller.ran == many && helper.ran == many);
  runtime.event_destroy_noexcept(event);
  runtime.stream_destroy_noexcept(second);
  runtime.stream_destroy_noexcept(first);
}

std::atomic<bool> interrupted{false};

template <class F>
bool is_interrupted(F f) {
  try {
    f();
  } catch (const Interrupted&) {
    return true;
  }
  return false;
}

void test_a_wait_can_end_early() {
  Runtime runtime(host_table(), 0, 0);
  const StreamHandle stream = runtime.stream_create();
  const EventHandle event = runtime.event_create();
  set_interrupt_check([] { return interrupted.load(); }, pthread_self());
  Gate gate;
  Launcher{runtime, stream}(gate.work);
  runtime.event_record(event, stream);
  while (!gate.begun) nap(1);
  interrupted = true;
  std::atomic<int> ran{0};
  const Work work = [&](int64_t, int64_t) { ran.fetch_add(1); };
  CHECK(is_interrupted([&] { runtime.stream_synchronize(stream); }));
  CHECK(is_interrupted([&] { runtime.event_synchronize(event); }));
  CHECK(is_interrupted([&] { Launcher{runtime, stream}(work, 1, big, nullptr, false, true); }));
  int number = 0, from = 7;
  CHECK(is_interrupted([&] { runtime.copy(&number, &from, 4, CopyKind::device_to_host, stream, {}); }));
  int launched = 0;
  CHECK(is_interrupted([&] {
    for (; launched < many; ++launched) Launcher{runtime, stream}(work);
  }));
  interrupted = false;
  gate.open = true;
  runtime.stream_synchronize(stream);
  CHECK(ran == launched && number == 0);
  runtime.copy(&number, &from, 4, CopyKind::device_to_host, stream, {});
  runtime.stream_synchronize(stream);
  CHECK(number == 7);
  set_interrupt_check(nullptr, {});
  runtime.event_destroy_noexcept(event);
  runtime.stream_destroy_noexcept(stream);
}

void test_dropped_work_is_not_done() {
  Runtime runtime(host_table(), 0, 0);
  const StreamHandle stream = runtime.stream_create();
  Gate gate;
  std::atomic<int> ran{0};
  const Work work = [&](int64_t, int64_t) { ran.fetch_add(1); };
  Launcher{runtime, stream}(gate.work);
  for (int i = 0; i < 100; ++i) Launcher{runtime, stream}(work);
  while (!gate.begun) nap(1);
  drop_work_on_host(stream);
  gate.open = true;
  runtime.stream_destroy_noexcept(stream);
  CHECK(ran == 0);
}

}  // namespace

int main(int argc, char** argv) {
  return stator::test::run(
      argc, argv,
      {{"a_caller_waits_where_the_queue_is_long", test_a_caller_waits_where_the_queue_is_long},
       {"the_bound_counts_bytes_too", test_the_bound_counts_bytes_too},
       {"a_host_function_may_wait_for_the_caller", test_a_host_function_may_wait_for_the_caller},
       {"a_host_function_lets_a_waiting_caller_through", test_a_host_function_lets_a_waiting_caller_through},
       {"a_long_queue_may_wait_for_another_stream", test_a_long_queue_may_wait_for_another_stream},
       {"a_wait_can_end_early", test_a_wait_can_end_early},
       {"dropped_work_is_not_done", test_dropped_work_is_not_done}},
      [] { CHECK(nothing_outstanding()); });
}
