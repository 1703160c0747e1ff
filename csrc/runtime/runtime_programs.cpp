// The members of Runtime for programs.
#include "runtime/telemetry.hpp"

namespace stator::runtime {

LaunchLimits Runtime::launch_limits(uint16_t op) {
  LaunchLimits limits;
  check(Call::program_query, enter(Call::program_query), op);
  check(Call::program_query, table_.programs->limits(device_, &limits), op);
  return limits;
}

Status Runtime::program_load(const void* image, ProgramHandle* out, char* log, size_t capacity, uint16_t op) {
  check(Call::program_load, enter(Call::program_load), op);
  return table_.programs->load(context_, image, out, log, capacity);
}

Status Runtime::program_unload_noexcept(ProgramHandle program) {
  const Status injected = enter(Call::program_unload);
  if (!context_) return status::context_destroyed;
  const Status done = table_.programs->unload(context_, program);
  return injected ? injected : done;
}

Status Runtime::program_kernel(ProgramHandle program, const char* name, KernelHandle* out, KernelNumbers* numbers,
                               uint16_t op) {
  check(Call::program_query, enter(Call::program_query), op);
  return table_.programs->kernel(context_, program, name, out, numbers);
}

bool Runtime::kernel_parameter(KernelHandle kernel, size_t index, size_t* offset, size_t* bytes, uint16_t op) {
  check(Call::program_query, enter(Call::program_query), op);
  const Status code = table_.programs->parameter(context_, kernel, index, offset, bytes);
  if (code == status::invalid_value) return false;  // CUDA's answer after the last one
  check(Call::program_query, code, op);
  return true;
}

int Runtime::resident_blocks(KernelHandle kernel, int threads, size_t shared_bytes, uint16_t op) {
  int blocks = 0;
  check(Call::program_query, enter(Call::program_query), op);
  check(Call::program_query, table_.programs->resident_blocks(context_, kernel, threads, shared_bytes, &blocks), op);
  return blocks;
}

void Runtime::launch_kernel(KernelHandle kernel, const char* name, const KernelLaunch& launch, StreamHandle stream,
                            const Record& record) {
  check(Call::launch, enter(Call::launch), record.op);
  Noted noted(*this, stream, GraphCall::Kind::kernel, name, record);
  if (!noted.captured()) order(stream, name, record);
  check(Call::launch, table_.programs->launch(context_, kernel, launch, stream), record.op);
  enqueued(noted, stream, record);
  if (watched()) [[unlikely]] {
    int64_t slots = 1;
    for (int i = 0; i < 3; ++i) slots *= int64_t(launch.grid[i]) * launch.block[i];
    telemetry_->launched(slots, record.elements);
  }
}

}  // namespace stator::runtime
