// Ownership: teardown in every order, with pending work, from several threads, in a forked child, and with exports.
#include "core_support.hpp"
#include "threads.hpp"

#include <stator/creation.hpp>
#include <stator/interop.hpp>
#include <stator/movement.hpp>

#include <sys/wait.h>
#include <unistd.h>
#include <vector>

namespace {

using namespace stator;
using namespace stator::test;

void orders() {
  for (int order = 0; order < 6; ++order) {
    Backend backend = open_host();
    Array array = make(backend, 100), other = make(backend, 5000, backend.stream(3));
    Stream stream = backend.stream(1);
    Event event = stream.record();
    CHECK(backend.resources().size() == 6);  // 2 buffers, 3 streams, 1 event
    switch (order) {
      case 0: backend.close(); break;
      case 1:
        backend.close();
        backend.close();
        array = {};
        event = {};
        stream = {};
        backend = {};
        break;
      case 2:
        backend = {};
        event = {};
        stream = {};
        array = {};
        other = {};
        break;
      case 3:
        array = {};
        backend = {};
        other = {};
        stream = {};
        event = {};
        break;
      case 4:
        stream = {};
        event = {};
        array = {};
        backend.close();
        break;
      case 5:
        other = array;
        backend = {};
        array = {};
        stream = {};
        event = {};
        break;
    }
    if (order < 2 || order == 4) CHECK(left() == nothing);
  }
  CHECK(left() == nothing);
}

void use_after_close() {
  Backend backend = open_host();
  const Array array = make(backend, 64);
  const Stream stream = backend.stream(0);
  const Event event = stream.record();
  backend.close();
  CHECK(backend.closed() && backend.resources().empty());
  char bytes[64];
  CHECK(THROWN(BackendClosedError, array.to_host(bytes)).starts_with("Array::to_host"));
  CHECK(!THROWN(BackendClosedError, (void)array.data_ptr()).empty());
  CHECK(!THROWN(BackendClosedError, stream.synchronize()).empty());
  CHECK(!THROWN(BackendClosedError, event.synchronize()).empty());
  CHECK(!THROWN(BackendClosedError, make(backend, 1)).empty());
  CHECK(!THROWN(BackendClosedError, backend.synchronize()).empty());
  const int64_t shape[] = {8, 8};
  CHECK(!THROWN(BackendClosedError, reshape(array, shape)).empty());
  CHECK(left() == nothing);
}

void pending_work() {
  std::atomic<int> done{0};
  const std::function<void(const params::ErrorSlot&)> slow = [&](const params::ErrorSlot&) {
    pause(2), done.fetch_add(1);
  };
  Backend backend = open_host();
  for (int i = 0; i < 8; ++i) {
    const Array array = make(backend, 100 + i, backend.stream(i));
    enqueue(array, slow, backend.stream(i));
    enqueue(array, slow, backend.stream((i + 1) % 8));
  }
  backend.close();
  CHECK(done == 16 && left() == nothing);
}

void threads() {
  const std::function<void(const params::ErrorSlot&)> none = [](const params::ErrorSlot&) {};
  for (int round = 0; round < 5; ++round) {
    Backend backend = open_host();
    std::vector<std::thread> users;
    for (int t = 0; t < 8; ++t) {
      users.emplace_back([&, t] {
        try {
          std::vector<Array> kept;
          for (int i = 0; i < 10000; ++i) {
            const Stream stream = backend.stream((t + i) % 8);
            Array array = make(backend, 100 * (i % 30), stream);
            enqueue(array, none, stream);
            enqueue(array, none, backend.stream(t));
            if (i % 7 == 0) kept.push_back(array);
            if (i % 50 == 0) kept.clear();
            if (i % 11 == 0) ReleaseQueue::push(Ref<Buffer>(array.buffer()).detach());
            if (i % 100 == 0) stream.record().synchronize();
          }
        } catch (const BackendClosedError&) {}
      });
    }
    pause(20 + 10 * round);
    std::thread second([&] { backend.close(); });
    backend.close();
    CHECK(left() == nothing);
    second.join();
    for (std::thread& user : users) user.join();
    backend.close();
    CHECK(backend.resources().empty());
  }
}

void release_queue() {
  Backend backend = open_host();
  Array array = make(backend, 10), twin = array;
  const size_t before = backend.resources().size();
  ReleaseQueue::push(Ref<Buffer>(array.buffer()).detach());
  ReleaseQueue::push(Ref<Buffer>(array.buffer()).detach());
  array = {};
  CHECK(backend.resources().size() == before);
  ReleaseQueue::push(Ref<Buffer>(twin.buffer()).detach());
  twin = {};
  CHECK(backend.resources().size() == before - 1);
  backend.close();
}

void exports() {
  Backend backend = open_host();
  Array array = make(backend, 1000), other = make(backend, 1000);
  char* memory = static_cast<char*>(array.buffer()->export_memory(0xffff));
  array.buffer()->export_memory(0xffff);
  other.buffer()->export_memory(0xffff);
  other.buffer()->unexport();
  CHECK(backend.memory().exported_bytes == 1000);
  backend.close();
  CHECK(left()[0] == 1 && left()[4] == 0);
  CHECK(backend.resources().size() == 1 && backend.resources()[0].exported);
  std::memset(memory, 1, 1000);
  array.buffer()->unexport();
  CHECK(left()[0] == 1);
  array.buffer()->unexport();
  CHECK(left() == nothing && backend.resources().empty());
}

// Neither the host nor a consumer's stream goes ahead of a use on a stream that is not the last.
void exports_wait() {
  std::atomic<bool> done{false};
  bool seen = false;
  const std::function<void(const params::ErrorSlot&)> slow = [&](const params::ErrorSlot&) { pause(20), done = true; };
  const std::function<void(const params::ErrorSlot&)> quick = [](const params::ErrorSlot&) {};
  const std::function<void(const params::ErrorSlot&)> look = [&](const params::ErrorSlot&) { seen = done; };
  Backend backend = open_host();
  Array array = make(backend, 64);
  const Array other = make(backend, 64);
  const Stream consumer = backend.stream(3);
  const auto use = [&] {
    done = false;
    enqueue(array, slow, backend.stream(1));
    enqueue(array, quick, backend.stream(2));
  };
  use();
  interop::order_after_uses(array, consumer.native(), "test");
  enqueue(other, look, consumer);
  consumer.synchronize();
  CHECK(seen);
  use();
  interop::export_memory(array);
  CHECK(done);
  interop::unexport(array);
  backend.close();
}

void foreign() {
  int deleted = 0;
  alignas(16) char memory[256] = {};
  Backend backend = open_host();
  CHECK(THROWN(ValueError, from_foreign(backend, {memory + 8, DType::complex128, {2}, {1}, true}, {}))
            .find("not a multiple of 16") != std::string::npos);
  std::atomic<bool> go{false};
  const std::function<void(const params::ErrorSlot&)> wait = [&](const params::ErrorSlot&) {
    while (!go) pause(1);
  };
  {
    const Array array(Buffer::foreign(
                          *backend.context(), memory, 256, false, false, [&] { ++deleted; }, 0xffff),
                      DType::uint8, Dims{256}, Dims{1}, 0);
    enqueue(array, wait);
  }
  ForeignReleases::drain();
  CHECK(deleted == 0);  // the kernel still runs
  go = true;
  backend.synchronize();
  CHECK(ForeignReleases::pending());
  ForeignReleases::drain();
  CHECK(deleted == 1);
  const Array kept(Buffer::foreign(
                       *backend.context(), memory, 256, true, true, [&] { ++deleted; }, 0xffff),
                   DType::uint8, Dims{256}, Dims{1}, 0);
  enqueue(kept, [](const params::ErrorSlot&) {});  // shared with the host: done on return, so a temporary may be used
  backend.close();
  CHECK(deleted == 1);
  ForeignReleases::drain();
  CHECK(deleted == 2);
}

// Copies of long shapes share their values until one of them is changed, since copying must not fail.
void shapes() {
  static_assert(std::is_nothrow_copy_constructible_v<Dims> && std::is_nothrow_copy_constructible_v<Array>);
  for (const int size : {0, 1, 6, 7, 32}) {
    Dims original(size, 5);
    Dims copy = original;
    CHECK(copy == original);
    if (size == 0) continue;
    copy[size - 1] = 7;
    CHECK(original[size - 1] == 5 && copy[size - 1] == 7 && !(copy == original));
    original = copy;
    original[0] = 9;
    CHECK(original[0] == 9 && copy[0] == (size == 1 ? 7 : 5));
    if (size == Dims::max_size) continue;
    copy.push_back(3);
    CHECK(copy.size() == size + 1 && copy[size] == 3 && original.size() == size);
  }
}

void error_slot() {
  Backend backend = open_host();
  const Array array = make(backend, 16);
  const auto report = [](params::Fault fault, int64_t value) {
    return [=](const params::ErrorSlot& slot) {
      if (__atomic_exchange_n(slot.claim, 1, __ATOMIC_ACQ_REL)) return;
      *slot.record = {0, int32_t(Op::take), 3, value};
      __atomic_store_n(&slot.record->fault, int32_t(fault), __ATOMIC_RELEASE);
    };
  };
  const std::function<void(const params::ErrorSlot&)> first = report(params::Fault::index_out_of_range, 9),
                                                      second = report(params::Fault::index_out_of_range, 7),
                                                      division = report(params::Fault::division_by_zero, 0);
  for (int round = 0; round < 3; ++round) {
    enqueue(array, first);
    const std::string text = THROWN(IndexError, enqueue(array, second), backend.synchronize());
    CHECK(text.find("take: Index 9 at position 3 is out of range") == 0);
    backend.synchronize();
  }
  enqueue(array, division);
  backend.synchronize();
  CHECK(backend.poll_division_by_zero() && !backend.poll_division_by_zero());
  enqueue(array, first);
  CHECK(!THROWN(IndexError, backend.stream(0).synchronize()).empty());
  enqueue(array, first);
  backend.close();
  CHECK(last_warning.find("Index 9") != std::string::npos && left() == nothing);
}

// What a thread was given stays zero and its own while another thread asks the stream for more.
void zeroed_scratch() {
  Backend backend = open_host();  // poisons what is freed
  Context& context = *backend.context();
  StreamBox& stream = *context.stream(0);
  const auto* small = static_cast<const uint32_t*>(context.zeroed_scratch(stream, 64, no_op));
  const auto* large = static_cast<const uint32_t*>(context.zeroed_scratch(stream, size_t(1) << 20, no_op));
  CHECK(context.zeroed_scratch(stream, 64, no_op) == large);
  backend.synchronize();
  CHECK(small != large && small[0] == 0 && small[15] == 0 && large[0] == 0);
  backend.close();
}

void forks() {
  Backend backend = open_host();
  Array array = make(backend, 100);
  wait_until_others_sleep();  // AddressSanitizer's allocator does not outlive a fork while a thread is starting
  const pid_t child = fork();
  if (child == 0) {
    int bad = 0;
    char bytes[100];
    bad += THROWN(ForkedProcessError, array.to_host(bytes)).empty();
    bad += THROWN(ForkedProcessError, make(backend, 1)).empty();
    bad += THROWN(ForkedProcessError, backend.synchronize()).empty();
    array = {};
    backend.close();
    backend = {};
    {
      Backend own = open_host();
      bad += make(own, 10).size() != 10;
      own.close();
    }
    shutdown();
    _exit(bad);
  }
  int status = 0;
  waitpid(child, &status, 0);
  CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  backend.close();
  CHECK(left() == nothing);
}

// In a child of its own, since shutdown ends a process's use of the library.
int at_exit(const std::function<void()>& body, const char* expected) {
  const pid_t child = fork();
  if (child == 0) {
    last_warning.clear();
    body();
    _exit(expected ? last_warning.find(expected) == std::string::npos : !last_warning.empty());
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

void exits() {
  static std::vector<Array> globals;
  CHECK(at_exit(
            [] {
              for (int i = 0; i < 8; ++i) {
                Backend backend = open_host();
                globals.push_back(make(backend, 100));
                static const std::function<void(const params::ErrorSlot&)> slow = [](const params::ErrorSlot&) {
                  pause(5);
                };
                enqueue(globals.back(), slow);
              }
              shutdown();
              globals.clear();
              if (!THROWN(BackendClosedError, open_host()).empty() && left()[0] == 0)
                shutdown();
              else
                warn("open after shutdown");
            },
            nullptr) == 0);
}

// A process of its own, which ends without the sanitizer's own leak check.
[[noreturn]] void leak_and_exit() {
  keep_warnings();
  testing::leak_buffer(open_host(), 4096);
  shutdown();
  const bool seen = last_warning == "stator: leaked 1 allocations, 0 streams, 0 events, 0 contexts, 0 graphs on host";
  _exit(seen ? 0 : 1);
}

void leak_canary() {
  const pid_t child = fork();
  if (child == 0) {
    execl("/proc/self/exe", "core_test", "--leak", nullptr);
    _exit(2);
  }
  int status = 0;
  waitpid(child, &status, 0);
  CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

void callbacks() {
  Backend backend = open_host();
  const Stream stream = backend.stream(1);
  const Array array = make(backend, 100, stream);
  std::string log;
  const std::function<void(const params::ErrorSlot&)> body = [&](const params::ErrorSlot&) { log += 'w'; };
  enqueue(array, body, stream);
  stream.add_callback([&] {
    CHECK(THROWN(UnsupportedError, backend.synchronize()) != "");
    CHECK(THROWN(UnsupportedError, backend.close()) != "");
    CHECK(THROWN(UnsupportedError, Backend::open("cpu")) != "");
    log += 'c';
    throw std::runtime_error("planned");
  });
  enqueue(array, body, stream);
  const auto owned = std::make_shared<int>(0);
  stream.add_callback([owned] {});
  stream.synchronize();
  CHECK(log == "wcw" && owned.use_count() == 1);
  CHECK(last_warning.find("planned") != std::string::npos);
  CHECK(THROWN(ValueError, stream.add_callback(nullptr)) != "");
  CHECK(THROWN(ValueError, stream.close()) != "");
  CHECK(THROWN(BackendMismatchError, backend.external_stream(stream.native(), [] {})) != "");
}

}  // namespace

int main(int argc, char** argv) {
  setenv("STATOR_HOST_MODE", "checked", 0);
  if (argc > 1 && std::string_view(argv[1]) == "--leak") leak_and_exit();
  keep_warnings();
  return stator::test::run(argc, argv,
                           {
#ifndef __SANITIZE_THREAD__  // which does not follow the threads of a forked child
                               {"forks", forks},
                               {"exits", exits},
#endif
                               {"leak_canary", leak_canary},
                               {"orders", orders},
                               {"use_after_close", use_after_close},
                               {"pending_work", pending_work},
                               {"release_queue", release_queue},
                               {"exports", exports},
                               {"exports_wait", exports_wait},
                               {"foreign", foreign},
                               {"shapes", shapes},
                               {"error_slot", error_slot},
                               {"zeroed_scratch", zeroed_scratch},
                               {"threads", threads},
                               {"callbacks", callbacks}},
                           [] { CHECK(left() == nothing); });
}
