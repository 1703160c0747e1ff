// Normalisation layers and their gradients, of namespace nn. Operands have one floating dtype unless stated otherwise
// (DTypeError); ShapeError if operands do not fit, ValueError for eps below 0 and unknown activations. Backward
// functions take the gradient first, then the arguments of the forward function, where x is the sum with the residual
// if there was one, whose gradient is x's; they compute the statistics and, for an activation, its argument again.
// Asynchronous.
#pragma once

#include <stator/array.hpp>

#include <optional>
#include <string_view>

namespace stator::nn {

// Weight and bias have x's dtype; null: ones and zeros. eps is added to the variance, or to the mean square.
struct NormOptions {
  const Array* weight = nullptr;
  const Array* bias = nullptr;
  double eps = 1e-5;
};

// What is done in the same pass.
struct FusedNormOptions : NormOptions {
  const Array* residual = nullptr;  // of x's shape and dtype, added to x first
  std::string_view activation;      // of the result: "relu", "silu", "gelu", or empty
};
// Over the last axes of x. shape: their extents; empty: those of the weight, or without one the last axis.
struct LayerNormOptions : FusedNormOptions {
  std::optional<Dims> shape;
};
struct Normalized {
  Array y;
  std::optional<Array> sum;  // with residual: x + residual, which is what y is of
};
STATOR_API Normalized layer_norm(const Array& x, const LayerNormOptions& = {}, const Stream& = {});
// x divided by the root of its mean square; no bias.
STATOR_API Normalized rms_norm(const Array& x, const LayerNormOptions& = {}, const Stream& = {});
// x (n, channels, ...), over each of `groups` equal groups of channels of a sample; weight and bias are (channels,).
// ValueError unless `groups` divides the channels; ShapeError, as in PyTorch, if a group of all samples together has
// one element.
STATOR_API Normalized group_norm(const Array& x, int64_t groups, const FusedNormOptions& = {}, const Stream& = {});
// A group per channel. ShapeError if one has one element.
STATOR_API Normalized instance_norm(const Array& x, const FusedNormOptions& = {}, const Stream& = {});

// Gradients of x, weight and bias, the latter two of the weight's shape, also where none is given. The bias itself is
// read only where there is an activation. At most two launches.
struct NormGradients {
  Array x, weight;
  std::optional<Array> bias;  // not of rms_norm
};
STATOR_API NormGradients layer_norm_backward(const Array& grad, const Array& x, const LayerNormOptions& = {},
                                             const Stream& = {});
STATOR_API NormGradients rms_norm_backward(const Array& grad, const Array& x, const LayerNormOptions& = {},
                                           const Stream& = {});
STATOR_API NormGradients group_norm_backward(const Array& grad, const Array& x, int64_t groups,
                                             const FusedNormOptions& = {}, const Stream& = {});
STATOR_API NormGradients instance_norm_backward(const Array& grad, const Array& x, const FusedNormOptions& = {},
                                                const Stream& = {});

// w = g v / |v|, where |v| are the lengths of v over all axes but `axis`, or without one over all. g has v's dtype and
// one element for each length; the lengths have g's shape. One launch where the axis is the first; any other is moved
// there by a copy. Salimans and Kingma, Weight Normalization (2016).
struct WeightNormalized {
  Array w, lengths;
};
STATOR_API WeightNormalized weight_norm(const Array& v, const Array& g, std::optional<int64_t> axis = 0,
                                        const Stream& = {});
struct WeightNormGradients {
  Array v, g;
};
STATOR_API WeightNormGradients weight_norm_backward(const Array& grad, const Array& v, const Array& g,
                                                    std::optional<int64_t> axis = 0, const Stream& = {});

// The weight, as a matrix W whose rows are along `axis`, divided by sigma = u^T W v. u (rows,) and v (columns,) are
// singular vectors after `iterations` steps of the power method from the given ones; a v that is not given is W^T u
// over its length. Lengths count as eps where they are less. The weight has two axes at least. Miyato et al., Spectral
// Normalization (2018), as PyTorch parametrizes it.
struct SpectralNormOptions {
  const Array* v = nullptr;
  int64_t iterations = 1, axis = 0;
  double eps = 1e-12;
};
struct SpectralNormalized {
  Array w, u, v, sigma;  // sigma is 0-d
};
STATOR_API SpectralNormalized spectral_norm(const Array& weight, const Array& u, const SpectralNormOptions& = {},
                                            const Stream& = {});
// From w, u, v and sigma, which spectral_norm returned; u and v count as constants.
STATOR_API Array spectral_norm_backward(const Array& grad, const Array& w, const Array& u, const Array& v,
                                        const Array& sigma, int64_t axis = 0, const Stream& = {});

// x (n, channels, ...), over all axes but that of channels. Means and variances are (channels,), of float64 for float64
// and of float32 else. In training they are those of x, without Bessel's correction, and are results, NaN of no
// elements; else operands. ShapeError, as in PyTorch, where in training each channel has one element. A residual is
// part of x.
struct BatchNormOptions : FusedNormOptions {
  const Array* mean = nullptr;
  const Array* var = nullptr;
  bool training = false;
};
struct BatchNormResult {
  Array y, mean, var;
  std::optional<Array> sum;  // with residual: x + residual
};
STATOR_API BatchNormResult batch_norm(const Array& x, const BatchNormOptions& = {}, const Stream& = {});
// mean and var are what batch_norm returned. In training the gradient passes through them.
STATOR_API NormGradients batch_norm_backward(const Array& grad, const Array& x, const BatchNormOptions& = {},
                                             const Stream& = {});
// In place: running += momentum * (batch - running). The variance of the batch is multiplied by count / (count - 1)
// first, where count is how many elements it is of; where that is 0, nothing moves.
STATOR_API void update_running_stats(const Array& running_mean, const Array& running_var, const Array& mean,
                                     const Array& var, int64_t count, double momentum = 0.1, const Stream& = {});

// x (n, channels, ...): denom is k + alpha times the mean square over `size` neighbouring channels, those that do not
// exist being 0, and y is x * denom^-beta.
struct ResponseNormOptions {
  double alpha = 1e-4, beta = 0.75, k = 1;
};
struct ResponseNormResult {
  Array y, denom;
};
STATOR_API ResponseNormResult local_response_norm(const Array& x, int64_t size, const ResponseNormOptions& = {},
                                                  const Stream& = {});
STATOR_API Array local_response_norm_backward(const Array& grad, const Array& x, const Array& denom, int64_t size,
                                              const ResponseNormOptions& = {}, const Stream& = {});

}  // namespace stator::nn
