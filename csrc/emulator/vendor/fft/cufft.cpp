#include "emulator/vendor/common/call.hpp"
#include "emulator/vendor/common/registry.hpp"
#include "emulator/vendor/fft/plan.hpp"

#include <atomic>
#include <mutex>
#include <unordered_map>

using namespace stator::emulator::vendor;
using namespace stator::emulator::vendor::fft;

namespace {

constexpr const char* what = "cufftXtExec";

// Plans are named by numbers.
class Plans final : public Objects {
 public:
  Plans() : Objects("cufftHandle") {}
  int add() {
    const std::lock_guard hold(mutex_);
    auto plan = std::make_shared<Plan>();
    plan->device = services().current_device();
    plans_.emplace(++last_, std::move(plan));
    return last_;
  }
  std::shared_ptr<Plan> find(int number) const {
    const std::lock_guard hold(mutex_);
    const auto found = plans_.find(number);
    return found == plans_.end() ? nullptr : found->second;
  }
  void remove(int number) {
    const std::lock_guard hold(mutex_);
    plans_.erase(number);
  }
  uint64_t alive() const override {
    const std::lock_guard hold(mutex_);
    return plans_.size();
  }

 private:
  mutable std::mutex mutex_;
  std::unordered_map<int, std::shared_ptr<Plan>> plans_;
  int last_ = 0;
};
Plans plans;

// The kind of transform of three types, all of one precision.
Status classify(Type in, Type out, Type execution, Kind& kind) {
  const auto real_part = [](Type type) {
    return type == Type::c32f   ? Type::r32f
           : type == Type::c64f ? Type::r64f
           : type == Type::c16f ? Type::r16f
                                : Type::r16bf;
  };
  const bool known =
      execution == Type::c32f || execution == Type::c64f || execution == Type::c16f || execution == Type::c16bf;
  if (!known) return Status::invalid_type;
  const Type real = real_part(execution);
  if (in == execution && out == execution)
    kind = Kind::complex;
  else if (in == real && out == execution)
    kind = Kind::to_complex;
  else if (in == execution && out == real)
    kind = Kind::to_real;
  else
    return Status::invalid_type;
  return Status::success;
}

bool is_power_of_two(int64_t n) { return (n & (n - 1)) == 0; }

// Halves have powers of two only, and no strides on the real side.
Status check_halves(const Plan& plan, Type execution) {
  if (execution != Type::c16f && execution != Type::c16bf) return Status::success;
  if (services().compute_capability(plan.device) < (execution == Type::c16f ? 53 : 80)) return Status::not_supported;
  for (const int64_t n : plan.n)
    if (!is_power_of_two(n)) return Status::not_supported;
  for (const Side* side : {&plan.in, &plan.out})
    if (!is_complex(side->type) && side->stride != 1) return Status::not_supported;
  return Status::success;
}

bool inside(const Side& side) {
  return side.stride >= 1 && side.distance >= 0 && side.embed[1] >= side.extent[1] && side.embed[2] >= side.extent[2];
}

// Whether two elements of the output would share an address: by the largest offsets of one batch.
bool overlaps(const Plan& plan) {
  const Side& side = plan.out;
  if (plan.batch <= 1) return false;
  const int64_t span = side.offset(0, side.extent[0] - 1, side.extent[1] - 1) + (side.extent[2] - 1) * side.stride + 1;
  const bool between = side.distance >= 1 && side.distance * plan.batch <= side.stride;
  return side.distance < span && !between;
}

Range everything(const Side& side, const void* start, int64_t batches) {
  const int64_t last =
      side.offset(batches - 1, side.extent[0] - 1, side.extent[1] - 1) + (side.extent[2] - 1) * side.stride;
  return bytes_at(start, uint64_t(last + 1) * size_of(side.type));
}

}  // namespace

STATOR_VENDOR(Status, cufftCreate, (int* plan), (plan)) {
  if (!plan) return Status::invalid_value;
  *plan = plans.add();
  return Status::success;
}

STATOR_VENDOR(Status, cufftDestroy, (int number), (number)) {
  const std::shared_ptr<Plan> plan = plans.find(number);
  if (!plan) return Status::invalid_plan;
  if (plan->own_work) {
    services().synchronize(plan->stream);  // as freeing the memory does
    services().release(plan->own_work);
  }
  plans.remove(number);
  return Status::success;
}

STATOR_VENDOR(Status, cufftSetAutoAllocation, (int number, int automatic), (number, automatic)) {
  const std::shared_ptr<Plan> plan = plans.find(number);
  if (!plan || plan->made) return Status::invalid_plan;
  plan->automatic = automatic != 0;
  return Status::success;
}

STATOR_VENDOR(Status, cufftXtMakePlanMany,
              (int number, int rank, long long* n, long long* in_embed, long long in_stride, long long in_distance,
               Type in_type, long long* out_embed, long long out_stride, long long out_distance, Type out_type,
               long long batch, size_t* work_bytes, Type execution),
              (number, rank, n, in_embed, in_stride, in_distance, in_type, out_embed, out_stride, out_distance,
               out_type, batch, work_bytes, execution)) {
  const std::shared_ptr<Plan> plan = plans.find(number);
  if (!plan || plan->made) return Status::invalid_plan;
  if (!n || !work_bytes) return Status::invalid_value;
  if (rank < 1 || rank > 3 || batch < 1) return Status::invalid_size;
  Plan made = *plan;
  if (const Status status = classify(in_type, out_type, execution, made.kind); status != Status::success) return status;
  made.batch = batch;
  made.in = {.type = in_type, .basic = !in_embed, .stride = in_stride, .distance = in_distance};
  made.out = {.type = out_type, .basic = !out_embed, .stride = out_stride, .distance = out_distance};
  if (!in_embed != !out_embed)
    complain("cufftXtMakePlanMany", "One side has an advanced layout and the other the basic one.");
  for (int i = 0; i < rank; ++i) {
    const int axis = 3 - rank + i;
    if (n[i] < 1) return Status::invalid_size;
    made.n[axis] = n[i];
    if (in_embed) made.in.embed[axis] = in_embed[i];
    if (out_embed) made.out.embed[axis] = out_embed[i];
  }
  // What lies before the first axis is not there: its lengths count nothing.
  lay_out(made, false);
  if (!inside(made.in) || !inside(made.out)) return Status::invalid_size;
  if (const Status status = check_halves(made, execution); status != Status::success) return status;
  if (overlaps(made)) complain("cufftXtMakePlanMany", "The batches of the output overlap.");
  const uint64_t whole =
      uint64_t(made.n[0]) * uint64_t(made.n[1]) * uint64_t(made.n[2]) * uint64_t(batch) * size_of(execution);
  made.work_bytes = choose(3) == 2 ? 0 : whole + 256 * choose(4);
  if (made.automatic && made.work_bytes) {
    made.own_work = services().allocate(made.work_bytes, "cuFFT's own work area");
    if (!made.own_work) return Status::alloc_failed;
    made.work = made.own_work;
  }
  made.made = true;
  *work_bytes = size_t(made.work_bytes);
  *plan = made;
  return Status::success;
}

STATOR_VENDOR(Status, cufftSetStream, (int number, void* stream), (number, stream)) {
  const std::shared_ptr<Plan> plan = plans.find(number);
  if (!plan) return Status::invalid_plan;
  if (!services().is_stream(stream)) {
    complain("cufftSetStream", "The stream does not exist on the current device.");
    return Status::invalid_value;
  }
  plan->stream = stream;
  return Status::success;
}

STATOR_VENDOR(Status, cufftSetWorkArea, (int number, void* work), (number, work)) {
  const std::shared_ptr<Plan> plan = plans.find(number);
  if (!plan || !plan->made) return Status::invalid_plan;
  if (!aligned(work, 16)) return Status::invalid_value;
  plan->work = work;
  return Status::success;
}

STATOR_VENDOR(Status, cufftXtExec, (int number, void* input, void* output, int direction),
              (number, input, output, direction)) {
  const std::shared_ptr<Plan> plan = plans.find(number);
  if (!plan || !plan->made) return Status::invalid_plan;
  if (plan->device != services().current_device()) {
    complain(what, "The plan was made on another device than the current one.");
    return Status::exec_failed;
  }
  if (!input || !output) return Status::invalid_value;
  if (plan->kind == Kind::complex && direction != -1 && direction != 1) return Status::invalid_value;
  if (plan->work_bytes && !plan->work) return Status::no_workspace;
  Plan run = *plan;
  lay_out(run, input == output);
  const uint64_t pair = size_of(is_complex(run.in.type) ? run.in.type : run.out.type);
  if (!aligned(input, pair) || !aligned(output, pair)) {
    complain(what, "Both pointers must be aligned to a complex element, also that of real data.");
    return Status::exec_failed;
  }
  const Range read = everything(run.in, input, run.batch), written = everything(run.out, output, run.batch);
  const char *const first = static_cast<const char*>(read.start), *const second =
                                                                      static_cast<const char*>(written.start);
  if (input != output && first < second + written.width && second < first + read.width)
    complain(what, "Input and output overlap without being the same.");
  if (input == output && run.batch > 1 &&
      run.in.distance * int64_t(size_of(run.in.type)) != run.out.distance * int64_t(size_of(run.out.type)))
    complain(what, "In place, the batches of both sides do not lie alike.");
  const bool inverse = run.kind == Kind::complex ? direction == 1 : run.kind == Kind::to_real;
  const int error = enqueue(run.stream, what, "the work area of cuFFT", bytes_at(run.work, run.work_bytes),
                            [=] { execute(run, input, output, inverse); });
  return error ? Status::exec_failed : Status::success;
}

STATOR_VENDOR(Status, cufftGetProperty, (Property property, int* value), (property, value)) {
  if (!value) return Status::invalid_value;
  switch (property) {
    case Property::major: *value = 12; return Status::success;
    case Property::minor: *value = 0; return Status::success;
    case Property::patch: *value = 0; return Status::success;
  }
  return Status::invalid_type;
}
