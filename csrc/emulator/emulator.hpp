// A GPU in software: parses PTX and runs the grids of its kernels on the CPU, with every access to memory checked and
// everything counted. It needs no CUDA and nothing of stator. No function throws; what goes wrong is a Report.
#pragma once

#include "emulator/counters.hpp"
#include "emulator/export.hpp"
#include "emulator/memory/memory.hpp"
#include "emulator/profile.hpp"
#include "emulator/report.hpp"
#include "emulator/settings.hpp"

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace stator::emulator {

// What the text says about a kernel.
struct Kernel {
  struct Parameter {
    uint64_t offset = 0, bytes = 0;
    uint32_t align = 1;
  };
  std::string name;
  std::vector<Parameter> parameters;
  uint64_t parameter_bytes = 0;
  uint64_t shared_bytes = 0;       // static
  uint64_t local_bytes = 0;        // of a thread
  Dim3 max_threads{0, 0, 0};       // .maxntid; zero where not given
  Dim3 required_threads{0, 0, 0};  // .reqntid
  uint32_t min_blocks = 0;         // .minnctapersm
};

struct LaunchConfig {
  Dim3 grid, block;
  uint64_t dynamic_shared = 0;
  uint64_t dynamic_shared_limit = 0;  // that the kernel opted in to; 0: what needs no opting in
  uint32_t registers = 0;             // of a thread, as the compiler of the machine code found; 0: not known
  bool cooperative = false;           // all blocks must be resident at once
};

// An opcode with its modifiers, such as "add.rn.f32", in a kernel.
struct FormCount {
  std::string_view form;      // valid as long as the program
  uint64_t instructions = 0;  // of the kernel that have the form
  uint64_t executed = 0;      // how often warps executed one of them with a lane at least
};

struct Result {
  Report report;  // of Fault::none where the launch succeeded
  Counters counters;
  std::vector<FormCount> forms;  // of all that the kernel has; empty unless Settings::forms asks
  bool ok() const { return report.fault == Fault::none; }
};

// A loaded module: its kernels, decoded when first asked for, and its variables in the device's memory.
class STATOR_EMULATOR_API Program {
 public:
  ~Program();  // frees the variables
  Program(const Program&) = delete;

  std::vector<std::string> kernels() const;
  // Null, with a report, if there is none of the name or if it cannot be decoded. Valid as long as the program.
  const Kernel* kernel(std::string_view name, Report* report);
  // The address of a .global or .const variable; null if there is none.
  void* variable(std::string_view name, uint64_t* bytes = nullptr) const;

 private:
  friend class Device;
  struct State;
  explicit Program(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

// Thread-safe: launches of several threads run at once.
class STATOR_EMULATOR_API Device {
 public:
  explicit Device(const Profile& profile, Settings settings = {});
  ~Device();
  Device(const Device&) = delete;

  const Profile& profile() const;
  Settings& settings();  // read when a launch begins
  Memory& memory();

  // Null, with a report of Fault::syntax, if the text is not PTX. The device must outlive the program.
  std::unique_ptr<Program> load(std::string ptx, Report* report);

  // Runs the whole grid before it returns. `arguments` has a pointer per parameter, as cudaLaunchKernel takes them.
  Result launch(Program& program, std::string_view kernel, const LaunchConfig& config,
                std::span<void* const> arguments);
  // The same with the parameters as the bytes of their buffer.
  Result launch_bytes(Program& program, std::string_view kernel, const LaunchConfig& config,
                      std::span<const std::byte> parameters);

  // Blocks of the launch that one multiprocessor holds at once; 0 where the launch exceeds a limit.
  uint32_t resident_blocks(const Kernel& kernel, const LaunchConfig& config) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace stator::emulator
