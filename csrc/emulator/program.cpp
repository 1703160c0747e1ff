#include "emulator/program.hpp"

namespace stator::emulator {

Program::State::~State() {
  for (const auto& [name, address] : variables) memory.free(address);
}

Report Program::State::place_variables() {
  Report report;
  const auto in_memory = [](const ptx::Variable& v) {
    return (v.space == ptx::Space::global || v.space == ptx::Space::constant) && !v.external;
  };
  for (const ptx::Variable& v : module.variables()) {
    if (!in_memory(v)) continue;
    void* const address = memory.allocate(
        v.bytes, v.space == ptx::Space::constant ? MemoryKind::constant : MemoryKind::device, std::string(v.name));
    if (!address) {
      report.fault = Fault::out_of_memory;
      report.sentence = "The memory does not suffice for the variable " + std::string(v.name) + ".";
      return report;
    }
    memory.fill(address, 0, v.bytes);
    memory.write(address, v.content.data(), v.content.size());
    variables[v.name] = address;
  }
  for (const ptx::Variable& v : module.variables()) {
    if (!in_memory(v)) continue;
    for (const ptx::Variable::Pointer& p : v.pointers) {
      const auto target = variables.find(p.symbol);
      if (target == variables.end()) {
        report.fault = Fault::syntax;
        report.ptx_line = v.line;
        report.sentence =
            "The initialiser of " + std::string(v.name) + " names " + std::string(p.symbol) + ", which has no address.";
        return report;
      }
      const uint64_t value = reinterpret_cast<uint64_t>(target->second) + uint64_t(p.addend);
      memory.write(static_cast<std::byte*>(variables[v.name]) + p.offset, &value, 8);
    }
  }
  return report;
}

const Program::State::Decoded& Program::State::decoded(std::string_view name) {
  const std::lock_guard lock(mutex);
  const auto known = kernels.find(name);
  if (known != kernels.end()) return known->second;
  Decoded& d = kernels[std::string(name)];
  d.report.kernel = name;
  const ptx::Function* const function = module.function(name);
  if (!function || !function->entry || !function->defined) {
    d.report.fault = Fault::missing_entry;
    d.report.sentence = "The program has no kernel " + std::string(name) + ".";
    return d;
  }
  try {
    d.code = machine::decode(module, *function, *level, [&](const ptx::Variable& v) {
      const auto variable = variables.find(v.name);
      if (variable == variables.end())
        throw ptx::Error(v.line, "The variable " + std::string(v.name) + " is not defined in the program.");
      return reinterpret_cast<uint64_t>(variable->second);
    });
  } catch (const ptx::Error& error) {
    d.report.fault = std::string_view(error.what()).find("not supported") != std::string_view::npos ? Fault::unsupported
                                                                                                    : Fault::syntax;
    d.report.ptx_line = error.line;
    d.report.instruction = module.line_text(error.line);
    d.report.sentence = error.what();
    return d;
  }
  Kernel& k = d.kernel;
  k.name = name;
  for (const ptx::Variable& p : function->parameters) {
    k.parameter_bytes = (k.parameter_bytes + p.align - 1) / p.align * p.align;
    k.parameters.push_back({k.parameter_bytes, p.bytes, p.align});
    k.parameter_bytes += p.bytes;
  }
  k.shared_bytes = d.code->shared_bytes;
  k.local_bytes = d.code->local_bytes;
  const auto dim = [](const uint32_t(&v)[3]) { return Dim3{v[0], v[1], v[2]}; };
  k.max_threads = dim(function->max_threads);
  k.required_threads = dim(function->required_threads);
  k.min_blocks = function->min_blocks;
  return d;
}

Program::Program(std::unique_ptr<State> state) : state_(std::move(state)) {}
Program::~Program() = default;

std::vector<std::string> Program::kernels() const {
  std::vector<std::string> names;
  for (const ptx::Function& f : state_->module.functions())
    if (f.entry && f.defined) names.emplace_back(f.name);
  return names;
}

const Kernel* Program::kernel(std::string_view name, Report* report) {
  const State::Decoded& d = state_->decoded(name);
  if (report) *report = d.report.fault == Fault::none ? Report{} : d.report;
  return d.code ? &d.kernel : nullptr;
}

void* Program::variable(std::string_view name, uint64_t* bytes) const {
  const auto known = state_->variables.find(name);
  if (known == state_->variables.end()) return nullptr;
  if (bytes) *bytes = state_->module.variable(name)->bytes;
  return known->second;
}

}  // namespace stator::emulator
