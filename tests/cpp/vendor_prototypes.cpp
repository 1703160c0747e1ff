// Compares what stator declares of the vendor libraries with their headers, where those exist. Nothing runs: it
// compiles or it does not.
#include "libs/cuda/cublas.hpp"
#include "libs/cuda/cublaslt.hpp"
#include "libs/cuda/cufft.hpp"
#include "libs/cuda/cusolver.hpp"
#include "libs/cuda/cusparse.hpp"
#include "libs/cuda/cusparse_lt.hpp"
#include "libs/cuda/nvrtc.hpp"
#include "libs/host/lapack.hpp"
#include "libs/host/openblas.hpp"

#include <stator/indexing.hpp>

#include <complex>
#include <cstddef>
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

// The same where we do not name the structs that pointers point to.
template <class T>
struct Opaque : Passed<T> {};
template <class T>
struct Opaque<T*> {
  using type = std::conditional_t<std::is_pointer_v<T>, void**, void*>;
};
template <class T>
struct Unnamed;
template <class Result, class... P>
struct Unnamed<Result (*)(P...)> {
  using type = typename Passed<Result>::type(typename Opaque<P>::type...);
};
template <class Ours, class Theirs>
constexpr bool same_unnamed = std::is_same_v<typename Unnamed<Ours>::type, typename Unnamed<Theirs>::type>;

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
static_assert(same<decltype(Api::gemm_batched), decltype(&::cublasGemmBatchedEx_64)>);

static_assert(int(cublas::DataType::r_8i) == CUDA_R_8I && int(cublas::DataType::r_32i) == CUDA_R_32I);
static_assert(int(cublas::DataType::r_8f_e4m3) == CUDA_R_8F_E4M3 && int(cublas::DataType::r_8f_e5m2) == CUDA_R_8F_E5M2);
static_assert(int(cublas::ComputeType::i32) == CUBLAS_COMPUTE_32I);
static_assert(int(cublas::DataType::r_16f) == CUDA_R_16F && int(cublas::DataType::r_16bf) == CUDA_R_16BF);
static_assert(int(cublas::DataType::r_32f) == CUDA_R_32F && int(cublas::DataType::r_64f) == CUDA_R_64F);
static_assert(int(cublas::DataType::c_32f) == CUDA_C_32F && int(cublas::DataType::c_64f) == CUDA_C_64F);
static_assert(int(cublas::ComputeType::f32) == CUBLAS_COMPUTE_32F &&
              int(cublas::ComputeType::f64) == CUBLAS_COMPUTE_64F);
static_assert(int(cublas::ComputeType::f32_fast_tf32) == CUBLAS_COMPUTE_32F_FAST_TF32);
static_assert(int(cublas::Operation::none) == CUBLAS_OP_N && int(cublas::Operation::transpose) == CUBLAS_OP_T);
static_assert(int(cublas::Algorithm::standard) == CUBLAS_GEMM_DEFAULT && cublas::success == CUBLAS_STATUS_SUCCESS &&
              cublas::invalid_value == CUBLAS_STATUS_INVALID_VALUE &&
              cublas::not_supported == CUBLAS_STATUS_NOT_SUPPORTED);
static_assert(int(cublas::Math::disallow_reduced_precision_reduction) ==
              CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION);
#endif

#if __has_include(<cublasLt.h>)
#include <cublasLt.h>

namespace lt = stator::libs::cublaslt;

static_assert(same_unnamed<decltype(lt::Api::multiply), decltype(&::cublasLtMatmul)>);
static_assert(same_unnamed<decltype(lt::Api::heuristic), decltype(&::cublasLtMatmulAlgoGetHeuristic)>);
static_assert(same_unnamed<decltype(lt::Api::create_descriptor), decltype(&::cublasLtMatmulDescCreate)>);
static_assert(same_unnamed<decltype(lt::Api::destroy_descriptor), decltype(&::cublasLtMatmulDescDestroy)>);
static_assert(same_unnamed<decltype(lt::Api::set_descriptor), decltype(&::cublasLtMatmulDescSetAttribute)>);
static_assert(same_unnamed<decltype(lt::Api::create_layout), decltype(&::cublasLtMatrixLayoutCreate)>);
static_assert(same_unnamed<decltype(lt::Api::destroy_layout), decltype(&::cublasLtMatrixLayoutDestroy)>);
static_assert(same_unnamed<decltype(lt::Api::set_layout), decltype(&::cublasLtMatrixLayoutSetAttribute)>);
static_assert(same_unnamed<decltype(lt::Api::create_preference), decltype(&::cublasLtMatmulPreferenceCreate)>);
static_assert(same_unnamed<decltype(lt::Api::destroy_preference), decltype(&::cublasLtMatmulPreferenceDestroy)>);
static_assert(same_unnamed<decltype(lt::Api::set_preference), decltype(&::cublasLtMatmulPreferenceSetAttribute)>);

static_assert(int(lt::DescriptorAttribute::transpose_a) == CUBLASLT_MATMUL_DESC_TRANSA &&
              int(lt::DescriptorAttribute::transpose_b) == CUBLASLT_MATMUL_DESC_TRANSB &&
              int(lt::DescriptorAttribute::epilogue) == CUBLASLT_MATMUL_DESC_EPILOGUE &&
              int(lt::DescriptorAttribute::bias_pointer) == CUBLASLT_MATMUL_DESC_BIAS_POINTER &&
              int(lt::DescriptorAttribute::a_scale_pointer) == CUBLASLT_MATMUL_DESC_A_SCALE_POINTER &&
              int(lt::DescriptorAttribute::b_scale_pointer) == CUBLASLT_MATMUL_DESC_B_SCALE_POINTER);
static_assert(int(lt::LayoutAttribute::batch_count) == CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT &&
              int(lt::LayoutAttribute::batch_offset) == CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET);
static_assert(int(lt::PreferenceAttribute::workspace_bytes) == CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES &&
              int(lt::PreferenceAttribute::reduction_scheme_mask) == CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK &&
              int(lt::PreferenceAttribute::alignment_a) == CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES &&
              int(lt::PreferenceAttribute::alignment_b) == CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES &&
              int(lt::PreferenceAttribute::alignment_c) == CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES &&
              int(lt::PreferenceAttribute::alignment_d) == CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES);
static_assert(lt::exact_reductions == CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE);
static_assert(int(lt::Epilogue::none) == CUBLASLT_EPILOGUE_DEFAULT &&
              int(lt::Epilogue::relu) == CUBLASLT_EPILOGUE_RELU);
static_assert(int(lt::Epilogue::bias) == CUBLASLT_EPILOGUE_BIAS && int(lt::Epilogue::gelu) == CUBLASLT_EPILOGUE_GELU);
static_assert(int(lt::Epilogue::relu_bias) == CUBLASLT_EPILOGUE_RELU_BIAS &&
              int(lt::Epilogue::gelu_bias) == CUBLASLT_EPILOGUE_GELU_BIAS);
static_assert(sizeof(lt::Algorithm) == sizeof(cublasLtMatmulAlgo_t));
static_assert(sizeof(lt::Heuristic) == sizeof(cublasLtMatmulHeuristicResult_t) &&
              offsetof(lt::Heuristic, workspace_bytes) == offsetof(cublasLtMatmulHeuristicResult_t, workspaceSize) &&
              offsetof(lt::Heuristic, state) == offsetof(cublasLtMatmulHeuristicResult_t, state));
#endif

#if __has_include(<cusolverDn.h>)
#include <cusolverDn.h>

namespace cusolver = stator::libs::cusolver;
using Solver = cusolver::Api;

static_assert(same<decltype(Solver::create), decltype(&::cusolverDnCreate)>);
static_assert(same<decltype(Solver::destroy), decltype(&::cusolverDnDestroy)>);
static_assert(same<decltype(Solver::set_stream), decltype(&::cusolverDnSetStream)>);
static_assert(same<decltype(Solver::create_params), decltype(&::cusolverDnCreateParams)>);
static_assert(same<decltype(Solver::destroy_params), decltype(&::cusolverDnDestroyParams)>);
static_assert(same<decltype(Solver::potrf_size), decltype(&::cusolverDnXpotrf_bufferSize)>);
static_assert(same<decltype(Solver::potrf), decltype(&::cusolverDnXpotrf)>);
static_assert(same<decltype(Solver::getrf_size), decltype(&::cusolverDnXgetrf_bufferSize)>);
static_assert(same<decltype(Solver::getrf), decltype(&::cusolverDnXgetrf)>);
static_assert(same<decltype(Solver::getrs), decltype(&::cusolverDnXgetrs)>);
static_assert(same<decltype(Solver::geqrf_size), decltype(&::cusolverDnXgeqrf_bufferSize)>);
static_assert(same<decltype(Solver::geqrf), decltype(&::cusolverDnXgeqrf)>);
static_assert(same<decltype(Solver::gesvd_size), decltype(&::cusolverDnXgesvd_bufferSize)>);
static_assert(same<decltype(Solver::gesvd), decltype(&::cusolverDnXgesvd)>);
static_assert(same<decltype(Solver::syevd_size), decltype(&::cusolverDnXsyevd_bufferSize)>);
static_assert(same<decltype(Solver::syevd), decltype(&::cusolverDnXsyevd)>);
static_assert(same<decltype(Solver::geev_size), decltype(&::cusolverDnXgeev_bufferSize)>);
static_assert(same<decltype(Solver::geev), decltype(&::cusolverDnXgeev)>);
static_assert(same<decltype(Solver::syev_batched_size), decltype(&::cusolverDnXsyevBatched_bufferSize)>);
static_assert(same<decltype(Solver::syev_batched), decltype(&::cusolverDnXsyevBatched)>);
static_assert(same<decltype(Solver::create_jacobi), decltype(&::cusolverDnCreateGesvdjInfo)>);
static_assert(same<decltype(Solver::destroy_jacobi), decltype(&::cusolverDnDestroyGesvdjInfo)>);
using SolverD = cusolver::Typed<double>;
using SolverC = cusolver::Typed<cuComplex, float>;
static_assert(same<decltype(SolverD::potrf_batched), decltype(&::cusolverDnDpotrfBatched)>);
static_assert(same<decltype(SolverD::getrf_batched), decltype(&::cublasDgetrfBatched)>);
static_assert(same<decltype(SolverD::getrs_batched), decltype(&::cublasDgetrsBatched)>);
static_assert(same<decltype(SolverD::trsm_batched), decltype(&::cublasDtrsmBatched_64)>);
static_assert(same<decltype(SolverD::gesvdj_batched_size), decltype(&::cusolverDnDgesvdjBatched_bufferSize)>);
static_assert(same<decltype(SolverD::gesvdj_batched), decltype(&::cusolverDnDgesvdjBatched)>);
static_assert(same<decltype(SolverC::potrf_batched), decltype(&::cusolverDnCpotrfBatched)>);
static_assert(same<decltype(SolverC::getrf_batched), decltype(&::cublasCgetrfBatched)>);
static_assert(same<decltype(SolverC::getrs_batched), decltype(&::cublasCgetrsBatched)>);
static_assert(same<decltype(SolverC::trsm_batched), decltype(&::cublasCtrsmBatched_64)>);
static_assert(same<decltype(SolverC::gesvdj_batched_size), decltype(&::cusolverDnCgesvdjBatched_bufferSize)>);
static_assert(same<decltype(SolverC::gesvdj_batched), decltype(&::cusolverDnCgesvdjBatched)>);
static_assert(same<decltype(cusolver::Typed<double>::orgqr_size), decltype(&::cusolverDnDorgqr_bufferSize)>);
static_assert(same<decltype(cusolver::Typed<double>::orgqr), decltype(&::cusolverDnDorgqr)>);
static_assert(same<decltype(cusolver::Typed<float>::orgqr), decltype(&::cusolverDnSorgqr)>);
static_assert(same<decltype(cusolver::Typed<cuComplex>::orgqr), decltype(&::cusolverDnCungqr)>);
static_assert(same<decltype(cusolver::Typed<cuDoubleComplex>::orgqr), decltype(&::cusolverDnZungqr)>);
static_assert(same<decltype(cusolver::Typed<double>::trsm), decltype(&::cublasDtrsm_v2_64)>);
static_assert(same<decltype(cusolver::Typed<cuDoubleComplex>::trsm), decltype(&::cublasZtrsm_v2_64)>);

static_assert(int(cusolver::Fill::lower) == CUBLAS_FILL_MODE_LOWER &&
              int(cusolver::Fill::upper) == CUBLAS_FILL_MODE_UPPER);
static_assert(int(cusolver::Side::left) == CUBLAS_SIDE_LEFT && int(cusolver::Operation::adjoint) == CUBLAS_OP_C);
static_assert(int(cusolver::Diagonal::non_unit) == CUBLAS_DIAG_NON_UNIT &&
              int(cusolver::Diagonal::unit) == CUBLAS_DIAG_UNIT);
static_assert(int(cusolver::Mode::no_vectors) == CUSOLVER_EIG_MODE_NOVECTOR &&
              int(cusolver::Mode::vectors) == CUSOLVER_EIG_MODE_VECTOR && cusolver::success == CUSOLVER_STATUS_SUCCESS);
#endif

#if __has_include(<cusparse.h>)
#include <cusparse.h>

namespace cusparse = stator::libs::cusparse;
using SparseApi = cusparse::Api;

static_assert(same<decltype(SparseApi::create), decltype(&::cusparseCreate)>);
static_assert(same<decltype(SparseApi::destroy), decltype(&::cusparseDestroy)>);
static_assert(same<decltype(SparseApi::set_stream), decltype(&::cusparseSetStream)>);
static_assert(same<decltype(SparseApi::status_name), decltype(&::cusparseGetErrorName)>);
static_assert(same<decltype(SparseApi::create_csr), decltype(&::cusparseCreateCsr)>);
static_assert(same<decltype(SparseApi::destroy_sparse), decltype(&::cusparseDestroySpMat)>);
static_assert(same<decltype(SparseApi::set_attribute), decltype(&::cusparseSpMatSetAttribute)>);
static_assert(same<decltype(SparseApi::sparse_size), decltype(&::cusparseSpMatGetSize)>);
static_assert(same<decltype(SparseApi::set_pointers), decltype(&::cusparseCsrSetPointers)>);
static_assert(same<decltype(SparseApi::create_vector), decltype(&::cusparseCreateDnVec)>);
static_assert(same<decltype(SparseApi::destroy_vector), decltype(&::cusparseDestroyDnVec)>);
static_assert(same<decltype(SparseApi::create_matrix), decltype(&::cusparseCreateDnMat)>);
static_assert(same<decltype(SparseApi::destroy_matrix), decltype(&::cusparseDestroyDnMat)>);
static_assert(same<decltype(SparseApi::times_vector_size), decltype(&::cusparseSpMV_bufferSize)>);
static_assert(same<decltype(SparseApi::times_vector), decltype(&::cusparseSpMV)>);
static_assert(same<decltype(SparseApi::times_matrix_size), decltype(&::cusparseSpMM_bufferSize)>);
static_assert(same<decltype(SparseApi::times_matrix), decltype(&::cusparseSpMM)>);
static_assert(same<decltype(SparseApi::sampled_size), decltype(&::cusparseSDDMM_bufferSize)>);
static_assert(same<decltype(SparseApi::sampled), decltype(&::cusparseSDDMM)>);
static_assert(same<decltype(SparseApi::create_vector_solve), decltype(&::cusparseSpSV_createDescr)>);
static_assert(same<decltype(SparseApi::destroy_vector_solve), decltype(&::cusparseSpSV_destroyDescr)>);
static_assert(same<decltype(SparseApi::solve_vector_size), decltype(&::cusparseSpSV_bufferSize)>);
static_assert(same<decltype(SparseApi::solve_vector_analysis), decltype(&::cusparseSpSV_analysis)>);
static_assert(same<decltype(SparseApi::solve_vector), decltype(&::cusparseSpSV_solve)>);
static_assert(same<decltype(SparseApi::create_matrix_solve), decltype(&::cusparseSpSM_createDescr)>);
static_assert(same<decltype(SparseApi::destroy_matrix_solve), decltype(&::cusparseSpSM_destroyDescr)>);
static_assert(same<decltype(SparseApi::solve_matrix_size), decltype(&::cusparseSpSM_bufferSize)>);
static_assert(same<decltype(SparseApi::solve_matrix_analysis), decltype(&::cusparseSpSM_analysis)>);
static_assert(same<decltype(SparseApi::solve_matrix), decltype(&::cusparseSpSM_solve)>);
static_assert(same<decltype(SparseApi::create_times), decltype(&::cusparseSpGEMM_createDescr)>);
static_assert(same<decltype(SparseApi::destroy_times), decltype(&::cusparseSpGEMM_destroyDescr)>);
static_assert(same<decltype(SparseApi::times_estimate), decltype(&::cusparseSpGEMM_workEstimation)>);
static_assert(same<decltype(SparseApi::times_compute), decltype(&::cusparseSpGEMM_compute)>);
static_assert(same<decltype(SparseApi::times_copy), decltype(&::cusparseSpGEMM_copy)>);

static_assert(int(cusparse::Operation::none) == CUSPARSE_OPERATION_NON_TRANSPOSE &&
              int(cusparse::Base::zero) == CUSPARSE_INDEX_BASE_ZERO);
static_assert(int(cusparse::Index::narrow) == CUSPARSE_INDEX_32I && int(cusparse::Index::wide) == CUSPARSE_INDEX_64I);
static_assert(int(cusparse::Order::columns) == CUSPARSE_ORDER_COL && int(cusparse::Order::rows) == CUSPARSE_ORDER_ROW);
static_assert(int(cusparse::Attribute::fill_mode) == CUSPARSE_SPMAT_FILL_MODE &&
              int(cusparse::Attribute::diag_type) == CUSPARSE_SPMAT_DIAG_TYPE);
static_assert(sizeof(cusparse::Fill) == sizeof(cusparseFillMode_t) &&
              int(cusparse::Fill::upper) == CUSPARSE_FILL_MODE_UPPER);
static_assert(sizeof(cusparse::Diagonal) == sizeof(cusparseDiagType_t) &&
              int(cusparse::Diagonal::unit) == CUSPARSE_DIAG_TYPE_UNIT);
static_assert(int(cusparse::VectorAlgorithm::csr_run_to_run) == CUSPARSE_SPMV_CSR_ALG2 &&
              int(cusparse::MatrixAlgorithm::csr_run_to_run) == CUSPARSE_SPMM_CSR_ALG3);
static_assert(int(cusparse::TimesAlgorithm::standard) == CUSPARSE_SPGEMM_DEFAULT &&
              int(cusparse::Algorithm::standard) == CUSPARSE_SPSV_ALG_DEFAULT && CUSPARSE_SPSM_ALG_DEFAULT == 0 &&
              CUSPARSE_SDDMM_ALG_DEFAULT == 0);
static_assert(cusparse::success == CUSPARSE_STATUS_SUCCESS &&
              cusparse::insufficient_resources == CUSPARSE_STATUS_INSUFFICIENT_RESOURCES);
#endif

#if __has_include(<cusparseLt.h>)
#include <cusparseLt.h>

namespace cusparse_lt = stator::libs::cusparse_lt;
using StructuredApi = cusparse_lt::Api;
// Its objects are passed by address; ours are at least as large.
template <class Ours, class Theirs>
constexpr bool room = sizeof(Ours) >= sizeof(Theirs) && alignof(Ours) >= alignof(Theirs);
static_assert(room<cusparse_lt::Handle, cusparseLtHandle_t> && room<cusparse_lt::Matrix, cusparseLtMatDescriptor_t> &&
              room<cusparse_lt::Product, cusparseLtMatmulDescriptor_t> &&
              room<cusparse_lt::Selection, cusparseLtMatmulAlgSelection_t> &&
              room<cusparse_lt::Plan, cusparseLtMatmulPlan_t>);
namespace {
template <>
struct Passed<cusparse_lt::Handle*> : Passed<cusparseLtHandle_t*> {};
template <>
struct Passed<const cusparse_lt::Handle*> : Passed<const cusparseLtHandle_t*> {};
template <>
struct Passed<cusparse_lt::Matrix*> : Passed<cusparseLtMatDescriptor_t*> {};
template <>
struct Passed<const cusparse_lt::Matrix*> : Passed<const cusparseLtMatDescriptor_t*> {};
template <>
struct Passed<cusparse_lt::Product*> : Passed<cusparseLtMatmulDescriptor_t*> {};
template <>
struct Passed<const cusparse_lt::Product*> : Passed<const cusparseLtMatmulDescriptor_t*> {};
template <>
struct Passed<cusparse_lt::Selection*> : Passed<cusparseLtMatmulAlgSelection_t*> {};
template <>
struct Passed<const cusparse_lt::Selection*> : Passed<const cusparseLtMatmulAlgSelection_t*> {};
template <>
struct Passed<cusparse_lt::Plan*> : Passed<cusparseLtMatmulPlan_t*> {};
template <>
struct Passed<const cusparse_lt::Plan*> : Passed<const cusparseLtMatmulPlan_t*> {};
}  // namespace
static_assert(same<decltype(StructuredApi::create), decltype(&::cusparseLtInit)>);
static_assert(same<decltype(StructuredApi::destroy), decltype(&::cusparseLtDestroy)>);
static_assert(same<decltype(StructuredApi::status_name), decltype(&::cusparseLtGetErrorName)>);
static_assert(same<decltype(StructuredApi::dense), decltype(&::cusparseLtDenseDescriptorInit)>);
static_assert(same<decltype(StructuredApi::structured), decltype(&::cusparseLtStructuredDescriptorInit)>);
static_assert(same<decltype(StructuredApi::destroy_matrix), decltype(&::cusparseLtMatDescriptorDestroy)>);
static_assert(same<decltype(StructuredApi::product), decltype(&::cusparseLtMatmulDescriptorInit)>);
static_assert(same<decltype(StructuredApi::select), decltype(&::cusparseLtMatmulAlgSelectionInit)>);
static_assert(same<decltype(StructuredApi::destroy_selection), decltype(&::cusparseLtMatmulAlgSelectionDestroy)>);
static_assert(same<decltype(StructuredApi::plan), decltype(&::cusparseLtMatmulPlanInit)>);
static_assert(same<decltype(StructuredApi::destroy_plan), decltype(&::cusparseLtMatmulPlanDestroy)>);
static_assert(same<decltype(StructuredApi::workspace), decltype(&::cusparseLtMatmulGetWorkspace)>);
static_assert(same<decltype(StructuredApi::compressed_size), decltype(&::cusparseLtSpMMACompressedSize)>);
static_assert(same<decltype(StructuredApi::compress), decltype(&::cusparseLtSpMMACompress)>);
static_assert(same<decltype(StructuredApi::matmul), decltype(&::cusparseLtMatmul)>);
static_assert(int(cusparse_lt::Sparsity::half) == CUSPARSELT_SPARSITY_50_PERCENT &&
              int(cusparse_lt::ComputeType::f32) == CUSPARSE_COMPUTE_32F &&
              int(cusparse_lt::Algorithm::standard) == CUSPARSELT_MATMUL_ALG_DEFAULT);
#endif

#if __has_include(<cufftXt.h>)
#include <cufftXt.h>

namespace cufft = stator::libs::cufft;
static_assert(same<decltype(cufft::Api::create), decltype(&::cufftCreate)>);
static_assert(same<decltype(cufft::Api::destroy), decltype(&::cufftDestroy)>);
static_assert(same<decltype(cufft::Api::set_auto_allocation), decltype(&::cufftSetAutoAllocation)>);
static_assert(same<decltype(cufft::Api::make_plan_many), decltype(&::cufftXtMakePlanMany)>);
static_assert(same<decltype(cufft::Api::set_stream), decltype(&::cufftSetStream)>);
static_assert(same<decltype(cufft::Api::set_work_area), decltype(&::cufftSetWorkArea)>);
static_assert(same<decltype(cufft::Api::execute), decltype(&::cufftXtExec)>);
static_assert(int(cufft::DataType::r_32f) == CUDA_R_32F && int(cufft::DataType::r_64f) == CUDA_R_64F);
static_assert(int(cufft::DataType::c_32f) == CUDA_C_32F && int(cufft::DataType::c_64f) == CUDA_C_64F);
static_assert(int(cufft::Direction::forward) == CUFFT_FORWARD && int(cufft::Direction::inverse) == CUFFT_INVERSE);
static_assert(cufft::success == CUFFT_SUCCESS);
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

#if __has_include(<lapack.h>) && __has_include(<cblas.h>)
// Lengths of characters are arguments at the end, as Fortran passes them.
#define LAPACK_FORTRAN_STRLEN_END
#define LAPACK_GLOBAL(name, upper) JOIN(BLAS_SYMBOL_PREFIX, name##_)
#define lapack_complex_float std::complex<float>
#define lapack_complex_double std::complex<double>
#include <lapack.h>

namespace lapack = stator::libs::lapack;
// Ours have our complex type, which the headers do not know: the real ones stand for all.
static_assert(same<decltype(lapack::Api<double>::potrf), decltype(&LAPACK_dpotrf_base)>);
static_assert(same<decltype(lapack::Api<double>::getrf), decltype(&LAPACK_dgetrf)>);
static_assert(same<decltype(lapack::Api<double>::getrs), decltype(&LAPACK_dgetrs_base)>);
static_assert(same<decltype(lapack::Api<double>::geqrf), decltype(&LAPACK_dgeqrf)>);
static_assert(same<decltype(lapack::Api<double>::orgqr), decltype(&LAPACK_dorgqr)>);
static_assert(same<decltype(lapack::Api<double>::gesdd), decltype(&LAPACK_dgesdd_base)>);
static_assert(same<decltype(lapack::Api<double>::syevd), decltype(&LAPACK_dsyevd_base)>);
static_assert(same<decltype(lapack::Api<double>::geev), decltype(&LAPACK_dgeev_base)>);
static_assert(same<decltype(lapack::Api<double>::trsm), decltype(&::CBLAS(dtrsm))>);
#endif

int main() { return 0; }

#if __has_include(<nvrtc.h>)
#include <nvrtc.h>

namespace nvrtc = stator::libs::nvrtc;
static_assert(same<decltype(nvrtc::Api::create), decltype(&::nvrtcCreateProgram)>);
static_assert(same<decltype(nvrtc::Api::destroy), decltype(&::nvrtcDestroyProgram)>);
static_assert(same<decltype(nvrtc::Api::add_name_expression), decltype(&::nvrtcAddNameExpression)>);
static_assert(same<decltype(nvrtc::Api::compile), decltype(&::nvrtcCompileProgram)>);
static_assert(same<decltype(nvrtc::Api::lowered_name), decltype(&::nvrtcGetLoweredName)>);
static_assert(same<decltype(nvrtc::Api::log_size), decltype(&::nvrtcGetProgramLogSize)>);
static_assert(same<decltype(nvrtc::Api::log), decltype(&::nvrtcGetProgramLog)>);
static_assert(same<decltype(nvrtc::Api::ptx_size), decltype(&::nvrtcGetPTXSize)>);
static_assert(same<decltype(nvrtc::Api::ptx), decltype(&::nvrtcGetPTX)>);
static_assert(same<decltype(nvrtc::Api::code_size), decltype(&::nvrtcGetCUBINSize)>);
static_assert(same<decltype(nvrtc::Api::code), decltype(&::nvrtcGetCUBIN)>);
static_assert(same<decltype(nvrtc::Api::error_text), decltype(&::nvrtcGetErrorString)>);
static_assert(same<decltype(nvrtc::Api::version), decltype(&::nvrtcVersion)>);
static_assert(nvrtc::success == NVRTC_SUCCESS && nvrtc::compilation == NVRTC_ERROR_COMPILATION);
#endif
