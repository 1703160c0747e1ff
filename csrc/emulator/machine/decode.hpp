// From the text of a kernel to instructions of the executor.
#pragma once

#include "emulator/machine/instruction.hpp"
#include "emulator/machine/level.hpp"
#include "emulator/ptx/body.hpp"

#include <functional>

namespace stator::emulator::machine {

// The address of a variable of the module in global or constant memory.
using AddressOf = std::function<uint64_t(const ptx::Variable&)>;

// Bodies of functions are put in where they are called. Throws ptx::Error.
std::unique_ptr<Code> decode(const ptx::Module& module, const ptx::Function& kernel, const Level& level,
                             const AddressOf& address_of);

// Replaces the numbers of virtual registers by slots: registers that are never live at once share one.
void place_registers(Code& code, const std::vector<uint8_t>& bytes, const Level& level);

}  // namespace stator::emulator::machine
