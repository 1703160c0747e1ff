// Who runs the host table's work: every CPU while there is work, no thread while there is none, for any number of
// threads.
#include "runtime_support.hpp"
#include "threads.hpp"

#include <stator/backend.hpp>

#include <pthread.h>
#include <sched.h>
#include <unistd.h>
#include <ctime>
#include <mutex>
#include <set>
#include <system_error>

namespace {

using namespace stator;
using namespace stator::runtime;
using namespace stator::test;

// Two pieces of work that wait for each other: met if two threads run them at once.
struct Meeting {
  std::atomic<int> here{0};
  std::atomic<bool> met{true};
  const std::function<void(int64_t, int64_t)> piece = [this](int64_t, int64_t) {
    here.fetch_add(1);
    for (int i = 0; here < 2 && i < 60'000; ++i) nap(1);
    if (here < 2) met = false;
  };
};

void test_nobody_need_wait_for_every_cpu_to_work() {
  Runtime runtime(host_table(), 0, 0);
  const int cpus = runtime.properties().limits.multiprocessors;
  const StreamHandle a = runtime.stream_create(), b = runtime.stream_create();
  const auto poll = [&](StreamHandle stream) {
    while (!runtime.stream_query(stream)) nap(1);
  };
  const std::function<void(int64_t, int64_t)> nothing = [](int64_t, int64_t) {};
  Launcher{runtime, a}(nothing);
  const auto all_asleep = [&] { poll(a), poll(b), CHECK(wait_until_others_sleep()); };
  all_asleep();

  std::mutex mutex;
  std::set<std::thread::id> threads;
  const auto here = [&] {
    const std::lock_guard lock(mutex);
    return int(threads.size());
  };
  const std::function<void(int64_t, int64_t)> block = [&](int64_t, int64_t) {
    {
      const std::lock_guard lock(mutex);
      threads.insert(std::this_thread::get_id());
    }
    for (int i = 0; here() < cpus && i < 60'000; ++i) nap(1);  // for the other threads
  };
  Launcher{runtime, a}(block, 16 * cpus);
  all_asleep();
  CHECK(int(threads.size()) == cpus);

  if (cpus > 1) {
    Meeting streams;
    Launcher{runtime, a}(streams.piece);
    for (int i = 0; streams.here < 1 && i < 60'000; ++i) nap(1);
    Launcher{runtime, b}(streams.piece);
    all_asleep();
    CHECK(streams.met);

    Meeting helped;
    Launcher{runtime, a}(helped.piece, 2);
    runtime.stream_synchronize(a);
    CHECK(helped.met);
    all_asleep();

    Meeting elsewhere;  // the caller waits for a stream that has nothing to do before the other one is done
    const EventHandle event = runtime.event_create();
    Launcher{runtime, a}(elsewhere.piece, 2);
    runtime.event_record(event, a);
    runtime.stream_wait(b, event);
    runtime.stream_synchronize(b);
    CHECK(elsewhere.met);
    runtime.event_destroy_noexcept(event);
  }
  runtime.stream_destroy_noexcept(b);
  runtime.stream_destroy_noexcept(a);
}

void test_idle_workers_sleep() {
  Runtime runtime(host_table(), 0, 0);
  const StreamHandle stream = runtime.stream_create();
  const std::function<void(int64_t, int64_t)> nothing = [](int64_t, int64_t) {};
  for (int i = 0; i < 20; ++i) Launcher{runtime, stream}(nothing, 8);
  runtime.stream_synchronize(stream);
  CHECK(wait_until_others_sleep());
  const std::clock_t before = std::clock();  // of all threads
  nap(200);
  CHECK(double(std::clock() - before) / CLOCKS_PER_SEC < 0.05);
  runtime.stream_destroy_noexcept(stream);
}

// The CPU of a caller who goes on running is not for the workers that it wakes, unless they have no other.
void test_woken_workers_leave_the_caller_its_cpu() {
  Runtime runtime(host_table(), 0, 0);
  const StreamHandle stream = runtime.stream_create();
  cpu_set_t all, mine, seen, only;
  sched_getaffinity(0, sizeof all, &all);
  std::vector<int> cpus;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
    if (CPU_ISSET(cpu, &all)) cpus.push_back(cpu);
  if (cpus.size() < 2) cpus.clear();
  const std::function<void(int64_t, int64_t)> look = [&](int64_t, int64_t) {
    sched_getaffinity(0, sizeof seen, &seen);
  };
  const auto launch_from_sleep = [&](const std::function<void(int64_t, int64_t)>& body) {
    while (!runtime.stream_query(stream)) nap(1);
    CHECK(wait_until_others_sleep());
    Launcher{runtime, stream}(body);
    while (!runtime.stream_query(stream)) nap(1);
  };
  launch_from_sleep(look);  // workers start before this thread's own CPUs are fewer
  for (const int cpu : cpus) {
    CPU_ZERO(&mine);
    CPU_SET(cpu, &mine);
    sched_setaffinity(0, sizeof mine, &mine);
    launch_from_sleep(look);
    CPU_CLR(cpu, &(only = all));
    CHECK(CPU_EQUAL(&seen, &only));
  }
  if (!cpus.empty()) {  // an affinity set from outside stays
    only = mine;
    const std::function<void(int64_t, int64_t)> move = [&](int64_t, int64_t) {
      sched_setaffinity(0, sizeof only, &only);
    };
    for (size_t i = 0; i < cpus.size(); ++i) launch_from_sleep(move);
    CPU_ZERO(&mine);
    CPU_SET(cpus.front(), &mine);
    sched_setaffinity(0, sizeof mine, &mine);
    launch_from_sleep(look);
    CHECK(CPU_EQUAL(&seen, &only));
  }
  sched_setaffinity(0, sizeof all, &all);
  runtime.stream_destroy_noexcept(stream);
}

void test_workers_end() {
  const auto threads = [] {
    int count = 0;
    char name[16];
    for (int i = 0; i < 10'000; ++i) {
      count = 0;
      const std::string tasks = "/proc/" + std::to_string(getpid()) + "/task";
      FILE* pipe = popen(("grep -l '^stator$' " + tasks + "/*/comm | wc -l").c_str(), "r");
      if (pipe && std::fgets(name, sizeof name, pipe)) count = std::atoi(name);
      if (pipe) pclose(pipe);
      if (count == 0) break;
      nap(1);
    }
    return count;
  };
  CHECK(threads() == 0);
  const std::function<void(int64_t, int64_t)> nothing = [](int64_t, int64_t) {};
  for (int i = 0; i < 50; ++i) {
    Runtime first(host_table(), 0, 0), second(host_table(), 0, poison_checks);
    for (Runtime* runtime : {&first, &second}) {
      const StreamHandle stream = runtime->stream_create();
      for (int j = 0; j < 5; ++j) Launcher{*runtime, stream}(nothing, 8);
      runtime->stream_destroy_noexcept(stream);  // with work pending
    }
  }
  CHECK(threads() == 0);
}

void test_many_threads() {
  for (unsigned checks : {0u, order_checks, order_checks | poison_checks}) {
    Runtime runtime(host_table(), 0, checks);
    std::vector<std::thread> threads;
    for (int t = 0; t < 8; ++t) {
      threads.emplace_back([&runtime, t] {
        const StreamHandle own = runtime.stream_create(), other = runtime.stream_create();
        const EventHandle event = runtime.event_create();
        int64_t sum = 0;
        const std::function<void(int64_t, int64_t)> add = [&](int64_t, int64_t) { ++sum; };
        for (int i = 0; i < 200; ++i) {
          Launcher{runtime, i % 3 ? own : other}(add, 1, (i + t) % 4 ? 8 : big);
          runtime.event_record(event, i % 3 ? own : other);
          runtime.stream_wait(i % 3 ? other : own, event);
          if (i % 50 == 0) runtime.event_synchronize(event);
          void* block = nullptr;
          if (i % 10 == 0 && runtime.allocate(1000, own, &block) == 0) runtime.free_noexcept(block, 1000, own);
        }
        runtime.stream_synchronize(own);
        runtime.stream_synchronize(other);
        CHECK(sum == 200);
        runtime.event_destroy_noexcept(event);
        runtime.stream_destroy_noexcept(own);
        runtime.stream_destroy_noexcept(other);
      });
    }
    for (std::thread& thread : threads) thread.join();
  }
  // one stream from many threads
  Runtime runtime(host_table(), 0, 0);
  const StreamHandle stream = runtime.stream_create();
  int64_t sum = 0;
  const std::function<void(int64_t, int64_t)> add = [&](int64_t, int64_t) { ++sum; };
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 500; ++i) Launcher{runtime, stream}(add, 1, i % 8 ? 8 : big);
      runtime.stream_synchronize(stream);
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(sum == 4000);
  runtime.stream_destroy_noexcept(stream);
}

// Threads cannot be started while their stacks would be larger than the address space.
class NoThreads {
 public:
  NoThreads() {
    pthread_getattr_default_np(&before_);
    pthread_attr_t huge = before_;
    pthread_attr_setstacksize(&huge, size_t(1) << 47);
    pthread_setattr_default_np(&huge);
  }
  ~NoThreads() { pthread_setattr_default_np(&before_); }

 private:
  pthread_attr_t before_{};
};

int warnings = 0;

void test_without_threads_callers_do_the_work() {
  warnings = 0;
  set_warning_handler([](const char* text) { warnings += std::strstr(text, "no thread can be started") != nullptr; });
  const NoThreads scope;
  CHECK(!THROWN(std::system_error, std::thread([] {}).detach()).empty());
  for (unsigned checks : {0u, poison_checks}) {
    Runtime runtime(host_table(), 0, checks);
    const StreamHandle one = runtime.stream_create(), two = runtime.stream_create();
    const EventHandle event = runtime.event_create();
    std::vector<int> order;
    std::set<std::thread::id> threads;
    const auto body = [&](int name) {
      return std::function<void(int64_t, int64_t)>([&order, &threads, name](int64_t, int64_t) {
        order.push_back(name);
        threads.insert(std::this_thread::get_id());
      });
    };
    const auto first = body(1), second = body(2);
    Launcher{runtime, one}(first, 1);
    runtime.event_record(event, one);
    runtime.stream_wait(two, event);
    Launcher{runtime, two}(second, 1);
    CHECK(runtime.event_query(event) && runtime.stream_query(two));
    runtime.stream_synchronize(two);
    CHECK((order == std::vector<int>{1, 2}) && threads == std::set{std::this_thread::get_id()});
    runtime.event_destroy_noexcept(event);
    runtime.stream_destroy_noexcept(one);
    runtime.stream_destroy_noexcept(two);
  }
  set_warning_handler(nullptr);
  CHECK(warnings == 1);
}

}  // namespace

int main(int argc, char** argv) {
  return stator::test::run(argc, argv,
                           {{"nobody_need_wait_for_every_cpu_to_work", test_nobody_need_wait_for_every_cpu_to_work},
                            {"idle_workers_sleep", test_idle_workers_sleep},
                            {"woken_workers_leave_the_caller_its_cpu", test_woken_workers_leave_the_caller_its_cpu},
                            {"workers_end", test_workers_end},
                            {"without_threads_callers_do_the_work", test_without_threads_callers_do_the_work},
                            {"many_threads", test_many_threads}},
                           [] { CHECK(nothing_outstanding()); });
}
