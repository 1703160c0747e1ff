// Names of devices, and whether they can be opened.
#include "runtime/devices.hpp"
#include "runtime/runtime.hpp"
#include "runtime/shared_object.hpp"

#include <stator/backend.hpp>
#include <stator/devices/device.hpp>

#include <charconv>
#include <cstdlib>
#include <utility>

namespace stator {

Device Device::parse(std::string_view text) {
  if (text == "cpu") return {DeviceType::cpu, 0};
  if (text == "cuda") return {DeviceType::cuda, 0};
  if (text.starts_with("cuda:")) {
    const std::string_view digits = text.substr(5);
    int index = -1;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), index);
    if (error == std::errc() && end == digits.data() + digits.size() && digits[0] != '-')
      return {DeviceType::cuda, index};
  }
  throw ValueError("Backend", "device \"" + std::string(text) + "\"",
                   "Devices are \"cpu\", \"cuda\", \"cuda:0\", \"cuda:1\", ...");
}

std::string Device::str() const { return type == DeviceType::cpu ? "cpu" : "cuda:" + std::to_string(index); }

bool is_available(DeviceType type, std::string* reason) {
  return type == DeviceType::cpu || runtime::cuda_available(reason);
}

bool is_emulated(DeviceType type) { return type == DeviceType::cuda && runtime::cuda_emulated(); }

void set_jit_cache(const std::string& path, size_t bytes) {
  const std::array<std::pair<const char*, std::string>, 2> wanted{
      {{"CUDA_CACHE_PATH", path}, {"CUDA_CACHE_MAXSIZE", bytes ? std::to_string(bytes) : ""}}};
  const auto changes = [](const auto& variable) {
    const char* const now = std::getenv(variable.first);
    return !variable.second.empty() && (!now || now != variable.second);
  };
  for (const auto& variable : wanted) {
    if (!changes(variable) || !driver_started()) continue;
    const char* const now = std::getenv(variable.first);
    throw ValueError("Backend",
                     "the CUDA driver has started with " +
                         (now ? std::string(variable.first) + "=" + now : "no " + std::string(variable.first)) +
                         ", where " + variable.second + " was asked for",
                     "The driver reads it once: open this backend before anything else uses CUDA, or set the variable "
                     "before the process starts");
  }
  for (const auto& variable : wanted)
    if (changes(variable)) setenv(variable.first, variable.second.c_str(), 1);
}

int device_count(DeviceType type) {
  if (!is_available(type)) return 0;
  const runtime::Table& table = type == DeviceType::cpu ? runtime::host_table() : runtime::cuda_table();
  int count = 0;
  return table.device_count(&count) == runtime::status::success ? count : 0;
}

DeviceReport device_report(const Device& device) {
  std::string reason;
  if (!is_available(device.type, &reason)) {
    throw DeviceUnavailableError("device_report", "Device " + device.str() + " is not available: " + reason,
                                 "Ask for one of stator.devices()");
  }
  if (const int count = device_count(device.type); device.index < 0 || device.index >= count) {
    throw DeviceUnavailableError(
        "device_report",
        "the device " + device.str() + " does not exist, the number of devices is " + std::to_string(count),
        "Ask for one of stator.devices()");
  }
  const bool host = device.type == DeviceType::cpu;
  const runtime::Table& table = host ? runtime::host_table() : runtime::cuda_table();
  DeviceReport report;
  runtime::Properties p;
  runtime::Status code = table.properties(device.index, &p);
  if (!code) code = (host ? runtime::host_attributes : runtime::cuda_attributes)(device.index, &report.attributes);
  if (code) throw CudaError("device_report", code, table.error_name(code), "cudaDeviceGetAttribute");
  report.info = {p.name,           p.compute_major,   p.compute_minor,         p.total_memory,
                 p.driver_version, p.runtime_version, p.limits.multiprocessors};
  return report;
}

double host_read_latency(size_t bytes) { return runtime::host_read_latency(bytes); }

}  // namespace stator
