// Matrix products by cuBLAS, where cuBLASLt cannot compute them.
#include "libs/cuda/blas.hpp"

#include "libs/loader.hpp"
#include "params/matmul.hpp"

#include <limits>
#include <memory>

namespace stator::libs {

using namespace cublas;

const Api& cublas_api(std::string_view op) {
  return calls_of<Api>(Library::cublas, op, [](Api& a, const Lookup& find) {
    find(a.create, "cublasCreate_v2");
    find(a.destroy, "cublasDestroy_v2");
    find(a.set_stream, "cublasSetStream_v2");
    find(a.set_workspace, "cublasSetWorkspace_v2");
    find(a.set_math_mode, "cublasSetMathMode");
    find(a.status_name, "cublasGetStatusName");
    find.optional(a.gemm, "cublasGemmStridedBatchedEx_64");
    find.optional(a.gemm_batched, "cublasGemmBatchedEx_64");
  });
}

const char* describe_cublas(int status) { return cublas_api({}).status_name(status); }

BlasLease::~BlasLease() {
  if (handle != nullptr) runtime.library_release_noexcept([this] { cublas_api({}).destroy(handle); });
}

Status BlasLease::open(StreamHandle stream, void* memory) {
  const Api& api = cublas_api({});
  Status status = api.create(&handle);
  if (status == success) status = api.set_stream(handle, stream);
  if (status == success) status = api.set_workspace(handle, memory, workspace->bytes());
  if (status == success) status = api.set_math_mode(handle, Math::disallow_reduced_precision_reduction);
  return status;
}

namespace {

constexpr uint16_t op_id = static_cast<uint16_t>(Op::matmul);

// What the options say, else what NVIDIA recommends from Hopper on, and for older devices.
size_t workspace_bytes(const Context& context) {
  if (const size_t wanted = context.options().blas_workspace_size) return wanted;
  return size_t(context.runtime().properties().compute_major >= 9 ? 32 : 4) << 20;
}

std::shared_ptr<void> make_lease(Context& context, StreamBox& stream) {
  runtime::Runtime& runtime = context.runtime();
  auto leased =
      std::make_shared<BlasLease>(runtime, context.pool().allocate_workspace(workspace_bytes(context), stream, op_id));
  const auto native = static_cast<StreamHandle>(stream.handle(op_id));
  void* memory = leased->workspace->memory(op_id);
  runtime.library_setup("cublasCreate", [&] { return leased->open(native, memory); }, describe_cublas, op_id);
  return leased;
}

ComputeType compute_type(const Gemm& g) {
  if (real_part(g.operands) == DType::float64) return ComputeType::f64;
  return g.tf32 && real_part(g.operands) == DType::float32 ? ComputeType::f32_fast_tf32 : ComputeType::f32;
}

Operation operation(bool transposed) { return transposed ? Operation::transpose : Operation::none; }

// What both calls of a product take. cuBLAS is column-major: the row-major C is its C^T = B^T A^T, so the operands are
// exchanged.
struct Product {
  const std::shared_ptr<BlasLease> lease;
  const BlasScale alpha, beta;
  const DataType in, out;
  const Operation a, b;
  Product(OpCall& call, const Gemm& g)
      : lease(lease_blas(call)),
        alpha(g.alpha, g.operands),
        beta(g.beta, g.operands),
        in(data_type(g.operands)),
        out(data_type(g.result)),
        a(operation(g.transpose_a)),
        b(operation(g.transpose_b)) {}
};

class CudaBlas final : public Blas {
 public:
  void prepare(OpCall& call) const override {
    lt_open();
    cublas_api(call.name());
    lease_blas(call);
  }

  void gemm(OpCall& call, const Gemm& g) const override {
    if (g.group != 0) return gemm_of_groups(call, g);
    if (lt_multiply(call, g, {})) return;
    const Api& cublas = cublas_api(call.name());
    if (cublas.gemm == nullptr)
      require_symbol(Library::cublas, "cublasGemmStridedBatchedEx_64", call.name());  // throws
    const Product p(call, g);
    call.context().runtime().library(
        "cublasGemmStridedBatchedEx",
        [&] {
          return cublas.gemm(p.lease->handle, p.b, p.a, g.n, g.m, g.k, p.alpha.data(), g.b, p.in, g.ldb, g.stride_b,
                             g.a, p.in, g.lda, g.stride_a, p.beta.data(), g.c, p.out, g.ldc, g.stride_c, g.batch,
                             compute_type(g), Algorithm::standard);
        },
        describe_cublas, call.stream().handle(op_id), call.record());
  }

  bool gemm_with(OpCall& call, const Gemm& g, const GemmExtra& extra) const override {
    return lt_multiply(call, g, extra);
  }

 private:
  // cuBLAS has one stride for a batch. For two it takes lists of addresses, or one call for each group.
  void gemm_of_groups(OpCall& call, const Gemm& g) const {
    const Api& cublas = cublas_api(call.name());
    if (cublas.gemm_batched == nullptr || g.batch > std::numeric_limits<int32_t>::max() || !aligned(g)) {
      Gemm one = g;
      one.group = 0;
      one.batch = g.group;
      for (int64_t i = 0; i < g.batch; i += g.group) {
        one.a = at(g.a, g.offset_of(i, g.stride_a, g.outer_a), g.operands);
        one.b = at(g.b, g.offset_of(i, g.stride_b, g.outer_b), g.operands);
        one.c = at(g.c, g.offset_of(i, g.stride_c, g.outer_c), g.result);
        gemm(call, one);
      }
      return;
    }
    const int64_t in = itemsize(g.operands), out = itemsize(g.result);
    const params::BatchAddresses addresses{
        .count = int32_t(g.batch),
        .group = int32_t(g.group),
        .base = {at(g.a, 0, g.operands), at(g.b, 0, g.operands), at(g.c, 0, g.result)},
        .step = {g.stride_a * in, g.stride_b * in, g.stride_c * out},
        .outer = {g.outer_a * in, g.outer_b * in, g.outer_c * out},
        .out = static_cast<void**>(call.scratch(sizeof(void*) * 3 * size_t(g.batch)))};
    kernels::matmul::batch_addresses(call.queue(), addresses);
    void **const a = addresses.out, **const b = a + g.batch, **const c = b + g.batch;
    const Product p(call, g);
    call.context().runtime().library(
        "cublasGemmBatchedEx",
        [&] {
          return cublas.gemm_batched(p.lease->handle, p.b, p.a, g.n, g.m, g.k, p.alpha.data(), b, p.in, g.ldb, a, p.in,
                                     g.lda, p.beta.data(), c, p.out, g.ldc, g.batch, compute_type(g),
                                     Algorithm::standard);
        },
        describe_cublas, call.stream().handle(op_id), call.record());
  }

  // Its kernels for lists cannot read the addresses, and load 16 bytes at a time.
  static bool aligned(const Gemm& g) {
    const int64_t in = itemsize(g.operands), out = itemsize(g.result);
    int64_t any = (g.stride_a | g.outer_a | g.stride_b | g.outer_b) * in | (g.stride_c | g.outer_c) * out;
    for (const void* const p : {g.a, g.b, static_cast<const void*>(g.c)}) any |= int64_t(reinterpret_cast<intptr_t>(p));
    return any % 16 == 0;
  }

  static char* at(const void* first, int64_t elements, DType dtype) {
    return static_cast<char*>(const_cast<void*>(first)) + elements * itemsize(dtype);
  }
};

}  // namespace

std::shared_ptr<BlasLease> lease_blas(OpCall& call) {
  return std::static_pointer_cast<BlasLease>(call.context().lease("cublas", call.stream(), make_lease));
}

const Blas& cuda_blas() {
  static const CudaBlas instance;
  return instance;
}

}  // namespace stator::libs
