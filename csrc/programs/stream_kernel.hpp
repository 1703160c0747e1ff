// StreamKernel: the queue of a kernel that belongs to a graph and to no op, so that there is no OpCall.
#pragma once

#include "core/context.hpp"

#include <span>

namespace stator {

class StreamKernel {
 public:
  // `accesses` must outlive it.
  StreamKernel(StreamBox& stream, uint16_t op, std::span<const params::Access> accesses = {})
      : stream_(stream),
        record_{op, accesses.data(), int(accesses.size())},
        queue_{.submit = submit,
               .stream = this,
               .limits = &stream.context().limits(),
               .slot = stream.slot(),
               .accesses = accesses.data(),
               .access_count = int(accesses.size()),
               .op = op} {}
  StreamKernel(const StreamKernel&) = delete;
  const params::Queue& queue() const { return queue_; }

 private:
  static void submit(const params::Queue& queue, const params::Launch& launch) {
    const StreamKernel& kernel = *static_cast<const StreamKernel*>(queue.stream);
    kernel.stream_.context().runtime().launch(launch, kernel.stream_.handle(queue.op), kernel.record_);
  }

  StreamBox& stream_;
  const runtime::Record record_;
  const params::Queue queue_;
};

}  // namespace stator
