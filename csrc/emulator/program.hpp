// What a program holds.
#pragma once

#include "emulator/emulator.hpp"
#include "emulator/machine/decode.hpp"

#include <map>
#include <mutex>

namespace stator::emulator {

struct Program::State {
  struct Decoded {
    Kernel kernel;
    std::unique_ptr<machine::Code> code;
    Report report;  // why it could not be decoded
  };

  State(Memory& of, const machine::Level* with, std::string text) : memory(of), level(with), module(std::move(text)) {}
  ~State();
  Report place_variables();
  const Decoded& decoded(std::string_view name);

  Memory& memory;
  const machine::Level* level;
  ptx::Module module;
  std::map<std::string_view, void*> variables;
  std::map<std::string, Decoded, std::less<>> kernels;
  std::mutex mutex;
};

}  // namespace stator::emulator
