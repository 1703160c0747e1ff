// StreamBox and EventBox: native streams and events as tracked objects.
#pragma once

#include "core/box.hpp"
#include "runtime/runtime.hpp"

#include <stator/backend.hpp>

#include <mutex>
#include <vector>

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
  bool saw_division_by_zero() const { return slot_.record && fault() == params::Fault::division_by_zero; }
  void log_pending() noexcept;    // warns of a fault that nobody saw before the backend closed
  void synchronize(uint16_t op);  // waits, then raise_pending

  void* zeroed_scratch(size_t bytes, uint16_t op);  // see Context

 private:
  params::Fault fault() const { return params::Fault(__atomic_load_n(&slot_.record->fault, __ATOMIC_ACQUIRE)); }
  bool slot_set() const { return slot_.record && fault() != params::Fault::none; }
  bool take_record(params::FaultRecord* record);
  void take_slot(uint16_t op);
  void* device_memory(size_t bytes, runtime::StreamHandle stream, uint16_t op);
  void release_native(void* handle) noexcept override;

  Context& context_;
  const int index_;
  params::ErrorSlot slot_{};
  std::mutex mutex_;  // guards opening, the slot's reset and the scratch memory
  struct Scratch {
    void* memory;
    size_t bytes;
  };
  std::vector<Scratch> scratch_;  // the largest last
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
