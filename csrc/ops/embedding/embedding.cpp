#include <stator/creation.hpp>
#include <stator/nn/embedding.hpp>

#include "core/op_call.hpp"
#include "ops/sort/keys.hpp"
#include "params/embedding.hpp"
#include "params/indexing.hpp"

#include <string>
#include <utility>

namespace stator::nn {
namespace {

void check_table(const OpCall& call, const Array& weight) {
  const std::string op(call.name());
  if (!in(weight.dtype(), dtypes::floats))
    throw DTypeError(op, "weight is " + std::string(name(weight.dtype())),
                     "pass float16, bfloat16, float32 or float64; astype converts");
  if (weight.ndim() != 2)
    throw ShapeError(op, "weight has shape " + str(weight.shape()), "pass an array of shape (n, d)");
}

void check_indices(const OpCall& call, const char* what, const Array& indices) {
  if (!in(indices.dtype(), dtypes::integers))
    throw DTypeError(std::string(call.name()), std::string(what) + " are " + std::string(name(indices.dtype())),
                     "pass an integer dtype");
}

// The row that is padding as it counts from the first, or -1.
int64_t padding_row(const OpCall& call, std::optional<int64_t> padding, int64_t rows) {
  if (!padding) return -1;
  if (*padding < -rows || *padding >= rows)
    throw ValueError(std::string(call.name()),
                     "padding_idx=" + std::to_string(*padding) + " of " + std::to_string(rows) + " embeddings",
                     "pass a number from " + std::to_string(-rows) + " to " + std::to_string(rows - 1));
  return *padding < 0 ? *padding + rows : *padding;
}

Array dense(OpCall& call, const Array& a) {
  Array found = a.is_contiguous() ? a : copy(a, call.on());
  call.reads(found);
  return found;
}

DType key_dtype(int64_t rows) {
  return rows < (1 << 8)             ? DType::uint8
         : rows < (1 << 16)          ? DType::uint16
         : rows < (int64_t(1) << 32) ? DType::uint32
                                     : DType::int64;
}

// Sorts the indices, and adds up rows of p.grad into zeros of p.out.
void add_rows(OpCall& call, const Array& indices, int64_t padding, params::RowSums& p) {
  p.n = indices.size();
  p.key_dtype = key_dtype(p.rows);
  const Dims flat{p.n};
  const Array keys = call.empty(flat, p.key_dtype), sorted = call.empty(flat, p.key_dtype),
              order = call.empty(flat, DType::int64);
  call.writes(keys);
  call.writes(sorted);
  call.writes(order);
  kernels::embedding::row_keys(
      call.queue(), {indices.data_ptr(), indices.dtype(), p.n, p.rows, padding, keys.data_ptr(), p.key_dtype});
  launch_sort(call, keys, 0, false, {0, p.n}, &sorted, &order);
  p.keys = sorted.data_ptr();
  p.order = static_cast<const int64_t*>(order.data_ptr());
  if (const int64_t bytes = kernels::embedding::row_sums_scratch(call.limits(), p); bytes > 0)
    p.scratch = call.scratch(size_t(bytes));
  kernels::embedding::row_sums(call.queue(), p);
}

// Zeros for the gradient of a table.
Array new_gradient(OpCall& call, const Dims& shape, DType dtype) {
  checked_size(call.name(), shape, itemsize(dtype));
  Array out = call.empty(shape, dtype);
  if (out.size() == 0) return out;
  assign(out, 0, call.on());
  call.writes(out);
  return out;
}

params::BagMode bag_mode(const OpCall& call, std::string_view mode) {
  if (mode == "sum") return params::BagMode::sum;
  if (mode == "mean") return params::BagMode::mean;
  if (mode == "max") return params::BagMode::max;
  throw ValueError(std::string(call.name()), "mode=\"" + std::string(mode) + "\"", "pass \"sum\", \"mean\" or \"max\"");
}

params::Bags bag_parameters(const OpCall& call, const Array& weight, const Array& indices,
                            const EmbeddingBagOptions& o) {
  const std::string op(call.name());
  check_table(call, weight);
  check_indices(call, "indices", indices);
  params::Bags p{};
  p.mode = bag_mode(call, o.mode);
  p.rows = weight.shape()[0];
  p.d = weight.shape()[1];
  p.padding = padding_row(call, o.padding_idx, p.rows);
  p.dtype = weight.dtype();
  p.index_dtype = indices.dtype();
  p.n = indices.size();
  if (o.offsets == nullptr) {
    if (indices.ndim() != 2)
      throw ShapeError(op, "got indices of shape " + str(indices.shape()) + " without offsets",
                       "pass indices (bags, length), or offsets");
    p.count = indices.shape()[0];
    p.length = indices.shape()[1];
    return p;
  }
  check_indices(call, "offsets", *o.offsets);
  if (indices.ndim() != 1 || o.offsets->ndim() != 1)
    throw ShapeError(op, "got indices " + str(indices.shape()) + " with offsets " + str(o.offsets->shape()),
                     "pass indices and offsets of one axis");
  p.count = o.offsets->size();
  p.offset_dtype = o.offsets->dtype();
  if (p.count == 0 && p.n > 0)
    throw ShapeError(op, "got " + std::to_string(p.n) + " indices and empty offsets",
                     "pass at least one offset; the first is 0");
  return p;
}

}  // namespace

Array embedding(const Array& weight, const Array& indices, std::optional<int64_t> padding_idx, const Stream& stream) {
  OpCall call(Op::embedding, {&weight, &indices}, stream);
  check_table(call, weight);
  check_indices(call, "indices", indices);
  padding_row(call, padding_idx, weight.shape()[0]);
  Dims shape = indices.shape();
  shape.push_back(weight.shape()[1]);
  checked_size(call.name(), shape, itemsize(weight.dtype()));
  const Array out = call.empty(shape, weight.dtype());
  if (out.size() == 0) return out;
  const Array positions = dense(call, indices);
  call.reads(weight);
  call.writes(out);
  params::Take p{};
  p.x = weight.data_ptr();
  p.indices = positions.data_ptr();
  p.out = out.data_ptr();
  p.itemsize = itemsize(weight.dtype());
  p.index_dtype = indices.dtype();
  p.outer = 1;
  p.n = weight.shape()[0];
  p.inner = weight.shape()[1];
  p.count = indices.size();
  p.index_stride = 1;
  p.x_strides[1] = weight.strides()[0];
  p.x_strides[2] = weight.strides()[1];
  kernels::indexing::take(call.queue(), p);
  call.finish_indices();
  return out;
}

Array embedding_backward(const Array& grad, const Array& indices, int64_t num_embeddings,
                         const EmbeddingGradientOptions& o, const Stream& stream) {
  OpCall call(Op::embedding_backward, {&grad, &indices}, stream);
  const std::string op(call.name());
  check_indices(call, "indices", indices);
  if (!in(grad.dtype(), dtypes::floats))
    throw DTypeError(op, "grad is " + std::string(name(grad.dtype())),
                     "pass float16, bfloat16, float32 or float64; astype converts");
  bool fits = grad.ndim() == indices.ndim() + 1;
  for (int d = 0; fits && d < indices.ndim(); ++d) fits = grad.shape()[d] == indices.shape()[d];
  if (!fits)
    throw ShapeError(op, "got grad " + str(grad.shape()) + " for indices " + str(indices.shape()),
                     "pass the gradient of embedding's result, of indices' shape and the length of a row");
  if (num_embeddings < 0)
    throw ValueError(op, "num_embeddings=" + std::to_string(num_embeddings), "pass a number of at least 0");
  const int64_t padding = padding_row(call, o.padding_idx, num_embeddings);
  params::RowSums p{};
  p.d = grad.shape()[grad.ndim() - 1];
  p.rows = num_embeddings;
  p.dtype = grad.dtype();
  p.by_frequency = o.scale_grad_by_freq;
  const Array out = new_gradient(call, Dims{p.rows, p.d}, p.dtype);
  if (grad.size() == 0) return out;
  const Array slope = dense(call, grad), positions = dense(call, indices);
  p.grad = slope.data_ptr();
  p.out = out.data_ptr();
  add_rows(call, positions, padding, p);
  call.finish_indices();
  return out;
}

Array embedding_bag(const Array& weight, const Array& indices, const EmbeddingBagOptions& o, const Stream& stream) {
  OpCall call(Op::embedding_bag, {&weight, &indices, o.offsets}, stream);
  params::Bags p = bag_parameters(call, weight, indices, o);
  const Array out = call.empty(Dims{p.count, p.d}, p.dtype);
  if (out.size() == 0) return out;
  const Array table = dense(call, weight), positions = dense(call, indices);
  const Array offsets = o.offsets != nullptr ? dense(call, *o.offsets) : Array();
  call.writes(out);
  p.table = table.data_ptr();
  p.indices = positions.data_ptr();
  p.offsets = o.offsets != nullptr ? offsets.data_ptr() : nullptr;
  p.out = out.data_ptr();
  kernels::embedding::bags(call.queue(), p);
  call.finish_indices();
  return out;
}

Array embedding_bag_backward(const Array& grad, const Array& weight, const Array& indices, const EmbeddingBagOptions& o,
                             const Stream& stream) {
  OpCall call(Op::embedding_bag_backward, {&grad, &weight, &indices, o.offsets}, stream);
  const std::string op(call.name());
  params::BagMap map{bag_parameters(call, weight, indices, o), nullptr, nullptr};
  params::Bags& bags = map.bags;
  if (!(grad.shape() == Dims{bags.count, bags.d}))
    throw ShapeError(op, "got grad " + str(grad.shape()) + " for a result of shape " + str(Dims{bags.count, bags.d}),
                     "pass the gradient of embedding_bag's result");
  if (grad.dtype() != weight.dtype())
    throw DTypeError(op,
                     "grad is " + std::string(name(grad.dtype())) + ", weight is " + std::string(name(weight.dtype())),
                     "convert grad with astype");
  const Array out = new_gradient(call, weight.shape(), weight.dtype());
  if (bags.n == 0 || grad.size() == 0) return out;
  const Array slope = dense(call, grad), positions = dense(call, indices);
  const Array offsets = o.offsets != nullptr ? dense(call, *o.offsets) : Array();
  bags.indices = positions.data_ptr();
  bags.offsets = o.offsets != nullptr ? offsets.data_ptr() : nullptr;
  params::RowSums p{};
  if (bags.mode == params::BagMode::max) {
    const Array table = dense(call, weight);
    bags.table = table.data_ptr();
    bags.winners = static_cast<int64_t*>(call.scratch(size_t(bags.count * bags.d) * sizeof(int64_t)));
    kernels::embedding::bags(call.queue(), bags);
    p.winners = bags.winners;
  }
  map.of_position = static_cast<int64_t*>(call.scratch(size_t(bags.n) * sizeof(int64_t)));
  if (bags.mode == params::BagMode::mean) map.factors = call.scratch(size_t(bags.count) * sizeof(double));
  kernels::embedding::bag_map(call.queue(), map);
  p.grad = slope.data_ptr();
  p.bags = map.of_position;
  p.factors = map.factors;
  p.out = out.data_ptr();
  p.dtype = weight.dtype();
  p.d = bags.d;
  p.rows = bags.rows;
  add_rows(call, positions, bags.padding, p);
  call.finish_indices();
  return out;
}

Array one_hot(const Array& indices, int64_t num_classes, DType dtype, const Stream& stream) {
  OpCall call(Op::one_hot, {&indices}, stream);
  const std::string op(call.name());
  check_indices(call, "indices", indices);
  if (in(dtype, dtypes::complexes))
    throw DTypeError(op, "dtype=" + std::string(name(dtype)), "pass a bool, integer or floating dtype");
  if (num_classes < 1)
    throw ValueError(op, "num_classes=" + std::to_string(num_classes), "pass a number of at least 1");
  Dims shape = indices.shape();
  shape.push_back(num_classes);
  checked_size(op, shape, itemsize(dtype));
  const Array out = call.empty(shape, dtype);
  if (out.size() == 0) return out;
  const Array positions = dense(call, indices);
  call.writes(out);
  kernels::embedding::one_hot(
      call.queue(), {positions.data_ptr(), indices.dtype(), dtype, out.data_ptr(), indices.size(), num_classes});
  call.finish_indices();
  return out;
}

}  // namespace stator::nn
