// Matrices of which only a band is not zero: triu, tril, diag, tri and eye.
#include "device/index.cuh"
#include "host/launcher.hpp"
#include "kernels/movement/rows.cuh"
#include "params/creation.hpp"

#include <algorithm>
#include <cstring>

namespace stator::STATOR_TARGET::creation {

using movement::bits_of;
using movement::launch_rows;
using movement::Span;

namespace {

template <class Bits>
struct BandSource {
  params::Band p;
  Bits value;
  FastDivmod64 rows;
  ShapeDivisors batches;

  explicit BandSource(const params::Band& band)
      : p(band), value(bits_of<Bits>(p.value)), rows(std::max<int64_t>(p.rows, 1)), batches(p.ndim, p.shape) {}

  struct Row {
    const Bits* from;
    int64_t begin, end;
  };
  STATOR_FN Row row(int64_t r) const {
    int64_t i;
    const int64_t batch = rows.divmod(r, i);
    const Bits* from = static_cast<const Bits*>(p.in);
    if (from != nullptr) from += batches.offset_of(batch, p.ndim, p.strides) + i * p.row_stride;
    const int64_t begin = i + p.low, end = i + p.high + 1;
    return {from, begin < 0 ? 0 : begin, end < p.cols ? end : p.cols};
  }
  STATOR_FN Span<Bits> span(Row& row, int64_t c) const {
    if (c < row.begin) return {nullptr, 0, row.begin < p.cols ? row.begin : p.cols, Bits{}};
    if (c >= row.end) return {nullptr, 0, p.cols, Bits{}};
    return {row.from == nullptr ? nullptr : row.from + c * p.col_stride, p.col_stride, row.end, value};
  }
};

void band(const params::Queue& q, const params::Band& p) {
  with_bits(p.itemsize, [&]<class Bits>(Bits) {
    launch_rows(q, "band", BandSource<Bits>(p), static_cast<Bits*>(p.out), p.batch * p.rows, p.cols, p.cols);
  });
}

}  // namespace

}  // namespace stator::STATOR_TARGET::creation

STATOR_LAUNCHER(creation, band)
