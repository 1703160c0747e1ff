// The executor, compiled once per x86-64 level. Each copy is a shared object of its own, because inline functions of
// the standard library that are compiled for a newer CPU must not serve one that lacks its instructions.
#pragma once

#include "emulator/export.hpp"
#include "emulator/machine/instruction.hpp"

#include <string>

namespace stator::emulator::machine {

struct Choice {
  Handler run = nullptr;
  Kind kind = Kind::integer;
};

struct Level {
  const char* name;
  // Null in Choice::run where the level has no such instruction.
  Choice (*select)(const Form&);
  // Runs the warp until its lanes ended or wait, or it has spent the turn. Returns the instructions that it executed.
  uint64_t (*run)(Warp&, uint64_t turn);
  // The same, counting in Worker::executed.
  uint64_t (*run_counting)(Warp&, uint64_t turn);
};

// The highest level that was built and that the CPU has, or the one that STATOR_EMULATOR_ISA names; null with the
// reason.
const Level* load_level(std::string* reason);

}  // namespace stator::emulator::machine

extern "C" STATOR_EMULATOR_API const stator::emulator::machine::Level* stator_emulator_level();
