// The compiled form of ops.def.
#pragma once

#include <stator/dtype.hpp>

#include <span>
#include <string_view>

namespace stator {

enum class Op : uint16_t {
#define OP(name, ...) name,
#include <stator/ops.def>
};

enum class ShapeClass : uint8_t { creation, unary, binary, ternary, quaternary, select, reduce, view, other, method };
enum class ResultRule : uint8_t { same, inexact, boolean, real, index, accumulate, given };
enum class Sync : uint8_t { async, sync };
enum class Capture : uint8_t { capturable, not_capturable };
enum class Determinism : uint8_t { bit_exact, run_to_run, none };
// Largest error in units in the last place, for float32 and float64; {0, 0} is exact.
struct Tolerance {
  int float32 = 0, float64 = 0;
};

struct OpInfo {
  std::string_view name, call;
  ShapeClass shape_class;
  DTypeSet dtypes;
  ResultRule result;
  std::string_view oracle;
  Tolerance tolerance;
  Sync sync;
  Capture capture;
  Determinism determinism;
  int launches;
  std::string_view seed_ops;  // separated by spaces
};

STATOR_API std::span<const OpInfo> op_table();
inline constexpr int op_count = 0
#define OP(...) +1
#include <stator/ops.def>
    ;
STATOR_API const OpInfo& op_info(Op op);

}  // namespace stator
