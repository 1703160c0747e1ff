// Context: the Box behind a Backend. Owns the Runtime, the pool, the streams, the library leases, the error slots.
#pragma once

#include "core/box.hpp"
#include "core/buffer.hpp"
#include "core/stream.hpp"
#include "core/tracker.hpp"
#include "kernels/table.hpp"
#include "runtime/runtime.hpp"

#include <stator/array.hpp>
#include <stator/op_table.hpp>

#include <atomic>
#include <memory>
#include <mutex>

namespace stator {

namespace libs { class Blas; }

class Context final : public Box {
 public:
  static Ref<Context> open(Device device, const BackendOptions& options);
  ~Context() override;

  // BackendClosedError once closed, ForkedProcessError in a child of the process that opened it.
  void require_open(uint16_t op) const;

  Device device() const { return device_; }
  const BackendOptions& options() const { return options_; }
  runtime::Runtime& runtime() const { return *runtime_; }
  const std::shared_ptr<runtime::Runtime>& shared_runtime() const { return runtime_; }
  const kernels::Table& kernels() const { return *kernels_; }
  Tracker& tracker() const { return *tracker_; }
  Pool& pool() const { return *pool_; }
  Ref<StreamBox> stream(int index);  // created at first use
  void synchronize(uint16_t op);     // every stream that exists, then their error slots

  // A library handle and its workspace, leased for one enqueue on the stream; given back by the lease's destructor.
  // The type-erased slot is filled by `make` at first use per (kind, stream); its Box kind is `library`.
  struct Lease;
  std::shared_ptr<void> lease(const char* library, StreamBox& stream, std::shared_ptr<void> (*make)(Context&, StreamBox&));

  // Device memory of `bytes`, zeroed once, private to the stream: counters of single-pass kernels that leave it zero.
  void* zeroed_scratch(StreamBox& stream, size_t bytes, uint16_t op);

 private:
  friend class OpGuard;
  Context(Device device, const BackendOptions& options);
  void release_native(void*) noexcept override;

  const Device device_;
  const BackendOptions options_;
  const int pid_;
  std::shared_ptr<runtime::Runtime> runtime_;
  const kernels::Table* kernels_ = nullptr;
  std::unique_ptr<Tracker> tracker_;
  Ref<Pool> pool_;
  std::mutex streams_mutex_;
  Ref<StreamBox> streams_[Backend::stream_count];
  std::atomic<int64_t> in_flight_{0};
};

// Held by every entry point while it touches the context: close() waits for it. Drains the release queue on entry.
class OpGuard {
 public:
  OpGuard(Context& context, uint16_t op);
  ~OpGuard();
  OpGuard(const OpGuard&) = delete;

 private:
  Context& context_;
};

}  // namespace stator
