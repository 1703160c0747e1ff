// Staging: the page-locked memory through which a call copies memory of the host to the device. The call returns when
// it has read that memory, rather than when the stream has come as far as the copy.
#pragma once

#include "memory/buffer.hpp"

namespace stator {

class Staging {
 public:
  static constexpr size_t chunk_bytes = size_t(4) << 20;
  // What the copies of one call may hold at once; for more it waits for those before. Pinning memory costs time, and
  // the pool keeps what was pinned.
  static constexpr size_t most_bytes = size_t(256) << 20;

  Staging(Context& context, StreamBox& stream, uint16_t op) : context_(context), stream_(stream), op_(op) {}

  // At most chunk_bytes for the copy that is enqueued next. The reference is dropped then, and the pool reuses the
  // memory when the stream has passed the copy. OutOfMemoryError.
  Ref<Buffer> take(size_t bytes);

 private:
  void wait();
  Context& context_;
  StreamBox& stream_;
  const uint16_t op_;
  size_t staged_ = 0;  // bytes that were taken since the stream was waited for
};

}  // namespace stator
