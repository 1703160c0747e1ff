#include "emulator/machine/form.hpp"

#include <algorithm>
#include <stdexcept>

namespace stator::emulator::machine {
namespace {

struct RoundingWord {
  std::string_view name;
  Rounding rounding;
};
constexpr std::array roundings = {
    RoundingWord{"rn", Rounding::rn},   RoundingWord{"rz", Rounding::rz},   RoundingWord{"rm", Rounding::rm},
    RoundingWord{"rp", Rounding::rp},   RoundingWord{"rna", Rounding::rna}, RoundingWord{"rni", Rounding::rni},
    RoundingWord{"rzi", Rounding::rzi}, RoundingWord{"rmi", Rounding::rmi}, RoundingWord{"rpi", Rounding::rpi},
};

struct SpaceWord {
  std::string_view name;
  Space space;
};
constexpr std::array spaces = {
    SpaceWord{"global", Space::global},      SpaceWord{"shared", Space::shared},
    SpaceWord{"shared::cta", Space::shared}, SpaceWord{"local", Space::local},
    SpaceWord{"const", Space::constant},     SpaceWord{"param", Space::param},
    SpaceWord{"param::entry", Space::param}, SpaceWord{"param::func", Space::param},
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

bool is_cache_word(std::string_view word) {
  return word.starts_with("L1::") || word.starts_with("L2::") || word.starts_with("level::");
}

}  // namespace

bool Form::has(std::string_view word) const {
  return std::find(words.begin(), words.begin() + count, word) != words.begin() + count;
}

Form parse_form(std::string_view text) {
  Form form;
  form.text = text;
  const auto refuse = [&](std::string_view word) {
    throw std::invalid_argument("The instruction " + std::string(text) + " is not supported, because of \"" +
                                std::string(word) + "\".");
  };
  size_t at = text.find('.');
  form.base = text.substr(0, at);
  while (at != std::string_view::npos) {
    const size_t next = text.find('.', at + 1);
    const std::string_view word = text.substr(at + 1, next == std::string_view::npos ? next : next - at - 1);
    at = next;
    if (form.count == form.words.size()) refuse("its length");
    form.words[form.count++] = word;
    if (const Type type = ptx::type_named(word); type != Type::none) {
      if (form.type_count == form.types.size()) refuse(word);
      form.types[form.type_count++] = type;
      continue;
    }
    const auto rounding = std::find_if(roundings.begin(), roundings.end(), [&](auto& r) { return r.name == word; });
    if (rounding != roundings.end()) {
      form.rounding = rounding->rounding;
      continue;
    }
    const auto space = std::find_if(spaces.begin(), spaces.end(), [&](auto& s) { return s.name == word; });
    if (space != spaces.end()) {
      if (form.space == Space::generic) form.space = space->space;
      continue;
    }
    if (word == "ftz")
      form.ftz = true;
    else if (word == "sat")
      form.sat = true;
    else if (word == "v2")
      form.vector = 2;
    else if (word == "v4")
      form.vector = 4;
    else if (word == "volatile" || word == "relaxed" || word == "mmio")
      form.strong = true;
    else if (word == "acquire")
      form.strong = form.acquire = true;
    else if (word == "release")
      form.strong = form.release = true;
    else if (word == "acq_rel")
      form.strong = form.acquire = form.release = true;
    else if (!is_cache_word(word) && std::find(known.begin(), known.end(), word) == known.end())
      refuse(word);
  }
  return form;
}

}  // namespace stator::emulator::machine
