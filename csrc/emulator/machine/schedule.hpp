// Runs the blocks of a grid.
#pragma once

#include "emulator/machine/state.hpp"

namespace stator::emulator::machine {

// Adds to the counters; the report is of the first fault that a worker found.
Report run_grid(Launch& launch, Counters& counters);

}  // namespace stator::emulator::machine
