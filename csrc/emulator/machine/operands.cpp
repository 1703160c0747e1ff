// Names, constants and addresses of the decoder.
#include "emulator/machine/decoder.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

namespace stator::emulator::machine {

using ptx::Error;
using ptx::Statement;
using Kind = ptx::Operand::Kind;

void Decoder::declare(const ptx::Registers& r) {
  Scope& scope = frames_.back()->scopes.back();
  const auto bytes = uint8_t(ptx::bytes_of(r.type));
  const auto first = uint32_t(register_bytes_.size());
  const uint32_t count = r.count ? r.count : 1;
  register_bytes_.insert(register_bytes_.end(), count, bytes);
  if (r.count)
    scope.ranges[r.prefix] = {first, r.count, bytes};
  else
    scope.registers[r.prefix] = {first, bytes};
}

Location Decoder::local_location(uint64_t bytes, uint32_t align) {
  local_top_ = (local_top_ + align - 1) / align * align;
  const Location location{Space::local, local_top_, bytes, false, false};
  local_top_ += bytes;
  code_->local_bytes = std::max(code_->local_bytes, uint32_t((local_top_ + 15) / 16 * 16));
  return location;
}

Location Decoder::shared_location(const ptx::Variable& variable) {
  const auto known = shared_.find(variable.name);
  if (known != shared_.end()) return known->second;
  Location location{Space::shared, 0, variable.bytes, false, variable.external || variable.bytes == 0};
  if (location.dynamic) {
    code_->shared_align = std::max(code_->shared_align, variable.align);
  } else {
    location.at = (code_->shared_bytes + variable.align - 1) / variable.align * variable.align;
    code_->shared_bytes = uint32_t(location.at + variable.bytes);
    code_->shared_symbols.push_back({std::string(variable.name), uint32_t(location.at), variable.bytes});
  }
  shared_.emplace(variable.name, location);
  return location;
}

void Decoder::declare(const ptx::Variable& v) {
  Location location;
  switch (v.space) {
    case Space::param:
      location = local_location(v.bytes, std::max(v.align, 8u));
      location.space = Space::param;
      break;
    case Space::local: location = local_location(v.bytes, v.align); break;
    case Space::shared: location = shared_location(v); break;
    default: location = {v.space, address_of_(v), v.bytes, false, false}; break;
  }
  frames_.back()->scopes.back().variables[v.name] = location;
}

const Decoder::Register* Decoder::find_register(std::string_view name) {
  Frame& frame = *frames_.back();
  size_t digits = name.size();
  while (digits > 0 && name[digits - 1] >= '0' && name[digits - 1] <= '9') --digits;
  const std::string_view prefix = name.substr(0, digits);
  for (auto scope = frame.scopes.rbegin(); scope != frame.scopes.rend(); ++scope) {
    if (!scope->registers.empty()) {
      const auto found = scope->registers.find(name);
      if (found != scope->registers.end()) return &found->second;
    }
    if (digits == name.size()) continue;
    const auto range = scope->ranges.find(prefix);
    if (range == scope->ranges.end()) continue;
    uint32_t number = 0;
    for (const char c : name.substr(digits)) number = number * 10 + uint32_t(c - '0');
    if (number >= range->second.count) continue;
    thread_local Register found;
    found = {range->second.first + number, range->second.bytes};
    return &found;
  }
  return nullptr;
}

bool Decoder::find_location(std::string_view name, Location& location) {
  Frame& frame = *frames_.back();
  for (auto scope = frame.scopes.rbegin(); scope != frame.scopes.rend(); ++scope) {
    const auto found = scope->variables.find(name);
    if (found == scope->variables.end()) continue;
    location = found->second;
    return true;
  }
  const auto parameter = frame.parameters.find(name);
  if (parameter != frame.parameters.end()) {
    location = parameter->second;
    return true;
  }
  const ptx::Variable* const variable = module_.variable(name);
  if (!variable) return false;
  location = variable->space == Space::shared
                 ? shared_location(*variable)
                 : Location{variable->space, address_of_(*variable), variable->bytes, false, false};
  return true;
}

Operand Decoder::new_register(uint8_t bytes) {
  Operand o;
  o.offset = uint32_t(register_bytes_.size());
  o.bytes = bytes;
  register_bytes_.push_back(bytes);
  return o;
}

Operand Decoder::constant(uint64_t value, uint8_t bytes) {
  if (bytes > 0 && bytes < 8) value &= (uint64_t(1) << (8 * bytes)) - 1;
  Operand o;
  o.bank = 1;
  o.bytes = bytes;
  const auto [location, added] = constant_offsets_.emplace(std::pair(bytes, value), uint32_t(constants_.size()));
  o.offset = location->second;
  if (!added) return o;
  constants_.resize(constants_.size() + std::max<size_t>(64, size_t(bytes) * lanes));
  if (bytes == 0) {  // a predicate
    const uint32_t bits = value ? all_lanes : 0;
    std::memcpy(constants_.data() + o.offset, &bits, 4);
  } else {
    for (unsigned l = 0; l < lanes; ++l)
      std::memcpy(constants_.data() + o.offset + l * bytes, &value, std::min<size_t>(bytes, 8));
  }
  return o;
}

Operand Decoder::location_constant(const Statement& s, const Location& location, int64_t offset, uint8_t bytes) {
  if (location.space == Space::param) refuse(s, "the address of a parameter must be moved into a register first.");
  if (!location.dynamic) return constant(location.at + uint64_t(offset), bytes);
  Operand o;
  o.bank = 1;
  o.bytes = bytes;
  o.offset = uint32_t(constants_.size());
  constants_.resize(constants_.size() + size_t(bytes) * lanes);
  dynamic_patches_.push_back({o.offset, bytes, offset});
  return o;
}

uint32_t Decoder::predicate(const Statement& s, std::string_view name) {
  const Register* const r = find_register(name);
  if (!r) refuse(s, "the predicate " + std::string(name) + " is not declared.");
  if (r->bytes != 0) refuse(s, std::string(name) + " is not a predicate.");
  return r->number;
}

int32_t Decoder::checked_offset(const Statement& s, int64_t offset) const {
  if (offset != int32_t(offset)) refuse(s, "the offset " + std::to_string(offset) + " is too large.");
  return int32_t(offset);
}

Operand Decoder::value(const Statement& s, const ptx::Operand& o, Type expected, bool output, bool exact) {
  const auto bytes = uint8_t(ptx::bytes_of(expected));
  switch (o.kind) {
    case Kind::sink: {
      if (!output) refuse(s, "\"_\" is not a source.");
      Operand sink = new_register(bytes);
      sink.output = true;
      return sink;
    }
    case Kind::name: {
      if (const Register* const r = find_register(o.name)) {
        if (exact && expected != Type::none && r->bytes != bytes)
          refuse(s, "the register " + std::string(o.name) + " has " + std::to_string(8 * r->bytes) + " bits, not " +
                        std::to_string(8 * bytes) + ".");
        Operand found;
        found.offset = r->number;
        found.bytes = r->bytes;
        found.negated = o.negated;
        found.output = output;
        return found;
      }
      if (output) refuse(s, "the register " + std::string(o.name) + " is not declared.");
      if (o.name[0] == '%') {  // a special register as an operand: it is read first
        const auto special =
            std::find_if(special_names.begin(), special_names.end(), [&](auto& n) { return n.name == o.name; });
        if (special == special_names.end())
          refuse(s, "the register " + std::string(o.name) + " is neither declared nor known.");
        Operand read = new_register(special->bytes);
        read.output = true;
        emit(s, "@special", Type::b32, 1, {read}, 0, uint32_t(special->id));
        read.output = false;
        return read;
      }
      Location location;
      if (!find_location(o.name, location)) refuse(s, "the name " + std::string(o.name) + " is not known.");
      return location_constant(s, location, o.value, bytes);
    }
    case Kind::integer: return constant(uint64_t(o.value), expected == Type::none ? 4 : bytes);
    case Kind::real32:
      if (expected == Type::f64)
        return constant(std::bit_cast<uint64_t>(double(std::bit_cast<float>(uint32_t(o.value)))), 8);
      return constant(uint64_t(o.value), bytes);
    case Kind::real64:
      if (expected == Type::f32) return constant(std::bit_cast<uint32_t>(float(std::bit_cast<double>(o.value))), 4);
      return constant(uint64_t(o.value), bytes);
    case Kind::vector: break;
  }
  refuse(s, "a vector is not expected.");
}

Operand Decoder::address(const Statement& s, const ptx::Operand& o, Space space, int64_t& offset) {
  offset = 0;
  if (o.kind == Kind::integer) return constant(uint64_t(o.value), 8);
  if (const Register* const r = find_register(o.name)) {
    if (r->bytes != 8 && r->bytes != 4) refuse(s, "an address has 32 or 64 bits.");
    if (r->bytes == 4 && space != Space::shared && space != Space::local)
      refuse(s, "an address of this space has 64 bits.");
    offset = o.value;
    Operand found;
    found.offset = r->number;
    found.bytes = r->bytes;
    return found;
  }
  Location location;
  if (!find_location(o.name, location)) refuse(s, "the name " + std::string(o.name) + " is not known.");
  const bool fits = location.space == space ||
                    (space == Space::generic && (location.space == Space::global || location.space == Space::constant));
  if (!fits) refuse(s, std::string(o.name) + " is in another space.");
  return location_constant(s, location, o.value, 8);
}

}  // namespace stator::emulator::machine
