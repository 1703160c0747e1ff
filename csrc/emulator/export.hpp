// Marks what the emulator's shared library exports; everything else is hidden.
#pragma once

#define STATOR_EMULATOR_API __attribute__((visibility("default")))
