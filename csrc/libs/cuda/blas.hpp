// What the two product libraries on cuda share: a handle for one stream, its workspace, and its plans.
#pragma once

#include "libs/blas.hpp"
#include "libs/cuda/cublas.hpp"
#include "libs/plan_cache.hpp"

namespace stator::libs {

const cublas::Api& cublas_api(std::string_view op);
const char* describe_cublas(int status);

// A cuBLAS handle for one stream, which is also a cuBLASLt handle, with a workspace of ours: the library's own would be
// memory that the pool does not know. Leased for one enqueue, so that no other thread changes the pointers of a plan
// meanwhile.
struct BlasLease {
  BlasLease(runtime::Runtime& device, std::unique_ptr<Buffer> memory)
      : runtime(device), workspace(std::move(memory)), plans(PlanCaches::matmul()) {}
  ~BlasLease();
  BlasLease(const BlasLease&) = delete;
  cublas::Status open(cublas::StreamHandle stream, void* memory);

  runtime::Runtime& runtime;
  std::unique_ptr<Buffer> workspace;
  cublas::Handle handle = nullptr;
  PlanCache plans;
};
std::shared_ptr<BlasLease> lease_blas(OpCall& call);

// alpha or beta in the type that the compute type scales with.
class BlasScale {
 public:
  BlasScale(complex128 value, DType operands) {
    if (real_part(operands) == DType::float64) {
      doubles_[0] = value.re;
      doubles_[1] = value.im;
    } else if (operands == DType::int8) {
      integer_ = int32_t(value.re);
    } else {
      floats_[0] = static_cast<float>(value.re);
      floats_[1] = static_cast<float>(value.im);
    }
  }
  const void* data() const { return doubles_; }

 private:
  union alignas(16) {  // as the library's complex numbers are
    double doubles_[2] = {};
    float floats_[2];
    int32_t integer_;
  };
};

void lt_open();  // where it is installed
// Computes one product by cuBLASLt. Returns false, with nothing done, if it is not installed or its heuristics find no
// algorithm.
bool lt_multiply(OpCall& call, const Gemm& gemm, const GemmExtra& extra);

}  // namespace stator::libs
