// Products with a 2:4 sparse operand by cuSPARSELt.
#include "libs/cuda/cusparse_lt.hpp"
#include "libs/loader.hpp"
#include "libs/sparse.hpp"

#include <stator/error.hpp>

#include <memory>

namespace stator::libs {
namespace {

using namespace cusparse_lt;

const Api& api(std::string_view op) {
  return calls_of<Api>(Library::cusparse_lt, op, [](Api& a, const Lookup& find) {
    find(a.create, "cusparseLtInit");
    find(a.destroy, "cusparseLtDestroy");
    find(a.status_name, "cusparseLtGetErrorName");
    find(a.dense, "cusparseLtDenseDescriptorInit");
    find(a.structured, "cusparseLtStructuredDescriptorInit");
    find(a.destroy_matrix, "cusparseLtMatDescriptorDestroy");
    find(a.product, "cusparseLtMatmulDescriptorInit");
    find(a.select, "cusparseLtMatmulAlgSelectionInit");
    // Exists since 0.7; before, a selection needs no destruction.
    find.optional(a.destroy_selection, "cusparseLtMatmulAlgSelectionDestroy");
    if (a.destroy_selection == nullptr) a.destroy_selection = [](const Selection*) { return success; };
    find(a.plan, "cusparseLtMatmulPlanInit");
    find(a.destroy_plan, "cusparseLtMatmulPlanDestroy");
    find(a.workspace, "cusparseLtMatmulGetWorkspace");
    find(a.compressed_size, "cusparseLtSpMMACompressedSize");
    find(a.compress, "cusparseLtSpMMACompress");
    find(a.matmul, "cusparseLtMatmul");
  });
}

const char* describe(int status) { return api({}).status_name(status); }

struct LeasedHandle {
  explicit LeasedHandle(runtime::Runtime& device) : runtime(device) {}
  ~LeasedHandle() {
    if (made) runtime.library_release_noexcept([this] { api({}).destroy(&handle); });
  }
  LeasedHandle(const LeasedHandle&) = delete;
  runtime::Runtime& runtime;
  Handle handle{};
  bool made = false;
};

std::shared_ptr<void> make_handle(Context& context, StreamBox&) {
  api("cusparseLt");
  auto leased = std::make_shared<LeasedHandle>(context.runtime());
  context.runtime().library_setup(
      "cusparseLtInit",
      [&] {
        const Status status = api({}).create(&leased->handle);
        leased->made = status == success;
        return status;
      },
      describe, uint16_t(Op::matmul_2to4));
  return leased;
}

// An object of the library in our memory, destroyed if it was created.
template <class T>
struct Made {
  explicit Made(Status (*f)(const T*)) : destroy(f) {}
  ~Made() {
    if (made) destroy(&value);
  }
  Made(const Made&) = delete;
  template <class F>
  Status make(Status before, F f) {
    if (before != success) return before;
    const Status status = f(&value);
    made = status == success;
    return status;
  }
  T value{};
  bool made = false;
  Status (*destroy)(const T*);
};

}  // namespace

bool cuda_sparse_lt_available() {
  static const bool available = is_found([] { api({}); });  // else cuBLAS is used
  return available;
}

void cuda_sparse_lt_prepare(OpCall& call) { call.context().lease("cusparseLt", call.stream(), make_handle); }

void cuda_structured_product(OpCall& call, const DenseMatrix& a, const DenseMatrix& b, const DenseMatrix& out,
                             bool left, DType dtype) {
  const Api& lt = api(call.name());
  const auto lease = call.context().lease("cusparseLt", call.stream(), make_handle);
  const Handle* handle = &static_cast<const LeasedHandle*>(lease.get())->handle;
  const runtime::StreamHandle native = call.stream().handle(uint16_t(call.op()));
  StreamHandle stream = static_cast<StreamHandle>(native);
  const DataType type = cusparse::data_type(dtype);
  const auto run = [&](const char* name, auto f) {
    call.context().runtime().library(name, f, describe, native, call.record());
  };
  // On the heap, since the objects of older versions are 11 KiB each.
  const auto matrix = [&] { return std::make_unique<Made<Matrix>>(lt.destroy_matrix); };
  const auto from_a = matrix(), from_b = matrix(), to = matrix();
  const auto product = std::make_unique<Product>();
  const auto selection = std::make_unique<Made<Selection>>(lt.destroy_selection);
  const auto plan = std::make_unique<Made<Plan>>(lt.destroy_plan);
  const auto describe_matrix = [&](Made<Matrix>& m, const DenseMatrix& x, bool structured, Status before) {
    const Order order = x.by_rows ? Order::rows : Order::columns;
    return m.make(before, [&](Matrix* to_make) {
      return structured ? lt.structured(handle, to_make, x.rows, x.cols, x.leading, 16, type, order, Sparsity::half)
                        : lt.dense(handle, to_make, x.rows, x.cols, x.leading, 16, type, order);
    });
  };
  size_t work_bytes = 0, bytes = 0, buffer_bytes = 0;
  const auto init = [&] {
    Status s = describe_matrix(*from_a, a, left, success);
    s = describe_matrix(*from_b, b, !left, s);
    s = describe_matrix(*to, out, false, s);
    if (s == success)
      s = lt.product(handle, product.get(), Operation::none, Operation::none, &from_a->value, &from_b->value,
                     &to->value, &to->value, ComputeType::f32);
    s = selection->make(s, [&](Selection* x) { return lt.select(handle, x, product.get(), Algorithm::standard); });
    s = plan->make(s, [&](Plan* x) { return lt.plan(handle, x, product.get(), &selection->value); });
    if (s == success) s = lt.workspace(handle, &plan->value, &work_bytes);
    if (s == success) s = lt.compressed_size(handle, &plan->value, &bytes, &buffer_bytes);
    return s;
  };
  call.context().runtime().library_setup("cusparseLtMatmulPlanInit", init, describe, uint16_t(call.op()));
  const auto memory = [&](size_t n) { return n > 0 ? call.scratch(n) : nullptr; };
  void *const work = memory(work_bytes), *const compressed = memory(bytes), *const buffer = memory(buffer_bytes);
  run("cusparseLtSpMMACompress",
      [&] { return lt.compress(handle, &plan->value, left ? a.data : b.data, compressed, buffer, stream); });
  const float alpha = 1, beta = 0;
  run("cusparseLtMatmul", [&] {
    return lt.matmul(handle, &plan->value, &alpha, left ? compressed : a.data, left ? b.data : compressed, &beta,
                     out.data, out.data, work, &stream, 1);
  });
}

}  // namespace stator::libs
