#include "emulator/machine/decode.hpp"

#include "emulator/machine/decoder.hpp"

#include <algorithm>
#include <cstring>
#include <stdexcept>

namespace stator::emulator::machine {

using ptx::Error;
using ptx::Statement;

std::unique_ptr<Code> decode(const ptx::Module& module, const ptx::Function& kernel, const Level& level,
                             const AddressOf& address_of) {
  return Decoder(module, kernel, level, address_of).run();
}

std::unique_ptr<Code> Decoder::run() {
  code_->name = kernel_.name;
  if (!kernel_.cluster.empty())
    throw Error(kernel_.line, "Clusters (" + std::string(kernel_.cluster) + ") are not supported.");
  Frame frame{};
  frame.function = &kernel_;
  frame.body = &module_.body(kernel_);
  uint64_t at = 0;
  for (const ptx::Variable& p : kernel_.parameters) {
    at = (at + p.align - 1) / p.align * p.align;
    frame.parameters[p.name] = {Space::param, at, p.bytes, true, false};
    at += p.bytes;
  }
  for (const Statement& s : frame.body->statements) sources_ |= s.kind == Statement::Kind::location;
  put_body(frame);
  Statement end;
  end.name = "exit";
  end.line = code_->instructions.empty() ? kernel_.line : code_->instructions.back().line;
  const Known& known = known_form("exit", end.line);
  frames_.push_back(&frame);
  Instruction last = begin(end, known.form, known.choice);
  form_number_ = 0;
  finish(last, {});
  frames_.pop_back();

  uint64_t dynamic = (code_->shared_bytes + code_->shared_align - 1) / code_->shared_align * code_->shared_align;
  if (!dynamic_patches_.empty()) code_->shared_bytes = uint32_t(dynamic);
  for (const Patch& patch : dynamic_patches_) {
    const uint64_t value = dynamic + uint64_t(patch.offset);
    for (unsigned l = 0; l < lanes; ++l)
      std::memcpy(constants_.data() + patch.constant + l * patch.bytes, &value, patch.bytes);
  }
  constexpr size_t alignment = 64;
  code_->constants = std::make_unique<std::byte[]>(constants_.size() + alignment);
  void* start = code_->constants.get();
  size_t space = constants_.size() + alignment;
  code_->constants_at = static_cast<std::byte*>(std::align(alignment, constants_.size(), start, space));
  std::copy(constants_.begin(), constants_.end(), code_->constants_at);
  place_registers(*code_, register_bytes_, level_);
  return std::move(code_);
}

void Decoder::put_body(Frame& frame) {
  frames_.push_back(&frame);
  frame.scopes.emplace_back();
  frame.scopes.back().top = local_top_;
  for (const Statement& s : frame.body->statements) statement(s);
  local_top_ = frame.scopes.back().top;
  resolve(frame);
  frames_.pop_back();
}

void Decoder::statement(const Statement& s) {
  Frame& frame = *frames_.back();
  switch (s.kind) {
    case Statement::Kind::open:
      frame.scopes.emplace_back();
      frame.scopes.back().top = local_top_;
      break;
    case Statement::Kind::close:
      local_top_ = frame.scopes.back().top;
      frame.scopes.pop_back();
      break;
    case Statement::Kind::registers:
      for (uint32_t k = 0; k < s.count; ++k) declare(frame.body->registers[s.first + k]);
      break;
    case Statement::Kind::variable:
      for (uint32_t k = 0; k < s.count; ++k) declare(frame.body->variables[s.first + k]);
      break;
    case Statement::Kind::label:
      if (!frame.labels.emplace(s.name, uint32_t(code_->instructions.size())).second)
        throw Error(s.line, "The label " + std::string(s.name) + " is defined twice.");
      frame.last_label = s.name;
      break;
    case Statement::Kind::location: frame.source = {s.location.file, s.location.line}; break;
    case Statement::Kind::used_bytes: frame.used_bytes = s.first; break;
    case Statement::Kind::targets:
      frame.tables[frame.last_label] = uint32_t(code_->tables.size());
      frame.targets.emplace_back(uint32_t(code_->tables.size()), &s);
      code_->tables.emplace_back();
      break;
    case Statement::Kind::instruction: instruction(s); break;
  }
}

void Decoder::refuse(const Statement& s, const std::string& why) const {
  throw Error(s.line, "The instruction " + std::string(s.name) + ": " + why);
}

const Decoder::Known& Decoder::known_form(std::string_view text, uint32_t line) {
  const auto cached = forms_.find(text);
  if (cached != forms_.end()) return cached->second;
  Known known;
  try {
    known.form = parse_form(text);
  } catch (const std::invalid_argument& error) {
    throw Error(line, error.what());
  }
  known.choice = level_.select(known.form);
  return forms_.emplace(text, known).first->second;
}

Instruction Decoder::begin(const Statement& s, const Form& form, const Choice& choice) {
  Instruction i;
  if (!choice.run) throw Error(s.line, "The instruction " + std::string(s.name) + " is not supported.");
  const auto [number, fresh] = form_numbers_.try_emplace(s.name, uint16_t(code_->form_names.size()));
  if (fresh) code_->form_names.emplace_back(s.name);
  form_number_ = number->second;
  i.run = choice.run;
  i.kind = choice.kind;
  i.line = s.line;
  i.bytes = uint8_t(ptx::bytes_of(form.type()));
  i.vector = uint8_t(form.vector);
  i.strong = form.strong;
  i.acquire = form.acquire;
  i.release = form.release;
  i.block_scope = form.has("cta");
  i.ftz = form.ftz;
  i.sat = form.sat;
  i.relu = form.has("relu");
  i.finite = form.has("satfinite");
  i.rounding = form.rounding;
  if (form.base == "setp" || form.base == "set")
    i.join = form.has("and") ? 1 : form.has("or") ? 2 : form.has("xor") ? 3 : 0;
  i.guarded = s.guarded;
  i.guard_negated = s.guard_negated;
  if (s.guarded) i.guard = predicate(s, s.guard);
  return i;
}

void Decoder::finish(Instruction& i, const std::vector<Operand>& operands) {
  i.count = uint8_t(operands.size());
  if (operands.size() <= Instruction::inline_operands) {
    std::copy(operands.begin(), operands.end(), i.op);
  } else {
    i.more = uint32_t(code_->more.size());
    code_->more.insert(code_->more.end(), operands.begin(), operands.end());
  }
  if (sources_) code_->sources.push_back(frames_.back()->source);
  code_->forms.push_back(form_number_);
  code_->instructions.push_back(i);
}

void Decoder::instruction(const Statement& s) {
  const size_t dot = s.name.find('.');
  const std::string_view base = s.name.substr(0, dot);
  if (base == "call") return call(s);
  if (base == "mov" && move(s)) return;
  if (base == "ret" && frames_.size() > 1) {
    frames_.back()->returns.push_back(uint32_t(code_->instructions.size()));
    const Known& known = known_form("bra", s.line);
    Instruction i = begin(s, known.form, known.choice);
    return finish(i, {});
  }
  if (base == "ret" || base == "exit") {
    const Known& known = known_form("exit", s.line);
    Instruction i = begin(s, known.form, known.choice);
    return finish(i, {});
  }
  const Known& known = known_form(s.name, s.line);
  if (base == "bra" || base == "brx") return branch(s, known);
  if ((base == "ld" || base == "st") && known.form.space == Space::param && parameter_access(s, known.form)) return;
  if (base == "wgmma" || base == "wmma" || base == "mapa" || base == "mbarrier")
    throw Error(s.line, "The instruction " + std::string(s.name) + " is not supported.");
  if (base == "ld" || base == "ldu" || base == "st" || base == "atom" || base == "red" || base == "ldmatrix" ||
      base == "stmatrix" || base == "prefetch" || base == "prefetchu" || (base == "cp" && known.form.has("async")))
    return memory_access(s, known);
  plain(s, known);
}

void Decoder::branch(const Statement& s, const Known& known) {
  Frame& frame = *frames_.back();
  const auto operands = frame.body->of(s);
  Instruction i = begin(s, known.form, known.choice);
  if (known.form.base == "bra") {
    if (operands.size() != 1 || operands[0].kind != ptx::Operand::Kind::name) refuse(s, "expected a label.");
    frame.branches.push_back({uint32_t(code_->instructions.size()), operands[0].name});
    return finish(i, {});
  }
  if (operands.size() != 2) refuse(s, "expected an index and a table of targets.");
  const Operand index = value(s, operands[0], Type::u32, false, true);
  frame.branches.push_back({uint32_t(code_->instructions.size()), operands[1].name});
  finish(i, {index});
}

void Decoder::resolve(Frame& frame) {
  const auto label = [&](std::string_view name, uint32_t line) {
    const auto target = frame.labels.find(name);
    if (target == frame.labels.end()) throw Error(line, "The label " + std::string(name) + " is not defined.");
    return target->second;
  };
  for (const auto& [table, s] : frame.targets)
    for (const ptx::Operand& o : frame.body->of(*s)) code_->tables[table].push_back(label(o.name, s->line));
  for (const Frame::Fixup& fixup : frame.branches) {
    Instruction& i = code_->instructions[fixup.instruction];
    const auto table = frame.tables.find(fixup.label);
    i.target = i.count ? table == frame.tables.end()
                             ? throw Error(i.line, "The table " + std::string(fixup.label) + " is not defined.")
                             : table->second
                       : label(fixup.label, i.line);
  }
  for (const uint32_t at : frame.returns) code_->instructions[at].target = uint32_t(code_->instructions.size());
}

void Decoder::call(const Statement& s) {
  Frame& caller = *frames_.back();
  const ptx::Operand *results = nullptr, *arguments = nullptr, *name = nullptr;
  for (const ptx::Operand& o : caller.body->of(s)) {
    if (o.kind == ptx::Operand::Kind::vector)
      (name ? arguments : results) = &o;
    else if (!name && o.kind == ptx::Operand::Kind::name)
      name = &o;
  }
  if (!name) refuse(s, "expected the name of a function.");
  const std::string callee(name->name);
  const ptx::Function* const function = module_.function(callee);
  if (!function)
    refuse(s, find_register(callee) ? "calls through pointers are not supported." : callee + " is not defined.");
  if (callee == "vprintf") return;  // nothing is printed
  if (callee == "__assertfail") {
    const Known& known = known_form("trap", s.line);
    Instruction i = begin(s, known.form, known.choice);
    return finish(i, {});
  }
  if (!function->defined) refuse(s, callee + " has no body in the module.");
  for (const Frame* f : frames_)
    if (f->function == function) refuse(s, "the recursion of " + callee + " is not supported.");
  Frame frame{};
  frame.function = function;
  frame.body = &module_.body(*function);
  frame.source = caller.source;
  const auto bind = [&](const std::vector<ptx::Variable>& formal, const ptx::Operand* actual) {
    const auto list = actual ? caller.body->of(*actual) : std::span<const ptx::Operand>();
    if (list.size() != formal.size())
      refuse(s, callee + " takes " + std::to_string(formal.size()) + " parameters or results, not " +
                    std::to_string(list.size()) + ".");
    for (size_t k = 0; k < list.size(); ++k) {
      Location location;
      if (formal[k].space != Space::param || !find_location(list[k].name, location) || location.space != Space::param ||
          location.kernel)
        refuse(s, "parameters in registers are not supported.");
      if (location.bytes < formal[k].bytes) refuse(s, "the parameter " + std::string(list[k].name) + " is too small.");
      frame.parameters[formal[k].name] = location;
    }
  };
  bind(function->results, results);
  bind(function->parameters, arguments);
  // A guarded call is a branch around the body.
  const bool guarded = s.guarded;
  const auto around = uint32_t(code_->instructions.size());
  if (guarded) {
    Statement skip = s;
    skip.guard_negated = !s.guard_negated;
    const Known& known = known_form("bra", s.line);
    Instruction i = begin(skip, known.form, known.choice);
    finish(i, {});
  }
  put_body(frame);
  if (guarded) code_->instructions[around].target = uint32_t(code_->instructions.size());
}

}  // namespace stator::emulator::machine
