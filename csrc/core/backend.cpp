// The members of the public handle Backend, which forward to Context; and how the device and STATOR_CHECK are read.
#include <stator/backend.hpp>

#include "core/context.hpp"
#include "core/text.hpp"

#include <cstdlib>

namespace stator {
namespace {

constexpr uint16_t synchronize_op = uint16_t(Op::synchronize);

int checks_of_environment() {
  const char* value = std::getenv("STATOR_CHECK");
  int checks = 0;
  for (std::string_view rest = value ? value : ""; !rest.empty();) {
    const size_t comma = std::min(rest.find(','), rest.size());
    const std::string_view check = rest.substr(0, comma);
    rest.remove_prefix(std::min(comma + 1, rest.size()));
    if (check == "order")
      checks |= 1;
    else if (check == "poison")
      checks |= 2;
    else if (check == "all")
      checks |= 3;
    else if (!check.empty()) {
      throw ValueError("Backend", "STATOR_CHECK=" + std::string(value),
                       "use a comma-separated list of order, poison, all");
    }
  }
  return checks;
}

// An environment variable that is 0 or 1; 0 where it is not set.
bool flag_of_environment(const char* name) {
  const char* value = std::getenv(name);
  const std::string_view text = value ? value : "";
  if (text == "1") return true;
  if (text.empty() || text == "0") return false;
  throw ValueError("Backend", std::string(name) + "=" + std::string(text), "Set it to 0 or 1, or not at all");
}

Device require_device(std::string_view text) {
  if (text == "auto") {
    return Device::parse(is_available(DeviceType::cuda) && !is_emulated(DeviceType::cuda) ? "cuda" : "cpu");
  }
  const Device device = Device::parse(text);
  std::string reason;
  if (!is_available(device.type, &reason)) {
    throw DeviceUnavailableError("Backend", "Device " + device.str() + " is not available: " + reason,
                                 "Use device=\"cpu\", or see `python -m stator info`");
  }
  const int count = device_count(device.type);
  if (device.index >= count) {
    throw DeviceUnavailableError(
        "Backend", "the device " + device.str() + " does not exist, the number of devices is " + std::to_string(count),
        "Use a lower index, or check CUDA_VISIBLE_DEVICES");
  }
  return device;
}

void require_own(const Context& context, int index) {
  if (index >= 0 && index < context.stream_count()) return;
  throw ValueError("Backend.stream", "got stream " + std::to_string(index),
                   "The index must be from 0 to " + std::to_string(context.stream_count() - 1));
}

void require_valid(const BackendOptions& options) {
  if (options.stream_pool_size < 1 || options.stream_pool_size > Backend::stream_limit)
    throw ValueError("Backend", "stream_pool_size=" + std::to_string(options.stream_pool_size),
                     "Pass a number from 1 to " + std::to_string(Backend::stream_limit) + " streams");
  if (options.memory_limit && options.memory_pool_size > options.memory_limit)
    throw ValueError("Backend",
                     "memory_pool_size=" + std::to_string(options.memory_pool_size) +
                         " with memory_limit=" + std::to_string(options.memory_limit),
                     "Reserve no more than the limit");
  if (options.pool_policy == PoolPolicy::arena && !options.memory_pool_size)
    throw ValueError("Backend", "pool_policy=arena without memory_pool_size",
                     "set memory_pool_size to the arena's bytes");
}

Context& require(const Ref<Context>& context) {
  if (!context) throw ValueError("Backend", "got a default-constructed backend", "Open one with Backend::open(device)");
  return *context;
}

}  // namespace

Backend Backend::open(std::string_view device, const BackendOptions& options, std::shared_ptr<Allocator> allocator) {
  if (in_callback) refuse_in_callback("Backend");
  BackendOptions resolved = options;
  if (resolved.checks < 0) resolved.checks = checks_of_environment();
  if (resolved.require_libraries < 0) resolved.require_libraries = flag_of_environment("STATOR_REQUIRE_LIBRARIES");
  const bool blocking = flag_of_environment("STATOR_SYNC");
  require_valid(resolved);
  if (allocator && resolved.memory_pool_size)
    throw ValueError("Backend", "memory_pool_size=" + std::to_string(resolved.memory_pool_size) + " with an allocator",
                     "Reserve memory where the allocator has it: the driver's pool is not used");
  set_jit_cache(resolved.jit_cache_path, resolved.jit_cache_size);  // before the driver starts
  Ref<Context> context = Context::open(require_device(device), resolved, std::move(allocator));
  context->runtime().set_blocking(blocking);
  if (resolved.profiling) context->runtime().change_telemetry_modes(0, runtime::Telemetry::count);
  return Backend(std::move(context));
}

void Backend::close() const {
  if (in_callback) refuse_in_callback("Backend.close");
  if (!context_) return;
  refuse_in_hook(*context_, "Backend.close");
  context_->shut();
}

bool Backend::closed() const { return !context_ || context_->is_shut(); }
Device Backend::device() const { return require(context_).device(); }
const BackendOptions& Backend::options() const { return require(context_).options(); }
std::string Backend::kernels() const { return require(context_).kernels().name; }

DeviceInfo Backend::info() const {
  const runtime::Properties& p = require(context_).runtime().properties();
  return {.name = p.name,
          .compute_major = p.compute_major,
          .compute_minor = p.compute_minor,
          .total_memory = p.total_memory,
          .driver_version = p.driver_version,
          .runtime_version = p.runtime_version,
          .multiprocessors = p.limits.multiprocessors};
}

int Backend::stream_count() const { return require(context_).stream_count(); }

Stream Backend::stream(int index) const {
  const OpGuard guard(require(context_), call::stream);
  require_own(*context_, index);
  return Stream(context_->stream(index));
}

Stream Backend::stream(int index, int priority) const {
  const OpGuard guard(require(context_), call::stream);
  require_own(*context_, index);
  return Stream(Ref<StreamBox>(&context_->stream_with_priority(index, priority)));
}

PriorityRange Backend::priority_range() const {
  const OpGuard guard(require(context_), call::priority_range);
  const runtime::PriorityRange range = context_->runtime().stream_priorities(call::priority_range);
  return {range.least, range.greatest};
}

std::vector<Stream> Backend::streams(int count, int priority) const {
  const OpGuard guard(require(context_), call::stream_pool);
  return context_->streams_with_priority(count, priority);
}

Stream Backend::external_stream(void* native, std::function<void()> release) const {
  const OpGuard guard(require(context_), call::external_stream);
  return Stream(Ref<StreamBox>(&context_->external_stream(native, std::move(release))));
}

void Backend::synchronize() const {
  const OpGuard guard(require(context_), synchronize_op);
  context_->synchronize(synchronize_op);
}

std::vector<Resource> Backend::resources() const {
  ReleaseQueue::drain();
  return require(context_).tracker().resources();
}

MemoryStats Backend::memory() const {
  ReleaseQueue::drain();
  return require(context_).pool().stats();
}

void Backend::set_memory_limit(size_t bytes) const {
  const OpGuard guard(require(context_), call::set_memory_limit);
  context_->pool().set_limit(bytes, call::set_memory_limit);
}

Statistics Backend::statistics() const {
  const runtime::Counters counters = require(context_).runtime().counters();
  Statistics result;
  result.kernel_launches = counters.calls[int(runtime::Call::launch)];
  result.library_calls = counters.calls[int(runtime::Call::library)];
  result.h2d_bytes = counters.h2d_bytes;
  result.d2h_bytes = counters.d2h_bytes;
  result.d2d_bytes = counters.d2d_bytes;
  for (int i = 0; i < runtime::call_count; ++i)
    result.calls.emplace_back(runtime::name(runtime::Call(i)), counters.calls[i]);
  return result;
}

void Backend::forbid_host_copies(bool forbid) const { require(context_).forbid_host_copies(forbid); }

void Backend::empty_cache() const {
  const OpGuard guard(require(context_), call::empty_cache);
  context_->pool().empty_cache();
}

bool Backend::poll_division_by_zero() const {
  const OpGuard guard(require(context_), call::take_warning);
  return context_->poll_division_by_zero(call::take_warning);
}

}  // namespace stator
