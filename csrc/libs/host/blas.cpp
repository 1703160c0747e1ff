// Matrix products by OpenBLAS, divided among our workers.
#include "libs/blas.hpp"
#include "libs/gemm_tiles.hpp"
#include "libs/host/halves.hpp"
#include "libs/host/openblas.hpp"

#include <stator/error.hpp>

#include <algorithm>
#include <initializer_list>
#include <limits>
#include <string>

namespace stator::libs {
namespace {

using openblas::Order;
using openblas::Products;
using openblas::transpose;
using openblas::Uplo;

// A scalar in the form that CBLAS takes.
template <class T>
class Scale {
 public:
  explicit Scale(complex128 value) : value_(value) {}
  operator openblas::Scalar<T>() const { return &value_; }

 private:
  T value_;
};
template <>
struct Scale<float> {
  explicit Scale(complex128 value) : value_(static_cast<float>(value.re)) {}
  operator float() const { return value_; }
  float value_;
};
template <>
struct Scale<double> {
  explicit Scale(complex128 value) : value_(value.re) {}
  operator double() const { return value_; }
  double value_;
};

// One product of a batch. Products with a vector use gemv, which is two to three times as fast as gemm for them.
template <class T>
void multiply(const Products<T>& blas, const Gemm& g, const T* a, const T* b, T* c) {
  const Scale<T> alpha(g.alpha), beta(g.beta);
  const int m = int(g.m), n = int(g.n), k = int(g.k), lda = int(g.lda), ldb = int(g.ldb), ldc = int(g.ldc);
  if (n == 1) {
    blas.gemv(Order::row_major, transpose(g.transpose_a), g.transpose_a ? k : m, g.transpose_a ? m : k, alpha, a, lda,
              b, g.transpose_b ? 1 : ldb, beta, c, ldc);
  } else if (m == 1) {
    blas.gemv(Order::row_major, transpose(!g.transpose_b), g.transpose_b ? n : k, g.transpose_b ? k : n, alpha, b, ldb,
              a, g.transpose_a ? lda : 1, beta, c, 1);
  } else {
    blas.gemm(Order::row_major, transpose(g.transpose_a), transpose(g.transpose_b), m, n, k, alpha, a, lda, b, ldb,
              beta, c, ldc);
  }
}

template <class T>
void run(const Products<T>& blas, const GemmTiles::Tile& tile) {
  const Gemm& g = tile.gemm;
  const T* a = static_cast<const T*>(g.a);
  const T* b = static_cast<const T*>(g.b);
  T* c = static_cast<T*>(g.c);
  for (int64_t i = tile.first; i < tile.first + g.batch; ++i)
    multiply(blas, g, a + g.offset_of(i, g.stride_a, g.outer_a), b + g.offset_of(i, g.stride_b, g.outer_b),
             c + g.offset_of(i, g.stride_c, g.outer_c));
}

// c[j, i] = c[i, j] above the diagonal of C, for one tile.
template <class T>
void mirror(T* c, int64_t ldc, const GramTiles::Tile& tile) {
  constexpr int64_t block = 32;  // rows that stay in the L1 cache
  const int64_t bottom = tile.row + tile.gemm.m, right = tile.column + tile.gemm.n;
  for (int64_t first = tile.row; first < bottom; first += block) {
    for (int64_t j = tile.column; j < right; ++j) {
      const int64_t last = std::min({first + block, bottom, j});
      for (int64_t i = first; i < last; ++i) c[j * ldc + i] = c[i * ldc + j];
    }
  }
}

template <class T>
void run_gram(const Products<T>& blas, const GramTiles::Tile& tile) {
  const Gemm& g = tile.gemm;
  const T* a = static_cast<const T*>(g.a);
  const T* b = static_cast<const T*>(g.b);
  T* const c = static_cast<T*>(g.c);
  T* const own = c + tile.row * g.ldc + tile.column;
  if (tile.row == tile.column)
    blas.syrk(Order::row_major, Uplo::upper, transpose(g.transpose_a), int(g.m), int(g.k), Scale<T>(g.alpha), a,
              int(g.lda), Scale<T>(0), own, int(g.ldc));
  else
    multiply(blas, g, a, b, own);
  mirror(c, g.ldc, tile);
}

// Scratch of one tile for a matrix of each operand in float32.
struct Widened {
  static int64_t elements(const GemmTiles& p) {
    const int64_t k = p.whole().k;
    return p.m() * k + k * p.n() + (p.whole().result == DType::float32 ? 0 : p.m() * p.n());
  }
  Widened(float* memory, const Gemm& g) : a(memory), b(a + g.m * g.k), c(b + g.k * g.n) {}
  float *a, *b, *c;
};

template <class Half>
void run_halves(const Products<float>& blas, const GemmTiles::Tile& tile, const Widened& wide) {
  const Gemm& g = tile.gemm;
  const int64_t rows_a = g.transpose_a ? g.k : g.m, cols_a = g.transpose_a ? g.m : g.k;
  const int64_t rows_b = g.transpose_b ? g.n : g.k, cols_b = g.transpose_b ? g.k : g.n;
  Gemm of_wide = g;
  of_wide.lda = cols_a;
  of_wide.ldb = cols_b;
  if (g.result != DType::float32) of_wide.ldc = g.n;
  const Half* a = static_cast<const Half*>(g.a);
  const Half* b = static_cast<const Half*>(g.b);
  const Half *a_wide = nullptr, *b_wide = nullptr;  // whose values are in the scratch: a broadcast matrix stays there
  for (int64_t i = tile.first; i < tile.first + g.batch; ++i) {
    const Half* const a_now = a + g.offset_of(i, g.stride_a, g.outer_a);
    const Half* const b_now = b + g.offset_of(i, g.stride_b, g.outer_b);
    const int64_t at = g.offset_of(i, g.stride_c, g.outer_c);
    if (a_now != a_wide) widen(a_wide = a_now, g.lda, wide.a, rows_a, cols_a);
    if (b_now != b_wide) widen(b_wide = b_now, g.ldb, wide.b, rows_b, cols_b);
    if (g.result == DType::float32) {
      multiply(blas, of_wide, wide.a, wide.b, static_cast<float*>(g.c) + at);
      continue;
    }
    Half* c = static_cast<Half*>(g.c) + at;
    if (!(g.beta == complex128(0))) widen(c, g.ldc, wide.c, g.m, g.n);
    multiply(blas, of_wide, wide.a, wide.b, wide.c);
    narrow(wide.c, c, g.ldc, g.m, g.n);
  }
}

void check_range(const OpCall& call, const Gemm& g) {
  const int64_t largest = std::max({g.m, g.n, g.k, g.lda, g.ldb, g.ldc});
  if (largest <= std::numeric_limits<int>::max()) return;
  throw UnsupportedError(std::string(call.name()),
                         "got a matrix with a dimension or stride of " + std::to_string(largest),
                         "It must fit in 32 bits for OpenBLAS. Split the operands");
}

const char* describe_gemm(int) { return "OpenBLAS error"; }

class HostBlas final : public Blas {
 public:
  void prepare(OpCall& call) const override {
    openblas::products<float>(call.name());
    openblas::products<double>(call.name());
    openblas::products<complex64>(call.name());
    openblas::products<complex128>(call.name());
  }

  void gemm(OpCall& call, const Gemm& g) const override {
    check_range(call, g);
    visit<dtypes::inexact>(g.operands, [&]<class T>(type_tag<T>) {
      if constexpr (in(dtype_of_v<T>, dtypes::halves))
        enqueue_halves<T>(call, g);
      else
        enqueue<T>(call, g);
    });
  }

 private:
  // Tiles: GemmTiles or GramTiles.
  template <class Tiles = GemmTiles>
  static Tiles tiles_of(const OpCall& call, const Gemm& g, bool threaded) {
    return Tiles(g, threaded ? 1 : call.context().runtime().properties().limits.multiprocessors);
  }

  template <class F>
  static void submit(OpCall& call, int64_t tiles, const F& task) {
    call.context().runtime().library_in_pieces("cblas_gemm", task, tiles, describe_gemm,
                                               call.stream().handle(static_cast<uint16_t>(call.op())), call.record());
  }

  template <class T>
  static void enqueue(OpCall& call, const Gemm& g) {
    const Products<T>& blas = openblas::products<T>(call.name());
    if (is_gram(g)) {
      const auto tiles = tiles_of<GramTiles>(call, g, blas.threaded);
      return submit(call, tiles.count(), [&blas, tiles](int64_t index) {
        run_gram(blas, tiles.tile(index));
        return 0;
      });
    }
    const GemmTiles tiles = tiles_of(call, g, blas.threaded);
    submit(call, tiles.count(), [&blas, tiles](int64_t index) {
      run(blas, tiles.tile(index));
      return 0;
    });
  }

  template <class Half>
  static void enqueue_halves(OpCall& call, const Gemm& g) {
    const Products<float>& blas = openblas::products<float>(call.name());
    const GemmTiles tiles = tiles_of(call, g, blas.threaded);
    const int64_t each = Widened::elements(tiles);
    float* memory = static_cast<float*>(call.scratch(sizeof(float) * size_t(each * tiles.count())));
    submit(call, tiles.count(), [&blas, tiles, memory, each](int64_t index) {
      const GemmTiles::Tile tile = tiles.tile(index);
      run_halves<Half>(blas, tile, Widened(memory + index * each, tile.gemm));
      return 0;
    });
  }
};

}  // namespace

const Blas& host_blas() {
  static const HostBlas instance;
  return instance;
}

}  // namespace stator::libs
