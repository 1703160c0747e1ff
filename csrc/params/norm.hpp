// Parameters of the normalisation launchers.
#pragma once

#include "params/launcher.hpp"

namespace stator::params {

// What follows a normalisation in the same pass.
enum class NormActivation : int32_t { none, relu, silu, gelu };

// Contiguous rows of n elements, each with a mean and a deviation of its own. A row is `channels` times `inner`
// elements: element i of row r has the weight and bias of index r % groups * channels + i / inner. Layer normalisation
// has one group and inner = 1.
struct RowNorm {
  const void* x;
  const void* residual;  // added to x first, or null
  const void* grad;      // backward
  const void* weight;    // or null, for ones
  const void* bias;      // or null, for zeros; backward, only with an activation
  void* y;               // forward: the result. backward: the gradient of x
  void* sum;             // with residual: x + residual
  void* dweight;         // backward
  void* dbias;           // backward, or null if there is no bias
  void* partials;        // backward: scratch, as row_norm_scratch says
  void* lengths;         // forward, with total: the root of each row's sum of squares, or null
  DType dtype;
  bool centered;  // the mean is subtracted; else rows are divided by the root of their mean square,
  bool total;     // or of their sum of squares, which counts as eps where it is less
  NormActivation activation;
  double eps;
  int64_t rows, n, groups, channels, inner;
};

// Contiguous (samples, channels, inner), where each channel has a mean and a variance over the others. Those, and sums,
// are float64 for float64 and float32 else.
struct ChannelNorm {
  const void* x;
  const void* residual;   // forward: added to x first, or null
  const void* grad;       // backward
  const void* weight;     // or null, for ones
  const void* bias;       // or null, for zeros; backward, only with an activation
  void* y;                // forward: the result. backward: the gradient of x
  void* sum;              // with residual: x + residual
  void *mean, *var;       // forward in training: results. else: operands
  void *dweight, *dbias;  // backward
  void* sums;             // backward: scratch of two numbers a channel
  void* scales;           // training: scratch, as channel_norm_needs says
  void* partials;         // scratch, as channel_norm_needs says
  uint32_t* counters;     // zeroed scratch
  DType dtype;
  bool training;
  NormActivation activation;
  double eps;
  int64_t samples, channels, inner;
};
struct ChannelNormNeeds {
  int64_t partial_bytes, counter_bytes;  // 0 where channels are not divided among blocks
  int64_t scale_bytes;                   // 0 where they are computed again
};

// running += momentum * (batch - running), for n means and variances of float32 or float64. The variances of the batch
// are multiplied by `unbias` first.
struct RunningStats {
  void *running_mean, *running_var;
  const void *mean, *var;
  DType dtype;
  double momentum, unbias;
  int64_t n;
};

// Contiguous (samples, channels, inner). denom = k + alpha / size * the sum of squares over the `size` channels from
// size / 2 before an element's on; y = x * denom^-beta.
struct ResponseNorm {
  const void* x;
  const void* grad;  // backward
  void* denom;       // forward: a result. backward: an operand
  void* y;           // forward: the result. backward: the gradient of x
  DType dtype;
  int64_t samples, channels, inner, size;
  double alpha, beta, k;
};

}  // namespace stator::params

namespace stator::kernels::norm {

extern Launcher<void(const Queue&, const params::RowNorm&)> row_norm;
extern Launcher<int64_t(const DeviceLimits&, const params::RowNorm&)> row_norm_scratch;  // bytes of partials
extern Launcher<void(const Queue&, const params::RowNorm&)> row_norm_backward;
extern Launcher<params::ChannelNormNeeds(const DeviceLimits&, const params::ChannelNorm&)> channel_norm_needs;
extern Launcher<void(const Queue&, const params::ChannelNorm&)> channel_norm;
extern Launcher<void(const Queue&, const params::ChannelNorm&)> channel_norm_backward;
extern Launcher<void(const Queue&, const params::RunningStats&)> running_stats;
extern Launcher<void(const Queue&, const params::ResponseNorm&)> response_norm;
extern Launcher<void(const Queue&, const params::ResponseNorm&)> response_norm_backward;

}  // namespace stator::kernels::norm
