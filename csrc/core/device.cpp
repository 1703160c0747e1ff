// Names of devices, and whether they can be opened.
#include "runtime/runtime.hpp"

#include <stator/backend.hpp>

#include <charconv>

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

int device_count(DeviceType type) {
  if (!is_available(type)) return 0;
  const runtime::Table& table = type == DeviceType::cpu ? runtime::host_table() : runtime::cuda_table();
  int count = 0;
  return table.device_count(&count) == runtime::status::success ? count : 0;
}

}  // namespace stator
