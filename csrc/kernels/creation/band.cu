// Matrices of which a band is kept: triu, tril, diag, tri and eye.
#include "device/index.cuh"
#include "device/launcher.cuh"
#include "kernels/movement/rows.cuh"
#include "params/creation.hpp"

#include <cstring>

namespace stator::STATOR_TARGET::creation {

using movement::Segment;
using movement::launch_rows;
using movement::word_of;

namespace {


template <class Word>
struct BandSource {
  params::Band p;
  Word value;

  struct Row {
    const Word* from;
    int64_t begin, end;
  };
  STATOR_FN Row row(int64_t r) const {
    const int64_t batch = r / p.rows, i = r - batch * p.rows;
    const Word* from = static_cast<const Word*>(p.in);
    if (from != nullptr) from += offset_of(batch, p.ndim, p.shape, p.strides) + i * p.row_stride;
    const int64_t begin = i + p.low, end = i + p.high + 1;
    return {from, begin < 0 ? 0 : begin, end < p.cols ? end : p.cols};
  }
  STATOR_FN Segment<Word> segment(Row& row, int64_t c) const {
    if (c < row.begin) return {nullptr, 0, row.begin < p.cols ? row.begin : p.cols, Word{}};
    if (c >= row.end) return {nullptr, 0, p.cols, Word{}};
    return {row.from == nullptr ? nullptr : row.from + c * p.col_stride, p.col_stride, row.end, value};
  }
};

void band(const params::Queue& q, const params::Band& p) {
  with_word(p.itemsize, [&]<class Word>(Word) {
    launch_rows(q, "band", BandSource<Word>{p, word_of<Word>(p.value)}, static_cast<Word*>(p.out), p.batch * p.rows,
                p.cols, p.cols);
  });
}

}  // namespace

}  // namespace stator::STATOR_TARGET::creation

STATOR_LAUNCHER(creation, band)
