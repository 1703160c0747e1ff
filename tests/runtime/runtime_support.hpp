// Shared by the tests of the runtime layer: kernels written by hand, launched through a Runtime over the host table.
#pragma once

#include "check.hpp"

#include "runtime/runtime.hpp"

#include <stator/error.hpp>

#include <chrono>
#include <cstring>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

namespace stator::test {

using namespace stator::runtime;

inline constexpr unsigned order_checks = 1, poison_checks = 2;
inline constexpr int64_t big = int64_t(1) << 30;  // bytes that are never run inline

struct Body {
  const std::function<void(int64_t, int64_t)>* run;
  const char* fault;
};

inline const char* run_body(const params::Launch& launch, int64_t first, int64_t last) {
  Body body;
  std::memcpy(&body, launch.arguments, sizeof body);
  if (body.run) (*body.run)(first, last);
  return body.fault;
}

// `body` outlives the work. `bytes` decides whether it may run inline.
struct Launcher {
  Runtime& runtime;
  StreamHandle stream;

  void operator()(const std::function<void(int64_t, int64_t)>& body, int64_t blocks = 1, int64_t bytes = big,
                  const char* fault = nullptr, bool whole = false, bool synchronous = false) const {
    const Body packed{&body, fault};
    params::Launch launch{};
    launch.name = "test_kernel";
    launch.blocks = blocks;
    launch.threads = 1;
    launch.entry = run_body;
    launch.arguments = &packed;
    launch.argument_bytes = sizeof packed;
    launch.whole = whole;
    const params::Access access{&body, 0, bytes, true};
    runtime.launch(launch, stream, Record{no_op, &access, 1, synchronous});
  }
};

inline void touch(Runtime& runtime, StreamHandle stream, const void* buffer, bool write, int64_t offset = 0,
                  int64_t bytes = 64) {
  const Body packed{nullptr, nullptr};
  params::Launch launch{};
  launch.name = write ? "writer" : "reader";
  launch.blocks = launch.threads = 1;
  launch.entry = run_body;
  launch.arguments = &packed;
  launch.argument_bytes = sizeof packed;
  const params::Access access{buffer, offset, bytes, write};
  runtime.launch(launch, stream, Record{no_op, &access, 1, false});
}

inline void nap(int milliseconds) { std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds)); }

inline bool nothing_outstanding() { return host_table().outstanding() == std::array<int64_t, 6>{}; }

}  // namespace stator::test
