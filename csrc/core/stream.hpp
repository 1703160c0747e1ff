// StreamBox and EventBox: native streams and events as tracked objects.
#pragma once

#include "core/box.hpp"
#include "runtime/runtime.hpp"

#include <stator/backend.hpp>

#include <mutex>

namespace stator {

class Context;

class StreamBox final : public Box {
 public:
  StreamBox(Context& context, int index);
  ~StreamBox() override;
  Context& context() const { return context_; }
  int index() const { return index_; }
  runtime::StreamHandle handle(uint16_t op) const { return get(op); }
  using Box::native;       // null before open() and after close
  void open(uint16_t op);  // creates the native stream and its error slot, at first use

  // The error slot, in device and mapped host memory. raise_pending throws the recorded fault once and resets the slot;
  // it is called after each synchronisation of the stream and, without waiting, at each enqueue.
  const params::ErrorSlot& slot() const { return slot_; }
  void raise_pending(uint16_t op) {
    if (slot_set()) [[unlikely]]
      take_slot(op);
  }
  bool saw_division_by_zero() const {
    return slot_set() && slot_.record->fault == int32_t(params::Fault::division_by_zero);
  }
  void log_pending() noexcept;    // warns of a fault that nobody saw before the backend closed
  void synchronize(uint16_t op);  // waits, then raise_pending

  void* zeroed_scratch(size_t bytes, uint16_t op);  // see Context

 private:
  bool slot_set() const { return slot_.record && __atomic_load_n(&slot_.record->fault, __ATOMIC_ACQUIRE) != 0; }
  bool take_record(params::FaultRecord* record);
  void take_slot(uint16_t op);
  void* device_memory(size_t bytes, runtime::StreamHandle stream, uint16_t op);
  void release_native(void* handle) noexcept override;

  Context& context_;
  const int index_;
  params::ErrorSlot slot_{};
  std::mutex mutex_;  // guards opening, the slot's reset and the scratch memory
  void* scratch_ = nullptr;
  size_t scratch_bytes_ = 0;
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
