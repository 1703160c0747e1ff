// Rows of a table by indices, of namespace nn. Indices have any integer dtype and are valid from -n to n - 1; for one
// out of range the next synchronising call throws IndexError. Asynchronous; equal bits from run to run.
#pragma once

#include <stator/array.hpp>

#include <optional>
#include <string_view>

namespace stator::nn {

// weight (n, d), floating -> indices' shape and d. The row padding_idx is read as any other; its gradient is 0.
// ValueError unless it is from -n to n - 1.
STATOR_API Array embedding(const Array& weight, const Array& indices, std::optional<int64_t> padding_idx = {},
                           const Stream& = {});
struct EmbeddingGradientOptions {
  std::optional<int64_t> padding_idx;
  bool scale_grad_by_freq = false;  // rows are divided by how often their index occurs
};
// The gradient of the weight, (num_embeddings, d). Indices are sorted, and equal ones added in a tree: a repeated index
// costs what others do. UnsupportedError for more than 2^32 - 1 indices.
STATOR_API Array embedding_backward(const Array& grad, const Array& indices, int64_t num_embeddings,
                                    const EmbeddingGradientOptions& = {}, const Stream& = {});

struct EmbeddingBagOptions {
  const Array* offsets = nullptr;  // (bags,), integers that begin with 0 and do not decrease, for indices of one axis
  std::string_view mode = "mean";  // "sum", "mean", "max"
  std::optional<int64_t> padding_idx;  // such rows are not in any bag
};
// (bags, d): the rows of weight that are in each bag, reduced. Indices of two axes have a bag for each row. A bag
// without rows gives zeros.
STATOR_API Array embedding_bag(const Array& weight, const Array& indices, const EmbeddingBagOptions& = {},
                               const Stream& = {});
// The gradient of the weight.
STATOR_API Array embedding_bag_backward(const Array& grad, const Array& weight, const Array& indices,
                                        const EmbeddingBagOptions& = {}, const Stream& = {});

// indices' shape and num_classes: 1 at the index, 0 elsewhere. DTypeError for a complex dtype, ValueError for
// num_classes < 1.
STATOR_API Array one_hot(const Array& indices, int64_t num_classes, DType dtype = DType::int64, const Stream& = {});

}  // namespace stator::nn
