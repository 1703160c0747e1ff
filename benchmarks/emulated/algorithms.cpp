// For nvcc: CUB's algorithms as plain functions, for benchmarks/emulated/cub.py. Each is called twice, as CUB has
// it: without a workspace it says how many bytes of one it needs.
#include <cub/cub.cuh>

#include <cstddef>
#include <cstdint>

#define CUB_CALL(NAME, PARAMETERS, ...)                                                                    \
  extern "C" __attribute__((visibility("default"))) int NAME(void* workspace, size_t* bytes, PARAMETERS) { \
    return int(__VA_ARGS__);                                                                               \
  }
#define COMMA ,

namespace {

struct Exp {
  __device__ float operator()(float x) const { return expf(x); }
};
struct Positive {
  __device__ bool operator()(float x) const { return x > 0; }
};

}  // namespace

CUB_CALL(reduce_sum, const float* in COMMA float* out COMMA int n,
         cub::DeviceReduce::Sum(workspace, *bytes, in, out, n))
CUB_CALL(scan_sum, const float* in COMMA float* out COMMA int n,
         cub::DeviceScan::InclusiveSum(workspace, *bytes, in, out, n))
CUB_CALL(radix_sort, const float* in COMMA float* out COMMA int n,
         cub::DeviceRadixSort::SortKeys(workspace, *bytes, in, out, n))
CUB_CALL(select_if, const float* in COMMA float* out COMMA int* count COMMA int n,
         cub::DeviceSelect::If(workspace, *bytes, in, out, count, n, Positive{}))
CUB_CALL(histogram, const float* in COMMA int* bins COMMA int levels COMMA float low COMMA float high COMMA int n,
         cub::DeviceHistogram::HistogramEven(workspace, *bytes, in, bins, levels, low, high, n))
CUB_CALL(transform, const float* in COMMA float* out COMMA int n,
         cub::DeviceTransform::Transform(workspace, *bytes, in, out, n, Exp{}))
