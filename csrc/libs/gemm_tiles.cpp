#include "libs/gemm_tiles.hpp"

#include <algorithm>
#include <limits>

namespace stator::libs {
namespace {

struct GemmTuning {
  static constexpr int64_t least_work = 1 << 20;  // multiplications worth a task of their own: 30 us of a slow core
  static constexpr double per_load = 8;           // multiplications that take as long as a load from memory
  static constexpr int64_t row_cost = 4;          // cost of a row of a tile, in columns: OpenBLAS packs A more slowly
  static constexpr int64_t granule = 16;          // tiles end on whole vectors
  // Multiplications per worker that are worth two tiles, so that a late start costs less than half of the work. Smaller
  // tiles would spend too much time packing their operands.
  static constexpr double twice = 1 << 28;
};

int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }
int64_t tile_of(int64_t extent, int64_t parts) {
  return std::min(extent, ceil_div(ceil_div(extent, parts), GemmTuning::granule) * GemmTuning::granule);
}

}  // namespace

GemmTiles::GemmTiles(const Gemm& gemm, int workers)
    : gemm_(gemm), tile_m_(gemm.m), tile_n_(gemm.n), tile_batch_(gemm.batch) {
  const double each =
      gemm.m == 1 || gemm.n == 1 ? GemmTuning::per_load : 1;  // a matrix times a vector waits for memory
  const double work = each * double(gemm.m) * double(gemm.n) * double(gemm.k) * double(gemm.batch);
  const int64_t most = workers > 1 ? workers * (work / workers >= GemmTuning::twice ? 2 : 1) : 1;
  const int64_t wanted = int64_t(std::min(double(most), work / GemmTuning::least_work));
  if (wanted <= 1) return;
  tile_batch_ = ceil_div(gemm.batch, std::min(wanted, gemm.batch));
  batch_tiles_ = ceil_div(gemm.batch, tile_batch_);
  // The grid whose tiles are packed at the lowest cost: each tile packs its rows of A and its columns of B.
  const int64_t tiles = wanted / batch_tiles_;
  int64_t best = std::numeric_limits<int64_t>::max();
  for (int64_t rows = 1; rows <= tiles; ++rows) {
    const int64_t m = tile_of(gemm.m, rows), n = tile_of(gemm.n, tiles / rows);
    const int64_t cost = GemmTuning::row_cost * m + n;
    if (cost >= best) continue;
    best = cost;
    tile_m_ = m;
    tile_n_ = n;
  }
  rows_ = ceil_div(gemm.m, tile_m_);
  cols_ = ceil_div(gemm.n, tile_n_);
}

GemmTiles::Tile GemmTiles::tile(int64_t index) const {
  const int64_t col = index % cols_ * tile_n_, row = index / cols_ % rows_ * tile_m_,
                first = index / cols_ / rows_ * tile_batch_;
  Tile tile{gemm_, first};
  Gemm& g = tile.gemm;
  g.m = std::min(tile_m_, gemm_.m - row);
  g.n = std::min(tile_n_, gemm_.n - col);
  g.batch = std::min(tile_batch_, gemm_.batch - first);
  const int64_t a = row * (g.transpose_a ? 1 : g.lda);
  const int64_t b = col * (g.transpose_b ? g.ldb : 1);
  const int64_t c = row * g.ldc + col;
  g.a = static_cast<const char*>(g.a) + a * itemsize(g.operands);
  g.b = static_cast<const char*>(g.b) + b * itemsize(g.operands);
  g.c = static_cast<char*>(g.c) + c * itemsize(g.result);
  return tile;
}

bool is_gram(const Gemm& g) {
  return g.a == g.b && g.transpose_a != g.transpose_b && g.m == g.n && g.m > 1 && g.lda == g.ldb && g.batch == 1 &&
         g.beta == complex128(0);
}

GramTiles::GramTiles(const Gemm& gemm, int workers) : gemm_(gemm), tile_(gemm.n), tiles_(1) {
  const double work = double(gemm.n) * double(gemm.n) * double(gemm.k) / 2;
  const double wanted = std::min(double(workers), work / GemmTuning::least_work);
  int64_t tiles = 1;
  while (double(tiles * (tiles + 1) / 2) < wanted) ++tiles;
  tile_ = tile_of(gemm.n, tiles);
  tiles_ = ceil_div(gemm.n, tile_);
}

GramTiles::Tile GramTiles::tile(int64_t index) const {
  int64_t row = 0;
  for (int64_t length = tiles_; index >= length; --length, ++row) index -= length;
  Tile tile{gemm_, row * tile_, (row + index) * tile_};
  Gemm& g = tile.gemm;
  g.m = std::min(tile_, gemm_.m - tile.row);
  g.n = std::min(tile_, gemm_.n - tile.column);
  const int64_t step = g.transpose_a ? 1 : g.lda;  // from one row of C to the next, in the matrix
  g.a = static_cast<const char*>(g.a) + tile.row * step * itemsize(g.operands);
  g.b = static_cast<const char*>(g.b) + tile.column * step * itemsize(g.operands);
  return tile;
}

}  // namespace stator::libs
