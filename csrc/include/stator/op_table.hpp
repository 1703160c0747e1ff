// The compiled form of ops.def: one OpInfo per op.
#pragma once

#include <stator/dtype.hpp>

#include <span>
#include <string_view>

#include <stator/macros/aside.inc>

namespace stator {

enum class Op : uint16_t {
#define STATOR_OP(name, ...) name,
#include <stator/ops.def>
};

// The families of ops, which are also folders of csrc/ops and csrc/kernels; `core` has the members of Array and
// Backend.
enum class Family : uint8_t {
  core,
  creation,
  elementwise,
  reduce,
  scan,
  sort,
  sets,
  indexing,
  movement,
  linalg,
  matmul,
  fft,
  random,
  sparse,
  nn,
  norm,
  optim,
  embedding,
  losses,
  convolution,
  attention,
  pooling,
  resampling,
  recurrent,
  quantization
};
inline constexpr int family_count = int(Family::quantization) + 1;
enum class ShapeClass : uint8_t {
  creation,
  unary,
  binary,
  ternary,
  quaternary,
  select,
  reduce,
  view,
  function,
  method
};
enum class ResultRule : uint8_t { same, inexact, boolean, real, index, accumulate, given };
enum class Sync : uint8_t { async, sync };
enum class Capture : uint8_t { capturable, not_capturable };
enum class Determinism : uint8_t { bit_exact, run_to_run, none };
// Largest error in units in the last place, for float32 and float64; {0, 0} is exact.
struct Tolerance {
  int float32 = 0, float64 = 0;
};
// The number of kernels and library calls on contiguous input.
struct Launches {
  int host = 1, cuda = 1;
};

struct OpInfo {
  std::string_view name, call;
  Family family;
  ShapeClass shape_class;
  DTypeSet dtypes;
  ResultRule result;
  std::string_view oracle;
  Tolerance tolerance;
  std::string_view summary;
  Sync sync = Sync::async;
  Capture capture = Capture::capturable;
  Determinism determinism = Determinism::run_to_run;
  Launches launches = {};
  std::string_view operands = {};  // names and defaults, "x, alpha=1.0"; empty if the shape class implies them
};

STATOR_API std::span<const OpInfo> op_table();
inline constexpr int op_count = 0
#define STATOR_OP(...) +1
#include <stator/ops.def>
    ;
STATOR_API const OpInfo& op_info(Op op);
STATOR_API std::string_view name(Family family);
STATOR_API std::string_view name(ShapeClass shape_class);
STATOR_API std::string_view name(ResultRule result);
STATOR_API std::string_view name(Determinism determinism);

}  // namespace stator

#include <stator/macros/back.inc>
