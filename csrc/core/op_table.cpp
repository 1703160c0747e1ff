#include <stator/op_table.hpp>

namespace stator {
namespace {

constexpr Tolerance exact{};
constexpr Tolerance ulp(int float32, int float64) { return {float32, float64}; }

// Each column is read where its own words are in scope.
constexpr OpInfo rows[] = {
#define OP(name, call, cls, dts, res, oracle, tol, syn, cap, det, launches, seeds) \
  OpInfo{#name,                                                                    \
         call,                                                                     \
         ShapeClass::cls,                                                          \
         [] {                                                                      \
           using namespace dtypes;                                                 \
           return dts;                                                             \
         }(),                                                                      \
         ResultRule::res,                                                          \
         oracle,                                                                   \
         tol,                                                                      \
         Sync::syn,                                                                \
         Capture::cap,                                                             \
         Determinism::det,                                                         \
         launches,                                                                 \
         seeds},
#include <stator/ops.def>
};

}  // namespace

std::span<const OpInfo> op_table() { return rows; }
const OpInfo& op_info(Op op) { return rows[static_cast<int>(op)]; }

}  // namespace stator
