// Writing the stream's error slot: the first fault wins, the host reads it when the stream synchronises.
#pragma once

#include "device/atomic.cuh"

namespace stator::STATOR_COLUMN {

STATOR_FN void report(const abi::ErrorSlot& slot, uint16_t op, abi::Fault fault, int64_t position, int64_t value) {
  if (slot.claim == nullptr || atomic_cas(slot.claim, 0u, 1u) != 0u) return;
  volatile abi::FaultRecord* const record = slot.record;
  record->op = op;
  record->position = position;
  record->value = value;
  fence_system();  // the host reads the record once it sees `fault`
  record->fault = static_cast<int32_t>(fault);
}

}  // namespace stator::STATOR_COLUMN
