// Programs: user kernels, compiled from CUDA C++ by NVRTC or loaded from PTX or machine code, and their launches on
// arrays. On the cpu every function throws UnsupportedError, since only stator's kernels run there.
#pragma once

#include <stator/array.hpp>
#include <stator/backend.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace stator {

class ProgramBox;
struct KernelEntry;

struct KernelParameter {
  enum class Kind : uint8_t { bytes, integer, floating, pointer };
  size_t offset = 0, size = 0;  // bytes in the buffer of the parameters
  Kind kind = Kind::bytes;      // as far as the code says; an integer of eight bytes may be a pointer
  std::string type;             // "float const*" where the name of the kernel tells it, "u64" from PTX, "" from cubins
};

struct KernelAttributes {
  int registers = 0;        // of a thread; 0 where it is not known (PTX on an emulated device)
  int max_threads = 0;      // of a block
  size_t shared_bytes = 0;  // static, of a block
  size_t max_dynamic_shared_bytes = 0;
  size_t local_bytes = 0;  // of a thread
};

struct LaunchConfig {
  std::array<uint32_t, 3> grid{1, 1, 1}, block{1, 1, 1};  // blocks, and threads of a block: x, y, z
  size_t shared_bytes = 0;                                // dynamic
  bool cooperative = false;                               // all blocks are resident at once
};

// An array, of which the kernel gets the address of the first element, or the bytes of a value.
struct KernelArgument {
  const Array* array = nullptr;
  const void* value = nullptr;
  size_t size = 0;
};

// Whether the backend's device can keep all blocks of a launch resident (LaunchConfig::cooperative); false on the cpu.
STATOR_API bool has_cooperative_launch(const Backend& backend);

// A kernel of a program, which it keeps alive.
class STATOR_API Kernel {
 public:
  Kernel() = default;
  Kernel(Ref<ProgramBox> program, const KernelEntry* entry) : program_(std::move(program)), entry_(entry) {}

  const std::string& name() const;  // as it was asked for
  const std::vector<KernelParameter>& parameters() const;
  const KernelAttributes& attributes() const;
  Backend backend() const;
  // The blocks of `threads` threads that a multiprocessor holds at once.
  int resident_blocks(int threads, size_t shared_bytes = 0) const;
  // The number of threads that keeps most threads resident; of several the smallest, a multiple of 32.
  int suggested_threads(size_t shared_bytes = 0) const;

  // Asynchronous. Every array counts as read and written. ValueError names the limit that a launch exceeds, DTypeError
  // the parameter that an argument does not fit; arrays are contiguous and of the kernel's backend.
  void launch(const LaunchConfig& config, std::span<const KernelArgument> arguments, const Stream& stream = {}) const;
  // Throws what launch() throws for these, and launches nothing. Does not synchronise.
  void check(const LaunchConfig& config, std::span<const KernelArgument> arguments) const;
  // Throws what launch() throws for an argument that does not fit its parameter: for bindings, which convert values to
  // bytes. given: "a float". remedy: empty for the list of the parameters.
  [[noreturn]] void refuse(size_t index, const std::string& given, const std::string& remedy = {}) const;

 private:
  Ref<ProgramBox> program_;
  const KernelEntry* entry_ = nullptr;
};

// CUDA C++ compiled for one architecture. It may be kept, and loaded later or by another process.
struct CompiledCode {
  std::string ptx;                          // text
  std::string machine_code;                 // a cubin for the architecture
  std::vector<std::string> names, symbols;  // of the kernels as they were asked for, and in the code
  std::string log;                          // warnings of the compiler
};

// Compiles for 10 * major + minor of a compute capability, 90 for 9.0. Needs NVRTC, but no device and no driver.
// source: CUDA C++. names: kernels, or instances of templates ("axpy<float>"). options: NVRTC's. file: the name of the
// source in messages. Throws CompileError with the compiler's log, and LibraryNotFoundError. Does not synchronise.
STATOR_API CompiledCode compile_code(const std::string& source, std::span<const std::string> names, int architecture,
                                     std::span<const std::string> options = {}, const std::string& file = "program.cu");

// The version of NVRTC, "13.0", which this opens. LibraryNotFoundError.
STATOR_API std::string compiler_version();

// The architecture of the backend's device, for compile_code(). UnsupportedError on the cpu.
STATOR_API int program_architecture(const Backend& backend);

// Loaded code on one backend. Copies share it; the last one unloads it, after the work that uses it.
class STATOR_API Program {
 public:
  Program() = default;

  // As compile_code() for the architecture of the backend's device, and load().
  static Program compile(const Backend& backend, const std::string& source, std::span<const std::string> names,
                         std::span<const std::string> options = {}, const std::string& file = "program.cu");
  // PTX as text, or a cubin or fat binary. names: of kernels as the code has them; CompileError if one is not there.
  static Program load(const Backend& backend, const std::string& code, std::span<const std::string> names);
  // The machine code, or the PTX where the device is emulated. CompileError where the device cannot run it.
  static Program load(const Backend& backend, const CompiledCode& code);

  Kernel kernel(size_t index) const;  // in the order of the names
  size_t size() const;
  const std::string& log() const;  // warnings of the compiler

 private:
  explicit Program(Ref<ProgramBox> box) : box_(std::move(box)) {}
  Ref<ProgramBox> box_;
};

}  // namespace stator
