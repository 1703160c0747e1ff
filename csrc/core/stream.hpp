// StreamBox and EventBox: native streams and events as tracked objects.
#pragma once

#include "core/box.hpp"
#include "runtime/runtime.hpp"

#include <stator/backend.hpp>

namespace stator {

class Buffer;
class Context;

class StreamBox final : public Box {
 public:
  StreamBox(Context& context, int index);
  ~StreamBox() override;
  Context& context() const { return context_; }
  int index() const { return index_; }
  runtime::StreamHandle handle(uint16_t op) const { return get(op); }

  // The error slot in device and mapped host memory. raise_pending throws IndexError once, then resets the slot;
  // called after each synchronisation of the stream, and (without waiting) at each enqueue it only looks.
  const abi::ErrorSlot& slot() const { return slot_; }
  void raise_pending(uint16_t op);
  void synchronize(uint16_t op);  // waits, then raise_pending

 private:
  void release_native(void* handle) noexcept override;
  Context& context_;
  const int index_;
  abi::ErrorSlot slot_{};
};

class EventBox final : public Box {
 public:
  explicit EventBox(Context& context);
  ~EventBox() override;
  Context& context() const { return context_; }
  runtime::EventHandle handle(uint16_t op) const { return get(op); }

 private:
  void release_native(void* handle) noexcept override;
  Context& context_;
};

}  // namespace stator
