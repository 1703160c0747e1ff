// Compiles ops.def to a constexpr array of OpInfo: defaults first, then what the kind implies, then the entry's traits.
#include <stator/op_accuracy.hpp>
#include <stator/op_table.hpp>

#include <iterator>

namespace stator {
namespace {

constexpr Tolerance exact{};
constexpr Tolerance ulp(int float32, int float64) { return {float32, float64}; }

// The traits of an entry; each changes one default.
enum class Mark { sync, not_capturable, bit_exact, run_to_run, nondeterministic, any_order };
using enum Mark;
struct launches {
  Launches number;
  constexpr explicit launches(int n) : number{n, n} {}
  constexpr launches(int host, int cuda) : number{host, cuda} {}
};
struct call {
  std::string_view path;
  constexpr explicit call(std::string_view p) : path(p) {}
};
struct operands {
  std::string_view list;
  constexpr explicit operands(std::string_view l) : list(l) {}
};

constexpr void apply(OpInfo& info, Mark mark) {
  switch (mark) {
    case Mark::sync: info.sync = Sync::sync; [[fallthrough]];
    case Mark::not_capturable: info.capture = Capture::not_capturable; break;
    case Mark::bit_exact: info.determinism = Determinism::bit_exact; break;
    case Mark::run_to_run: info.determinism = Determinism::run_to_run; break;
    case Mark::nondeterministic: info.determinism = Determinism::none; break;
    case Mark::any_order: break;  // below
  }
}
constexpr void apply(OpInfo& info, launches trait) { info.launches = trait.number; }
constexpr void apply(OpInfo& info, call trait) { info.call = trait.path; }
constexpr void apply(OpInfo& info, operands trait) { info.operands = trait.list; }

template <class... Traits>
constexpr OpInfo entry(OpInfo info, Traits... traits) {
  const bool is_exact = info.tolerance.float32 == 0 && info.tolerance.float64 == 0;
  info.determinism = is_exact ? Determinism::bit_exact : Determinism::run_to_run;
  if (info.shape_class == ShapeClass::view || info.shape_class == ShapeClass::method) info.launches = {0, 0};
  (apply(info, traits), ...);
  return info;
}

// The dtype set is evaluated in a lambda, so that its names are in scope only there.
constexpr OpInfo entries[] = {
#define STATOR_OP(op, kind, types, rule, reference, bound, text, ...) \
  entry(OpInfo{.name = #op,                                           \
               .call = MODULE #op,                                    \
               .family = Family::FAMILY,                              \
               .shape_class = ShapeClass::kind,                       \
               .dtypes =                                              \
                   [] {                                               \
                     using namespace dtypes;                          \
                     return types;                                    \
                   }(),                                               \
               .result = ResultRule::rule,                            \
               .oracle = reference,                                   \
               .tolerance = bound,                                    \
               .summary = text} __VA_OPT__(, ) __VA_ARGS__),
#include <stator/ops.def>
};

template <class T>
constexpr bool is_any_order(T trait) {
  if constexpr (std::is_same_v<T, Mark>) return trait == any_order;
  return false;
}
template <class... Traits>
constexpr bool in_any_order(Traits... traits) {
  return (is_any_order(traits) || ...);
}
constexpr bool adds_in_any_order[] = {
#define STATOR_OP(op, kind, types, rule, reference, bound, text, ...) in_any_order(__VA_ARGS__),
#include <stator/ops.def>
};

constexpr std::string_view families[] = {"core",      "creation", "elementwise", "reduce",    "scan",
                                         "sort",      "sets",     "indexing",    "movement",  "linalg",
                                         "matmul",    "fft",      "random",      "sparse",    "nn",
                                         "norm",      "optim",    "embedding",   "losses",    "convolution",
                                         "attention", "pooling",  "resampling",  "recurrent", "quantization"};
constexpr std::string_view shape_classes[] = {"creation", "unary",  "binary", "ternary",  "quaternary",
                                              "select",   "reduce", "view",   "function", "method"};
constexpr std::string_view results[] = {"same", "inexact", "boolean", "real", "index", "accumulate", "given"};
constexpr std::string_view determinisms[] = {"bit_exact", "run_to_run", "none"};
static_assert(std::size(families) == family_count);
static_assert(std::size(shape_classes) == size_t(ShapeClass::method) + 1);
static_assert(std::size(results) == size_t(ResultRule::given) + 1);
static_assert(std::size(determinisms) == size_t(Determinism::none) + 1);

}  // namespace

std::span<const OpInfo> op_table() { return entries; }
const OpInfo& op_info(Op op) { return entries[static_cast<int>(op)]; }
double error_per_term(Op op) { return adds_in_any_order[static_cast<int>(op)] ? 0.5 : 0; }
std::string_view name(Family family) { return families[static_cast<int>(family)]; }
std::string_view name(ShapeClass shape_class) { return shape_classes[static_cast<int>(shape_class)]; }
std::string_view name(ResultRule result) { return results[static_cast<int>(result)]; }
std::string_view name(Determinism determinism) { return determinisms[static_cast<int>(determinism)]; }

}  // namespace stator
