// What the host's processor says of itself beside the files of the system, and how long one of its reads takes.
#include "runtime/devices.hpp"
#include "runtime/host/calls.hpp"

#include <algorithm>
#include <chrono>
#include <memory>
#include <numeric>
#include <random>

namespace stator::runtime {
namespace {

constexpr size_t line = 64;         // bytes of a cache line: each read is of another one
constexpr int64_t reads = 1 << 19;  // some 0.05 s where memory answers in 100 ns

struct alignas(line) Node {
  uint32_t next;
};

}  // namespace

Status host_attributes(int device, Attributes* out) {
  if (device != 0) return status::invalid_device;
  return host::guarded([&] {
    out->emplace_back("workers", host::Scheduler::worker_limit());
    size_t free = 0, total = 0;
    if (const Status code = host_table().memory_info(nullptr, &free, &total)) return code;
    out->emplace_back("memory_free", int64_t(free));
    return Status(status::success);
  });
}

double host_read_latency(size_t bytes) {
  const size_t count = std::clamp<size_t>(bytes / sizeof(Node), 2, UINT32_MAX);
  const std::unique_ptr<Node[]> nodes(new (std::nothrow) Node[count]);
  const std::unique_ptr<uint32_t[]> order(new (std::nothrow) uint32_t[count]);
  if (!nodes || !order) return 0;
  std::iota(&order[0], &order[count], 0u);
  std::shuffle(&order[0], &order[count], std::minstd_rand(1));
  for (size_t i = 0; i < count; ++i) nodes[order[i]].next = order[(i + 1) % count];
  const auto start = std::chrono::steady_clock::now();
  uint32_t at = order[0];
  for (int64_t i = 0; i < reads; ++i) at = nodes[at].next;
  const std::chrono::duration<double, std::nano> taken = std::chrono::steady_clock::now() - start;
  asm volatile("" : : "r"(at));  // the walk has a result, so that it is not left out
  return taken.count() / double(reads);
}

}  // namespace stator::runtime
