// Instructions whose operands need more than their types: moves, memory, parameters.
#include "emulator/machine/decoder.hpp"

#include <algorithm>

namespace stator::emulator::machine {

using ptx::Statement;
using Kind = ptx::Operand::Kind;

void Decoder::emit(const Statement& s, std::string_view base, Type type, unsigned vector, std::vector<Operand> operands,
                   int64_t offset, uint32_t target) {
  Form form;
  form.text = form.base = base;
  form.types[0] = type;
  form.type_count = 1;
  form.vector = vector;
  Instruction i = begin(s, form, level_.select(form));
  i.offset = checked_offset(s, offset);
  i.target = target;
  finish(i, operands);
}

bool Decoder::move(const Statement& s) {
  const auto operands = frames_.back()->body->of(s);
  if (operands.size() != 2) refuse(s, "expected two operands.");
  const Form& form = known_form(s.name, s.line).form;
  const Type type = form.type();
  const ptx::Operand &to = operands[0], &from = operands[1];
  const auto elements = [&](const ptx::Operand& o, bool output) {
    const auto list = frames_.back()->body->of(o);
    const unsigned each = list.empty() ? 0 : ptx::bytes_of(type) / unsigned(list.size());
    const Type part = each == 1   ? Type::b8
                      : each == 2 ? Type::b16
                      : each == 4 ? Type::b32
                      : each == 8 ? Type::b64
                                  : Type::none;
    std::vector<Operand> values;
    for (const ptx::Operand& element : list) values.push_back(value(s, element, part, output, true));
    return values;
  };
  if (from.kind == Kind::vector) {
    std::vector<Operand> list{value(s, to, type, true, true)};
    const std::vector<Operand> parts = elements(from, false);
    list.insert(list.end(), parts.begin(), parts.end());
    emit(s, "@pack", type, unsigned(parts.size()), list);
    return true;
  }
  if (to.kind == Kind::vector) {
    std::vector<Operand> list = elements(to, true);
    const unsigned count = unsigned(list.size());
    list.push_back(value(s, from, type, false, true));
    emit(s, "@unpack", type, count, list);
    return true;
  }
  if (from.kind != Kind::name || find_register(from.name)) return false;
  if (from.name[0] == '%') {
    const auto special =
        std::find_if(special_names.begin(), special_names.end(), [&](auto& n) { return n.name == from.name; });
    if (special == special_names.end())
      refuse(s, "the register " + std::string(from.name) + " is neither declared nor known.");
    emit(s, "@special", type, 1, {value(s, to, type, true, true)}, 0, uint32_t(special->id));
    return true;
  }
  Location location;
  if (!find_location(from.name, location)) refuse(s, "the name " + std::string(from.name) + " is not known.");
  if (location.space != Space::param) return false;
  emit(s, location.kernel ? "@parameter" : "@frame", type, 1, {value(s, to, type, true, true)},
       int64_t(location.at) + from.value);
  return true;
}

// Loads and stores of parameters at known offsets.
bool Decoder::parameter_access(const Statement& s, const Form& form) {
  const ptx::Body& body = *frames_.back()->body;
  const auto operands = body.of(s);
  const bool store = form.base == "st";
  if (operands.size() != 2) refuse(s, "expected two operands.");
  const ptx::Operand &where = operands[store ? 0 : 1], &what = operands[store ? 1 : 0];
  Location location;
  if (!where.address || where.kind != Kind::name || find_register(where.name)) return false;
  if (!find_location(where.name, location) || location.space != Space::param)
    refuse(s, "the parameter " + std::string(where.name) + " is not known.");
  const int64_t width = int64_t(ptx::bytes_of(form.type())) * form.vector;
  if (where.value < 0 || uint64_t(where.value + width) > location.bytes)
    refuse(s, "the access is outside of the parameter.");
  if (store && location.kernel) refuse(s, "parameters of a kernel cannot be written.");
  std::vector<Operand> list;
  const auto add = [&](const ptx::Operand& o) { list.push_back(value(s, o, form.type(), !store, false)); };
  if (store) list.push_back(constant(0, 4));
  if (what.kind == Kind::vector)
    for (const ptx::Operand& o : body.of(what)) add(o);
  else
    add(what);
  if (list.size() != form.vector + (store ? 1 : 0)) refuse(s, "the number of values does not fit.");
  emit(s,
       store             ? "@store_frame"
       : location.kernel ? "@load_parameter"
                         : "@load_frame",
       form.type(), form.vector, list, int64_t(location.at) + where.value);
  frames_.back()->used_bytes = ~uint32_t(0);
  return true;
}

void Decoder::memory_access(const Statement& s, const Known& known) {
  const Form& form = known.form;
  const ptx::Body& body = *frames_.back()->body;
  const bool copies = form.base == "cp";
  std::vector<Operand> list;
  int64_t offset = 0;
  bool first = true;
  unsigned vector = form.vector;
  if (form.base == "ldmatrix" || form.base == "stmatrix") vector = form.has("x4") ? 4 : form.has("x2") ? 2 : 1;
  const bool writes = form.base == "ld" || form.base == "ldu" || form.base == "atom" || form.base == "ldmatrix";
  unsigned addresses = 0, values = 0;
  for (const ptx::Operand& o : body.of(s)) {
    if (o.address) {
      // Of cp.async, the first address is of shared memory, the second of global.
      const Space space = copies                ? (addresses == 0 ? Space::shared : Space::global)
                          : form.base[0] != 'p' ? form.space
                                                : Space::global;
      int64_t here = 0;
      Operand a = address(s, o, space, here);
      if (copies && addresses == 0 && here != 0) {
        const Operand sum = new_register(a.bytes);
        Statement plain = s;
        emit(plain, "add", a.bytes == 8 ? Type::u64 : Type::u32, 1,
             {[&] {
                Operand d = sum;
                d.output = true;
                return d;
              }(),
              a, constant(uint64_t(here), a.bytes)});
        a = sum;
        here = 0;
      }
      offset = here;
      ++addresses;
      list.push_back(a);
    } else if (copies) {
      if (list.size() >= 4) continue;  // a cache policy
      list.push_back(value(s, o, Type::u32, false, false));
    } else if (o.kind == Kind::vector) {
      for (const ptx::Operand& element : body.of(o)) {
        list.push_back(value(s, element, form.base == "ldmatrix" || form.base == "stmatrix" ? Type::b32 : form.type(),
                             writes && first, false));
        ++values;
      }
    } else {
      if (form.base != "ld" && form.base != "st" && list.size() >= 4 && addresses) continue;  // a cache policy
      list.push_back(value(s, o, form.type(), writes && first, form.base == "atom" || form.base == "red"));
      ++values;
    }
    first = false;
  }
  const unsigned wanted = copies ? (form.has("shared") && !form.has("wait_group") ? 2 : 0) : 1;
  if (addresses != wanted && !(copies && addresses == 0)) refuse(s, "expected an address.");
  if ((form.base == "ld" || form.base == "st" || form.base == "ldu") && values != vector)
    refuse(s, "the number of values does not fit.");
  if (form.base == "atom" || form.base == "red") {
    const unsigned parts = (form.has("cas") ? 2 : 1) + (form.base == "atom" ? 1 : 0);
    if (values < parts) refuse(s, "operands are missing.");
    list.resize(parts + 1);
  }
  if (form.base == "st" && !list[0].bytes) refuse(s, "expected an address first.");
  Instruction i = begin(s, form, known.choice);
  i.vector = uint8_t(vector);
  i.offset = checked_offset(s, offset);
  i.target = code_->sites++;
  if (form.base == "ld" || form.base == "ldu") {
    i.used_bytes = frames_.back()->used_bytes;
    frames_.back()->used_bytes = ~uint32_t(0);
  }
  finish(i, list);
}

void Decoder::plain(const Statement& s, const Known& known) {
  const Form& form = known.form;
  const ptx::Body& body = *frames_.back()->body;
  const bool writes = writes_first(form);
  const bool exact = form.base != "cvt" && form.base != "cvta" && form.base != "isspacep";
  std::vector<Operand> list;
  unsigned index = 0;
  bool paired = false;
  for (const ptx::Operand& o : body.of(s)) {
    const bool output = writes && (index == 0 || o.paired);
    if (o.kind == Kind::vector) {
      for (const ptx::Operand& element : body.of(o)) list.push_back(value(s, element, Type::none, output, false));
    } else {
      Type type = o.paired ? Type::pred : operand_type(form, index - (paired ? 1 : 0), paired);
      if (o.paired && form.base != "setp" && form.base != "shfl" && form.base != "match" && form.base != "elect")
        refuse(s, "a second result is not expected.");
      list.push_back(value(s, o, type, output, exact));
    }
    paired |= o.paired;
    ++index;
  }
  if (form.base == "set") {
    const Type t = form.type();
    const uint32_t one = t == Type::f32      ? 0x3f800000
                         : t == Type::f16    ? 0x3c00
                         : t == Type::f16x2  ? 0x3c003c00
                         : t == Type::bf16   ? 0x3f80
                         : t == Type::bf16x2 ? 0x3f803f80
                                             : 0xffffffff;
    list.push_back(constant(one, 4));
  }
  Instruction i = begin(s, form, known.choice);
  if (form.base == "brkpt") i.vector = 2;
  if (form.base == "bar" || form.base == "barrier") i.join = form.has("and");
  finish(i, list);
}

bool writes_first(const Form& form) {
  if (form.base == "bar" || form.base == "barrier") return form.has("red");
  for (const std::string_view none : {"membar", "fence", "nanosleep", "trap", "brkpt", "pmevent", "cp"})
    if (form.base == none) return false;
  return true;
}

Type operand_type(const Form& form, unsigned index, bool) {
  const std::string_view base = form.base;
  const Type type = form.type();
  const auto twice = [](Type t) { return ptx::bytes_of(t) == 2 ? Type::b32 : Type::b64; };
  if (base == "shl" || base == "shr") return index == 2 ? Type::u32 : type;
  if (base == "bfe") return index >= 2 ? Type::u32 : type;
  if (base == "bfi") return index >= 3 ? Type::u32 : type;
  if (base == "selp") return index == 3 ? Type::pred : type;
  if (base == "slct") return index == 3 ? form.last() : type;
  if (base == "setp") return index == 0 ? Type::pred : index == 3 ? Type::pred : form.last();
  if (base == "set") return index == 0 ? type : index == 3 ? Type::pred : form.last();
  if (base == "cvt") return index == 0 ? type : form.types[1];
  if (base == "mul" && form.has("wide")) return index == 0 ? twice(type) : type;
  if (base == "mad" && form.has("wide")) return index == 0 || index == 3 ? twice(type) : type;
  if (base == "popc" || base == "clz" || base == "bfind") return index == 0 ? Type::u32 : type;
  if (base == "testp") return index == 0 ? Type::pred : type;
  if (base == "isspacep") return index == 0 ? Type::pred : Type::u64;
  if (base == "vote") return index == 2 ? Type::u32 : index == 1 ? Type::pred : type;
  if (base == "match") return index == 1 ? type : Type::u32;
  if (base == "elect") return Type::b32;
  if (base == "bar" || base == "barrier") {
    if (!form.has("red")) return Type::u32;
    if (index == 0) return form.has("popc") ? Type::u32 : Type::pred;
    return Type::none;  // a number, or the predicate, which comes last
  }
  if (base == "dp4a" || base == "dp2a" || base == "nanosleep" || base == "fns" || base == "cp") return Type::u32;
  return type;
}

}  // namespace stator::emulator::machine
