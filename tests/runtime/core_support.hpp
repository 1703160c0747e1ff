// What the tests of core share: a host backend that never runs inline, and work in stream order.
#pragma once

#include "check.hpp"

#include "core/op_call.hpp"
#include "core/testing.hpp"

#include <stator/backend.hpp>

#include <cstring>
#include <functional>
#include <string>
#include <thread>

namespace stator::test {

inline Backend open_host(BackendOptions options = {}) {
  if (options.checks < 0) options.checks = 2;
  return Backend::open("cpu", options);
}

inline constexpr std::array<int64_t, 6> nothing{};
inline std::array<int64_t, 6> left() { return testing::outstanding(DeviceType::cpu); }

struct Work {
  const std::function<void(const params::ErrorSlot&)>* body;
  params::ErrorSlot slot;
};

inline const char* run_work(const params::Launch& launch, int64_t, int64_t) {
  Work work;
  std::memcpy(&work, launch.arguments, sizeof work);
  (*work.body)(work.slot);
  return nullptr;
}

// Runs body, which outlives the work, as a kernel that writes the array.
inline void enqueue(const Array& array, const std::function<void(const params::ErrorSlot&)>& body,
                    const Stream& stream = {}) {
  OpCall call(Op::copy, {&array}, stream);
  call.writes(array);
  const params::Queue& queue = call.queue();
  Work work{&body, queue.slot};
  params::Launch launch{};
  launch.name = "test";
  launch.blocks = 1;
  launch.threads = 1;
  launch.entry = run_work;
  launch.arguments = &work;
  launch.argument_bytes = sizeof work;
  launch.whole = true;
  queue.submit(queue, launch);
}

inline Array make(const Backend& backend, int64_t size, const Stream& stream = {}) {
  return OpCall(Op::empty, backend, stream).empty(Dims{size}, DType::uint8);
}

inline void pause(int milliseconds) { std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds)); }

inline std::string last_warning;
inline void keep_warnings() {
  set_warning_handler([](const char* text) { last_warning = text; });
}

}  // namespace stator::test
