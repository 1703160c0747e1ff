#include "core/op_call.hpp"

#include "core/capture.hpp"
#include "core/text.hpp"
#include "memory/overlap.hpp"

#include <algorithm>

namespace stator {
namespace {

Ref<Context> common_context(Op op, std::initializer_list<const Array*> inputs) {
  const std::string_view call = op_info(op).call;
  Context* context = nullptr;
  for (const Array* input : inputs) {
    if (!input) continue;
    if (!*input) throw ValueError(std::string(call), "got an array without memory", "Pass an array made by a Backend");
    Context* other = &input->buffer()->context();
    if (context && other != context) {
      throw BackendMismatchError(
          std::string(call),
          "got arrays of two backends, on " + context->device().str() + " and " + other->device().str(),
          "Move one with to_device(), or make both with one Backend");
    }
    context = other;
  }
  if (!context) throw ValueError(std::string(call), "got no array among the operands", "Pass at least one array");
  return Ref<Context>(context);
}

Ref<Context> context_of(Op op, const Backend& backend) {
  if (backend.context()) return backend.context();
  throw ValueError(op_text(uint16_t(op)), "got a default-constructed backend", "Open one with Backend::open(device)");
}

void submit(const params::Queue& queue, const params::Launch& launch) {
  const OpCall& call = *static_cast<const OpCall*>(queue.stream);
  call.context().runtime().launch(launch, call.stream().handle(queue.op), call.record());
  if (call.context().runtime().blocking()) [[unlikely]]
    call.stream().raise_pending(queue.op);
}

}  // namespace

OpCall::OpCall(Op op, Ref<Context> context, const Stream& stream)
    : op_(op), context_(std::move(context)), guard_(*context_, uint16_t(op)) {
  stream_ = &context_->chosen_stream(stream, 0, uint16_t(op));
  if (stream_->is_captured()) [[unlikely]] {
    capture_ = stream_->capture();
    if (capture_) capture_->admit(op, stream_->index());
  }
}

OpCall::OpCall(Op op, std::initializer_list<const Array*> inputs, const Stream& stream)
    : OpCall(op, common_context(op, inputs), stream) {
  size_t count = 0;
  for (const Array* input : inputs) {
    if (!input) continue;
    if (count < inputs_.size())
      inputs_[count++] = input;
    else
      more_inputs_.push_back(input);
  }
}

OpCall::OpCall(Op op, const Backend& backend, const Stream& stream) : OpCall(op, context_of(op, backend), stream) {}

Array OpCall::empty(const Dims& shape, DType dtype) {
  const int64_t size = checked_size(name(), shape, itemsize(dtype));
  Ref<Buffer> buffer = context_->pool().allocate(size_t(size) * itemsize(dtype), *stream_, uint16_t(op_));
  return Array(std::move(buffer), dtype, shape, contiguous_strides(shape), 0);
}

Array OpCall::output(const Dims& shape, DType dtype, const Array* out) {
  if (!out) return empty(shape, dtype);
  check_out(shape, dtype, *out);
  return *out;
}

void OpCall::check_out(const Dims& shape, DType dtype, const Array& out) const {
  const std::string_view op = name();
  if (!out) throw ValueError(std::string(op), "out is an array without memory", "Pass an array made by a Backend");
  if (&out.buffer()->context() != context_.get()) {
    throw BackendMismatchError(std::string(op), "out belongs to another backend",
                               "Make it with the backend of the inputs");
  }
  if (!(out.shape() == shape)) {
    throw ShapeError(std::string(op), "out has shape " + str(out.shape()) + ", the result has " + str(shape),
                     "out must have the shape of the result");
  }
  if (!can_cast_same_kind(dtype, out.dtype())) {
    throw DTypeError(std::string(op),
                     "out has dtype " + std::string(stator::name(out.dtype())) + ", the result has " +
                         std::string(stator::name(dtype)),
                     "The dtype of out must be of the result's kind, or of a wider one");
  }
  require_writable(op, out, "out");
  const auto check = [&](const Array* input) {
    if (!input || input == &out || !may_overlap(*input, out) || same_view(*input, out)) return;
    throw ValueError(std::string(op), "out shares part of its memory with an input",
                     "Pass the very same view, or separate memory");
  };
  for (const Array* input : inputs_) check(input);
  for (const Array* input : more_inputs_) check(input);
}

void* OpCall::scratch(size_t bytes) {
  scratch_.push_back(context_->pool().allocate(bytes, *stream_, uint16_t(op_)));
  return scratch_.back()->memory(uint16_t(op_));
}

void OpCall::keep(std::shared_ptr<const void> object) const {
  if (capture_) capture_->keep(std::move(object));
}

void OpCall::declare(const Array& array, bool write) {
  if (write && overlaps_itself(array)) [[unlikely]]
    require_distinct(name(), array, "the result");
  Buffer& buffer = *array.buffer();
  const void* memory = buffer.memory(uint16_t(op_));
  if (capture_) [[unlikely]]
    capture_->hold(buffer, write);
  buffer.note_use(stream_->index());
  // What is captured does not run now: the work before it is what a read has to wait for.
  if (!capture_ || buffer.arena() == capture_->arena.get()) buffer.set_last_stream(stream_->index());
  synchronous_ = synchronous_ || buffer.host_shared();
  const Extent extent = extent_of(array);
  const params::Access access{memory, array.offset() * itemsize(array.dtype()) + extent.begin,
                              extent.end - extent.begin, write};
  if (access_count_ < int(few_.size())) {
    few_[access_count_] = access;
  } else {
    if (many_.empty()) many_.assign(few_.begin(), few_.end());
    many_.push_back(access);
  }
  ++access_count_;
}

runtime::Record OpCall::record() const {
  return {.op = uint16_t(op_),
          .accesses = many_.empty() ? few_.data() : many_.data(),
          .access_count = access_count_,
          .synchronous = synchronous_,
          .expected_bytes = expected_bytes_,
          .multiply_adds = multiply_adds_,
          .elements = elements_};
}

params::Draws OpCall::draws(uint64_t seed, uint64_t counter) const {
  return capture_ ? capture_->draws(seed, counter) : params::Draws{seed, counter, nullptr};
}

const params::Queue& OpCall::queue() {
  stream_->raise_pending(uint16_t(op_));
  const runtime::Record accesses = record();
  queue_ = {.submit = submit,
            .stream = this,
            .limits = &context_->limits(),
            .slot = stream_->slot(),
            .accesses = accesses.accesses,
            .access_count = access_count_,
            .op = uint16_t(op_)};
  return queue_;
}

void OpCall::finish_indices() {
  if (context_->options().eager_indices) stream_->synchronize(uint16_t(op_));
}

}  // namespace stator
