// Kernels that fat binaries registered or that libraries hold, and what each device has loaded of them. As with CUDA's
// lazy loading, a binary's PTX is read when the first of its kernels is used on a device.
#pragma once

#include "emulator/emulator.hpp"
#include "emulator/runtime/fat_binary.hpp"

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace stator::emulator::runtime {

struct FatBinary {
  const void* image = nullptr;  // null for a library
  std::string ptx = {};         // of a library
};

// A kernel as the process knows it.
struct Function {
  FatBinary* binary = nullptr;
  std::string name;
  const void* pointer = nullptr;  // by which it was registered
  const std::shared_ptr<std::atomic<uint64_t>> launches = std::make_shared<std::atomic<uint64_t>>(0);

  Function(FatBinary* of, std::string called) : binary(of), name(std::move(called)) {}
};

// Of the process, not of its devices: registrations happen when shared objects are loaded.
FatBinary* register_binary(const void* image);
void unregister_binary(FatBinary* binary);
void register_function(FatBinary* binary, const void* function, const char* name);
// A library, which lives until unregister_binary, and one of its kernels, made when it is first asked for.
FatBinary* register_library(std::string ptx);
bool is_library(const FatBinary* binary);
const Function* library_function(FatBinary* binary, const std::string& name);
// By the pointer that was registered, or by its own address as a handle; null if there is none.
const Function* find_function(const void* function);
// The registered binaries but for libraries, in the order of their registration, with the names of their kernels in
// order.
std::vector<std::pair<const FatBinary*, std::vector<std::string>>> registered();

// A device's copies.
class Kernels {
 public:
  struct Loaded {
    std::shared_ptr<Program> program;                           // shared with launches under way
    std::unordered_map<std::string, MachineCode> machine_code;  // by the names of kernels
    uint32_t architecture = 0;                                  // of the PTX: 10 * major + minor
    Report report;                                              // why there is no program
  };

  // Not thread-safe. The capability is 10 * major + minor.
  Loaded& load(emulator::Device& device, const FatBinary* binary);
  void unload(const FatBinary* binary) { loaded_.erase(binary); }
  bool is_waiting(const FatBinary* binary) const {  // whether launches or graphs have its kernels
    const auto found = loaded_.find(binary);
    return found != loaded_.end() && found->second.program.use_count() > 1;
  }
  // The dynamic shared memory that the function opted in to; 0: none.
  uint32_t& opted(const Function* function) { return opted_[function]; }

 private:
  std::map<const FatBinary*, Loaded> loaded_;
  std::map<const Function*, uint32_t> opted_;
};

}  // namespace stator::emulator::runtime
