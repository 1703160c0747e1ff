#include "emulator/machine/form.hpp"

#include <algorithm>
#include <stdexcept>

namespace stator::emulator::machine {
namespace {

struct RoundingModifier {
  std::string_view name;
  Rounding rounding;
};
constexpr std::array roundings = {
    RoundingModifier{"rn", Rounding::rn},   RoundingModifier{"rz", Rounding::rz},
    RoundingModifier{"rm", Rounding::rm},   RoundingModifier{"rp", Rounding::rp},
    RoundingModifier{"rna", Rounding::rna}, RoundingModifier{"rni", Rounding::rni},
    RoundingModifier{"rzi", Rounding::rzi}, RoundingModifier{"rmi", Rounding::rmi},
    RoundingModifier{"rpi", Rounding::rpi},
};

struct SpaceModifier {
  std::string_view name;
  Space space;
};
constexpr std::array spaces = {
    SpaceModifier{"global", Space::global},      SpaceModifier{"shared", Space::shared},
    SpaceModifier{"shared::cta", Space::shared}, SpaceModifier{"local", Space::local},
    SpaceModifier{"const", Space::constant},     SpaceModifier{"param", Space::param},
    SpaceModifier{"param::entry", Space::param}, SpaceModifier{"param::func", Space::param},
};

// Words that select a variant; what they mean is up to the family.
constexpr std::array known = {
    "sync",         "aligned",    "uni",      "cc",       "wide",     "hi",         "lo",     "approx",    "full",
    "to",           "shiftamt",   "clamp",    "wrap",     "l",        "r",          "b32a",   "ballot",    "any",
    "all",          "up",         "down",     "bfly",     "idx",      "arrive",     "red",    "popc",      "warp",
    "and",          "or",         "xor",      "not",      "add",      "inc",        "dec",    "exch",      "cas",
    "min",          "max",        "eq",       "ne",       "lt",       "le",         "gt",     "ge",        "lo",
    "ls",           "hs",         "equ",      "neu",      "ltu",      "leu",        "gtu",    "geu",       "num",
    "nan",          "NaN",        "xorsign",  "abs",      "relu",     "satfinite",  "gl",     "cta",       "sys",
    "gpu",          "cluster",    "sc",       "acq_rel",  "f4e",      "b4e",        "rc8",    "ecl",       "ecr",
    "rc16",         "noftz",      "finite",   "infinite", "number",   "notanumber", "normal", "subnormal", "async",
    "commit_group", "wait_group", "wait_all", "x1",       "x2",       "x4",         "trans",  "m8n8",      "row",
    "col",          "m16n8k4",    "m16n8k8",  "m16n8k16", "m16n8k32", "m8n8k4",     "L1",     "L2",        "global",
    "nc",           "ca",         "cg",       "cs",       "lu",       "cv",         "wb",     "wt",        "weak",
    "exit",         "sync_all",   "proxy",    "alias",    "barrier",  "const",
};

bool is_cache_hint(std::string_view modifier) {
  return modifier.starts_with("L1::") || modifier.starts_with("L2::") || modifier.starts_with("level::");
}

}  // namespace

bool Form::has(std::string_view modifier) const {
  return std::find(modifiers.begin(), modifiers.begin() + count, modifier) != modifiers.begin() + count;
}

Form parse_form(std::string_view text) {
  Form form;
  form.text = text;
  const auto refuse = [&](std::string_view modifier) {
    throw std::invalid_argument("The instruction " + std::string(text) + " is not supported, because of \"" +
                                std::string(modifier) + "\".");
  };
  size_t at = text.find('.');
  form.base = text.substr(0, at);
  while (at != std::string_view::npos) {
    const size_t next = text.find('.', at + 1);
    const std::string_view modifier = text.substr(at + 1, next == std::string_view::npos ? next : next - at - 1);
    at = next;
    if (form.count == form.modifiers.size()) refuse("its length");
    form.modifiers[form.count++] = modifier;
    if (const Type type = ptx::type_named(modifier); type != Type::none) {
      if (form.type_count == form.types.size()) refuse(modifier);
      form.types[form.type_count++] = type;
      continue;
    }
    const auto rounding = std::find_if(roundings.begin(), roundings.end(), [&](auto& r) { return r.name == modifier; });
    if (rounding != roundings.end()) {
      form.rounding = rounding->rounding;
      continue;
    }
    const auto space = std::find_if(spaces.begin(), spaces.end(), [&](auto& s) { return s.name == modifier; });
    if (space != spaces.end()) {
      if (form.space == Space::generic) form.space = space->space;
      continue;
    }
    if (modifier == "ftz")
      form.ftz = true;
    else if (modifier == "sat")
      form.sat = true;
    else if (modifier == "v2")
      form.vector = 2;
    else if (modifier == "v4")
      form.vector = 4;
    else if (modifier == "volatile" || modifier == "relaxed" || modifier == "mmio")
      form.strong = true;
    else if (modifier == "acquire")
      form.strong = form.acquire = true;
    else if (modifier == "release")
      form.strong = form.release = true;
    else if (modifier == "acq_rel")
      form.strong = form.acquire = form.release = true;
    else if (!is_cache_hint(modifier) && std::find(known.begin(), known.end(), modifier) == known.end())
      refuse(modifier);
  }
  return form;
}

}  // namespace stator::emulator::machine
