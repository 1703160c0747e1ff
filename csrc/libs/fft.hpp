// Batched transforms as plain data: what our own kernels and cuFFT are asked for.
#pragma once

#include "core/op_call.hpp"

namespace stator::libs {

enum class FftKind : int32_t { complex_to_complex, real_to_complex, complex_to_real };

// One side, input or output, of a transform. Strides and step are in elements of its own dtype (reals or complex
// numbers), and may be 0 or negative on the input. count: elements of the signal in memory; the rest of it is zero.
struct FftOperand {
  void* data = nullptr;
  int64_t strides[params::max_dims] = {};  // of the batch
  int64_t step = 1;
  int64_t count = 0;
  bool real = false;
  bool conjugate = false;
};

// out = scale * forward transform of each signal of `in`, of n points; n counts the reals of a real side. The inverse
// is the conjugate of the forward transform of the conjugate. in and out may be the same memory if their signals lie
// alike.
struct Fft {
  FftKind kind = FftKind::complex_to_complex;
  bool is_double = false;
  int64_t n = 0, signals = 1;
  int ndim = 0;
  int64_t shape[params::max_dims] = {};  // of the batch, row-major; its product is `signals`
  FftOperand in, out;
  double scale = 1;
};

// A transform of up to three axes in cuFFT's layout: element (b, i, j, k) of a side is at b * distance + ((i * embed[1]
// + j) * embed[2] + k) * step. The last axis of a complex side is halved when the other side is real. Results are not
// scaled.
struct VendorSide {
  void* data = nullptr;
  int64_t embed[3] = {};
  int64_t step = 1, distance = 1;
};
struct VendorFft {
  FftKind kind = FftKind::complex_to_complex;
  bool is_double = false, inverse = false;  // inverse: for complex_to_complex
  int rank = 1;
  int64_t n[3] = {};
  int64_t batch = 1;
  VendorSide in, out;  // may be the same memory when both lie alike; complex_to_real overwrites its input
};

// Whether cuFFT can be opened. Where not: one warning per process, or LibraryNotFoundError if the backend requires
// libraries.
bool cuda_fft_available(const OpCall& call);
// Opens cuFFT, and makes the cache of the stream's plans. LibraryNotFoundError.
void cuda_fft_prepare(OpCall& call);
// One library call, enqueued with the accesses that the call has declared. Plans are kept for the stream; their work
// area is scratch memory. CudaError, OutOfMemoryError.
void cuda_fft(OpCall& call, const VendorFft& fft);

}  // namespace stator::libs
