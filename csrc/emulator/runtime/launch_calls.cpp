// Registration and launches of kernels, and libraries of them.
#include "emulator/runtime/calls.hpp"
#include "emulator/runtime/fat_binary.hpp"
#include "emulator/runtime/record.hpp"
#include "emulator/runtime/system.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>

namespace stator::emulator::runtime {
namespace {

constexpr int32_t wrapper_magic = 0x466243b1;
constexpr int max_dynamic_shared_attribute = 8;  // cudaFuncAttributeMaxDynamicSharedMemorySize
constexpr int shared_carveout_attribute = 9;     // a hint

void** register_fat_binary(const void* wrapper) {
  FatBinaryWrapper described;
  std::memcpy(&described, wrapper, sizeof described);
  if (described.magic != wrapper_magic) return nullptr;
  return reinterpret_cast<void**>(register_binary(described.image));
}

FatBinary* binary_of(void** handle) { return reinterpret_cast<FatBinary*>(handle); }

void unregister_fat_binary(void** handle) {
  if (handle) unregister_binary(binary_of(handle));
}

void register_kernel(void** handle, const void* function, const char* name) {
  if (handle) register_function(binary_of(handle), function, name);
}

int get_kernel(void** kernel, const void* function) {
  const Function* const found = find_function(function);
  *kernel = const_cast<Function*>(found);
  return remembered(found ? error::success : error::invalid_device_function);
}

// A report that belongs to no work: it is printed, and the call fails.
int refused(Device& device, const Report& report) {
  device.tell(report);
  return error_of(report.fault);
}

struct Resolved {
  const Function* function = nullptr;
  Kernels::Loaded* loaded = nullptr;
  const Kernel* kernel = nullptr;
};

int resolve(Device& device, const void* pointer, Resolved* out) {
  out->function = find_function(pointer);
  if (!out->function) return error::invalid_device_function;
  out->loaded = &device.kernels.load(device.machine, out->function->binary);
  if (!out->loaded->program) return refused(device, out->loaded->report);
  Report report;
  out->kernel = out->loaded->program->kernel(out->function->name, &report);
  return out->kernel ? error::success : refused(device, report);
}

MachineCode code_of(const Resolved& resolved) {
  const auto found = resolved.loaded->machine_code.find(resolved.kernel->name);
  return found == resolved.loaded->machine_code.end() ? MachineCode{} : found->second;
}

// What a launch of the kernel has, whichever call launches it.
LaunchConfig config_of(Device& device, const Resolved& resolved) {
  LaunchConfig config;
  config.dynamic_shared_limit = device.kernels.opted(resolved.function);
  config.registers = code_of(resolved).registers;
  return config;
}

int function_numbers(FunctionNumbers* out, const void* pointer) {
  return device_call([&](System&, Device& device, Scheduler::Lock&) {
    Resolved resolved;
    if (const int code = resolve(device, pointer, &resolved)) return code;
    const LaunchConfig config = config_of(device, resolved);
    const Kernel& kernel = *resolved.kernel;
    const uint64_t bounded = kernel.max_threads.x ? kernel.max_threads.count() : device.profile.threads_per_block;
    *out = {.shared_bytes = kernel.shared_bytes,
            .local_bytes = kernel.local_bytes,
            .max_threads = int32_t(std::min<uint64_t>(bounded, device.profile.threads_per_block)),
            .registers = int32_t(config.registers),
            .ptx_version = int32_t(resolved.loaded->architecture),
            .dynamic_shared_limit =
                int32_t(config.dynamic_shared_limit ? config.dynamic_shared_limit
                                                    : device.profile.shared_per_block - kernel.shared_bytes)};
    return error::success;
  });
}

int resident_blocks(int* blocks, const void* pointer, int threads, size_t shared_bytes) {
  return device_call([&](System&, Device& device, Scheduler::Lock&) {
    Resolved resolved;
    if (const int code = resolve(device, pointer, &resolved)) return code;
    LaunchConfig config = config_of(device, resolved);
    config.grid = {1, 1, 1};
    config.block = {uint32_t(std::max(threads, 0)), 1, 1};
    config.dynamic_shared = shared_bytes;
    *blocks = int(device.machine.resident_blocks(*resolved.kernel, config));
    return error::success;
  });
}

int function_attribute(const void* pointer, int attribute, int value) {
  return device_call([&](System&, Device& device, Scheduler::Lock&) {
    Resolved resolved;
    if (const int code = resolve(device, pointer, &resolved)) return code;
    if (attribute == shared_carveout_attribute)
      return value >= -1 && value <= 100 ? error::success : error::invalid_value;
    if (attribute != max_dynamic_shared_attribute || value < 0) return error::invalid_value;
    const uint64_t total = resolved.kernel->shared_bytes + uint64_t(value);
    if (total > device.profile.shared_per_block_optin) return error::invalid_value;
    device.kernels.opted(resolved.function) = uint32_t(value);
    return error::success;
  });
}

// The error of CUDA for the first limit that a launch exceeds.
int limit_error(const Profile& p, const Kernel& k, const LaunchConfig& c) {
  const uint64_t threads = c.block.count();
  const bool grid = c.grid.count() && c.grid.x <= p.grid_x && c.grid.y <= p.grid_y && c.grid.z <= p.grid_z;
  const bool block = threads && threads <= p.threads_per_block && c.block.x <= p.block_x && c.block.y <= p.block_y &&
                     c.block.z <= p.block_z;
  if (!grid || !block) return error::invalid_configuration;
  const uint64_t most = c.dynamic_shared_limit ? c.dynamic_shared_limit : p.shared_per_block - k.shared_bytes;
  if (c.dynamic_shared > most || k.parameter_bytes > p.parameter_bytes) return error::invalid_value;
  return error::launch_out_of_resources;
}

LaunchRecord described(const Device& device, const Kernel& kernel, const LaunchConfig& c, const MachineCode& code) {
  return {.kernel = kernel.name.c_str(),
          .device = uint32_t(device.index),
          .multiprocessors = device.profile.multiprocessors,
          .resident = device.machine.resident_blocks(kernel, c),
          .registers = code.registers,
          .architecture = code.architecture,
          .local_bytes = code.architecture ? code.local_bytes : uint32_t(kernel.local_bytes),
          .grid = {c.grid.x, c.grid.y, c.grid.z},
          .block = {c.block.x, c.block.y, c.block.z},
          .shared_bytes = kernel.shared_bytes + c.dynamic_shared};
}

// The parameters' bytes, from wherever the call has them. False where they do not fit the kernel's.
bool take_parameters(const Kernel& kernel, const KernelCall& call, std::vector<std::byte>* bytes) {
  if (call.packed) {
    if (call.arguments || call.packed_bytes < kernel.parameter_bytes) return false;
    std::memcpy(bytes->data(), call.packed, bytes->size());
    return true;
  }
  for (size_t i = 0; i < kernel.parameters.size(); ++i)
    std::memcpy(bytes->data() + kernel.parameters[i].offset, call.arguments[i], kernel.parameters[i].bytes);
  return true;
}

int enqueue(const KernelCall& call, void* stream_handle) {
  return device_call([&](System& s, Device& device, Scheduler::Lock& lock) {
    const std::shared_ptr<Stream> stream = find_stream(s, stream_handle);
    if (!stream || stream->device != &device) return error::invalid_resource_handle;
    OperationPointer operation;
    if (const int code = make_kernel(device, call, &operation)) return code;
    return issue(s, lock, stream, operation);
  });
}

KernelCall call_of(const void* pointer, const uint32_t grid[3], const uint32_t block[3], void** arguments,
                   size_t shared_bytes) {
  return {.function = pointer,
          .grid = {grid[0], grid[1], grid[2]},
          .block = {block[0], block[1], block[2]},
          .shared_bytes = shared_bytes,
          .arguments = arguments};
}

int launch(const void* pointer, const uint32_t grid[3], const uint32_t block[3], void** arguments, size_t shared_bytes,
           void* stream) {
  return enqueue(call_of(pointer, grid, block, arguments, shared_bytes), stream);
}

int launch_cooperative(const void* pointer, const uint32_t grid[3], const uint32_t block[3], void** arguments,
                       size_t shared_bytes, void* stream) {
  KernelCall call = call_of(pointer, grid, block, arguments, shared_bytes);
  call.cooperative = true;
  return enqueue(call, stream);
}

bool is_machine_code(const void* image) { return std::memcmp(image, "\177ELF", 4) == 0; }

int library_load(void** library, const void* image, char* log, size_t capacity) {
  return device_call([&](System& s, Device& device, Scheduler::Lock&) {
    if (const int code = uncaptured(s)) return code;
    std::string ptx, reason = "An emulated device runs PTX, and this is machine code.";
    if (is_machine_code(image) ||
        (is_fat_binary(image) && !ptx_of(image, device.profile.major * 10 + device.profile.minor, &ptx, &reason))) {
      std::snprintf(log, capacity, "%s", reason.c_str());
      return error::no_kernel_image;
    }
    if (!is_fat_binary(image)) ptx = static_cast<const char*>(image);
    FatBinary* const made = register_library(std::move(ptx));
    const Kernels::Loaded& loaded = device.kernels.load(device.machine, made);
    Report report = loaded.report;
    if (loaded.program)
      for (const std::string& name : loaded.program->kernels())  // a driver compiles all of them
        if (!report) loaded.program->kernel(name, &report);
    if (!report) {
      *library = made;
      return error::success;
    }
    std::snprintf(log, capacity, "%s", report.str().c_str());
    device.kernels.unload(made);
    unregister_binary(made);
    return error_of(report.fault);
  });
}

// CUDA does not say what becomes of launches that wait; here they fail, since the caller of an unload has to wait for
// them.
int library_unload(void* library) {
  return device_call([&](System& s, Device&, Scheduler::Lock&) {
    auto* const binary = static_cast<FatBinary*>(library);
    if (!is_library(binary)) return error::invalid_resource_handle;
    if (const int code = uncaptured(s)) return code;
    for (const auto& device : s.devices) {
      if (device->kernels.is_waiting(binary)) {
        Report report;
        report.fault = Fault::use_after_free;
        report.sentence = "A library is unloaded before the launches of its kernels have run.";
        device->fail(report, "cudaLibraryUnload");
      }
      device->kernels.unload(binary);
    }
    unregister_binary(binary);
    return error::success;
  });
}

int library_kernel(void** kernel, void* library, const char* name) {
  return device_call([&](System&, Device& device, Scheduler::Lock&) {
    auto* const binary = static_cast<FatBinary*>(library);
    if (!is_library(binary)) return error::invalid_resource_handle;
    const Kernels::Loaded& loaded = device.kernels.load(device.machine, binary);
    if (!loaded.program) return refused(device, loaded.report);
    const std::vector<std::string> names = loaded.program->kernels();
    if (std::find(names.begin(), names.end(), name) == names.end()) return error::not_found;
    *kernel = const_cast<Function*>(library_function(binary, name));
    return error::success;
  });
}

int parameter(const void* pointer, size_t index, size_t* offset, size_t* bytes) {
  return device_call([&](System&, Device& device, Scheduler::Lock&) {
    Resolved resolved;
    if (const int code = resolve(device, pointer, &resolved)) return code;
    const auto& parameters = resolved.kernel->parameters;
    if (index >= parameters.size()) return error::invalid_value;
    *offset = parameters[index].offset;
    *bytes = parameters[index].bytes;
    return error::success;
  });
}

}  // namespace

int make_kernel(Device& device, const KernelCall& call, OperationPointer* out) {
  Resolved resolved;
  if (const int code = resolve(device, call.function, &resolved)) return code;
  const Kernel& kernel = *resolved.kernel;
  const auto made = std::make_shared<KernelOperation>(&device, "");
  LaunchConfig& config = made->config = config_of(device, resolved);
  config.grid = {call.grid[0], call.grid[1], call.grid[2]};
  config.block = {call.block[0], call.block[1], call.block[2]};
  config.dynamic_shared = call.shared_bytes;
  config.cooperative = call.cooperative;
  const uint64_t resident = device.machine.resident_blocks(kernel, config);
  if (resident == 0) return limit_error(device.profile, kernel, config);
  if (call.cooperative && config.grid.count() > resident * device.profile.multiprocessors)
    return error::cooperative_launch_too_large;
  made->bytes.resize(kernel.parameter_bytes);
  if (!take_parameters(kernel, call, &made->bytes)) return error::invalid_value;
  for (const Kernel::Parameter& parameter : kernel.parameters)
    made->arguments.push_back(made->bytes.data() + parameter.offset);
  made->program = resolved.loaded->program;
  made->kernel = &kernel;
  made->code = code_of(resolved);
  made->function = resolved.function->pointer ? resolved.function->pointer : call.function;
  made->launches = resolved.function->launches;
  *out = made;
  return error::success;
}

Report KernelOperation::run() const {
  const Result result = device->machine.launch_bytes(*program, kernel->name, config, bytes);
  if (result.ok()) note_launch(described(*device, *kernel, config, code), result);
  return result.report;
}

void add_launch_calls(Api& api) {
  api.register_fat_binary = register_fat_binary;
  api.unregister_fat_binary = unregister_fat_binary;
  api.register_function = register_kernel;
  api.get_kernel = get_kernel;
  api.function_attribute = function_attribute;
  api.function_numbers = function_numbers;
  api.resident_blocks = resident_blocks;
  api.launch = launch;
  api.launch_cooperative = launch_cooperative;
  api.library_load = library_load;
  api.library_unload = library_unload;
  api.library_kernel = library_kernel;
  api.parameter = parameter;
}

}  // namespace stator::emulator::runtime
