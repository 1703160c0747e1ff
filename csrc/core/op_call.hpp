// OpCall: what every public op does around its launches: find the one backend, take a guard, choose the stream,
// allocate the result, and record which memory is read and written.
#pragma once

#include "core/context.hpp"
#include "params/random.hpp"
#include "runtime/float_environment.hpp"

#include <stator/array.hpp>
#include <stator/op_table.hpp>

#include <array>
#include <initializer_list>
#include <vector>

namespace stator {

class OpCall {
 public:
  // Takes the backend of the inputs that are not null: BackendMismatchError when they differ or the stream belongs to
  // another backend, BackendClosedError when it is closed.
  OpCall(Op op, std::initializer_list<const Array*> inputs, const Stream& stream);
  OpCall(Op op, const Backend& backend, const Stream& stream);  // creation ops

  Op op() const { return op_; }
  std::string_view name() const { return op_info(op_).call; }
  Context& context() const { return *context_; }
  const params::DeviceLimits& limits() const { return context_->limits(); }
  StreamBox& stream() const { return *stream_; }
  Stream on() const { return Stream(Ref<StreamBox>(stream_)); }  // the same stream, as public functions take it

  Array empty(const Dims& shape, DType dtype);  // contiguous, uninitialised
  // `out` after checking its shape, the same-kind cast and partial overlap with the inputs (the very same view as an
  // input is allowed); a new array when out is null.
  Array output(const Dims& shape, DType dtype, const Array* out);
  void* scratch(size_t bytes);  // device memory until the call's work is done, freed in stream order
  void* zeroed_scratch(size_t bytes) { return context_->zeroed_scratch(*stream_, bytes, uint16_t(op_)); }

  // Where random numbers begin, for kernels. In a capture, a state that stands for those of launches.
  params::Draws draws(uint64_t seed, uint64_t counter) const;

  // What the call's work needs is kept for as long as the work may run: where it is captured, by the graph.
  void keep(std::shared_ptr<const void> object) const;

  // Declare an operand, and record that the stream uses its buffer. Called for all operands before queue().
  void reads(const Array& array) { declare(array, false); }
  void writes(const Array& array) { declare(array, true); }

  // How many bytes the launches probably read and write, where they may end before they have read all operands. Less
  // work is rather done at once, on the caller's thread, where the device is the host.
  void expect_bytes(int64_t bytes) { expected_bytes_ = bytes; }

  // How many multiply-adds the launches do, for work that computes longer than it reads its operands.
  void expect_multiply_adds(int64_t count) { multiply_adds_ = count; }

  // The number of elements that the threads of the launches are distributed to, for telemetry.
  void expect_elements(int64_t elements) { elements_ = elements; }

  // What launchers submit to, valid until the OpCall ends. Every launch carries the declared accesses.
  const params::Queue& queue();
  runtime::Record record() const;

  // Called after the launches of an op that uses the error slot: with check_indices="eager" waits and throws.
  void finish_indices();

 private:
  OpCall(Op op, Ref<Context> context, const Stream& stream);
  void declare(const Array& array, bool write);
  void check_out(const Dims& shape, DType dtype, const Array& out) const;

  const runtime::DefaultFloatEnvironment environment_;  // of scalars and tables, and of work done at once
  Op op_;
  Ref<Context> context_;
  OpGuard guard_;
  StreamBox* stream_;  // lives as long as the context
  std::vector<Ref<Buffer>> scratch_;
  std::array<params::Access, 8> few_;
  std::vector<params::Access> many_;  // all accesses, once few_ does not hold them
  int access_count_ = 0;
  bool synchronous_ = false;
  int64_t expected_bytes_ = -1, multiply_adds_ = 0, elements_ = -1;
  std::shared_ptr<GraphCapture> capture_;  // that the stream belongs to
  params::Queue queue_{};
  std::array<const Array*, 8> inputs_{};
  std::vector<const Array*> more_inputs_;  // those beyond inputs_
};

}  // namespace stator
