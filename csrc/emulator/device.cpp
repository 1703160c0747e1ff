#include "emulator/machine/schedule.hpp"
#include "emulator/program.hpp"

#include <algorithm>
#include <cstring>

namespace stator::emulator {
namespace {

Report refusal(Fault fault, std::string_view kernel, std::string sentence) {
  Report report;
  report.fault = fault;
  report.kernel = kernel;
  report.sentence = std::move(sentence);
  return report;
}

std::string text(const Dim3& d) {
  return "(" + std::to_string(d.x) + ", " + std::to_string(d.y) + ", " + std::to_string(d.z) + ")";
}

// The first limit of the profile or of the kernel that the launch exceeds.
std::string exceeded(const Profile& p, const Kernel& k, const LaunchConfig& c) {
  const uint64_t threads = c.block.count();
  if (threads == 0 || c.grid.count() == 0)
    return "The grid " + text(c.grid) + " or the block " + text(c.block) + " is empty.";
  if (c.grid.x > p.grid_x || c.grid.y > p.grid_y || c.grid.z > p.grid_z)
    return "The grid " + text(c.grid) + " exceeds " + text({p.grid_x, p.grid_y, p.grid_z}) + ".";
  if (threads > p.threads_per_block || c.block.x > p.block_x || c.block.y > p.block_y || c.block.z > p.block_z)
    return "The block " + text(c.block) + " exceeds " + std::to_string(p.threads_per_block) + " threads or " +
           text({p.block_x, p.block_y, p.block_z}) + ".";
  if (k.max_threads.x && threads > k.max_threads.count())
    return "The block has " + std::to_string(threads) + " threads; the kernel is compiled for at most " +
           std::to_string(k.max_threads.count()) + ".";
  if (k.required_threads.x && c.block != k.required_threads)
    return "The block " + text(c.block) + " is not the kernel's " + text(k.required_threads) + ".";
  if (k.shared_bytes > p.shared_per_block)
    return "The kernel's " + std::to_string(k.shared_bytes) + " bytes of static shared memory exceed " +
           std::to_string(p.shared_per_block) + ".";
  const uint64_t most = c.dynamic_shared_limit ? c.dynamic_shared_limit : p.shared_per_block - k.shared_bytes;
  if (c.dynamic_shared > most)
    return "The " + std::to_string(c.dynamic_shared) + " bytes of dynamic shared memory exceed the " +
           std::to_string(most) + " that the kernel may have" +
           (c.dynamic_shared_limit ? "." : " without opting in to more.");
  if (k.shared_bytes + c.dynamic_shared > p.shared_per_block_optin)
    return "The block's " + std::to_string(k.shared_bytes + c.dynamic_shared) + " bytes of shared memory exceed " +
           std::to_string(p.shared_per_block_optin) + ".";
  if (k.parameter_bytes > p.parameter_bytes)
    return "The kernel's " + std::to_string(k.parameter_bytes) + " bytes of parameters exceed " +
           std::to_string(p.parameter_bytes) + ".";
  if (c.registers > p.registers_per_thread)
    return std::to_string(c.registers) + " registers of a thread exceed " + std::to_string(p.registers_per_thread) +
           ".";
  const uint64_t registers = (uint64_t(c.registers) + 7) / 8 * 8 * ((threads + 31) / 32 * 32);
  if (registers > p.registers_per_block)
    return "The block's " + std::to_string(registers) + " registers exceed " + std::to_string(p.registers_per_block) +
           ".";
  return {};
}

std::vector<FormCount> form_counts(const machine::Code& code, const std::vector<uint64_t>& executed) {
  std::vector<FormCount> found(code.form_names.size());
  for (size_t f = 0; f < found.size(); ++f) found[f].form = code.form_names[f];
  for (size_t i = 0; i < executed.size(); ++i) {
    FormCount& form = found[code.forms[i]];
    ++form.instructions;
    form.executed += executed[i];
  }
  std::erase_if(found, [](const FormCount& f) { return f.form.empty() || f.instructions == 0; });
  return found;
}

}  // namespace

struct Device::State {
  State(const Profile& of, Settings with) : profile(of), settings(with), memory(of.memory_bytes) {}
  Profile profile;
  Settings settings;
  Memory memory;
};

Device::Device(const Profile& profile, Settings settings) : state_(std::make_unique<State>(profile, settings)) {}
Device::~Device() = default;

const Profile& Device::profile() const { return state_->profile; }
Settings& Device::settings() { return state_->settings; }
Memory& Device::memory() { return state_->memory; }

namespace {

// Functions that a module declares and the device's runtime has, appended to the module's text. The handle of a
// conditional node of a graph is the address of its value.
void add_runtime_functions(std::string& ptx) {
  const std::string declared = ".func cudaGraphSetConditional";
  if (ptx.find(".extern " + declared) == std::string::npos) return;
  ptx += "\n" + declared + R"((.param .b64 handle, .param .b32 value)
{
  .reg .b32 %r<2>;
  .reg .b64 %rd<2>;
  ld.param.u64 %rd1, [handle];
  ld.param.u32 %r1, [value];
  st.global.u32 [%rd1], %r1;
  ret;
}
)";
}

}  // namespace

std::unique_ptr<Program> Device::load(std::string ptx, Report* report) {
  Report why;
  std::unique_ptr<Program> program;
  std::string reason;
  const machine::Level* const level = machine::load_level(&reason);
  if (!level) {
    why = refusal(Fault::unsupported, "", reason);
  } else {
    try {
      add_runtime_functions(ptx);
      auto state = std::make_unique<Program::State>(state_->memory, level, std::move(ptx));
      why = state->place_variables();
      if (!why) program.reset(new Program(std::move(state)));
    } catch (const ptx::Error& error) {
      why = refusal(Fault::syntax, "", error.what());
      why.ptx_line = error.line;
    }
  }
  if (report) *report = why;
  return program;
}

uint32_t Device::resident_blocks(const Kernel& kernel, const LaunchConfig& config) const {
  const Profile& p = state_->profile;
  if (!exceeded(p, kernel, config).empty()) return 0;
  const uint64_t warps = (config.block.count() + 31) / 32;
  uint64_t blocks = std::min<uint64_t>(p.blocks_per_multiprocessor, p.threads_per_multiprocessor / 32 / warps);
  const uint64_t shared = (kernel.shared_bytes + config.dynamic_shared + p.shared_reserved + 127) / 128 * 128;
  blocks = std::min(blocks, p.shared_per_multiprocessor / shared);
  // Registers are allocated to warps in pieces of 256.
  if (config.registers)
    blocks = std::min<uint64_t>(
        blocks, p.registers_per_multiprocessor / ((uint64_t(config.registers) * 32 + 255) / 256 * 256 * warps));
  return uint32_t(blocks);
}

Result Device::launch(Program& program, std::string_view kernel, const LaunchConfig& config,
                      std::span<void* const> arguments) {
  Result result;
  const Kernel* const k = program.kernel(kernel, &result.report);
  if (!k) return result;
  if (arguments.size() != k->parameters.size()) {
    result.report = refusal(Fault::parameters, kernel,
                            "The kernel takes " + std::to_string(k->parameters.size()) + " parameters, not " +
                                std::to_string(arguments.size()) + ".");
    return result;
  }
  std::vector<std::byte> bytes(k->parameter_bytes);
  for (size_t i = 0; i < arguments.size(); ++i)
    std::memcpy(bytes.data() + k->parameters[i].offset, arguments[i], k->parameters[i].bytes);
  return launch_bytes(program, kernel, config, bytes);
}

Result Device::launch_bytes(Program& program, std::string_view kernel, const LaunchConfig& config,
                            std::span<const std::byte> parameters) {
  Result result;
  const Program::State::Decoded& d = program.state_->decoded(kernel);
  if (!d.code) {
    result.report = d.report;
    return result;
  }
  if (parameters.size() != d.kernel.parameter_bytes) {
    result.report = refusal(Fault::parameters, kernel,
                            "The kernel takes " + std::to_string(d.kernel.parameter_bytes) +
                                " bytes of parameters, not " + std::to_string(parameters.size()) + ".");
    return result;
  }
  if (const std::string why = exceeded(state_->profile, d.kernel, config); !why.empty()) {
    result.report = refusal(Fault::launch_limit, kernel, why);
    return result;
  }
  machine::Launch launch;
  launch.code = d.code.get();
  launch.level = program.state_->level;
  launch.memory = &state_->memory;
  launch.profile = &state_->profile;
  launch.settings = state_->settings;
  launch.grid = config.grid;
  launch.block = config.block;
  launch.dynamic_shared = config.dynamic_shared;
  launch.parameters.assign(parameters.begin(), parameters.end());
  launch.module = &program.state_->module;
  launch.cooperative = config.cooperative;
  launch.resident =
      std::max<uint64_t>(1, uint64_t(resident_blocks(d.kernel, config)) * state_->profile.multiprocessors);
  if (config.cooperative && config.grid.count() > launch.resident) {
    result.report = refusal(Fault::launch_limit, kernel,
                            "A cooperative grid of " + std::to_string(config.grid.count()) + " blocks exceeds the " +
                                std::to_string(launch.resident) + " that are resident at once.");
    return result;
  }
  // What cooperative_groups expects at that address: the bytes of the workspace, and a counter of arrivals.
  constexpr uint32_t workspace[] = {8, 0};
  void* const shared = config.cooperative ? state_->memory.allocate(sizeof workspace) : nullptr;
  if (config.cooperative && !shared) {
    result.report =
        refusal(Fault::out_of_memory, kernel, "There is no memory for the workspace of a cooperative grid.");
    return result;
  }
  if (shared) {
    state_->memory.set_label(shared, "the workspace of a cooperative grid");
    state_->memory.write(shared, workspace, sizeof workspace);
    launch.workspace = reinterpret_cast<uint64_t>(shared);
  }
  if (launch.settings.races) launch.races = std::make_unique<memory::RaceChecker>();
  state_->memory.begin_launch();
  result.report = machine::run_grid(launch, result.counters);
  state_->memory.end_launch();
  if (shared) state_->memory.free(shared);
  if (launch.settings.forms) result.forms = form_counts(*launch.code, launch.executed);
  return result;
}

}  // namespace stator::emulator
