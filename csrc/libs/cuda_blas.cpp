#include "libs/blas.hpp"
#include "libs/cublas.hpp"
#include "libs/loader.hpp"

#include <memory>

namespace stator::libs {
namespace {

using namespace cublas;

// Opened and looked up by the first call that gets through; a failed attempt is tried again by the next.
const Api& api(std::string_view op) {
  static const Api table = [&] {
    Api a{};
    require(a.create, Library::cublas, "cublasCreate_v2", op);
    require(a.destroy, Library::cublas, "cublasDestroy_v2", op);
    require(a.set_stream, Library::cublas, "cublasSetStream_v2", op);
    require(a.set_workspace, Library::cublas, "cublasSetWorkspace_v2", op);
    require(a.set_math_mode, Library::cublas, "cublasSetMathMode", op);
    require(a.status_name, Library::cublas, "cublasGetStatusName", op);
    require(a.gemm, Library::cublas, "cublasGemmStridedBatchedEx_64", op);
    return a;
  }();
  return table;
}

const char* describe(int status) { return api({}).status_name(status); }

constexpr uint16_t op_id = static_cast<uint16_t>(Op::matmul);

// What NVIDIA recommends from Hopper on, and before it.
size_t workspace_bytes(const runtime::Properties& device) { return size_t(device.compute_major >= 9 ? 32 : 4) << 20; }

// A cuBLAS handle of one stream, with a workspace of ours: the library's own would be memory behind the pool's back.
struct LeasedHandle {
  explicit LeasedHandle(Ref<Buffer> memory) : workspace(std::move(memory)) {}
  ~LeasedHandle() {
    if (handle != nullptr) api({}).destroy(handle);
  }
  LeasedHandle(const LeasedHandle&) = delete;

  Status open(StreamHandle stream, void* memory) {
    Status status = api({}).create(&handle);
    if (status == success) status = api({}).set_stream(handle, stream);
    if (status == success) status = api({}).set_workspace(handle, memory, workspace->bytes());
    if (status == success) status = api({}).set_math_mode(handle, Math::disallow_reduced_precision_reduction);
    return status;
  }

  Ref<Buffer> workspace;
  Handle handle = nullptr;
};

std::shared_ptr<void> make_handle(Context& context, StreamBox& stream) {
  runtime::Runtime& runtime = context.runtime();
  auto leased =
      std::make_shared<LeasedHandle>(context.pool().allocate(workspace_bytes(runtime.properties()), stream, op_id));
  const runtime::StreamHandle native = stream.handle(op_id);
  runtime::Record record;
  record.op = op_id;
  void* memory = leased->workspace->memory(op_id);
  runtime.library(
      "cublasCreate", [&] { return leased->open(static_cast<StreamHandle>(native), memory); }, describe, native,
      record);
  return leased;
}

// alpha and beta in the type that the compute type scales in.
class Scale {
 public:
  Scale(double value, DType operands) {
    if (real_part(operands) == DType::float64) {
      doubles_[0] = value;
    } else {
      floats_[0] = static_cast<float>(value);
    }
  }
  const void* data() const { return doubles_; }

 private:
  union {
    double doubles_[2] = {};
    float floats_[2];
  };
};

ComputeType compute_type(const Gemm& g) {
  if (real_part(g.operands) == DType::float64) return ComputeType::f64;
  return g.tf32 && real_part(g.operands) == DType::float32 ? ComputeType::f32_fast_tf32 : ComputeType::f32;
}

Operation operation(bool transposed) { return transposed ? Operation::transpose : Operation::none; }

class CudaBlas final : public Blas {
 public:
  // cuBLAS is column-major: the row-major C is its C^T = B^T A^T, so the operands change places.
  void gemm(OpCall& call, const Gemm& g) const override {
    const Api& cublas = api(call.name());
    const auto lease = call.context().lease("cublas", call.stream(), make_handle);
    const Handle handle = static_cast<const LeasedHandle*>(lease.get())->handle;
    const Scale alpha(g.alpha, g.operands), beta(g.beta, g.operands);
    const DataType in = data_type(g.operands), out = data_type(g.result);
    call.context().runtime().library(
        "cublasGemmStridedBatchedEx",
        [&] {
          return cublas.gemm(handle, operation(g.transpose_b), operation(g.transpose_a), g.n, g.m, g.k, alpha.data(),
                             g.b, in, g.ldb, g.stride_b, g.a, in, g.lda, g.stride_a, beta.data(), g.c, out, g.ldc,
                             g.stride_c, g.batch, compute_type(g), Algorithm::standard);
        },
        describe, call.stream().handle(op_id), call.record());
  }
};

}  // namespace

const Blas& cuda_blas() {
  static const CudaBlas instance;
  return instance;
}

}  // namespace stator::libs
