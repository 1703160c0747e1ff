// Ownership: every device object is a Box with a strong parent, intrusive weak children and an atomic native handle.
// Ordered teardown is the post-order of this graph; there is no other order. The Tracker is the registry of Boxes.
#pragma once

#include <stator/ref.hpp>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <mutex>

namespace stator {

enum class BoxKind : uint8_t { context, pool, buffer, pinned, stream, event, library };
const char* name(BoxKind);

class Tracker;

class Box {
 public:
  BoxKind kind() const { return kind_; }
  const Ref<Box>& parent() const { return parent_; }
  bool closed() const { return native_.load(std::memory_order_acquire) == nullptr; }

  // Closes children newest first, takes the native handle by exchange, releases it. Idempotent, any thread, never throws.
  static void close(Box& box) noexcept;

  virtual size_t bytes() const { return 0; }
  virtual bool exported() const { return false; }

 protected:
  // origin: stator::Op of the call that made it, 0xffff for none.
  Box(BoxKind kind, Ref<Box> parent, Tracker& tracker, uint16_t origin);
  virtual ~Box();  // of a derived class calls close(*this) first; refcount zero means no children

  // The native handle, or BackendClosedError naming `op`.
  void* get(uint16_t op) const;
  void set_native(void* handle) { native_.store(handle, std::memory_order_release); }
  virtual void release_native(void* handle) noexcept = 0;

 private:
  friend class Tracker;
  friend class ReleaseQueue;
  friend void retain(const Box*) noexcept;
  friend void release(const Box*) noexcept;

  mutable std::atomic<int32_t> count_{0};
  const BoxKind kind_;
  const uint16_t origin_;
  std::atomic<bool> closing_{false};
  std::atomic<void*> native_{nullptr};
  Ref<Box> parent_;
  Tracker& tracker_;
  const std::chrono::steady_clock::time_point born_;
  Box *newest_child_ = nullptr, *older_ = nullptr, *newer_ = nullptr;  // guarded by the tracker's mutex
  Box* next_released_ = nullptr;                                       // link of the release queue
};

// Boxes whose last owner was a Python object: pushed by __dealloc__ without a lock, released by the next entry point.
class STATOR_API ReleaseQueue {
 public:
  static void push(const Box* box) noexcept;  // takes over one count
  static void drain() noexcept;
};

}  // namespace stator
