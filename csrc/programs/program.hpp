// ProgramBox: the loaded code of a user's kernels, as a tracked object.
#pragma once

#include "core/context.hpp"

#include <stator/programs/program.hpp>

#include <array>
#include <atomic>
#include <memory>
#include <string>
#include <vector>

namespace stator {

struct KernelEntry {
  std::string name, symbol;  // as asked for, as in the code
  runtime::KernelHandle handle = nullptr;
  std::vector<KernelParameter> parameters;
  KernelAttributes attributes;
};

class ProgramBox final : public Box {
 public:
  // Loads the code on the context's device. `ptx` says what it is made of, or is empty.
  ProgramBox(Context& context, const std::string& image, const std::string& ptx, std::string log);
  ~ProgramBox() override { dispose(); }
  // CompileError where the code has no kernel of the symbol.
  void add(const std::string& name, const std::string& symbol, const std::string& ptx);

  Context& context() const { return context_; }
  const std::vector<std::unique_ptr<KernelEntry>>& kernels() const { return kernels_; }
  const std::string& log() const { return log_; }
  const runtime::LaunchLimits& limits() const { return limits_; }
  void require_open(uint16_t op) const { get(op); }
  void note_use(int stream) { used_.fetch_or(uint32_t(1) << stream, std::memory_order_relaxed); }

 private:
  void release_native(void* handle) noexcept override;
  [[noreturn]] void refuse(runtime::Status code, const char* at, const std::string& ptx) const;

  Context& context_;
  runtime::LaunchLimits limits_;
  std::array<char, 8192> report_{};  // of the driver, which writes it when it loads the code: that can be late
  std::string log_;
  std::vector<std::unique_ptr<KernelEntry>> kernels_;
  std::atomic<uint32_t> used_{0};  // the streams that launched its kernels, one bit each
};

}  // namespace stator
