#include "memory/staging.hpp"

#include "core/context.hpp"

namespace stator {

void Staging::wait() {
  context_.runtime().stream_synchronize(stream_.handle(op_), op_);
  staged_ = 0;
}

Ref<Buffer> Staging::take(size_t bytes) {
  if (staged_ + bytes > most_bytes) wait();
  Ref<Buffer> chunk;
  try {
    chunk = context_.pool().allocate_pinned(bytes, op_);
  } catch (const OutOfMemoryError&) {
    if (staged_ == 0) throw;
    wait();  // what this call took before can be reused
    chunk = context_.pool().allocate_pinned(bytes, op_);
  }
  chunk->note_use(stream_.index());
  staged_ += bytes;
  return chunk;
}

}  // namespace stator
