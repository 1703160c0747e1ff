// The part of cuBLAS that stator calls, declared here so that building needs no CUDA header.
// tests/cpp/vendor_prototypes.cpp compares these types and values with the real headers.
#pragma once

#include <stator/dtype.hpp>

#include <cstddef>
#include <cstdint>

struct cublasContext;
struct CUstream_st;

namespace stator::libs::cublas {

using Handle = ::cublasContext*;
using StreamHandle = ::CUstream_st*;
using Status = int;  // cublasStatus_t; the enumerations below are int-sized in the library's interface
inline constexpr Status success = 0, invalid_value = 7, not_supported = 15;

enum class DataType : int {  // cudaDataType
  r_32f = 0,
  r_64f = 1,
  r_16f = 2,
  r_8i = 3,
  c_32f = 4,
  c_64f = 5,
  r_32i = 10,
  r_16bf = 14,
  r_8f_e4m3 = 28,
  r_8f_e5m2 = 29,
};
enum class ComputeType : int { f32 = 68, f64 = 70, i32 = 72, f32_fast_tf32 = 77 };  // cublasComputeType_t
enum class Operation : int { none = 0, transpose = 1 };                             // cublasOperation_t
enum class Algorithm : int { standard = -1 };                                       // cublasGemmAlgo_t
// cublasMath_t: split-k sums of halves stay in float32.
enum class Math : int { disallow_reduced_precision_reduction = 16 };

// The cudaDataType of one of the six dtypes of products; any other dtype aborts.
constexpr DataType data_type(DType dtype) {
  switch (dtype) {
    case DType::float16: return DataType::r_16f;
    case DType::bfloat16: return DataType::r_16bf;
    case DType::float32: return DataType::r_32f;
    case DType::float64: return DataType::r_64f;
    case DType::complex64: return DataType::c_32f;
    case DType::complex128: return DataType::c_64f;
    default: outside_set();
  }
}

struct Api {
  Status (*create)(Handle*);
  Status (*destroy)(Handle);
  Status (*set_stream)(Handle, StreamHandle);
  Status (*set_workspace)(Handle, void*, size_t);
  Status (*set_math_mode)(Handle, Math);
  const char* (*status_name)(Status);
  Status (*gemm)(Handle, Operation, Operation, int64_t m, int64_t n, int64_t k, const void* alpha, const void* a,
                 DataType, int64_t lda, long long stride_a, const void* b, DataType, int64_t ldb, long long stride_b,
                 const void* beta, void* c, DataType, int64_t ldc, long long stride_c, int64_t batch, ComputeType,
                 Algorithm);
  // The lists of addresses are in device memory.
  Status (*gemm_batched)(Handle, Operation, Operation, int64_t m, int64_t n, int64_t k, const void* alpha,
                         const void* const* a, DataType, int64_t lda, const void* const* b, DataType, int64_t ldb,
                         const void* beta, void* const* c, DataType, int64_t ldc, int64_t batch, ComputeType,
                         Algorithm);
};

}  // namespace stator::libs::cublas
