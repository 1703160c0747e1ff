// What a stream does in its order, and what a node of a graph does at each launch: kernels, copies, fills, functions of
// the host. A call that is captured makes the same operation as one that is not.
#pragma once

#include "emulator/report.hpp"
#include "emulator/runtime/device.hpp"
#include "emulator/runtime/graph/api.hpp"

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace stator::emulator::runtime {

struct System;

// Values of cudaGraphNodeType.
enum class NodeType : int {
  kernel = 0,
  copy = 1,
  fill = 2,
  host = 3,
  graph = 4,
  empty = 5,
  event_wait = 6,
  event_record = 7,
  conditional = 13
};

// Shared by all that perform it, at once too, and never changed.
struct Operation {
  Operation(NodeType is, Device* on, std::string called) : type(is), device(on), what(std::move(called)) {}
  virtual ~Operation() = default;
  Operation(const Operation&) = delete;

  // Without the scheduler's lock.
  virtual Report run() const { return {}; }
  // Takes note of a run, for stator_emulator_launch_counts.
  virtual void count() const {}

  const NodeType type;
  Device* const device;    // on which it runs
  const std::string what;  // for reports
};
using OperationPointer = std::shared_ptr<const Operation>;

// Any work, such as that of a double of a vendor library, which CUDA would see as kernels.
struct TaskOperation : Operation {
  TaskOperation(NodeType is, Device* on, std::string called, std::function<Report()> task)
      : Operation(is, on, std::move(called)), task_(std::move(task)) {}
  Report run() const override { return task_ ? task_() : Report{}; }

 private:
  std::function<Report()> task_;
};

// A call of cudaHostFn_t.
struct HostOperation : Operation {
  HostOperation(Device* on, void (*call)(void*), void* with)
      : Operation(NodeType::host, on, "cudaLaunchHostFunc"), function(call), argument(with) {}
  Report run() const override {
    function(argument);
    return {};
  }

  void (*const function)(void*);
  void* const argument;
};

// A wait for an event, or its record, that is done at each launch.
struct EventOperation : Operation {
  EventOperation(NodeType is, Device* on, void* of)
      : Operation(is, on, is == NodeType::event_wait ? "cudaStreamWaitEvent" : "cudaEventRecord"), event(of) {}

  void* const event;
};

struct KernelOperation : Operation {
  KernelOperation(Device* on, std::string called) : Operation(NodeType::kernel, on, std::move(called)) {}
  Report run() const override;
  void count() const override { launches->fetch_add(1, std::memory_order_relaxed); }

  std::shared_ptr<Program> program;
  const Kernel* kernel = nullptr;
  MachineCode code;
  LaunchConfig config;
  const void* function = nullptr;
  std::shared_ptr<std::atomic<uint64_t>> launches;
  std::vector<std::byte> bytes;
  std::vector<void*> arguments;  // into the bytes
};

struct CopyOperation : Operation {
  explicit CopyOperation(Device* on) : Operation(NodeType::copy, on, "cudaMemcpyAsync") {}
  Report run() const override;
  // Whether the memory is of the same kinds and devices, so that one may stand in a graph for the other.
  bool same_memory(const CopyOperation& other) const {
    return to_device == other.to_device && from_device == other.from_device && to_kind == other.to_kind &&
           from_kind == other.from_kind;
  }

  void* to = nullptr;
  const void* from = nullptr;
  size_t bytes = 0;
  int direction = 0;                                    // cudaMemcpyKind
  Device *to_device = nullptr, *from_device = nullptr;  // null for pageable memory of the host
  MemoryKind to_kind = MemoryKind::pinned, from_kind = MemoryKind::pinned;
};

struct FillOperation : Operation {
  explicit FillOperation(Device* on) : Operation(NodeType::fill, on, "cudaMemsetAsync") {}
  Report run() const override;

  FillCall call;
  Device* owner = nullptr;
  MemoryKind kind = MemoryKind::device;
};

// With the lock. They check what CUDA checks at the call, and return its error.
int make_kernel(Device& device, const KernelCall& call, OperationPointer* out);
// `staged`: the copy goes through memory that both devices reach.
int make_copy(System& s, Device& device, const CopyCall& call, OperationPointer* out, bool staged = false);
int make_fill(System& s, Device& device, const FillCall& call, OperationPointer* out);

}  // namespace stator::emulator::runtime
