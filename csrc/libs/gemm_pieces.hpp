// How one product of the host target is shared out to the workers.
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

// The product of one matrix with its own transpose: half of it, which is then mirrored.
bool is_gram(const Gemm& gemm);

// Tiles of C on and above its diagonal.
class GramPieces {
 public:
  // Tile (row, column) of C, row <= column: on the diagonal its own upper triangle is enough.
  struct Tile {
    Gemm gemm;
    int64_t row, column;  // where it starts in C
  };
  GramPieces(const Gemm& gemm, int workers);
  int64_t count() const { return tiles_ * (tiles_ + 1) / 2; }
  Tile piece(int64_t index) const;

 private:
  Gemm gemm_;
  int64_t tile_, tiles_;
};

}  // namespace stator::libs
