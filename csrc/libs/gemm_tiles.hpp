// How one product on the host is divided among the workers.
#pragma once

#include "libs/blas.hpp"

namespace stator::libs {

// A product is divided into tiles of C, and the batch into groups of matrices; each such tile is a Gemm of its own.
class GemmTiles {
 public:
  // A part of C, of the matrices from `first` on, as many as its batch says.
  struct Tile {
    Gemm gemm;
    int64_t first;
  };
  GemmTiles(const Gemm& gemm, int workers);
  int64_t count() const { return rows_ * cols_ * batch_tiles_; }
  Tile tile(int64_t index) const;
  // The largest extents of a tile.
  int64_t m() const { return tile_m_; }
  int64_t n() const { return tile_n_; }
  const Gemm& whole() const { return gemm_; }

 private:
  Gemm gemm_;
  int64_t rows_ = 1, cols_ = 1, batch_tiles_ = 1;
  int64_t tile_m_, tile_n_, tile_batch_;
};

// Whether this is the product of one matrix with its own transpose: half of it is computed, then mirrored.
bool is_gram(const Gemm& gemm);

// The tiles of C on and above its diagonal.
class GramTiles {
 public:
  // Tile (row, column) of C, row <= column; of a tile on the diagonal only the upper triangle is needed.
  struct Tile {
    Gemm gemm;
    int64_t row, column;  // where it starts in C
  };
  GramTiles(const Gemm& gemm, int workers);
  int64_t count() const { return tiles_ * (tiles_ + 1) / 2; }
  Tile tile(int64_t index) const;

 private:
  Gemm gemm_;
  int64_t tile_, tiles_;
};

}  // namespace stator::libs
