#include "emulator/runtime/record.hpp"

#include "emulator/runtime/system.hpp"

#include <fcntl.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <set>

namespace stator::emulator::runtime {
namespace {

using CounterValues = decltype(Counters{}.values());

struct Kept {
  std::string kernel;
  LaunchRecord launch;
  std::array<uint64_t, Counters::count> counters;
};

class Recorder {
 public:
  Recorder() {
    const char* const folder = std::getenv("STATOR_EMULATE_RECORD");
    if (!folder || !*folder) return;
    path_ = std::string(folder) + "/emulated-" + std::to_string(getpid()) + "-" +
            std::to_string(Clock::now().time_since_epoch().count()) + ".tsv";
    std::atexit([] { instance().write(); });
  }
  // Never destroyed, as kernels may run while the process exits.
  static Recorder& instance() {
    static Recorder* const made = new Recorder;
    return *made;
  }

  bool records() const { return !path_.empty(); }

  void note(const LaunchRecord& launch, const Result& result) {
    const std::lock_guard lock(mutex_);
    if (watching_) keep(launch, result.counters);
    if (!records()) return;
    const bool first = seen_.insert(launch.kernel).second;
    Sums& sums = kernels_[launch.kernel];
    ++sums.launches;
    sums.counters += result.counters;
    for (const FormCount& f : result.forms) {
      Form& form = forms_[std::string(f.form)];
      form.instructions += first ? f.instructions : 0;
      form.executed += f.executed;
    }
    if (first || Clock::now() - written_ > std::chrono::seconds(1)) write_locked();
  }
  void note(ListCalls list) {
    const std::lock_guard lock(mutex_);
    if (!records()) return;
    if (lists_.insert(list).second) return;  // it was loaded
    write_locked();
  }

  void watch(bool on) {
    const std::lock_guard lock(mutex_);
    watching_ = on;
    kept_.clear();
  }
  template <class F>
  void each_kept(F f) {
    const std::lock_guard lock(mutex_);
    for (Kept& kept : kept_) {
      kept.launch.kernel = kept.kernel.c_str();
      kept.launch.counters = kept.counters.data();
      f(&kept.launch);
    }
  }

 private:
  struct Sums {
    uint64_t launches = 0;
    Counters counters;
  };
  struct Form {
    uint64_t instructions = 0, executed = 0;
  };

  void keep(const LaunchRecord& launch, const Counters& counters) {
    Kept& kept = kept_.emplace_back(Kept{launch.kernel, launch, {}});
    const CounterValues values = counters.values();
    for (size_t i = 0; i < values.size(); ++i) kept.counters[i] = values[i].value;
  }

  // At exit. Not in a child of the process, which has a copy of the sums, and of a mutex that may be locked.
  void write() {
    if (getpid() != process_) return;
    const std::lock_guard lock(mutex_);
    write_locked();
  }
  // Appends what came since the last time, by one call of the system.
  void write_locked() {
    std::string text = written_ == Clock::time_point{} ? columns() : "";
    for (const auto& [name, sums] : kernels_) {
      text += "kernel\t" + name + "\t" + std::to_string(sums.launches);
      for (const Counters::Value& each : sums.counters.values()) text += "\t" + std::to_string(each.value);
      text += "\n";
    }
    for (const auto& [form, counts] : forms_)
      text +=
          "form\t" + form + "\t" + std::to_string(counts.instructions) + "\t" + std::to_string(counts.executed) + "\n";
    for (const ListCalls list : lists_)
      list([](void* self, const char* name, uint64_t count) { static_cast<Recorder*>(self)->call(name, count); }, this);
    text += calls_text_;
    kernels_.clear();
    forms_.clear();
    calls_text_.clear();
    written_ = Clock::now();
    append(text);
  }
  void call(const char* name, uint64_t count) {
    uint64_t& before = calls_[name];
    if (count != before) calls_text_ += std::string("call\t") + name + "\t" + std::to_string(count - before) + "\n";
    before = count;
  }
  static std::string columns() {
    std::string text = "columns";
    for (const Counters::Value& each : Counters{}.values()) text += std::string("\t") + each.name;
    return text + "\n";
  }
  void append(const std::string& text) {
    if (text.empty() || failed_) return;
    const int file = open(path_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    failed_ = file < 0 || ::write(file, text.data(), text.size()) != ssize_t(text.size());
    if (failed_) std::fprintf(stderr, "stator: %s could not be written: %s\n", path_.c_str(), std::strerror(errno));
    if (file >= 0) close(file);
  }

  std::mutex mutex_;
  std::string path_;
  const pid_t process_ = getpid();
  bool failed_ = false, watching_ = false;
  Clock::time_point written_{};
  std::set<std::string> seen_;
  std::map<std::string, Sums> kernels_;  // since the last time it was written, as the next
  std::map<std::string, Form> forms_;
  std::map<std::string, uint64_t> calls_;  // that were written
  std::string calls_text_;
  std::set<ListCalls> lists_;
  std::deque<Kept> kept_;
};

}  // namespace

bool records_forms() { return Recorder::instance().records(); }
void note_launch(const LaunchRecord& launch, const Result& result) { Recorder::instance().note(launch, result); }
void note_calls(ListCalls list) { Recorder::instance().note(list); }

}  // namespace stator::emulator::runtime

using stator::emulator::Counters;
using namespace stator::emulator::runtime;

void stator_emulator_watch(int on) { Recorder::instance().watch(on != 0); }

void stator_emulator_launches(void (*visit)(void* self, const LaunchRecord* launch), void* self) {
  Recorder::instance().each_kept([&](const LaunchRecord* launch) { visit(self, launch); });
}

const char* stator_emulator_counter(uint32_t index) {
  return index < Counters::count ? Counters{}.values()[index].name : nullptr;
}

// Memory moves data twice per clock; each of a multiprocessor's four schedulers issues an instruction per clock.
int stator_emulator_peaks(int device, double* bytes, double* instructions) {
  System* const s = system();
  const Device* const found = s ? device_at(*s, device) : nullptr;
  if (!found) return 0;
  const stator::emulator::Profile& p = found->profile;
  *bytes = 2e3 * p.memory_clock_khz * p.memory_bus_bits / 8;
  *instructions = 4e3 * p.multiprocessors * p.clock_khz;
  return 1;
}
