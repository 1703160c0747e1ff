// The tables of stator's own Fourier transforms, in the layouts of params/fft.hpp, computed in long double.
#pragma once

#include "core/op_call.hpp"
#include "libs/plan_cache.hpp"
#include "params/fft.hpp"

#include <memory>
#include <vector>

namespace stator::fft {

// Lengths whose prime factors are all below 62 are transformed as they are.
bool is_smooth(int64_t n);
// The least convenient length that is at least n.
int64_t convenient_length(int64_t n);

// The tables of one call, kept until its launches are enqueued.
class Tables {
 public:
  Tables(OpCall& call, bool is_double);

  params::FftPasses passes(int64_t n);  // smooth, below 2^31
  void columns(int64_t n1, int64_t n2, const void** lane_roots, const void** block_roots);
  const void* real_roots(int64_t m);  // exp(-2 pi i k / 2m), k <= m
  // Bluestein's transform of n points by convolutions of m points: the chirp exp(-pi i k^2 / n) in planes re, im, -im,
  // and the transform of its conjugate over m points in planes re, im. `apart` is the distance of the planes.
  struct Chirp {
    const void *chirp, *filter;
    int64_t apart;
  };
  Chirp chirp(int64_t n, int64_t m);

 private:
  struct Key;
  template <class Make>
  const char* table(Key key, Make make);

  OpCall& call_;
  const bool is_double_;
  const int lanes_;
  std::shared_ptr<libs::PlanCache> cache_;
  std::vector<std::shared_ptr<const libs::DeviceTable>> tables_;
};

}  // namespace stator::fft
