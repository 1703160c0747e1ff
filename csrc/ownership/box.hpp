// Ownership: every device object is a Box with a strong reference to its parent, an intrusive list of weak children and
// an atomic native handle. Teardown is the post-order of this graph. The Tracker is the registry of Boxes.
#pragma once

#include <stator/ref.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

namespace stator {

enum class BoxKind : uint8_t { context, pool, buffer, pinned, managed, stream, event, library, program, graph };
const char* name(BoxKind);

class Tracker;

// The scope of what this thread makes (stator/scopes/scope.hpp); 0 for none.
extern constinit thread_local uint32_t thread_scope;

class Box {
 public:
  Box(const Box&) = delete;
  BoxKind kind() const { return kind_; }
  uint16_t origin() const { return origin_; }
  bool closed() const { return native_.load(std::memory_order_acquire) == nullptr; }

  // Closes the children, newest first, then takes the native handle by an atomic exchange and releases it. Idempotent,
  // callable from any thread, never throws. Returns once the box is closed, even if another thread closes it.
  static void close(Box& box) noexcept;

  // Closes boxes of one tracker that have no children. `unused` is called when their handles can no longer be read,
  // and before these are released: whether those who had got them have ended. If not, the boxes are open again.
  static bool close_all(std::span<const Ref<Box>> boxes, const std::function<bool()>& unused);

  // The scope that the thread was in which made it, or that it was moved to since; 0 for none.
  uint32_t scope() const { return scope_.load(std::memory_order_relaxed); }
  bool change_scope(uint32_t from, uint32_t to) {  // whether it belonged to `from`
    return scope_.compare_exchange_strong(from, to, std::memory_order_relaxed);
  }

  // What the Tracker reports. No virtual functions, since it may call them while a destructor runs.
  size_t bytes() const { return bytes_.load(std::memory_order_relaxed); }
  bool exported() const { return (exports_.load(std::memory_order_acquire) & ~detached_bit) > 0; }

 protected:
  // part_of: a member of its parent, which deletes it; references to it count as references to the parent, so that the
  // parent can hold it without a cycle.
  enum class Hold { counted, part_of };

  // origin: the stator::Op of the call that made it, 0xffff for none. BackendClosedError when the parent is closing.
  Box(BoxKind kind, Box* parent, Tracker& tracker, uint16_t origin, Hold hold = Hold::counted);
  virtual ~Box();

  // Releases the native handle. The first statement in the destructor of a derived class that has no children: at a
  // count of zero no other thread can reach the object.
  void dispose() noexcept;

  void* native() const noexcept { return native_.load(std::memory_order_acquire); }
  // The native handle, or BackendClosedError naming `op`.
  void* get(uint16_t op) const {
    if (void* handle = native_.load(std::memory_order_acquire)) [[likely]]
      return handle;
    throw_closed(op);
  }
  void set_native(void* handle) { native_.store(handle, std::memory_order_release); }
  virtual void release_native(void* handle) noexcept = 0;

  bool is_leaked() const;  // not released: the process ended, or is a forked child of the one that made the box
  bool closing() const { return closing_.load(std::memory_order_acquire); }
  void set_bytes(size_t bytes) { bytes_.store(bytes, std::memory_order_relaxed); }
  // Takes a reference unless the count is already zero, which means that another thread is destroying the object.
  bool try_retain() const noexcept;

  // Number of consumers that hold the storage past close(). With detached_bit the box is closed, and the last of them
  // frees the storage.
  static constexpr int32_t detached_bit = 1 << 30;
  std::atomic<int32_t> exports_{0};

 private:
  friend class Tracker;
  friend class ReleaseQueue;
  friend void retain(const Box*) noexcept;
  friend void release(const Box*) noexcept;

  [[noreturn]] void throw_closed(uint16_t op) const;

  mutable std::atomic<int32_t> count_{0};
  const BoxKind kind_;
  const bool part_;
  const uint16_t origin_;
  const uint32_t generation_;
  std::atomic<bool> closing_{false};
  bool settled_ = false;  // closed and released; guarded by the tracker's mutex
  std::atomic<uint32_t> scope_{thread_scope};
  std::atomic<void*> native_{nullptr};
  std::atomic<size_t> bytes_{0};
  Box* const parent_;
  Tracker& tracker_;
  const int64_t born_;                                                 // nanoseconds
  Box *newest_child_ = nullptr, *older_ = nullptr, *newer_ = nullptr;  // guarded by the tracker's mutex
  mutable std::atomic<int32_t> queued_{0};                             // references that the release queue holds
  mutable const Box* next_released_ = nullptr;
};

// References that Python objects held: __dealloc__ pushes them without a lock, the next entry point releases them.
class STATOR_API ReleaseQueue {
 public:
  static void push(const Box* box) noexcept;  // takes over one reference
  static void drain() noexcept {
    if (head_.load(std::memory_order_relaxed)) drain_all();
  }

 private:
  static void drain_all() noexcept;
  static std::atomic<const Box*> head_;
};

}  // namespace stator
