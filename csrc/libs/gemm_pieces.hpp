// How one product of the host column is shared out to the workers.
#pragma once

#include "libs/blas.hpp"

namespace stator::libs {

// A grid of tiles of C and of runs of the batch; a piece is one of them, and a Gemm of its own.
class GemmPieces {
 public:
  GemmPieces(const Gemm& gemm, int workers);
  int64_t count() const { return rows_ * cols_ * runs_; }
  Gemm piece(int64_t index) const;
  // The largest extents of a piece.
  int64_t m() const { return tile_m_; }
  int64_t n() const { return tile_n_; }
  const Gemm& whole() const { return gemm_; }

 private:
  Gemm gemm_;
  int64_t rows_ = 1, cols_ = 1, runs_ = 1;
  int64_t tile_m_, tile_n_, run_;
};

}  // namespace stator::libs
