// The precompiled header of the generated modules.
#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <math.h>
#include <pythread.h>

#include <cstdint>
#include <ios>
#include <mutex>
#include <new>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <typeinfo>
#include <utility>
#include <vector>

#include "stator/array.hpp"
#include "stator/backend.hpp"
#include "stator/creation.hpp"
#include "stator/op_table.hpp"
#include "stator/random.hpp"
