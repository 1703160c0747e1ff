// Faults go to the error slot of the stream: the first one wins, and the host reads it when the stream synchronises.
#pragma once

#include "atomic.cuh"

#include <stator/device/params.hpp>

namespace stator::STATOR_TARGET {

// Records a fault, unless the slot has one already; any thread may call it. position: the flat index in the op's
// indices or result. Does nothing if the slot has no memory.
STATOR_FN void report(const params::ErrorSlot& slot, uint16_t op, params::Fault fault, int64_t position,
                      int64_t value) {
  if (slot.claim == nullptr || atomic_cas(slot.claim, 0u, 1u) != 0u) return;
  volatile params::FaultRecord* const record = slot.record;
  record->op = op;
  record->position = position;
  record->value = value;
  publish_to_host(&slot.record->fault, static_cast<int32_t>(fault));
}

// Records an index out of range. Unsigned indices beyond int64 are recorded as the largest int64.
STATOR_FN void report_index(const params::ErrorSlot& slot, uint16_t op, int64_t position, int64_t value,
                            bool is_unsigned) {
  constexpr int64_t largest = int64_t(~uint64_t(0) >> 1);
  report(slot, op, params::Fault::index_out_of_range, position, is_unsigned && value < 0 ? largest : value);
}

}  // namespace stator::STATOR_TARGET
