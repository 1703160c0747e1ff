// One emulated device and its context.
#pragma once

#include "emulator/emulator.hpp"
#include "emulator/runtime/kernels.hpp"
#include "emulator/runtime/scheduler.hpp"

#include <atomic>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

namespace stator::emulator::runtime {

struct Device {
  Device(int number, const Profile& of, const Settings& chosen);

  // After a fault the context stays unusable until the process ends. The first report is kept, and printed on stderr.
  void fail(const Report& report, const std::string& what);
  // Tells a report on stderr without other effect.
  void tell(const Report& report, const std::string& what = {}) const;
  bool failed() const { return error_ != 0; }
  int error() const { return error_; }
  std::string fault() const;

  const int index;
  emulator::Device machine;
  const Profile& profile;
  const Settings settings;
  const std::string name;
  Memory& memory;
  Kernels kernels;                                                // with the scheduler's lock
  std::shared_ptr<Stream> legacy;                                 // the default stream 1
  std::map<std::thread::id, std::shared_ptr<Stream>> per_thread;  // the default streams 2

 private:
  std::atomic<int> error_{0};
  mutable std::mutex mutex_;
  std::string fault_;
};

// The value of an attribute by its number in cudaDeviceAttr; none where the emulator does not know it.
std::optional<uint64_t> attribute_of(const Profile& profile, int attribute);

// The device whose work the calling thread runs; null outside of work.
Device* running_device();
class RunningOn {
 public:
  explicit RunningOn(Device& device);
  ~RunningOn();
  RunningOn(const RunningOn&) = delete;

 private:
  Device* const before_;
};

}  // namespace stator::emulator::runtime
