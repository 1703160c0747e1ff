// What the tests of the runtime's double share: devices by a text, work that notes its turn, fat binaries from PTX.
#pragma once

#include "check.hpp"
#include "emulator/runtime/api.hpp"
#include "emulator/runtime/errors.hpp"
#include "emulator/services.hpp"

#include <cstring>
#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace stator::test {

namespace error = emulator::runtime::error;
using emulator::runtime::Api;

// Fresh devices; those of the case before are lost, with their faults.
inline const Api& open_devices(const char* text) {
  char reason[1024] = "";
  const Api* const api = stator_emulator_open(text, reason, sizeof reason);
  check(api != nullptr, reason);
  return *api;
}

inline void* new_stream(const Api& api, unsigned flags = 1) {
  void* stream = nullptr;
  check(api.stream_create(&stream, flags) == 0, "a stream");
  return stream;
}

inline void* new_event(const Api& api, unsigned flags = 0) {
  void* event = nullptr;
  check(api.event_create(&event, flags) == 0, "an event");
  return event;
}

// Bytes of a new pool, on a stream.
inline void* new_memory(const Api& api, size_t bytes, void* stream, int device = 0) {
  void *pool = nullptr, *pointer = nullptr;
  check(api.pool_create(&pool, device) == 0, "a pool");
  check(api.allocate_from_pool(&pointer, bytes, pool, stream) == 0, "memory");
  return pointer;
}

// Work for a stream that writes its letter when it runs.
inline int note(void* stream, std::string& log, char letter) {
  using Noted = std::pair<std::string*, char>;
  const auto run = [](void* argument) {
    const Noted& noted = *static_cast<Noted*>(argument);
    noted.first->push_back(noted.second);
  };
  const auto destroy = [](void* argument) { delete static_cast<Noted*>(argument); };
  return stator_emulator_services()->enqueue(stream, "note", run, destroy, new Noted(&log, letter));
}

// A fat binary with one image, as nvcc lays it out. Kept until the end of the process.
enum class Packing { none, lz4, zstd, malformed_zstd };

template <class T>
void append(std::string& bytes, T value) {
  bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
}

// A block of LZ4 with literals, and with a match where 64 spaces follow each other.
inline std::string lz4_of(const std::string& text) {
  std::string block;
  size_t start = 0;
  const auto sequence = [&](size_t literals, size_t match) {
    const auto nibble = [](size_t length) { return length < 15 ? length : 15; };
    const auto more = [&](size_t length) {
      if (length < 15) return;
      for (length -= 15; length >= 255; length -= 255) block.push_back(char(255));
      block.push_back(char(length));
    };
    block.push_back(char(nibble(literals) << 4 | (match ? nibble(match - 4) : 0)));
    more(literals);
    block.append(text, start, literals);
    start += literals + match;
    if (!match) return;
    block.push_back(1);  // the distance, low byte first
    block.push_back(0);
    more(match - 4);
  };
  const std::string run(64, ' ');
  for (size_t at = text.find(run); at != std::string::npos; at = text.find(run, start)) sequence(at + 1 - start, 63);
  sequence(text.size() - start, 0);
  return block;
}

// A frame of zstd whose one block is stored as it is (RFC 8878).
inline std::string zstd_of(const std::string& text) {
  std::string frame;
  append(frame, uint32_t(0xfd2fb528));
  append(frame, uint8_t(0xa0));  // one segment; its size in four bytes
  append(frame, uint32_t(text.size()));
  const auto block = uint32_t(text.size() << 3 | 1);  // the last one, raw
  for (int k = 0; k < 3; ++k) append(frame, uint8_t(block >> (8 * k)));
  return frame + text;
}

inline const void* fat_binary_of(const std::string& ptx, Packing packing = Packing::none) {
  const std::string content = packing == Packing::lz4 ? lz4_of(ptx) : packing == Packing::zstd ? zstd_of(ptx) : ptx;
  const size_t padded = (content.size() + 8) / 8 * 8;
  static std::deque<std::string> binaries;  // live as long as the program, as those of a library do
  static std::deque<emulator::runtime::FatBinaryWrapper> wrappers;
  std::string& bytes = binaries.emplace_back();
  append(bytes, uint32_t(0xba55ed50));
  append(bytes, uint16_t(1));
  append(bytes, uint16_t(16));
  append(bytes, uint64_t(64 + padded));
  append(bytes, uint16_t(1));  // PTX
  append(bytes, uint16_t(0x101));
  append(bytes, uint32_t(64));
  append(bytes, uint64_t(padded));
  append(bytes, uint32_t(packing == Packing::none ? 0 : content.size()));
  append(bytes, uint32_t(0));
  append(bytes, uint32_t(0x00090000));
  append(bytes, uint32_t(80));
  append(bytes, uint64_t(0));
  append(bytes, uint64_t(packing == Packing::lz4 ? 0x2011 : packing == Packing::none ? 0x11 : 0x8011));
  append(bytes, uint64_t(0));
  append(bytes, uint64_t(packing == Packing::none ? 0 : ptx.size()));
  bytes += content;
  bytes.resize(16 + 64 + padded, '\0');
  wrappers.push_back({0x466243b1, 1, bytes.data(), nullptr});
  return &wrappers.back();
}

// Kernels of one text, by pointers of the host that stand for them.
inline const char fill_kernel = 0, shared_kernel = 0, trap_kernel = 0;

inline const char* kernel_text = R"(
.version 8.0
.target sm_80
.address_size 64

.visible .entry fill(.param .u64 p, .param .u32 value)
{
  .reg .b32 %r<5>;
  .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [p];
  ld.param.u32 %r1, [value];
  mov.u32 %r2, %ctaid.x;
  mov.u32 %r3, %ntid.x;
  mov.u32 %r4, %tid.x;
  mad.lo.s32 %r2, %r2, %r3, %r4;
  mul.wide.u32 %rd2, %r2, 4;
  add.s64 %rd3, %rd1, %rd2;
  st.global.u32 [%rd3], %r1;
  ret;
}

.extern .shared .align 16 .b8 dynamic[];
.visible .entry shared()
{
  .reg .b32 %r<2>;
  mov.u32 %r1, 0;
  st.shared.u32 [dynamic], %r1;
  ret;
}

.visible .entry trap()
{
  trap;
  ret;
}
)";

inline void register_kernels(const Api& api, Packing packing = Packing::none) {
  void** const binary = api.register_fat_binary(fat_binary_of(kernel_text + std::string(200, ' '), packing));
  api.register_function(binary, &fill_kernel, "fill");
  api.register_function(binary, &shared_kernel, "shared");
  api.register_function(binary, &trap_kernel, "trap");
}

inline int launch_fill(const Api& api, void* memory, uint32_t value, uint32_t threads, void* stream) {
  void* arguments[] = {&memory, &value};
  const uint32_t grid[] = {1, 1, 1}, block[] = {threads, 1, 1};
  return api.launch(&fill_kernel, grid, block, arguments, 0, stream);
}

}  // namespace stator::test
