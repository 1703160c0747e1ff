// What the tests of the checked target's kernels share: exact heap buffers, so that one byte beyond is the
// sanitizer's; two orders of blocks and threads with equal bits; the grid that launchers pick for an H200.
#pragma once

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "check.hpp"
#include "core/target.hpp"
#include "params/creation.hpp"
#include "params/fft.hpp"
#include "params/indexing.hpp"
#include "params/linalg.hpp"
#include "params/matmul.hpp"
#include "params/movement.hpp"
#include "params/nn.hpp"
#include "params/optim.hpp"
#include "params/random.hpp"
#include "params/reduce.hpp"
#include "params/scan.hpp"
#include "params/sets.hpp"
#include "params/sort.hpp"
#include "params/sparse.hpp"

namespace stator {

using test::check;

inline const kernels::TargetKernels& checked = target_for((setenv("STATOR_HOST_MODE", "checked", 1), DeviceType::cpu));
inline const params::DeviceLimits h200{132, 2048, 32, 227 * 1024, 50 << 20, params::Target::host_checked};

struct Recorder {
  uint32_t claim = 0;
  params::FaultRecord record{};
  int launches = 0;

  static void submit(const params::Queue& q, const params::Launch& launch) {
    ++static_cast<Recorder*>(q.stream)->launches;
    const char* fault = launch.entry(launch, 0, launch.blocks);
    check(fault == nullptr, fault ? fault : launch.name);
  }
  params::Queue queue(Op op) { return {submit, this, &h200, {&claim, &record}, nullptr, 0, uint16_t(op)}; }
};

// An array on the heap, exactly as large as it is.
struct Bytes {
  std::vector<unsigned char> data;
  DType dtype;
  Bytes(DType d, int64_t n) : data(size_t(n) * itemsize(d)), dtype(d) {}
  void* get() { return data.data(); }
  int64_t size() const { return int64_t(data.size()) / itemsize(dtype); }
};

using Value = std::complex<double>;

inline Value read(const Bytes& x, int64_t i) {
  return visit(x.dtype, [&]<class T>(type_tag<T>) -> Value {
    T v;
    std::memcpy(&v, x.data.data() + i * sizeof(T), sizeof(T));
    if constexpr (std::is_same_v<T, complex64> || std::is_same_v<T, complex128>)
      return {v.re, v.im};
    else if constexpr (std::is_same_v<T, float16> || std::is_same_v<T, bfloat16>)
      return float(v);
    else
      return double(v);
  });
}
inline double real(const Bytes& x, int64_t i) { return read(x, i).real(); }

inline void write(Bytes& x, int64_t i, Value value) {
  visit(x.dtype, [&]<class T>(type_tag<T>) {
    T v;
    if constexpr (std::is_same_v<T, float16> || std::is_same_v<T, bfloat16>)
      v = T(float(value.real()));
    else if constexpr (std::is_same_v<T, complex64> || std::is_same_v<T, complex128>)
      v = {decltype(v.re)(value.real()), decltype(v.re)(value.imag())};
    else
      v = T(value.real());
    std::memcpy(x.data.data() + i * sizeof(T), &v, sizeof(T));
  });
}

// Small whole numbers, 1 to 7: exact in every dtype, and in bool not 0.
inline Bytes numbers(DType dtype, int64_t n, int seed) {
  Bytes x(dtype, n);
  for (int64_t i = 0; i < n; ++i) write(x, i, double((i * 5 + seed * 3) % 7 + 1));
  return x;
}

// Numbers of both signs whose sums and products are exact in every dtype: quarters, or whole where dtype has no others.
inline Value varied(DType dtype, int64_t i, int seed) {
  const double v = double((i * 5 + seed * 3) % 29 - 14);
  if (dtype == DType::bool_) return (i * 5 + seed) % 3 != 0;
  if (in(dtype, dtypes::unsigned_integers)) return double((i * 5 + seed * 3) % 13);
  if (in(dtype, dtypes::integers)) return double((i * 5 + seed * 3) % 15 - 7);
  return {v / 4, in(dtype, dtypes::complexes) ? double((i * 3 + seed) % 17 - 8) / 4 : 0};
}

// Runs `work` on a fresh copy of the output under two orders: equal bits, as many launches as stated; the output.
inline Bytes run(const std::string& name, Op op, const Bytes& blank,
                 const std::function<void(const params::Queue&, Bytes&)>& work, int launches = 1) {
  Bytes first = blank;
  for (uint64_t seed : {0, 1}) {
    checked.set_block_seed(seed);
    Bytes out = blank;
    Recorder device;
    work(device.queue(op), out);
    check(device.launches == launches, name + ": launches", device.launches);
    check(device.record.fault == 0, name + ": error slot");
    if (seed == 0)
      first = out;
    else
      check(out.data == first.data, name + ": bits under another order", seed);
  }
  checked.set_block_seed(0);
  return first;
}

inline void expect(const std::string& name, const Bytes& got, const std::function<Value(int64_t)>& want,
                   double tolerance) {
  for (int64_t i = 0; i < got.size(); ++i) {
    const Value a = read(got, i), b = want(i);
    const bool nan = std::isnan(b.real()) || std::isnan(b.imag());
    if (nan ? std::isnan(a.real()) || std::isnan(a.imag())
            : a == b || std::abs(a - b) <= tolerance * std::max(1.0, std::abs(b)))
      continue;
    check(false, name + ": " + std::to_string(a.real()) + " instead of " + std::to_string(b.real()) + " at", i);
    return;
  }
  check(true, name);
}

inline double tolerance(DType d) {
  return d == DType::bfloat16 ? 1e-2 : d == DType::float16 ? 2e-3 : real_part(d) == DType::float32 ? 1e-5 : 1e-12;
}

}  // namespace stator
