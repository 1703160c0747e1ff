// OpCall: what every public op does around its launch: one backend, guard, stream, result allocation, access record.
#pragma once

#include "core/context.hpp"

#include <stator/array.hpp>
#include <stator/op_table.hpp>

#include <array>
#include <initializer_list>
#include <vector>

namespace stator {

class OpCall {
 public:
  // Takes the backend of the non-null inputs: BackendMismatchError when they differ, BackendClosedError when it is
  // closed. A Stream of another backend is a BackendMismatchError too.
  OpCall(Op op, std::initializer_list<const Array*> inputs, const Stream& stream);
  OpCall(Op op, const Backend& backend, const Stream& stream);  // creation ops

  Op op() const { return op_; }
  std::string_view name() const { return op_info(op_).call; }
  Context& context() const { return *context_; }
  const params::DeviceLimits& limits() const { return context_->limits(); }
  StreamBox& stream() const { return *stream_; }
  Stream on() const { return Stream(Ref<StreamBox>(stream_)); }  // the same as the public functions take it

  Array empty(const Dims& shape, DType dtype);  // contiguous, uninitialised
  // `out` after checking shape, same-kind cast and partial overlap with the inputs (the very same view is allowed);
  // a new array when out is null.
  Array output(const Dims& shape, DType dtype, const Array* out);
  void* scratch(size_t bytes);  // device memory until the call's work is done, freed in stream order
  void* zeroed_scratch(size_t bytes) { return context_->zeroed_scratch(*stream_, bytes, uint16_t(op_)); }

  // Declares an operand. Call for all operands before queue(). Records the stream's use of the buffer.
  void reads(const Array& array) { declare(array, false); }
  void writes(const Array& array) { declare(array, true); }

  // Valid until the OpCall ends. Launchers submit to it; every launch carries the declared accesses.
  const params::Queue& queue();
  runtime::Record record() const;

  // After the launches: waits and raises when check_indices="eager" and the op uses the error slot.
  void finish_indices();

 private:
  OpCall(Op op, Ref<Context> context, const Stream& stream);
  void declare(const Array& array, bool write);
  void check_out(const Dims& shape, DType dtype, const Array& out) const;

  Op op_;
  Ref<Context> context_;
  OpGuard guard_;
  Ref<StreamBox> stream_;
  std::vector<Ref<Buffer>> scratch_;
  std::array<params::Access, 8> few_;
  std::vector<params::Access> many_;  // all of them, once there are more than a few
  int access_count_ = 0;
  bool synchronous_ = false;
  params::Queue queue_{};
  std::array<const Array*, 8> inputs_{};
  std::vector<const Array*> more_inputs_;  // beyond those
};

}  // namespace stator
