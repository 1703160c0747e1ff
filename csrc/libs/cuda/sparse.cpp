// Sparse products and triangular systems by cuSPARSE.
#include "libs/sparse.hpp"
#include "libs/cuda/cusparse.hpp"
#include "libs/loader.hpp"

#include <stator/error.hpp>
#include <stator/indexing.hpp>

#include <cstring>
#include <memory>

namespace stator::libs {
namespace {

using namespace cusparse;

constexpr uint16_t op_id = static_cast<uint16_t>(Op::csr_matmul);  // for handles, which outlive a call

const Api& api(std::string_view op) {
  return calls_of<Api>(Library::cusparse, op, [](Api& a, const Lookup& find) {
    find(a.create, "cusparseCreate");
    find(a.destroy, "cusparseDestroy");
    find(a.set_stream, "cusparseSetStream");
    find(a.status_name, "cusparseGetErrorName");
    find(a.create_csr, "cusparseCreateCsr");
    find(a.destroy_sparse, "cusparseDestroySpMat");
    find(a.set_attribute, "cusparseSpMatSetAttribute");
    find(a.sparse_size, "cusparseSpMatGetSize");
    find(a.set_pointers, "cusparseCsrSetPointers");
    find(a.create_vector, "cusparseCreateDnVec");
    find(a.destroy_vector, "cusparseDestroyDnVec");
    find(a.create_matrix, "cusparseCreateDnMat");
    find(a.destroy_matrix, "cusparseDestroyDnMat");
    find(a.times_vector_size, "cusparseSpMV_bufferSize");
    find(a.times_vector, "cusparseSpMV");
    find(a.times_matrix_size, "cusparseSpMM_bufferSize");
    find(a.times_matrix, "cusparseSpMM");
    find(a.sampled_size, "cusparseSDDMM_bufferSize");
    find(a.sampled, "cusparseSDDMM");
    find(a.create_vector_solve, "cusparseSpSV_createDescr");
    find(a.destroy_vector_solve, "cusparseSpSV_destroyDescr");
    find(a.solve_vector_size, "cusparseSpSV_bufferSize");
    find(a.solve_vector_analysis, "cusparseSpSV_analysis");
    find(a.solve_vector, "cusparseSpSV_solve");
    find(a.create_matrix_solve, "cusparseSpSM_createDescr");
    find(a.destroy_matrix_solve, "cusparseSpSM_destroyDescr");
    find(a.solve_matrix_size, "cusparseSpSM_bufferSize");
    find(a.solve_matrix_analysis, "cusparseSpSM_analysis");
    find(a.solve_matrix, "cusparseSpSM_solve");
    find(a.create_times, "cusparseSpGEMM_createDescr");
    find(a.destroy_times, "cusparseSpGEMM_destroyDescr");
    find(a.times_estimate, "cusparseSpGEMM_workEstimation");
    find(a.times_compute, "cusparseSpGEMM_compute");
    find(a.times_copy, "cusparseSpGEMM_copy");
  });
}

const char* describe(int status) { return api({}).status_name(status); }

struct LeasedHandle {
  explicit LeasedHandle(runtime::Runtime& device) : runtime(device) {}
  ~LeasedHandle() {
    if (handle != nullptr) runtime.library_release_noexcept([this] { api({}).destroy(handle); });
  }
  LeasedHandle(const LeasedHandle&) = delete;
  runtime::Runtime& runtime;
  Handle handle = nullptr;
};

std::shared_ptr<void> make_handle(Context& context, StreamBox& stream) {
  api("cusparse");
  auto leased = std::make_shared<LeasedHandle>(context.runtime());
  const auto native = static_cast<StreamHandle>(stream.handle(op_id));
  context.runtime().library_setup(
      "cusparseCreate",
      [&] {
        const Status status = api({}).create(&leased->handle);
        return status == success ? api({}).set_stream(leased->handle, native) : status;
      },
      describe, op_id);
  return leased;
}

// A descriptor, created and destroyed on the host; the library keeps nothing of it after the call that reads it.
template <class T, class D>
class Descriptor {
 public:
  explicit Descriptor(Status (*destroy)(D)) : destroy_(destroy) {}
  ~Descriptor() {
    if (value_ != nullptr) destroy_(value_);
  }
  Descriptor(const Descriptor&) = delete;
  operator T() const { return value_; }
  T* out() { return &value_; }

 private:
  T value_ = nullptr;
  Status (*destroy_)(D);
};
template <class T, class D>
Descriptor(Status (*)(T*), Status (*)(D)) -> Descriptor<T, D>;

using SparseDescriptor = Descriptor<Sparse, ConstSparse>;
using VectorDescriptor = Descriptor<Vector, ConstVector>;
using MatrixDescriptor = Descriptor<Matrix, ConstMatrix>;

void* writable(const void* p) { return const_cast<void*>(p); }

// What the library calls of one op share: the handle, the dtypes, factors in the compute type.
class Calls {
 public:
  Calls(OpCall& call, DType dtype, SparseFactors factors = {})
      : a(api(call.name())),
        type(data_type(dtype)),
        compute(in(dtype, dtypes::blas) ? type : DataType::r_32f),
        call_(call),
        lease_(call.context().lease("cusparse", call.stream(), make_handle)),
        handle(static_cast<const LeasedHandle*>(lease_.get())->handle) {
    const bool wide = real_part(dtype) == DType::float64;
    set(alpha_, factors.alpha, wide);
    set(beta_, factors.beta, wide);
  }

  template <class F>
  void run(const char* name, F f) {
    call_.context().runtime().library(name, f, describe, call_.stream().handle(uint16_t(call_.op())), call_.record());
  }
  template <class F>
  void ask(const char* name, F f) {  // a call that enqueues nothing
    call_.context().runtime().library_setup(name, f, describe, uint16_t(call_.op()));
  }
  void* scratch(size_t bytes) { return bytes > 0 ? call_.scratch(bytes) : nullptr; }
  const void* alpha() const { return alpha_; }
  const void* beta() const { return beta_; }

  Status make(SparseDescriptor& to, const SparseMatrix& m, void* indptr, void* indices, void* values) const {
    const Index index = m.index == DType::int64 ? Index::wide : Index::narrow;
    return a.create_csr(to.out(), m.rows, m.cols, m.nnz, indptr, indices, values, index, index, Base::zero, type);
  }
  Status make(SparseDescriptor& to, const SparseMatrix& m) const {
    return make(to, m, writable(m.indptr), writable(m.indices), writable(m.values));
  }
  Status make(VectorDescriptor& to, const DenseMatrix& m) const {
    return a.create_vector(to.out(), m.rows, m.data, type);
  }
  Status make(MatrixDescriptor& to, const DenseMatrix& m) const {
    return a.create_matrix(to.out(), m.rows, m.cols, m.leading, m.data, type, m.by_rows ? Order::rows : Order::columns);
  }

  const Api& a;
  const DataType type, compute;

 private:
  union Factor {
    float narrow[2];
    double wide[2];
  };
  static void set(double (&to)[2], complex128 value, bool wide) {
    Factor f{};
    if (wide)
      f.wide[0] = value.re, f.wide[1] = value.im;
    else
      f.narrow[0] = float(value.re), f.narrow[1] = float(value.im);
    std::memcpy(to, &f, sizeof f);
  }

  OpCall& call_;
  const std::shared_ptr<void> lease_;
  alignas(16) double alpha_[2] = {};  // aligned as the library's complex numbers, which it loads whole
  alignas(16) double beta_[2] = {};

 public:
  const Handle handle;
};

constexpr Operation none = Operation::none;

}  // namespace

bool cuda_sparse_available(const OpCall& call) {
  static Replaceable library(Library::cusparse, [] { api({}); });
  return library.available(call.name(), call.context().options().require_libraries == 1);
}

void cuda_sparse_prepare(OpCall& call) {
  call.context().lease("cusparse", call.stream(), make_handle);
  if (cuda_sparse_lt_available()) cuda_sparse_lt_prepare(call);
}

void cuda_sparse_product(OpCall& call, const SparseMatrix& m, const DenseMatrix& x, const DenseMatrix& out) {
  Calls c(call, m.dtype);
  SparseDescriptor a(c.a.destroy_sparse);
  size_t bytes = 0;
  if (x.cols == 1) {
    VectorDescriptor from(c.a.destroy_vector), to(c.a.destroy_vector);
    constexpr auto how = VectorAlgorithm::csr_run_to_run;
    c.ask("cusparseSpMV_bufferSize", [&] {
      Status s = c.make(a, m);
      if (s == success) s = c.make(from, x);
      if (s == success) s = c.make(to, out);
      return s != success
                 ? s
                 : c.a.times_vector_size(c.handle, none, c.alpha(), a, from, c.beta(), to, c.compute, how, &bytes);
    });
    void* const buffer = c.scratch(bytes);
    c.run("cusparseSpMV",
          [&] { return c.a.times_vector(c.handle, none, c.alpha(), a, from, c.beta(), to, c.compute, how, buffer); });
    return;
  }
  MatrixDescriptor from(c.a.destroy_matrix), to(c.a.destroy_matrix);
  constexpr auto how = MatrixAlgorithm::csr_run_to_run;
  c.ask("cusparseSpMM_bufferSize", [&] {
    Status s = c.make(a, m);
    if (s == success) s = c.make(from, x);
    if (s == success) s = c.make(to, out);
    return s != success
               ? s
               : c.a.times_matrix_size(c.handle, none, none, c.alpha(), a, from, c.beta(), to, c.compute, how, &bytes);
  });
  void* const buffer = c.scratch(bytes);
  c.run("cusparseSpMM", [&] {
    return c.a.times_matrix(c.handle, none, none, c.alpha(), a, from, c.beta(), to, c.compute, how, buffer);
  });
}

void cuda_sparse_sampled(OpCall& call, const SparseMatrix& pattern, const DenseMatrix& x, const DenseMatrix& y,
                         SparseFactors factors) {
  Calls c(call, pattern.dtype, factors);
  SparseDescriptor to(c.a.destroy_sparse);
  MatrixDescriptor left(c.a.destroy_matrix), right(c.a.destroy_matrix);
  size_t bytes = 0;
  c.ask("cusparseSDDMM_bufferSize", [&] {
    Status s = c.make(to, pattern);
    if (s == success) s = c.make(left, x);
    if (s == success) s = c.make(right, y);
    return s != success ? s
                        : c.a.sampled_size(c.handle, none, none, c.alpha(), left, right, c.beta(), to, c.compute,
                                           Algorithm::standard, &bytes);
  });
  void* const buffer = c.scratch(bytes);
  c.run("cusparseSDDMM", [&] {
    return c.a.sampled(c.handle, none, none, c.alpha(), left, right, c.beta(), to, c.compute, Algorithm::standard,
                       buffer);
  });
}

void cuda_sparse_solve(OpCall& call, const SparseMatrix& m, bool lower, bool unit, const DenseMatrix& b,
                       const DenseMatrix& out) {
  Calls c(call, m.dtype);
  SparseDescriptor a(c.a.destroy_sparse);
  Fill fill = lower ? Fill::lower : Fill::upper;
  Diagonal diagonal = unit ? Diagonal::unit : Diagonal::non_unit;
  constexpr auto how = Algorithm::standard;
  const auto triangle = [&] {
    Status s = c.make(a, m);
    if (s == success) s = c.a.set_attribute(a, Attribute::fill_mode, &fill, sizeof fill);
    if (s == success) s = c.a.set_attribute(a, Attribute::diag_type, &diagonal, sizeof diagonal);
    return s;
  };
  size_t bytes = 0;
  if (b.cols == 1) {
    VectorDescriptor from(c.a.destroy_vector), to(c.a.destroy_vector);
    Descriptor<VectorSolve, VectorSolve> plan(c.a.destroy_vector_solve);
    c.ask("cusparseSpSV_bufferSize", [&] {
      Status s = triangle();
      if (s == success) s = c.make(from, b);
      if (s == success) s = c.make(to, out);
      if (s == success) s = c.a.create_vector_solve(plan.out());
      return s != success ? s
                          : c.a.solve_vector_size(c.handle, none, c.alpha(), a, from, to, c.compute, how, plan, &bytes);
    });
    void* const buffer = c.scratch(bytes);
    c.run("cusparseSpSV_analysis", [&] {
      return c.a.solve_vector_analysis(c.handle, none, c.alpha(), a, from, to, c.compute, how, plan, buffer);
    });
    c.run("cusparseSpSV_solve",
          [&] { return c.a.solve_vector(c.handle, none, c.alpha(), a, from, to, c.compute, how, plan); });
    return;
  }
  MatrixDescriptor from(c.a.destroy_matrix), to(c.a.destroy_matrix);
  Descriptor<MatrixSolve, MatrixSolve> plan(c.a.destroy_matrix_solve);
  c.ask("cusparseSpSM_bufferSize", [&] {
    Status s = triangle();
    if (s == success) s = c.make(from, b);
    if (s == success) s = c.make(to, out);
    if (s == success) s = c.a.create_matrix_solve(plan.out());
    return s != success
               ? s
               : c.a.solve_matrix_size(c.handle, none, none, c.alpha(), a, from, to, c.compute, how, plan, &bytes);
  });
  void* const buffer = c.scratch(bytes);
  c.run("cusparseSpSM_analysis", [&] {
    return c.a.solve_matrix_analysis(c.handle, none, none, c.alpha(), a, from, to, c.compute, how, plan, buffer);
  });
  c.run("cusparseSpSM_solve",
        [&] { return c.a.solve_matrix(c.handle, none, none, c.alpha(), a, from, to, c.compute, how, plan); });
}

bool cuda_sparse_times(OpCall& call, const SparseMatrix& m, const SparseMatrix& n, void* indptr,
                       const std::function<SparseRoom(int64_t)>& make) {
  Calls c(call, m.dtype);
  SparseDescriptor a(c.a.destroy_sparse), b(c.a.destroy_sparse), out(c.a.destroy_sparse);
  Descriptor<Times, Times> plan(c.a.destroy_times);
  constexpr auto how = TimesAlgorithm::standard;
  bool too_large = false;
  size_t bytes = 0;
  const auto estimate = [&](void* buffer) {
    return c.a.times_estimate(c.handle, none, none, c.alpha(), a, b, c.beta(), out, c.compute, how, plan, &bytes,
                              buffer);
  };
  const auto compute = [&](void* buffer) {
    const Status s =
        c.a.times_compute(c.handle, none, none, c.alpha(), a, b, c.beta(), out, c.compute, how, plan, &bytes, buffer);
    too_large = s == insufficient_resources;
    return too_large ? success : s;
  };
  const SparseMatrix none_yet{.indptr = nullptr,
                              .indices = nullptr,
                              .values = nullptr,
                              .rows = m.rows,
                              .cols = n.cols,
                              .nnz = 0,
                              .index = m.index,
                              .dtype = m.dtype};
  c.ask("cusparseSpGEMM_workEstimation", [&] {
    Status s = c.make(a, m);
    if (s == success) s = c.make(b, n);
    if (s == success) s = c.make(out, none_yet, nullptr, nullptr, nullptr);
    if (s == success) s = c.a.create_times(plan.out());
    return s == success ? estimate(nullptr) : s;
  });
  void* const first = c.scratch(bytes);
  c.run("cusparseSpGEMM_workEstimation", [&] { return estimate(first); });
  c.ask("cusparseSpGEMM_compute", [&] { return compute(nullptr); });
  if (too_large) return false;
  void* const second = c.scratch(bytes);
  c.run("cusparseSpGEMM_compute", [&] { return compute(second); });
  if (too_large) return false;
  int64_t rows = 0, cols = 0, nnz = 0;
  c.ask("cusparseSpMatGetSize", [&] { return c.a.sparse_size(out, &rows, &cols, &nnz); });
  const SparseRoom room = make(nnz);
  c.run("cusparseSpGEMM_copy", [&] {
    const Status s = c.a.set_pointers(out, indptr, room.indices, room.values);
    return s != success ? s
                        : c.a.times_copy(c.handle, none, none, c.alpha(), a, b, c.beta(), out, c.compute, how, plan);
  });
  return true;
}

}  // namespace stator::libs
