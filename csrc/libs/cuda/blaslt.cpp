// Products by cuBLASLt: one plan for each kind of product, cached under a plain key.
#include "libs/cuda/blas.hpp"
#include "libs/cuda/cublaslt.hpp"
#include "libs/loader.hpp"

#include <stator/error.hpp>

#include <algorithm>
#include <bit>

namespace stator::libs {
namespace {

using namespace cublaslt;
using cublas::invalid_value;
using cublas::not_supported;
using cublas::Operation;
using cublas::success;

// Null if the library, or one of its functions, is missing; tried once per process.
const Api* api() {
  static const Api* const found = []() -> const Api* {
    try {
      return &calls_of<Api>(Library::cublas_lt, "matmul", [](Api& a, const Lookup& find) {
        find(a.multiply, "cublasLtMatmul");
        find(a.heuristic, "cublasLtMatmulAlgoGetHeuristic");
        find(a.create_descriptor, "cublasLtMatmulDescCreate");
        find(a.destroy_descriptor, "cublasLtMatmulDescDestroy");
        find(a.set_descriptor, "cublasLtMatmulDescSetAttribute");
        find(a.create_layout, "cublasLtMatrixLayoutCreate");
        find(a.destroy_layout, "cublasLtMatrixLayoutDestroy");
        find(a.set_layout, "cublasLtMatrixLayoutSetAttribute");
        find(a.create_preference, "cublasLtMatmulPreferenceCreate");
        find(a.destroy_preference, "cublasLtMatmulPreferenceDestroy");
        find(a.set_preference, "cublasLtMatmulPreferenceSetAttribute");
      });
    } catch (const LibraryNotFoundError&) {  // then cuBLAS is used
      return nullptr;
    }
  }();
  return found;
}

// Everything in the order of the library: it is column-major, so the row-major C is its D = C^T = B^T A^T, and our b is
// its A.
struct Key {
  int64_t rows, cols, depth, batch;
  int64_t a_leading, b_leading, c_leading, d_leading;
  int64_t a_offset, b_offset, c_offset, d_offset;  // from one matrix of the batch to the next
  int64_t a_transposed, b_transposed;
  int64_t a_type, b_type, d_type, compute, scale, epilogue, scaled;
  int64_t a_alignment, b_alignment, c_alignment, d_alignment, bias_alignment;
};

int64_t alignment(const void* p) {
  const auto address = reinterpret_cast<uintptr_t>(p);
  return int64_t(1) << std::min(8, address == 0 ? 8 : std::countr_zero(address));
}

DataType type_of(DType dtype) {
  return dtype == DType::int8 ? DataType::r_8i : dtype == DType::int32 ? DataType::r_32i : cublas::data_type(dtype);
}
DataType type_of(Float8 f) { return f == Float8::e4m3 ? DataType::r_8f_e4m3 : DataType::r_8f_e5m2; }

Epilogue epilogue(const GemmExtra& extra) {
  const bool bias = extra.bias != nullptr;
  switch (extra.activation) {
    case Activation::relu: return bias ? Epilogue::relu_bias : Epilogue::relu;
    case Activation::gelu_tanh: return bias ? Epilogue::gelu_bias : Epilogue::gelu;
    default: return bias ? Epilogue::bias : Epilogue::none;
  }
}

Key key_of(const Gemm& g, const GemmExtra& extra) {
  Key key{};
  key.rows = g.n;
  key.cols = g.m;
  key.depth = g.k;
  key.batch = g.batch;
  key.a_leading = g.ldb;
  key.b_leading = g.lda;
  key.d_leading = g.ldc;
  key.c_leading = extra.addend ? extra.addend_leading : g.ldc;
  key.a_offset = g.stride_b;
  key.b_offset = g.stride_a;
  key.d_offset = g.stride_c;
  key.c_offset = extra.addend ? extra.addend_stride : g.stride_c;
  key.a_transposed = g.transpose_b;
  key.b_transposed = g.transpose_a;
  key.a_type = int64_t(extra.float8 ? type_of(extra.format_b) : type_of(g.operands));
  key.b_type = int64_t(extra.float8 ? type_of(extra.format_a) : type_of(g.operands));
  key.d_type = int64_t(type_of(g.result));
  const bool is_double = real_part(g.operands) == DType::float64;
  key.compute = int64_t(g.operands == DType::int8                           ? ComputeType::i32
                        : is_double                                         ? ComputeType::f64
                        : g.tf32 && real_part(g.operands) == DType::float32 ? ComputeType::f32_fast_tf32
                                                                            : ComputeType::f32);
  // The type of alpha and beta: real for real operands.
  key.scale = int64_t(g.operands == DType::int8           ? DataType::r_32i
                      : in(g.operands, dtypes::complexes) ? cublas::data_type(g.operands)
                      : is_double                         ? DataType::r_64f
                                                          : DataType::r_32f);
  key.epilogue = int64_t(epilogue(extra));
  key.scaled = extra.float8;
  key.a_alignment = alignment(g.b);
  key.b_alignment = alignment(g.a);
  key.d_alignment = alignment(g.c);
  key.c_alignment = alignment(extra.addend ? extra.addend : g.c);
  key.bias_alignment = alignment(extra.bias);
  return key;
}

struct Plan {
  explicit Plan(runtime::Runtime& device) : runtime(device) {}
  ~Plan() {
    runtime.library_release_noexcept([this] {
      if (descriptor) api()->destroy_descriptor(descriptor);
      for (const Layout layout : {a, b, c, d})
        if (layout) api()->destroy_layout(layout);
    });
  }
  Plan(const Plan&) = delete;

  template <class T>
  Status set(DescriptorAttribute attribute, const T& value) const {
    return api()->set_descriptor(descriptor, attribute, &value, sizeof value);
  }

  static Status make_layout(Layout* layout, int64_t type, int64_t rows, int64_t cols, int64_t leading, int64_t batch,
                            int64_t offset) {
    Status status = api()->create_layout(layout, DataType(type), uint64_t(rows), uint64_t(cols), leading);
    const int32_t count = int32_t(batch);
    if (status == success && batch > 1)
      status = api()->set_layout(*layout, LayoutAttribute::batch_count, &count, sizeof count);
    if (status == success && batch > 1)
      status = api()->set_layout(*layout, LayoutAttribute::batch_offset, &offset, sizeof offset);
    return status;
  }

  Status describe(const Key& k, const GemmExtra& extra) {
    const auto operation = [](int64_t transposed) {
      return int32_t(transposed ? Operation::transpose : Operation::none);
    };
    Status status = api()->create_descriptor(&descriptor, ComputeType(k.compute), DataType(k.scale));
    if (status == success) status = set(DescriptorAttribute::transpose_a, operation(k.a_transposed));
    if (status == success) status = set(DescriptorAttribute::transpose_b, operation(k.b_transposed));
    if (status == success) status = set(DescriptorAttribute::epilogue, int32_t(k.epilogue));
    if (status == success) status = point(extra);
    const bool ta = k.a_transposed != 0, tb = k.b_transposed != 0;
    if (status == success)
      status =
          make_layout(&a, k.a_type, ta ? k.depth : k.rows, ta ? k.rows : k.depth, k.a_leading, k.batch, k.a_offset);
    if (status == success)
      status =
          make_layout(&b, k.b_type, tb ? k.cols : k.depth, tb ? k.depth : k.cols, k.b_leading, k.batch, k.b_offset);
    if (status == success) status = make_layout(&c, k.d_type, k.rows, k.cols, k.c_leading, k.batch, k.c_offset);
    if (status == success) status = make_layout(&d, k.d_type, k.rows, k.cols, k.d_leading, k.batch, k.d_offset);
    return status;
  }

  // Sets the pointers of one call, which are part of the descriptor.
  Status point(const GemmExtra& extra) const {
    Status status = success;
    if (extra.bias) status = set(DescriptorAttribute::bias_pointer, extra.bias);
    if (status == success && extra.float8) status = set(DescriptorAttribute::a_scale_pointer, extra.scale_b);
    if (status == success && extra.float8) status = set(DescriptorAttribute::b_scale_pointer, extra.scale_a);
    return status;
  }

  Status search(const Key& k, Handle handle, size_t workspace_bytes) {
    Preference preference = nullptr;
    Status status = api()->create_preference(&preference);
    const auto prefer = [&](PreferenceAttribute attribute, const auto& value) {
      if (status == success) status = api()->set_preference(preference, attribute, &value, sizeof value);
    };
    prefer(PreferenceAttribute::workspace_bytes, uint64_t(workspace_bytes));
    prefer(PreferenceAttribute::reduction_scheme_mask, exact_reductions);
    prefer(PreferenceAttribute::alignment_a, uint32_t(k.a_alignment));
    prefer(PreferenceAttribute::alignment_b, uint32_t(k.b_alignment));
    prefer(PreferenceAttribute::alignment_c, uint32_t(k.c_alignment));
    prefer(PreferenceAttribute::alignment_d, uint32_t(k.d_alignment));
    Heuristic found{};
    int count = 0;
    if (status == success) {
      status = api()->heuristic(handle, descriptor, a, b, c, d, preference, 1, &found, &count);
      // That the library has no algorithm for this product is not a failure: the caller has other ways to compute it.
      if (status == not_supported || status == invalid_value) status = success, count = 0;
    }
    if (preference) api()->destroy_preference(preference);
    if (status != success || count < 1 || found.state != success) return status;
    algorithm = found.algorithm;
    work_bytes = found.workspace_bytes;
    usable = true;
    return status;
  }

  runtime::Runtime& runtime;
  Descriptor descriptor = nullptr;
  Layout a = nullptr, b = nullptr, c = nullptr, d = nullptr;
  Algorithm algorithm{};
  size_t work_bytes = 0;
  bool usable = false;  // false is cached too, if the library has no algorithm
};

// Where rows of half results are not aligned to 16 bytes, the library rounds the product to halves before it adds the
// bias, as seen on an H100 for rows of 33 elements.
bool rounds_twice(const Gemm& g, const GemmExtra& extra) {
  const bool ends = extra.bias != nullptr || extra.activation != Activation::none;
  const bool whole = g.n % 8 == 0 && g.ldc % 8 == 0 && g.stride_c % 8 == 0 && alignment(g.c) >= 16;
  return ends && itemsize(g.result) == 2 && !whole;
}

// The rules that the library documents for one-byte operands; for others its heuristics decide.
bool allowed(const Gemm& g, const GemmExtra& extra) {
  if (g.batch > (int64_t(1) << 31) - 1) return false;
  if (in(g.operands, dtypes::complexes)) return false;  // cuBLAS computes these, without an epilogue
  if (rounds_twice(g, extra)) return false;
  if (!extra.float8 && g.operands != DType::int8) return true;
  const int64_t multiple = extra.float8 ? 16 : 4;
  const auto fits = [&](int64_t x) { return x % multiple == 0; };
  return fits(g.n) && fits(g.k) && fits(g.lda) && fits(g.ldb) && fits(g.ldc) && (!extra.float8 || fits(g.m)) &&
         fits(g.stride_a) && fits(g.stride_b) && alignment(g.a) >= multiple && alignment(g.b) >= multiple &&
         alignment(g.c) >= multiple && !g.transpose_a && g.transpose_b;
}

}  // namespace

void lt_open() { api(); }

bool lt_multiply(OpCall& call, const Gemm& g, const GemmExtra& extra) {
  if (!allowed(g, extra) || api() == nullptr) return false;
  const auto lease = lease_blas(call);
  const auto op = uint16_t(call.op());
  const runtime::StreamHandle native = call.stream().handle(op);
  const Key key = key_of(g, extra);
  const auto plan = lease->plans.get<Plan>(key, [&]() -> PlanCache::Entry {
    runtime::Runtime& runtime = call.context().runtime();
    auto made = std::make_shared<Plan>(runtime);
    const auto search = [&] {
      const Status status = made->describe(key, extra);
      return status == success ? made->search(key, lease->handle, lease->workspace->bytes()) : status;
    };
    runtime.library_setup("cublasLtMatmulAlgoGetHeuristic", search, describe_cublas, op);
    return {made, 1};
  });
  if (!plan->usable) return false;
  const BlasScale alpha(g.alpha, g.operands), beta(g.beta, g.operands);
  void* workspace = lease->workspace->memory(op);
  call.context().runtime().library(
      "cublasLtMatmul",
      [&] {
        const Status status = plan->point(extra);
        if (status != success) return status;
        return api()->multiply(lease->handle, plan->descriptor, alpha.data(), g.b, plan->a, g.a, plan->b, beta.data(),
                               extra.addend ? extra.addend : g.c, plan->c, g.c, plan->d, &plan->algorithm, workspace,
                               lease->workspace->bytes(), static_cast<cublas::StreamHandle>(native));
      },
      describe_cublas, native, call.record());
  return true;
}

}  // namespace stator::libs
