// Kernel: what its code says of it, and the checks around a launch.
#include "core/capture.hpp"
#include "core/text.hpp"
#include "programs/program.hpp"
#include "programs/signature.hpp"

#include <algorithm>
#include <string>

namespace stator {
namespace {

constexpr uint16_t op = call::launch;

const KernelEntry& require(const KernelEntry* entry) {
  if (!entry) throw ValueError(op_text(op), "got a default-constructed kernel", "Take one from a Program");
  return *entry;
}

std::string text(const std::array<uint32_t, 3>& n) {
  return "(" + std::to_string(n[0]) + ", " + std::to_string(n[1]) + ", " + std::to_string(n[2]) + ")";
}

uint64_t count(const std::array<uint32_t, 3>& n) { return uint64_t(n[0]) * n[1] * n[2]; }

[[noreturn]] void exceeds(const KernelEntry& kernel, const std::string& what, uint64_t given, uint64_t limit,
                          const char* unit, const std::string& remedy) {
  throw ValueError(op_text(op),
                   "the kernel " + kernel.name + " was given " + what + ": " + std::to_string(given) + " " + unit +
                       ", " + std::to_string(given - limit) + " above the limit of " + std::to_string(limit),
                   remedy);
}

void check_axes(const KernelEntry& kernel, const char* what, const std::array<uint32_t, 3>& given,
                const std::array<uint32_t, 3>& limits, const char* unit, const char* remedy) {
  const std::string name = std::string(what) + " " + text(given);
  for (int axis = 0; axis < 3; ++axis) {
    if (given[axis] == 0)
      throw ValueError(op_text(op), "the kernel " + kernel.name + " was given the " + name,
                       "Every axis must have at least one");
    if (given[axis] > limits[axis])
      exceeds(kernel, "the " + name + " with axis " + "xyz"[axis], given[axis], limits[axis], unit, remedy);
  }
}

// So that a refusal says which limit, by how much, and what to change.
void check_limits(const ProgramBox& program, const KernelEntry& kernel, const LaunchConfig& config) {
  const KernelAttributes& a = kernel.attributes;
  check_axes(kernel, "grid", config.grid, program.limits().grid, "blocks",
             "Use the x axis, or let each block loop over more elements");
  check_axes(kernel, "block", config.block, program.limits().block, "threads", "Use another axis, or more blocks");
  if (const uint64_t threads = count(config.block); threads > uint64_t(a.max_threads))
    exceeds(kernel, "the block " + text(config.block), threads, uint64_t(a.max_threads), "threads",
            "A thread takes " + std::to_string(a.registers) + " registers: use a smaller block, or __launch_bounds__");
  if (config.shared_bytes > a.max_dynamic_shared_bytes)
    exceeds(kernel, "dynamic shared memory", config.shared_bytes, a.max_dynamic_shared_bytes, "bytes",
            "Its static shared memory is " + std::to_string(a.shared_bytes) + " bytes: use a smaller tile");
  if (!config.cooperative) return;
  runtime::Runtime& runtime = program.context().runtime();
  if (!runtime.properties().cooperative)
    throw UnsupportedError(op_text(op), "the device has no cooperative launch", "Launch without cooperative");
  const int threads = int(count(config.block));
  const int resident = runtime.resident_blocks(kernel.handle, threads, config.shared_bytes, op);
  const uint64_t most = uint64_t(resident) * uint64_t(program.context().limits().multiprocessors);
  if (const uint64_t blocks = count(config.grid); blocks > most)
    exceeds(kernel, "a cooperative grid, whose blocks are all resident at once", blocks, most, "blocks",
            "Launch at most " + std::to_string(most) + " blocks, and let each loop over more elements");
}

// One launch's arguments, as the runtime takes them.
struct Arguments {
  std::vector<void*> addresses, pointers;
  std::vector<params::Access> accesses;
};

[[noreturn]] void misfit(const KernelEntry& kernel, size_t i, const std::string& given,
                         const std::string& remedy = {}) {
  throw DTypeError(op_text(op),
                   "the argument " + std::to_string(i) + " of " + kernel.name + " is " + given +
                       ", and the parameter is " +
                       (kernel.parameters[i].type.empty() ? std::string("a value") : kernel.parameters[i].type) +
                       " of " + std::to_string(kernel.parameters[i].size) + " bytes",
                   remedy.empty() ? "The kernel takes " + signature_text(kernel.parameters) : remedy);
}

void add_array(Arguments& out, const ProgramBox& program, const KernelEntry& kernel, size_t i, const Array& array) {
  using ParameterKind = KernelParameter::Kind;
  const KernelParameter& parameter = kernel.parameters[i];
  Buffer& buffer = buffer_of(array, op_name(op));
  if (&buffer.context() != &program.context())
    throw BackendMismatchError(op_text(op), "the argument " + std::to_string(i) + " is an array of another backend",
                               "Make it with the kernel's backend, or move it with to_device()");
  // A cubin does not tell what its parameters are, and PTX shows an address as a number of 64 bits.
  const bool holds_address = parameter.kind == ParameterKind::pointer || parameter.kind == ParameterKind::bytes ||
                             (parameter.kind == ParameterKind::integer && parameter.type.ends_with("64"));
  if (!holds_address || parameter.size != sizeof(void*) || !may_point_to(parameter, array.dtype()))
    misfit(kernel, i, "an array of " + std::string(name(array.dtype())));
  if (!array.is_contiguous())
    throw ValueError(op_text(op),
                     "the argument " + std::to_string(i) + " of " + kernel.name + " is not contiguous: shape " +
                         str(array.shape()) + ", strides " + str(array.strides()),
                     "Copy it first, or give data_ptr and the strides as numbers");
  const bool write = !reads_only(parameter);
  if (write && buffer.read_only() && parameter.kind == ParameterKind::pointer)
    throw ValueError(op_text(op), "the argument " + std::to_string(i) + " of " + kernel.name + " is read-only",
                     "Copy it first, or let the kernel take a pointer to const");
  char* const memory = static_cast<char*>(buffer.memory(op));
  const int64_t start = array.offset() * int64_t(itemsize(array.dtype()));
  out.addresses[i] = memory + start;
  out.pointers[i] = &out.addresses[i];
  out.accesses.push_back({memory, start, int64_t(array.nbytes()), write});
}

Arguments arguments_of(const ProgramBox& program, const KernelEntry& kernel, std::span<const KernelArgument> given) {
  if (given.size() != kernel.parameters.size())
    throw DTypeError(op_text(op),
                     "the kernel " + kernel.name + " got " + std::to_string(given.size()) + " arguments, and has " +
                         std::to_string(kernel.parameters.size()) + " parameters",
                     "The kernel takes " + signature_text(kernel.parameters));
  Arguments out;
  out.addresses.resize(given.size());
  out.pointers.resize(given.size());
  for (size_t i = 0; i < given.size(); ++i) {
    if (given[i].array) {
      add_array(out, program, kernel, i, *given[i].array);
      continue;
    }
    if (given[i].size != kernel.parameters[i].size) misfit(kernel, i, std::to_string(given[i].size) + " bytes");
    out.pointers[i] = const_cast<void*>(given[i].value);
  }
  return out;
}

// A graph keeps what its launches use.
void note_uses(std::span<const KernelArgument> given, const Arguments& arguments, StreamBox& stream) {
  const std::shared_ptr<GraphCapture> capture = stream.capture();
  size_t access = 0;
  for (const KernelArgument& argument : given) {
    if (!argument.array) continue;
    Buffer& buffer = *argument.array->buffer();
    if (capture) capture->hold(buffer, arguments.accesses[access].write);
    ++access;
    buffer.note_use(stream.index());
    if (!capture || buffer.arena() == capture->arena.get()) buffer.set_last_stream(stream.index());
  }
}

}  // namespace

bool has_cooperative_launch(const Backend& backend) {
  if (!backend.context())
    throw ValueError(op_text(op), "got a default-constructed backend", "Open one with Backend::open(device)");
  backend.context()->require_open(op);
  return backend.context()->runtime().properties().cooperative;
}

const std::string& Kernel::name() const { return require(entry_).name; }
const std::vector<KernelParameter>& Kernel::parameters() const { return require(entry_).parameters; }
const KernelAttributes& Kernel::attributes() const { return require(entry_).attributes; }
Backend Kernel::backend() const {
  require(entry_);
  return Backend(Ref<Context>(&program_->context()));
}

int Kernel::resident_blocks(int threads, size_t shared_bytes) const {
  const KernelEntry& kernel = require(entry_);
  Context& context = program_->context();
  const OpGuard guard(context, call::occupancy);
  program_->require_open(call::occupancy);
  if (threads < 1 || threads > kernel.attributes.max_threads)
    throw ValueError(op_text(call::occupancy), "got a block of " + std::to_string(threads) + " threads",
                     kernel.name + " takes 1 to " + std::to_string(kernel.attributes.max_threads));
  if (shared_bytes > kernel.attributes.max_dynamic_shared_bytes) return 0;
  return context.runtime().resident_blocks(kernel.handle, threads, shared_bytes, call::occupancy);
}

int Kernel::suggested_threads(size_t shared_bytes) const {
  const KernelEntry& kernel = require(entry_);
  int best = 0, most = 0;
  for (int threads = 32; threads <= kernel.attributes.max_threads; threads += 32) {
    const int resident = threads * resident_blocks(threads, shared_bytes);
    if (resident <= most) continue;
    most = resident;
    best = threads;
  }
  if (best == 0)
    throw ValueError(op_text(call::occupancy),
                     std::to_string(shared_bytes) + " bytes of dynamic shared memory leave room for no block",
                     kernel.name + " can have " + std::to_string(kernel.attributes.max_dynamic_shared_bytes));
  return best;
}

void Kernel::refuse(size_t index, const std::string& given, const std::string& remedy) const {
  misfit(require(entry_), index, given, remedy);
}

void Kernel::check(const LaunchConfig& config, std::span<const KernelArgument> given) const {
  const KernelEntry& kernel = require(entry_);
  const OpGuard guard(program_->context(), op);
  program_->require_open(op);
  check_limits(*program_, kernel, config);
  arguments_of(*program_, kernel, given);
}

void Kernel::launch(const LaunchConfig& config, std::span<const KernelArgument> given, const Stream& stream) const {
  const KernelEntry& kernel = require(entry_);
  Context& context = program_->context();
  const OpGuard guard(context, op);
  program_->require_open(op);
  StreamBox& on = context.chosen_stream(stream, 0, op);
  check_limits(*program_, kernel, config);
  const Arguments arguments = arguments_of(*program_, kernel, given);
  on.raise_pending(op);
  note_uses(given, arguments, on);
  if (const std::shared_ptr<GraphCapture> capture = on.capture()) capture->keep(*program_);
  program_->note_use(on.index());
  const runtime::KernelLaunch launch{config.grid, config.block, config.shared_bytes, config.cooperative,
                                     const_cast<void**>(arguments.pointers.data())};
  context.runtime().launch_kernel(kernel.handle, kernel.name.c_str(), launch, on.handle(op),
                                  {op, arguments.accesses.data(), int(arguments.accesses.size()), false});
}

}  // namespace stator
