// A device with one program: what the tests of the emulator are written with.
#pragma once

#include "check.hpp"
#include "emulator/emulator.hpp"

#include <array>
#include <cstring>
#include <string>
#include <vector>

namespace stator::emulator::test {

using stator::test::Case;

constexpr const char* head = ".version 8.0\n.target sm_80\n.address_size 64\n";

// A kernel "k" with 64-bit parameters p0, p1, ... and registers of every kind.
inline std::string kernel(const std::string& body, int parameters = 1, const std::string& before = "") {
  std::string text = head + before + "\n.visible .entry k(";
  for (int i = 0; i < parameters; ++i) text += (i ? ", .param .u64 p" : ".param .u64 p") + std::to_string(i);
  text +=
      ")\n{\n.reg .pred %p<16>;\n.reg .b16 %h<32>;\n.reg .b32 %r<64>;\n.reg .b64 %d<64>;\n.reg .f32 %f<32>;\n.reg .f64 "
      "%g<32>;\n";
  return text + body + "\nret;\n}\n";
}

struct Rig {
  Device device;
  Report loaded;
  std::unique_ptr<Program> program;

  explicit Rig(const std::string& text, Settings settings = {}, const char* profile = "h100")
      : device(*find_profile(profile), settings), program(device.load(text, &loaded)) {
    if (!program) stator::test::fail(loaded.str());
  }

  template <class T>
  T* array(const std::vector<T>& values, const char* label = "") {
    void* const p = device.memory().allocate(values.size() * sizeof(T), MemoryKind::device, label);
    device.memory().write(p, values.data(), values.size() * sizeof(T));
    return static_cast<T*>(p);
  }
  template <class T>
  T* empty(size_t count, const char* label = "") {
    return static_cast<T*>(device.memory().allocate(count * sizeof(T), MemoryKind::device, label));
  }
  template <class T>
  std::vector<T> read(const T* from, size_t count) {
    std::vector<T> values(count);
    const Report report = device.memory().read(values.data(), from, count * sizeof(T));
    if (report) stator::test::fail(report.str());
    return values;
  }

  // Parameters are 64 bits each.
  template <class... Arguments>
  Result launch(const LaunchConfig& config, Arguments... arguments) {
    std::array<uint64_t, sizeof...(arguments)> values{bits(arguments)...};
    std::array<void*, sizeof...(arguments)> pointers;
    for (size_t i = 0; i < values.size(); ++i) pointers[i] = &values[i];
    return device.launch(*program, "k", config, pointers);
  }
  template <class... Arguments>
  Result run(uint32_t blocks, uint32_t threads, Arguments... arguments) {
    LaunchConfig config;
    config.grid.x = blocks;
    config.block.x = threads;
    return launch(config, arguments...);
  }

 private:
  template <class T>
  static uint64_t bits(T* p) {
    return reinterpret_cast<uint64_t>(p);
  }
  static uint64_t bits(uint64_t v) { return v; }
  static uint64_t bits(int v) { return uint64_t(v); }
};

inline void succeed(const Result& r, std::source_location at = std::source_location::current()) {
  stator::test::check(r.ok(), {r.ok() ? std::string("launch") : r.report.str(), at});
}
// The launch failed in this way, and the sentence says so.
inline void faults(const Result& r, Fault fault, const std::string& says = "",
                   std::source_location at = std::source_location::current()) {
  const bool good = r.report.fault == fault && r.report.str().find(says) != std::string::npos;
  stator::test::check(good,
                      {std::string("expected ") + name_of(fault) + " \"" + says + "\", not " + r.report.str(), at});
}

template <class T>
std::string register_type() {
  return sizeof(T) <= 2 ? ".b16" : sizeof(T) == 4 ? ".b32" : ".b64";
}
template <class T>
std::string memory_type() {
  return sizeof(T) == 1 ? ".u8" : sizeof(T) == 2 ? ".b16" : sizeof(T) == 4 ? ".b32" : ".b64";
}

// Runs the text for each element, with registers %d of the result and %a, %b, %c of the inputs.
template <class D, class... In>
std::vector<D> map(const std::string& text, const std::vector<In>&... in) {
  constexpr int count = sizeof...(In);
  const std::string names = "abc";
  std::string body = ".reg " + register_type<D>() + " %d;\n.reg .b64 %at;\n.reg .pred %q<4>;\n";
  int k = 0;
  ((body += ".reg " + register_type<In>() + " %" + names[k++] + ";\n"), ...);
  body += "mov.u32 %r0, %ctaid.x;\nmov.u32 %r1, %ntid.x;\nmov.u32 %r2, %tid.x;\nmad.lo.u32 %r0, %r0, %r1, %r2;\n";
  k = 0;
  ((body += "ld.param.u64 %at, [p" + std::to_string(k + 1) + "];\nmad.wide.u32 %at, %r0, " +
            std::to_string(sizeof(In)) + ", %at;\nld.global" + memory_type<In>() + " %" + names[k] + ", [%at];\n",
    ++k),
   ...);
  body += text + "\nld.param.u64 %at, [p0];\nmad.wide.u32 %at, %r0, " + std::to_string(sizeof(D)) +
          ", %at;\nst.global" + memory_type<D>() + " [%at], %d;\n";
  Rig rig(kernel(body, count + 1));
  if (!rig.program) return {};
  const size_t n = std::get<0>(std::tie(in...)).size();
  std::vector<std::vector<std::byte>> padded;
  const size_t blocks = (n + 127) / 128;
  D* const out = rig.empty<D>(blocks * 128);
  const auto pad = [&](const auto& v) {
    auto copy = v;
    copy.resize(blocks * 128);
    return rig.array(copy);
  };
  succeed(rig.run(uint32_t(blocks), 128, out, pad(in)...));
  std::vector<D> result = rig.read(out, blocks * 128);
  result.resize(n);
  return result;
}

// Reproducible numbers, with the extremes of the type among them.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}
  uint64_t next() {
    state_ = state_ * 6364136223846793005 + 1442695040888963407;
    uint64_t v = state_ ^ state_ >> 33;
    v *= 0xff51afd7ed558ccd;
    return v ^ v >> 33;
  }
  template <class T>
  std::vector<T> bits(size_t count) {
    std::vector<T> values(count);
    for (size_t i = 0; i < count; ++i) {
      uint64_t v = next();
      if (i % 8 == 0) v = v % 3 == 0 ? 0 : v % 3 == 1 ? ~uint64_t(0) : uint64_t(1) << (8 * sizeof(T) - 1);
      if (i % 8 == 1) v = v >> (v % 64);
      std::memcpy(&values[i], &v, sizeof(T));
    }
    return values;
  }

 private:
  uint64_t state_;
};

}  // namespace stator::emulator::test
