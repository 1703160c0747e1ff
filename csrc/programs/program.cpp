#include "programs/program.hpp"

#include "core/text.hpp"
#include "libs/compiler.hpp"
#include "programs/signature.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <utility>

namespace stator {
namespace {

namespace status = runtime::status;

Context& require_programs(const Backend& backend) {
  const std::string op = op_text(call::compile);
  if (!backend.context())
    throw ValueError(op, "got a default-constructed backend", "Open one with Backend::open(device)");
  Context& context = *backend.context();
  context.require_open(call::compile);
  if (context.runtime().has_programs()) return context;
  throw UnsupportedError(op, "user kernels need cuda; the cpu has only built-in kernels",
                         "Open a cuda backend; without a GPU set STATOR_EMULATE=h200 before stator is imported");
}

void require_names(std::span<const std::string> names) {
  if (names.empty()) throw ValueError(op_text(call::compile), "no name of a kernel", "Name one at least");
}

// Whether CUDA's error says that the code is at fault: an image that is invalid, for another architecture, or of a
// newer version of PTX, or PTX that does not compile.
bool blames_code(runtime::Status code) {
  constexpr std::array<runtime::Status, 6> codes{200, status::no_image, status::invalid_ptx, 221, 222, 300};
  return std::find(codes.begin(), codes.end(), code) != codes.end();
}

bool is_text(const std::string& code) {
  return !code.starts_with("\177ELF") && !code.starts_with("\x50\xed\x55\xba") && code.find('\0') == code.npos;
}

}  // namespace

ProgramBox::ProgramBox(Context& context, const std::string& image, const std::string& ptx, std::string log)
    : Box(BoxKind::program, &context, context.tracker(), call::compile), context_(context), log_(std::move(log)) {
  runtime::Runtime& runtime = context.runtime();
  limits_ = runtime.launch_limits(call::compile);
  runtime::ProgramHandle handle = nullptr;
  if (const runtime::Status code =
          runtime.program_load(image.c_str(), &handle, report_.data(), report_.size(), call::compile))
    refuse(code, "program_load", ptx);
  set_native(handle);
  set_bytes(image.size());
}

void ProgramBox::refuse(runtime::Status code, const char* at, const std::string& ptx) const {
  const std::string report = report_.data(), name = context_.runtime().table().error_name(code);
  if (!blames_code(code) && report.empty()) throw CudaError(op_text(call::compile), code, name, at);
  throw CompileError(op_text(call::compile),
                     "the code cannot be loaded (" + name + ")" + (report.empty() ? "" : ":\n" + report),
                     ptx.empty() ? "Give code for this device, PTX or CUDA C++" : "");
}

void ProgramBox::add(const std::string& name, const std::string& symbol, const std::string& ptx) {
  runtime::Runtime& runtime = context_.runtime();
  auto entry = std::make_unique<KernelEntry>();
  entry->name = name;
  entry->symbol = symbol;
  runtime::KernelNumbers n;
  const runtime::Status code =
      runtime.program_kernel(get(call::compile), symbol.c_str(), &entry->handle, &n, call::compile);
  if (code == status::not_found || code == status::invalid_function)
    throw CompileError(op_text(call::compile), "the code has no kernel " + symbol,
                       "Give its name in the code, which is mangled unless the kernel is extern \"C\"");
  if (code != status::success) refuse(code, "program_query", ptx);  // CUDA may load the code when it is first used
  KernelParameter parameter;
  while (runtime.kernel_parameter(entry->handle, entry->parameters.size(), &parameter.offset, &parameter.size,
                                  call::compile))
    entry->parameters.push_back(parameter);
  add_ptx_types(entry->parameters, ptx, symbol);
  add_cpp_types(entry->parameters, symbol);
  entry->attributes = {n.registers, n.max_threads, n.shared_bytes, limits_.shared_bytes - n.shared_bytes,
                       n.local_bytes};
  kernels_.push_back(std::move(entry));
}

// The work that uses the code ends before it is unloaded.
void ProgramBox::release_native(void* handle) noexcept {
  runtime::Runtime& runtime = context_.runtime();
  context_.synchronize_noexcept(used_.load());
  context_.report("program_unload", runtime.program_unload_noexcept(handle));
}

CompiledCode compile_code(const std::string& source, std::span<const std::string> names, int architecture,
                          std::span<const std::string> options, const std::string& file) {
  require_names(names);
  libs::Compiled made = libs::compile(op_name(call::compile), source, file, {names.begin(), names.end()},
                                      {options.begin(), options.end()}, architecture);
  return {std::move(made.ptx),
          std::move(made.code),
          {names.begin(), names.end()},
          std::move(made.names),
          std::move(made.log)};
}

std::string compiler_version() { return libs::compiler_version(op_name(call::compile)); }

int program_architecture(const Backend& backend) {
  const runtime::Properties& device = require_programs(backend).runtime().properties();
  return device.compute_major * 10 + device.compute_minor;
}

Program Program::compile(const Backend& backend, const std::string& source, std::span<const std::string> names,
                         std::span<const std::string> options, const std::string& file) {
  return load(backend, compile_code(source, names, program_architecture(backend), options, file));
}

Program Program::load(const Backend& backend, const CompiledCode& code) {
  Context& context = require_programs(backend);
  require_names(code.names);
  if (code.names.size() != code.symbols.size())
    throw ValueError(op_text(call::compile),
                     "code has " + std::to_string(code.names.size()) + " names and " +
                         std::to_string(code.symbols.size()) + " symbols",
                     "Give one symbol for each name");
  const OpGuard guard(context, call::compile);
  const bool machine_code = !runtime::cuda_emulated() && !code.machine_code.empty();
  const Ref<ProgramBox> box(new ProgramBox(context, machine_code ? code.machine_code : code.ptx, code.ptx, code.log));
  for (size_t i = 0; i < code.names.size(); ++i) box->add(code.names[i], code.symbols[i], code.ptx);
  return Program(box);
}

Program Program::load(const Backend& backend, const std::string& code, std::span<const std::string> names) {
  Context& context = require_programs(backend);
  require_names(names);
  const OpGuard guard(context, call::compile);
  const std::string ptx = is_text(code) ? code : std::string();
  const Ref<ProgramBox> box(new ProgramBox(context, code, ptx, {}));
  for (const std::string& name : names) box->add(name, name, ptx);
  return Program(box);
}

size_t Program::size() const { return box_ ? box_->kernels().size() : 0; }

const std::string& Program::log() const {
  static const std::string none;
  return box_ ? box_->log() : none;
}

Kernel Program::kernel(size_t index) const {
  if (index >= size())
    throw ValueError("Program.kernel", "got kernel " + std::to_string(index) + " of " + std::to_string(size()),
                     "Pass the position of a name among those that were given");
  return Kernel(box_, box_->kernels()[index].get());
}

}  // namespace stator
