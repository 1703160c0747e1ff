#include "emulator/runtime/device.hpp"

#include "emulator/runtime/errors.hpp"

#include <cstdio>

namespace stator::emulator::runtime {
namespace {

std::string described(const Report& report, const std::string& what) {
  return what.empty() ? report.str() : what + ": " + report.str();
}

}  // namespace

Device::Device(int number, const Profile& of, const Settings& chosen)
    : index(number),
      machine(of, chosen),
      profile(machine.profile()),
      settings(chosen),
      name(std::string(of.title) + " (emulated)"),
      memory(machine.memory()),
      legacy(std::make_shared<Stream>(Stream{.device = this})) {}

void Device::tell(const Report& report, const std::string& what) const {
  std::fprintf(stderr, "stator's emulated device %d: %s\n", index, described(report, what).c_str());
}

void Device::fail(const Report& report, const std::string& what) {
  const std::lock_guard lock(mutex_);
  if (error_) return;
  tell(report, what);
  fault_ = described(report, what);
  error_ = error_of(report.fault);
}

std::string Device::fault() const {
  const std::lock_guard lock(mutex_);
  return fault_;
}

}  // namespace stator::emulator::runtime
