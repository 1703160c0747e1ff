// Parts of captured work that run under a condition: a kernel reads the condition, before a branch or a loop and at the
// end of each round.
#include "core/capture.hpp"
#include "core/context.hpp"
#include "core/fault.hpp"
#include "core/op_call.hpp"
#include "core/text.hpp"
#include "params/indexing.hpp"
#include "programs/stream_kernel.hpp"

#include <stator/creation.hpp>
#include <stator/graphs/graph.hpp>

namespace stator {
namespace {

const FaultRegistration loop_limit(params::Fault::loop_limit, [](const params::FaultRecord& seen) {
  throw LoopLimitError(op_text(uint16_t(seen.op)),
                       "the condition was still true after " + std::to_string(seen.value) + " rounds",
                       "Give a larger limit=, or see why it does not become false");
});

GraphCapture& require_capture(const std::shared_ptr<GraphCapture>& capture, uint16_t op) {
  if (capture) return *capture;
  throw CaptureError(op_text(op), "the stream is not being captured", "Begin a capture first");
}

// The kernel that reads the condition.
void decide(const GraphPart& part, const Array& condition, StreamBox& stream, uint16_t op) {
  Context& context = stream.context();
  const std::shared_ptr<GraphCapture> capture = stream.capture();
  if (condition.dtype() != DType::bool_ || condition.size() != 1)
    throw DTypeError(
        op_text(op),
        "the condition is of dtype " + std::string(name(condition.dtype())) + " and shape " + str(condition.shape()),
        "Give one element of dtype bool");
  Buffer& buffer = buffer_of(condition, op_name(op));
  if (&buffer.context() != &context)
    throw BackendMismatchError(op_text(op), "the condition is an array of another backend",
                               "Make it with the backend of the stream");
  capture->hold(buffer, false);
  const params::Access accesses[] = {{buffer.memory(op), 0, int64_t(buffer.bytes()), false},
                                     {part.more.buffer()->memory(op), 0, sizeof(uint32_t), true}};
  const StreamKernel kernel(stream, op, accesses);
  kernels::indexing::condition(kernel.queue(),
                               {.condition = static_cast<const bool*>(condition.data_ptr()),
                                .rounds = part.repeats ? static_cast<int64_t*>(part.rounds.data_ptr()) : nullptr,
                                .limit = part.limit,
                                .more = static_cast<uint32_t*>(part.more.data_ptr()),
                                .handle = part.handle,
                                .slot = stream.slot(),
                                .op = op});
}

GraphPart begin_part(const Array& condition, bool repeats, int64_t limit, const Stream& given, uint16_t op) {
  if (!given) throw ValueError(op_text(op), "got a default-constructed stream", "Take one from Backend.stream(index)");
  StreamBox& stream = *given.box();
  Context& context = stream.context();
  const OpGuard guard(context, op);
  const std::shared_ptr<GraphCapture> capture = stream.capture();
  require_capture(capture, op);
  const Backend backend{Ref<Context>(&context)};
  GraphPart part{.more = zeros(backend, Dims{1}, DType::uint32, given),
                 .rounds = zeros(backend, Dims{1}, DType::int64, given),
                 .limit = limit,
                 .repeats = repeats};
  part.handle = context.runtime().capture_condition(stream.handle(op), op);
  decide(part, condition, stream, op);
  context.runtime().capture_enter(stream.handle(op), part.handle, static_cast<const uint32_t*>(part.more.data_ptr()),
                                  repeats, op);
  capture->begin_part();
  return part;
}

}  // namespace

GraphPart begin_branch(const Array& condition, const Stream& stream) {
  return begin_part(condition, false, 0, stream, call::branch);
}

GraphPart begin_loop(const Array& condition, int64_t limit, const Stream& stream) {
  if (limit < 0)
    throw ValueError(op_text(call::while_loop), "limit=" + std::to_string(limit), "Give a number of rounds");
  return begin_part(condition, true, limit, stream, call::while_loop);
}

void end_part(const GraphPart& part, const Array& condition, const Stream& given) {
  const uint16_t op = part.repeats ? call::while_loop : call::branch;
  if (!given) throw ValueError(op_text(op), "got a default-constructed stream", "Take one from Backend.stream(index)");
  StreamBox& stream = *given.box();
  const OpGuard guard(stream.context(), op);
  const std::shared_ptr<GraphCapture> capture = stream.capture();
  require_capture(capture, op);
  if (part.repeats) decide(part, condition, stream, op);
  stream.context().runtime().capture_leave(stream.handle(op), op);
  capture->end_part();
}

}  // namespace stator
