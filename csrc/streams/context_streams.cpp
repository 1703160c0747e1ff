// Streams with a priority, and those of other libraries, which are numbered after the context's own.
#include "core/context.hpp"
#include "core/text.hpp"
#include "memory/buffer.hpp"

namespace stator {
namespace {

void* const legacy_stream = reinterpret_cast<void*>(1);  // cudaStreamLegacy
void* const thread_stream = reinterpret_cast<void*>(2);  // cudaStreamPerThread

void require_priority(Context& context, int priority, uint16_t op) {
  if (priority == 0) return;  // on every device
  const runtime::PriorityRange range = context.runtime().stream_priorities(op);
  if (priority >= range.greatest && priority <= range.least) return;
  throw ValueError(op_text(op), "priority=" + std::to_string(priority),
                   "Priorities of " + context.device().str() + " go from " + std::to_string(range.greatest) +
                       ", the highest, to " + std::to_string(range.least));
}

}  // namespace

StreamBox& Context::stream_with_priority(int index, int priority) {
  constexpr uint16_t op = call::stream;
  require_priority(*this, priority, op);
  StreamBox& stream = *streams_[index];
  stream.open(op, priority);
  if (stream.priority() != priority) {
    throw ValueError(
        op_text(op),
        "the stream " + std::to_string(index) + " was created with the priority " + std::to_string(stream.priority()),
        "Take another one for the priority " + std::to_string(priority) + ", or this one before its first use");
  }
  return stream;
}

std::vector<Stream> Context::streams_with_priority(int count, int priority) {
  constexpr uint16_t op = call::stream_pool;
  require_priority(*this, priority, op);
  std::vector<Stream> streams;
  for (int i = 1; i < stream_count(); ++i) {
    StreamBox& stream = *streams_[i];
    if (stream.closed() || stream.priority() == priority) streams.emplace_back(Ref<StreamBox>(&stream));
  }
  if (count < 1 || count > int(streams.size())) {
    throw ValueError(
        op_text(op),
        "got a pool of " + std::to_string(count) + " streams with the priority " + std::to_string(priority),
        "After the default one the backend has " + std::to_string(streams.size()) +
            " streams that have it, or were not used yet");
  }
  streams.resize(size_t(count));
  for (const Stream& stream : streams) stream_with_priority(stream.index(), priority);
  return streams;
}

StreamBox& Context::external_stream(runtime::StreamHandle native, std::function<void()> release) {
  constexpr uint16_t op = call::external_stream;
  if (device_.type != DeviceType::cuda)
    throw BackendMismatchError(op_text(op), "got a CUDA stream for a backend on " + device_.str(),
                               "Open a cuda backend");
  // The runtime takes null for the legacy default stream. The default stream of a thread is another one in each.
  if (!native) native = legacy_stream;
  if (native == thread_stream)
    throw ValueError(op_text(op), "the default stream of the calling thread, which is another one in each",
                     "Give a stream that was created, or the legacy default stream");
  const runtime::StreamProperties seen = runtime_->stream_properties(native, op);
  if (seen.device != device_.index) {
    throw BackendMismatchError(
        op_text(op), "got a stream of cuda:" + std::to_string(seen.device) + " for a backend on " + device_.str(),
        "Open a backend on the stream's device");
  }
  auto owner = std::make_unique<ForeignOwner>(std::move(release));
  const std::lock_guard lock(external_mutex_);
  StreamBox* reused = nullptr;
  for (const auto& stream : streams_) {
    if (stream->native() == native) {
      ForeignReleases::push(std::move(owner));
      return *stream;
    }
    if (!reused && stream->is_reusable()) reused = stream.get();
  }
  if (!reused) {
    const int most = Backend::stream_limit - stream_count();
    throw ValueError(op_text(op), "got a stream beyond the " + std::to_string(most) + " of other libraries",
                     "The number of such streams is limited, and one that was released still counts. Keep streams, "
                     "or order by events instead");
  }
  reused->adopt(native, seen.priority, std::move(owner), op);
  return *reused;
}

}  // namespace stator
