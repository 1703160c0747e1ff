// The part of cuBLASLt that stator calls, declared here so that building needs no CUDA header.
// tests/cpp/vendor_prototypes.cpp compares these types and values with the real headers.
#pragma once

#include "libs/cuda/cublas.hpp"

namespace stator::libs::cublaslt {

using cublas::ComputeType;
using cublas::DataType;
using cublas::Status;
using Handle = cublas::Handle;  // a handle of cuBLAS is one of cuBLASLt
// Opaque: pointers to structs of the library.
using Descriptor = void*;  // cublasLtMatmulDesc_t
using Layout = void*;      // cublasLtMatrixLayout_t
using Preference = void*;  // cublasLtMatmulPreference_t

enum class DescriptorAttribute : int {  // cublasLtMatmulDescAttributes_t
  transpose_a = 3,
  transpose_b = 4,
  epilogue = 7,
  bias_pointer = 8,
  a_scale_pointer = 17,
  b_scale_pointer = 18,
};
enum class LayoutAttribute : int { batch_count = 5, batch_offset = 6 };  // cublasLtMatrixLayoutAttribute_t
enum class PreferenceAttribute : int {                                   // cublasLtMatmulPreferenceAttributes_t
  workspace_bytes = 1,
  reduction_scheme_mask = 3,
  alignment_a = 5,
  alignment_b = 6,
  alignment_c = 7,
  alignment_d = 8,
};
// Split-k sums in the compute type, in a workspace: sums in place are in the type of the result.
inline constexpr uint32_t exact_reductions = 2;
enum class Epilogue : int { none = 1, relu = 2, bias = 4, relu_bias = 6, gelu = 32, gelu_bias = 36 };

struct Algorithm {  // cublasLtMatmulAlgo_t
  uint64_t data[8];
};
struct Heuristic {  // cublasLtMatmulHeuristicResult_t
  Algorithm algorithm;
  size_t workspace_bytes;
  Status state;
  float waves;
  int reserved[4];
};

struct Api {
  Status (*multiply)(Handle, Descriptor, const void* alpha, const void* a, Layout, const void* b, Layout,
                     const void* beta, const void* c, Layout, void* d, Layout, const Algorithm*, void* workspace,
                     size_t workspace_bytes, cublas::StreamHandle);
  Status (*heuristic)(Handle, Descriptor, Layout a, Layout b, Layout c, Layout d, Preference, int wanted, Heuristic*,
                      int* found);
  Status (*create_descriptor)(Descriptor*, ComputeType, DataType scale);
  Status (*destroy_descriptor)(Descriptor);
  Status (*set_descriptor)(Descriptor, DescriptorAttribute, const void*, size_t);
  Status (*create_layout)(Layout*, DataType, uint64_t rows, uint64_t cols, int64_t leading);
  Status (*destroy_layout)(Layout);
  Status (*set_layout)(Layout, LayoutAttribute, const void*, size_t);
  Status (*create_preference)(Preference*);
  Status (*destroy_preference)(Preference);
  Status (*set_preference)(Preference, PreferenceAttribute, const void*, size_t);
};

}  // namespace stator::libs::cublaslt
