// Compares what stator declares of the vendor libraries with their headers, where those exist. Nothing runs: it
// compiles or it does not.
#include "libs/cublas.hpp"
#include "libs/openblas.hpp"

#include <complex>
#include <type_traits>

// A parameter list with enumerations and pointers to opaque structs reduced to what the calling convention sees.
namespace {

template <class T, bool = std::is_enum_v<T>>
struct Passed {
  using type = T;
};
template <class T>
struct Passed<T, true> {
  static_assert(sizeof(T) == sizeof(int));
  using type = int;
};

template <class T>
struct Plain;
template <class Result, class... P>
struct Plain<Result(P...)> {
  using type = typename Passed<Result>::type(typename Passed<P>::type...);
};
template <class Result, class... P>
struct Plain<Result (*)(P...)> : Plain<Result(P...)> {};

template <class Ours, class Theirs>
constexpr bool same = std::is_same_v<typename Plain<Ours>::type, typename Plain<Theirs>::type>;

}  // namespace

#if __has_include(<cublas_v2.h>)
#include <cublas_v2.h>

namespace cublas = stator::libs::cublas;
using Api = cublas::Api;

static_assert(same<decltype(Api::create), decltype(&::cublasCreate_v2)>);
static_assert(same<decltype(Api::destroy), decltype(&::cublasDestroy_v2)>);
static_assert(same<decltype(Api::set_stream), decltype(&::cublasSetStream_v2)>);
static_assert(same<decltype(Api::set_workspace), decltype(&::cublasSetWorkspace_v2)>);
static_assert(same<decltype(Api::set_math_mode), decltype(&::cublasSetMathMode)>);
static_assert(same<decltype(Api::status_name), decltype(&::cublasGetStatusName)>);
static_assert(same<decltype(Api::gemm), decltype(&::cublasGemmStridedBatchedEx_64)>);

static_assert(int(cublas::DataType::r_16f) == CUDA_R_16F && int(cublas::DataType::r_16bf) == CUDA_R_16BF);
static_assert(int(cublas::DataType::r_32f) == CUDA_R_32F && int(cublas::DataType::r_64f) == CUDA_R_64F);
static_assert(int(cublas::DataType::c_32f) == CUDA_C_32F && int(cublas::DataType::c_64f) == CUDA_C_64F);
static_assert(int(cublas::ComputeType::f32) == CUBLAS_COMPUTE_32F &&
              int(cublas::ComputeType::f64) == CUBLAS_COMPUTE_64F);
static_assert(int(cublas::ComputeType::f32_fast_tf32) == CUBLAS_COMPUTE_32F_FAST_TF32);
static_assert(int(cublas::Operation::none) == CUBLAS_OP_N && int(cublas::Operation::transpose) == CUBLAS_OP_T);
static_assert(int(cublas::Algorithm::standard) == CUBLAS_GEMM_DEFAULT && cublas::success == CUBLAS_STATUS_SUCCESS);
static_assert(int(cublas::Math::disallow_reduced_precision_reduction) ==
              CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION);
#endif

#if __has_include(<cblas.h>)
#include <cblas.h>

// scipy-openblas32 asks its users to compile with -DBLAS_SYMBOL_PREFIX=scipy_.
#ifndef BLAS_SYMBOL_PREFIX
#define BLAS_SYMBOL_PREFIX
#endif
#define JOIN2(prefix, name) prefix##name
#define JOIN(prefix, name) JOIN2(prefix, name)
#define CBLAS(name) JOIN(BLAS_SYMBOL_PREFIX, cblas_##name)

namespace openblas = stator::libs::openblas;
static_assert(same<openblas::Gemm<float>, decltype(&::CBLAS(sgemm))>);
static_assert(same<openblas::Gemm<double>, decltype(&::CBLAS(dgemm))>);
static_assert(same<openblas::Gemm<std::complex<float>>, decltype(&::CBLAS(cgemm))>);
static_assert(same<openblas::Gemm<std::complex<double>>, decltype(&::CBLAS(zgemm))>);
static_assert(same<openblas::Gemv<float>, decltype(&::CBLAS(sgemv))>);
static_assert(same<openblas::Gemv<double>, decltype(&::CBLAS(dgemv))>);
static_assert(same<openblas::Gemv<std::complex<float>>, decltype(&::CBLAS(cgemv))>);
static_assert(same<openblas::Gemv<std::complex<double>>, decltype(&::CBLAS(zgemv))>);
static_assert(int(openblas::Order::row_major) == CblasRowMajor);
static_assert(int(openblas::Transpose::none) == CblasNoTrans && int(openblas::Transpose::transpose) == CblasTrans);
#endif

int main() { return 0; }
