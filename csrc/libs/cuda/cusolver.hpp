// The part of cuSOLVER (its 64-bit interface and batched routines) that stator calls, and the triangular solve and
// batched routines of cuBLAS, declared here so that building needs no CUDA header. tests/cpp/vendor_prototypes.cpp
// compares these types and values with the real headers.
#pragma once

#include "libs/cuda/cublas.hpp"

struct cusolverDnContext;
struct cusolverDnParams;
struct gesvdjInfo;

namespace stator::libs::cusolver {

using cublas::DataType;
using Handle = ::cusolverDnContext*;
using Params = ::cusolverDnParams*;
using Jacobi = ::gesvdjInfo*;
using Status = int;  // cusolverStatus_t
inline constexpr Status success = 0, invalid_value = 3;

enum class Fill : int { lower = 0, upper = 1 };                       // cublasFillMode_t
enum class Side : int { left = 0 };                                   // cublasSideMode_t
enum class Diagonal : int { non_unit = 0, unit = 1 };                 // cublasDiagType_t
enum class Operation : int { none = 0, transpose = 1, adjoint = 2 };  // cublasOperation_t
enum class Mode : int { no_vectors = 0, vectors = 1 };                // cusolverEigMode_t

struct Api {
  Status (*create)(Handle*);
  Status (*destroy)(Handle);
  Status (*set_stream)(Handle, cublas::StreamHandle);
  Status (*create_params)(Params*);
  Status (*destroy_params)(Params);
  Status (*potrf_size)(Handle, Params, Fill, int64_t n, DataType, const void* a, int64_t lda, DataType compute,
                       size_t* device, size_t* host);
  Status (*potrf)(Handle, Params, Fill, int64_t n, DataType, void* a, int64_t lda, DataType compute, void* device,
                  size_t, void* host, size_t, int* info);
  Status (*getrf_size)(Handle, Params, int64_t m, int64_t n, DataType, const void* a, int64_t lda, DataType compute,
                       size_t* device, size_t* host);
  Status (*getrf)(Handle, Params, int64_t m, int64_t n, DataType, void* a, int64_t lda, int64_t* pivots,
                  DataType compute, void* device, size_t, void* host, size_t, int* info);
  Status (*getrs)(Handle, Params, Operation, int64_t n, int64_t columns, DataType, const void* a, int64_t lda,
                  const int64_t* pivots, DataType, void* b, int64_t ldb, int* info);
  Status (*geqrf_size)(Handle, Params, int64_t m, int64_t n, DataType, const void* a, int64_t lda, DataType,
                       const void* tau, DataType compute, size_t* device, size_t* host);
  Status (*geqrf)(Handle, Params, int64_t m, int64_t n, DataType, void* a, int64_t lda, DataType, void* tau,
                  DataType compute, void* device, size_t, void* host, size_t, int* info);
  Status (*gesvd_size)(Handle, Params, signed char jobu, signed char jobvt, int64_t m, int64_t n, DataType,
                       const void* a, int64_t lda, DataType, const void* s, DataType, const void* u, int64_t ldu,
                       DataType, const void* vt, int64_t ldvt, DataType compute, size_t* device, size_t* host);
  Status (*gesvd)(Handle, Params, signed char jobu, signed char jobvt, int64_t m, int64_t n, DataType, void* a,
                  int64_t lda, DataType, void* s, DataType, void* u, int64_t ldu, DataType, void* vt, int64_t ldvt,
                  DataType compute, void* device, size_t, void* host, size_t, int* info);
  Status (*syevd_size)(Handle, Params, Mode, Fill, int64_t n, DataType, const void* a, int64_t lda, DataType,
                       const void* w, DataType compute, size_t* device, size_t* host);
  Status (*syevd)(Handle, Params, Mode, Fill, int64_t n, DataType, void* a, int64_t lda, DataType, void* w,
                  DataType compute, void* device, size_t, void* host, size_t, int* info);
  Status (*geev_size)(Handle, Params, Mode left, Mode right, int64_t n, DataType, const void* a, int64_t lda, DataType,
                      const void* w, DataType, const void* vl, int64_t ldvl, DataType, const void* vr, int64_t ldvr,
                      DataType compute, size_t* device, size_t* host);
  Status (*geev)(Handle, Params, Mode left, Mode right, int64_t n, DataType, void* a, int64_t lda, DataType, void* w,
                 DataType, void* vl, int64_t ldvl, DataType, void* vr, int64_t ldvr, DataType compute, void* device,
                 size_t, void* host, size_t, int* info);
  Status (*syev_batched_size)(Handle, Params, Mode, Fill, int64_t n, DataType, const void* a, int64_t lda, DataType,
                              const void* w, DataType compute, size_t* device, size_t* host, int64_t count);
  Status (*syev_batched)(Handle, Params, Mode, Fill, int64_t n, DataType, void* a, int64_t lda, DataType, void* w,
                         DataType compute, void* device, size_t, void* host, size_t, int* info, int64_t count);
  Status (*create_jacobi)(Jacobi*);
  Status (*destroy_jacobi)(Jacobi);
};

// Functions per dtype that the 64-bit interface lacks. T is float, double, or a complex type of the same layout; R is
// its real part.
template <class T, class R = T>
struct Typed {
  Status (*orgqr_size)(Handle, int m, int n, int k, const T* a, int lda, const T* tau, int* length);
  Status (*orgqr)(Handle, int m, int n, int k, T* a, int lda, const T* tau, T* work, int length, int* info);
  Status (*trsm)(cublas::Handle, Side, Fill, Operation, Diagonal, int64_t m, int64_t n, const T* alpha, const T* a,
                 int64_t lda, T* b, int64_t ldb);
  // Batches are lists of addresses in device memory. getrs and geqrf have one info, on the host, about their arguments.
  Status (*potrf_batched)(Handle, Fill, int n, T* a[], int lda, int* info, int count);
  Status (*getrf_batched)(cublas::Handle, int n, T* const a[], int lda, int* pivots, int* info, int count);
  Status (*getrs_batched)(cublas::Handle, Operation, int n, int columns, const T* const a[], int lda, const int* pivots,
                          T* const b[], int ldb, int* info, int count);
  Status (*trsm_batched)(cublas::Handle, Side, Fill, Operation, Diagonal, int64_t m, int64_t n, const T* alpha,
                         const T* const a[], int64_t lda, T* const b[], int64_t ldb, int64_t count);
  Status (*gesvdj_batched_size)(Handle, Mode, int m, int n, const T* a, int lda, const R* s, const T* u, int ldu,
                                const T* v, int ldv, int* length, Jacobi, int count);
  Status (*gesvdj_batched)(Handle, Mode, int m, int n, T* a, int lda, R* s, T* u, int ldu, T* v, int ldv, T* work,
                           int length, int* info, Jacobi, int count);
};

}  // namespace stator::libs::cusolver
