// The general elementwise kernel of the fast host: chunks of the operands pass through buffers of the compute type, and
// a function of the op computes the results of a chunk. One kernel serves all functors and types.
#include "kernels/elementwise/segments.cuh"
#include "kernels/elementwise/strided.cuh"

namespace stator::STATOR_TARGET::elementwise {
namespace {

// The operands of a block. Dense operands of the compute type are used in place, and those that repeat within a chunk
// (a number, a row) are loaded once.
template <int N>
class Chunks {
 public:
  explicit Chunks(const Strided<N>& p) : p_(p), itemsize_(itemsize(p.compute)) {
    const auto& l = p.layout;
    for (int k = 0; k < N; ++k) {
      period_[k] = p.in[k] == nullptr ? 1 : period_of(l, k + 1);
      if (period_[k] > size()) period_[k] = 0;
      dense_[k] = p.dtype[k] == p.compute && p.in[k] != nullptr && is_row_major(l, k + 1);
      if (period_[k] == 0) continue;
      if (p.in[k] != nullptr)
        load(k, 0, period_[k]);
      else
        std::memcpy(buffer_[k], p.value[k], size_t(itemsize_));
      const int64_t used = std::min(size() + period_[k], l.size) * itemsize_;
      for (int64_t filled = period_[k] * itemsize_; filled < used; filled *= 2)
        std::memcpy(buffer_[k] + filled, buffer_[k], size_t(std::min(filled, used - filled)));
    }
  }

  int64_t size() const { return StridedTuning::chunk_bytes / itemsize_; }

  // Sets x[k] to elements [at, at + n) of operand k.
  void load(int64_t at, int64_t n, const void* (&x)[N]) {
    for (int k = 0; k < N; ++k) {
      x[k] = buffer_[k];
      if (period_[k] > 0)
        x[k] = buffer_[k] + at % period_[k] * itemsize_;
      else if (dense_[k])
        x[k] = static_cast<const char*>(p_.in[k]) + at * itemsize_;
      else
        load(k, at, n);
    }
  }

 private:
  void load(int k, int64_t at, int64_t n) {
    const auto& l = p_.layout;
    load_segments(buffer_[k], p_.compute, p_.in[k], p_.dtype[k], {l.shape, l.strides[k + 1], l.ndim, at, n});
  }

  const Strided<N>& p_;
  int itemsize_;
  int64_t period_[N];
  bool dense_[N];
  alignas(64) char buffer_[N][2 * StridedTuning::chunk_bytes];
};

template <int N, int Size>
STATOR_KERNEL(Size) void elementwise_chunks_kernel(Strided<N> p, ChunkResults results) {
  const Group<Size> group;
  const auto& l = p.layout;
  const int64_t begin = group.block() * StridedTuning::host_tile;
  const int64_t end = std::min(begin + StridedTuning::host_tile, l.size);
  const bool dense_out = p.out_dtype == p.result && is_row_major(l, 0);
  Chunks<N> in(p);
  const FaultReports reports{p.position, p.slot, p.op};
  const void* x[N];
  alignas(64) char result[StridedTuning::chunk_bytes];  // results are no larger than operands
  for (int64_t at = begin; at < end; at += in.size()) {
    const int64_t n = std::min(end - at, in.size());
    in.load(at, n, x);
    results(reports, x, dense_out ? static_cast<char*>(p.out) + at * itemsize(p.result) : result, at, n);
    if (!dense_out) store_segments(result, p.result, p.out, p.out_dtype, {l.shape, l.strides[0], l.ndim, at, n});
  }
}

// Contiguous operands of the compute type, or numbers, and a contiguous result: nothing is moved. The parameters are
// few, since copying those of the general kernel takes as long as a thousand additions.
template <int N>
struct Flat {
  void* out;
  const void* in[N];                       // null: `value`
  alignas(16) unsigned char value[N][16];  // of the compute type
  int64_t size;
  int32_t itemsize, result_itemsize;
  FaultReports reports;
};

template <int N, int Size>
STATOR_KERNEL(Size) void elementwise_flat_kernel(Flat<N> p, ChunkResults results) {
  const Group<Size> group;
  const int64_t begin = group.block() * StridedTuning::host_tile;
  const int64_t end = std::min(begin + StridedTuning::host_tile, p.size);
  const int64_t chunk = std::min<int64_t>(StridedTuning::chunk_bytes / p.itemsize, end - begin);
  alignas(64) char number[N][StridedTuning::chunk_bytes];
  const void* x[N];
  for (int k = 0; k < N; ++k) {
    x[k] = number[k];
    if (p.in[k] != nullptr) continue;
    const size_t used = size_t(chunk * p.itemsize);
    std::memcpy(number[k], p.value[k], size_t(p.itemsize));
    for (size_t filled = size_t(p.itemsize); filled < used; filled *= 2)
      std::memcpy(number[k] + filled, number[k], std::min(filled, used - filled));
  }
  for (int64_t at = begin; at < end; at += chunk) {
    for (int k = 0; k < N; ++k)
      if (p.in[k] != nullptr) x[k] = static_cast<const char*>(p.in[k]) + at * p.itemsize;
    results(p.reports, x, static_cast<char*>(p.out) + at * p.result_itemsize, at, std::min(end - at, chunk));
  }
}

// Returns false where the general kernel is needed.
template <int N>
bool launch_flat(const params::Queue& q, const char* name, const params::Elementwise& e, DType compute, DType result,
                 ChunkResults results) {
  const auto contiguous = [&](const params::ElementwiseOperand& operand, DType dtype) {
    return operand.dtype == dtype && (e.ndim == 0 || operand.strides[0] == 1);
  };
  if (e.ndim > 1 || !contiguous(e.out, result)) return false;
  Flat<N> p;
  for (int k = 0; k < N; ++k) {
    if (!e.in[k].immediate && !contiguous(e.in[k], compute)) return false;
    p.in[k] = e.in[k].immediate ? nullptr : e.in[k].data;
    std::memcpy(p.value[k], e.in[k].value, sizeof(p.value[k]));
  }
  p.out = e.out.data;
  p.size = e.size;
  p.itemsize = itemsize(compute);
  p.result_itemsize = itemsize(result);
  p.reports = {0, q.slot, q.op};
  constexpr int block = StridedTuning::block;
  launch(q, name, elementwise_flat_kernel<N, block>, {ceil_div(e.size, StridedTuning::host_tile), block}, p, results);
  return true;
}

}  // namespace

// Other targets do not use it.
template <int N>
void launch_chunks(const params::Queue& q, const char* name, const params::Elementwise& e, DType compute, DType result,
                   ChunkResults results) {
  if constexpr (fast_host) {
    if (launch_flat<N>(q, name, e, compute, result, results)) return;
    constexpr int block = StridedTuning::block;
    Strided<N> p;
    detail::prepare(p, q, e, compute, result, 1);
    launch(q, name, elementwise_chunks_kernel<N, block>, {ceil_div(e.size, StridedTuning::host_tile), block}, p,
           results);
  }
}

template void launch_chunks<1>(const params::Queue&, const char*, const params::Elementwise&, DType, DType,
                               ChunkResults);
template void launch_chunks<2>(const params::Queue&, const char*, const params::Elementwise&, DType, DType,
                               ChunkResults);
template void launch_chunks<3>(const params::Queue&, const char*, const params::Elementwise&, DType, DType,
                               ChunkResults);
template void launch_chunks<4>(const params::Queue&, const char*, const params::Elementwise&, DType, DType,
                               ChunkResults);

}  // namespace stator::STATOR_TARGET::elementwise
