#include "ops/collapse.hpp"

#include "ops/axes.hpp"

#include <cstdlib>
#include <numeric>

namespace stator {
namespace {

struct Axis {
  int64_t extent;
  int64_t step[5];  // of the output, then of the inputs
};

// Stable, so that axes of equal strides keep their row-major order.
void sort_by_output(Axis* axes, int count) {
  for (int i = 1; i < count; ++i) {
    const Axis axis = axes[i];
    int at = i;
    for (; at > 0 && std::abs(axes[at - 1].step[0]) < std::abs(axis.step[0]); --at) axes[at] = axes[at - 1];
    axes[at] = axis;
  }
}

bool step_together(const Axis& outer, const Axis& inner, int operands) {
  for (int k = 0; k < operands; ++k)
    if (outer.step[k] != inner.step[k] * inner.extent) return false;
  return true;
}

void set_operand(params::ElementwiseOperand& operand, const Array* array) {
  operand.immediate = array == nullptr;
  operand.data = array ? array->data_ptr() : nullptr;
  if (array) operand.dtype = array->dtype();
}

}  // namespace

params::Elementwise collapse(const Array& out, std::span<const Array* const> inputs) {
  params::Elementwise e;
  e.size = out.size();
  e.input_count = int32_t(inputs.size());
  set_operand(e.out, &out);
  const Array* operands[5] = {&out};
  int count = 1;
  for (const Array* input : inputs) {
    set_operand(e.in[count - 1], input);
    operands[count++] = input;
  }

  if (out.ndim() == 1 && out.shape()[0] != 1) {  // the usual case, without the general one's loops
    e.ndim = 1;
    e.shape[0] = out.shape()[0];
    e.out.strides[0] = out.strides()[0];
    for (int k = 1; k < count; ++k) {
      const Array* const x = operands[k];
      e.in[k - 1].strides[0] = x && x->ndim() == 1 && x->shape()[0] != 1 ? x->strides()[0] : 0;
    }
    return e;
  }
  Axis axes[params::max_dims];
  int axis_count = 0;
  for (int d = 0; d < out.ndim(); ++d) {
    if (out.shape()[d] == 1) continue;
    Axis& axis = axes[axis_count++];
    axis.extent = out.shape()[d];
    for (int k = 0; k < count; ++k) {
      axis.step[k] = 0;
      if (operands[k] == nullptr) continue;
      const int own = d - (out.ndim() - operands[k]->ndim());
      if (own >= 0 && operands[k]->shape()[own] != 1) axis.step[k] = operands[k]->strides()[own];
    }
  }
  sort_by_output(axes, axis_count);

  int merged = 0;
  for (int i = 0; i < axis_count; ++i) {
    if (merged > 0 && step_together(axes[merged - 1], axes[i], count)) {
      axes[i].extent *= axes[merged - 1].extent;
      axes[merged - 1] = axes[i];
    } else {
      axes[merged++] = axes[i];
    }
  }
  e.ndim = merged;
  for (int d = 0; d < merged; ++d) {
    e.shape[d] = axes[d].extent;
    e.out.strides[d] = axes[d].step[0];
    for (int k = 1; k < count; ++k) e.in[k - 1].strides[d] = axes[d].step[k];
  }
  return e;
}

Array empty_like(OpCall& call, const Dims& shape, DType dtype, std::span<const Array* const> inputs) {
  const Array* model = nullptr;
  for (const Array* x : inputs) {
    if (!x || !(x->shape() == shape)) continue;  // numbers and broadcast operands do not count
    if (model && !(model->strides() == x->strides())) return call.empty(shape, dtype);
    model = x;
  }
  if (!model || model->is_contiguous()) return call.empty(shape, dtype);
  int order[params::max_dims];  // axes by descending stride
  std::iota(order, order + shape.size(), 0);
  sort_axes(std::span(order, size_t(shape.size())),
            [&](int a, int b) { return model->strides()[a] > model->strides()[b]; });
  int64_t dense = 1;
  for (int i = shape.size() - 1; i >= 0; --i) {
    if (shape[order[i]] == 1) continue;
    if (model->strides()[order[i]] != dense) return call.empty(shape, dtype);
    dense *= shape[order[i]];
  }
  Dims extents(shape.size()), strides(shape.size());
  for (int i = 0; i < shape.size(); ++i) extents[i] = shape[order[i]];
  const Array memory = call.empty(extents, dtype);
  for (int i = 0; i < shape.size(); ++i) strides[order[i]] = memory.strides()[i];
  return Array(memory.buffer(), dtype, shape, strides, 0);
}

}  // namespace stator
