// Fourier transforms by cuFFT.
#include "libs/fft.hpp"
#include "libs/cuda/cufft.hpp"
#include "libs/loader.hpp"
#include "libs/plan_cache.hpp"

#include <stator/error.hpp>

#include <algorithm>
#include <iterator>

namespace stator::libs {
namespace {

using namespace cufft;

const Api& api(std::string_view op) {
  return calls_of<Api>(Library::cufft, op, [](Api& a, const Lookup& find) {
    find(a.create, "cufftCreate");
    find(a.destroy, "cufftDestroy");
    find(a.set_auto_allocation, "cufftSetAutoAllocation");
    find(a.make_plan_many, "cufftXtMakePlanMany");
    find(a.set_stream, "cufftSetStream");
    find(a.set_work_area, "cufftSetWorkArea");
    find(a.execute, "cufftXtExec");
  });
}

const char* describe(int status) {
  constexpr const char* names[] = {"success",       "invalid plan",   "allocation failed", "invalid type",
                                   "invalid value", "internal error", "execution failed",  "setup failed",
                                   "invalid size",  "unaligned data"};
  return status >= 0 && status < int(std::size(names)) ? names[status] : "cuFFT error";
}

struct Key {
  int64_t kind, is_double, rank, batch;
  int64_t n[3], in_embed[3], out_embed[3];
  int64_t in_step, in_distance, out_step, out_distance;
};

struct Plan {
  explicit Plan(runtime::Runtime& device) : runtime(device) {}
  ~Plan() {
    if (made) runtime.library_release_noexcept([this] { api({}).destroy(handle); });
  }
  Plan(const Plan&) = delete;
  Status open(const VendorFft& f, ::CUstream_st* stream) {
    const DataType real = f.is_double ? DataType::r_64f : DataType::r_32f;
    const DataType complex = f.is_double ? DataType::c_64f : DataType::c_32f;
    const DataType in = f.kind == FftKind::real_to_complex ? real : complex;
    const DataType out = f.kind == FftKind::complex_to_real ? real : complex;
    long long n[3], in_embed[3], out_embed[3];
    std::copy_n(f.n, 3, n);
    std::copy_n(f.in.embed, 3, in_embed);
    std::copy_n(f.out.embed, 3, out_embed);
    Status status = api({}).create(&handle);
    made = status == success;
    if (status == success) status = api({}).set_auto_allocation(handle, 0);
    if (status == success)
      status = api({}).make_plan_many(handle, f.rank, n, in_embed, f.in.step, f.in.distance, in, out_embed, f.out.step,
                                      f.out.distance, out, f.batch, &work_bytes, complex);
    if (status == success) status = api({}).set_stream(handle, stream);
    return status;
  }
  runtime::Runtime& runtime;
  Handle handle = 0;
  bool made = false;
  size_t work_bytes = 0;
};

PlanCache::Entry make_plan(OpCall& call, const VendorFft& f) {
  runtime::Runtime& runtime = call.context().runtime();
  auto plan = std::make_shared<Plan>(runtime);
  const auto op = uint16_t(call.op());
  const auto native = static_cast<::CUstream_st*>(call.stream().handle(op));
  runtime.library_setup("cufftXtMakePlanMany", [&] { return plan->open(f, native); }, describe, op);
  // cuFFT does not report the size of its tables: estimate a root of unity for each point of each axis.
  size_t bytes = 16384;
  for (int d = 0; d < f.rank; ++d) bytes += size_t(f.n[d]) * (f.is_double ? 16 : 8);
  return {plan, bytes};
}

}  // namespace

bool cuda_fft_available(const OpCall& call) {
  static Replaceable library(Library::cufft, [] { api({}); });
  return library.available(call.name(), call.context().options().require_libraries == 1);
}

void cuda_fft_prepare(OpCall& call) {
  api(call.name());
  lease_plans(call.context(), call.stream());
}

void cuda_fft(OpCall& call, const VendorFft& f) {
  const std::shared_ptr<PlanCache> cache = lease_plans(call.context(), call.stream());  // with its plans
  Key key{};
  key.kind = int64_t(f.kind);
  key.is_double = f.is_double;
  key.rank = f.rank;
  key.batch = f.batch;
  std::copy_n(f.n, 3, key.n);
  std::copy_n(f.in.embed, 3, key.in_embed);
  std::copy_n(f.out.embed, 3, key.out_embed);
  key.in_step = f.in.step;
  key.in_distance = f.in.distance;
  key.out_step = f.out.step;
  key.out_distance = f.out.distance;
  const auto plan = cache->get<Plan>(key, [&] { return make_plan(call, f); });
  call.keep(plan);
  void* work = plan->work_bytes > 0 ? call.scratch(plan->work_bytes) : nullptr;
  const Direction direction = f.kind == FftKind::complex_to_complex
                                  ? f.inverse ? Direction::inverse : Direction::forward
                              : f.kind == FftKind::real_to_complex ? Direction::forward
                                                                   : Direction::inverse;
  call.context().runtime().library(
      "cufftXtExec",
      [&] {
        const Status status = work ? api({}).set_work_area(plan->handle, work) : success;
        return status == success ? api({}).execute(plan->handle, f.in.data, f.out.data, int(direction)) : status;
      },
      describe, call.stream().handle(uint16_t(call.op())), call.record());
}

}  // namespace stator::libs
