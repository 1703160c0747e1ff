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
  // Throws what launch() throws for an argument that does not fit its parameter: for bindings, which make the bytes of
  // values. given: "a float". remedy: empty for the list of the parameters.
  [[noreturn]] void refuse(size_t index, const std::string& given, const std::string& remedy = {}) const;

 private:
  Ref<ProgramBox> program_;
  const KernelEntry* entry_ = nullptr;
};

// Compiled code on one backend. Copies share it; the last one unloads it, after the work that uses it.
class STATOR_API Program {
 public:
  Program() = default;

  // source: CUDA C++. names: kernels, or instances of templates ("axpy<float>"). options: NVRTC's. file: the name of
  // the source in messages. CompileError has the compiler's log.
  static Program compile(const Backend& backend, const std::string& source, std::span<const std::string> names,
                         std::span<const std::string> options = {}, const std::string& file = "program.cu");
  // PTX as text, or a cubin or fat binary. names: of kernels as the code has them; CompileError if one is not there.
  static Program load(const Backend& backend, const std::string& code, std::span<const std::string> names);

  Kernel kernel(size_t index) const;  // in the order of the names
  size_t size() const;
  const std::string& log() const;  // what the compiler warned of

 private:
  explicit Program(Ref<ProgramBox> box) : box_(std::move(box)) {}
  Ref<ProgramBox> box_;
};

}  // namespace stator
