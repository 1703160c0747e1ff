// The kernels of what is made of decompositions, of the checked target: see kernel_support.hpp. Grids of at least two
// blocks, sizes past a warp and a block.
#include "kernel_support.hpp"

namespace {

using namespace stator;

constexpr DType dtypes_of_matrices[] = {DType::float32, DType::float64, DType::complex64, DType::complex128};
constexpr int64_t count = 3;

Bytes varied_of(DType dtype, int64_t n, int seed) {
  Bytes x(dtype, n);
  for (int64_t i = 0; i < n; ++i) write(x, i, varied(dtype, i, seed));
  return x;
}

void test_cross() {
  const int64_t vectors = 1100;
  for (DType dtype : {DType::int8, DType::uint16, DType::float16, DType::float32, DType::float64, DType::complex64,
                      DType::complex128}) {
    Bytes a = varied_of(dtype, vectors * 3, 1), b = varied_of(dtype, 3, 2);
    const Bytes got =
        run("cross", Op::linalg_cross, Bytes(dtype, vectors * 3), [&](const params::Queue& q, Bytes& out) {
          params::Cross p{};
          p.first.size = p.first.shape[0] = vectors;
          p.first.ndim = 1;
          p.first.input_count = 2;
          p.first.compute = in(dtype, dtypes::integers) ? DType::int64 : itemsize(dtype) == 2 ? DType::float32 : dtype;
          p.first.out.data = out.get();
          p.first.in[0].data = a.get();
          p.first.in[1].data = b.get();
          p.first.out.dtype = p.first.in[0].dtype = p.first.in[1].dtype = dtype;
          p.first.out.strides[0] = p.first.in[0].strides[0] = 3;
          p.a_step = p.b_step = p.out_step = 1;
          kernels::linalg::cross(q, p);
        });
    Bytes wanted(dtype, vectors * 3);
    for (int64_t i = 0; i < vectors; ++i)
      for (int64_t k = 0; k < 3; ++k) {
        const int64_t y = (k + 1) % 3, z = (k + 2) % 3;
        double re = (read(a, 3 * i + y) * read(b, z) - read(a, 3 * i + z) * read(b, y)).real();
        const double im = (read(a, 3 * i + y) * read(b, z) - read(a, 3 * i + z) * read(b, y)).imag();
        if (dtype == DType::int8) re = double(int8_t(int64_t(re)));
        if (dtype == DType::uint16) re = double(uint16_t(int64_t(re)));
        write(wanted, 3 * i + k, {re, im});
      }
    expect("cross", got, [&](int64_t i) { return read(wanted, i); }, 0);
  }
}

// Singular values 8, 4, 2, 1, 1/2 of a 5 x n matrix; those above rtol 0.2 are three.
void test_spectrum() {
  for (DType dtype : dtypes_of_matrices)
    for (bool by_column : {false, true})
      for (bool turned : {false, true}) {
        const int64_t k = 5, n = 400, rows = by_column ? n : k, cols = by_column ? k : n;
        Bytes values(real_part(dtype), count * k);
        for (int64_t i = 0; i < values.size(); ++i) write(values, i, std::ldexp(8.0, -int(i % k)));
        const Bytes a = varied_of(dtype, count * k * n, 1);
        Bytes other = varied_of(dtype, count * 7, 4);
        std::vector<int64_t> rank(count, -1);
        const params::Matrices shape{nullptr, k * n, turned ? 1 : cols, turned ? rows : 1};
        const Bytes got = run("spectrum", Op::pinv, a, [&](const params::Queue& q, Bytes& out) {
          Bytes again = other;
          params::Spectrum p{};
          p.dtype = dtype;
          p.count = count;
          p.k = k;
          p.values = values.get();
          p.rtol = 0.2;
          p.rank = rank.data();
          p.by_column = by_column;
          p.scaled_rows = rows;
          p.scaled_cols = cols;
          p.scaled = shape;
          p.scaled.data = out.get();
          p.other_rows = 7;
          p.other_cols = 1;
          p.other = {again.get(), 7, 1, 1};
          kernels::linalg::spectrum(q, p);
          expect("spectrum: conjugates", again, [&](int64_t i) { return std::conj(read(other, i)); }, 0);
        });
        check(rank == std::vector<int64_t>(count, 3), "spectrum: rank");
        expect(
            "spectrum", got,
            [&](int64_t at) -> Value {
              const int64_t in = at % (k * n), row = turned ? in % rows : in / cols,
                            col = turned ? in / rows : in % cols;
              const int64_t i = by_column ? col : row;
              return i < 3 ? std::conj(read(a, at)) / std::ldexp(8.0, -int(i)) : 0;
            },
            0);
      }
  Bytes values(DType::float64, 2 * 300);
  for (int64_t i = 0; i < 600; ++i) write(values, i, i >= 599 ? 0 : double(300 - i % 300));
  const std::pair<params::SpectralNorm, std::pair<double, double>> norms[] = {
      {params::SpectralNorm::largest, {300, 300}},
      {params::SpectralNorm::smallest, {1, 0}},
      {params::SpectralNorm::sum, {45150, 45149}},
      {params::SpectralNorm::condition, {300, INFINITY}},
      {params::SpectralNorm::inverse_condition, {1 / 300.0, 0}}};
  for (const auto& [norm, wanted] : norms) {
    const Bytes got = run("spectral_norm", Op::cond, Bytes(DType::float64, 2), [&](const params::Queue& q, Bytes& out) {
      params::Spectrum p{};
      p.dtype = DType::complex128;
      p.count = 2;
      p.k = 300;
      p.values = values.get();
      p.norm = norm;
      p.norms = out.get();
      kernels::linalg::spectrum(q, p);
    });
    expect("spectral_norm", got, [&, w = wanted](int64_t i) { return i == 0 ? w.first : w.second; }, 1e-15);
  }
}

void test_library_helpers() {
  for (DType dtype : dtypes_of_matrices) {
    const int64_t n = 200;
    Bytes a(dtype, count * n * n);
    for (int64_t i = 0; i < a.size(); ++i) write(a, i, {0, in(dtype, dtypes::complexes) ? 1.0 : 0.0});
    for (int64_t b = 0; b < count; ++b)
      for (int64_t i = 0; i < n; ++i) write(a, b * n * n + i * (n + 1), b == 1 && i >= 150 ? 0.0 : 1.0);
    for (bool unit : {false, true}) {
      const Bytes info = run(
          "diagonal_zero", Op::solve_triangular, Bytes(DType::int32, count), [&](const params::Queue& q, Bytes& out) {
            kernels::linalg::diagonal_zero(
                q, {dtype, unit, count, n, {a.get(), n * n, 1, n}, static_cast<int32_t*>(out.get())});
          });
      expect("diagonal_zero", info, [&](int64_t i) { return i == 1 && !unit ? 151.0 : 0.0; }, 0);
    }
  }
  std::vector<char> base(1);
  const Bytes lists =
      run("addresses", Op::lu_factor, Bytes(DType::uint64, 2 * 2100), [&](const params::Queue& q, Bytes& out) {
        void** first = static_cast<void**>(out.get());
        kernels::linalg::addresses(q, {2100, base.data(), nullptr, 24, 8, first, first + 2100});
      });
  const auto at = reinterpret_cast<uintptr_t>(base.data());
  uint64_t last[2];
  std::memcpy(&last[0], lists.data.data() + 2099 * 8, 8);
  std::memcpy(&last[1], lists.data.data() + 4199 * 8, 8);
  check(last[0] == at + 2099 * 24 && last[1] == 2099 * 8, "addresses");
  std::vector<int32_t> ours{0, 2, -1, 7, 5, 3};
  const Bytes theirs = run("pivots", Op::lu_solve, Bytes(DType::int32, 6), [&](const params::Queue& q, Bytes& out) {
    kernels::linalg::pivots(q, {6, 3, 3, nullptr, static_cast<int32_t*>(out.get()), ours.data(), false});
  });
  const double wanted[] = {1, 3, 3, 1, 2, 3};
  expect("pivots: outside is not an exchange", theirs, [&](int64_t i) { return wanted[i]; }, 0);
}

// Diagonal matrices, whose powers are known: entries `size` times 1, 1/2, 1/4, ...
void test_expm() {
  for (DType dtype : dtypes_of_matrices)
    for (int64_t n : {3, 300}) {
      const double sizes[count] = {0.5, 20, 4};
      Bytes a(dtype, count * n * n);
      for (int64_t b = 0; b < count; ++b)
        for (int64_t i = 0; i < n; ++i) write(a, (b * n + i) * n + i, sizes[b] * std::ldexp(1.0, -int(i % 8)));
      std::vector<int32_t> exponent(count, -1);
      Bytes b = run("expm_scale", Op::expm, Bytes(dtype, a.size()), [&](const params::Queue& q, Bytes& out) {
        kernels::linalg::expm_scale(q, {dtype, count, n, {a.get(), n * n, n, 1}, out.get(), exponent.data()});
      });
      check(exponent == std::vector<int32_t>{0, 5, 2}, "expm_scale: exponents");
      expect("expm_scale", b, [&](int64_t i) { return std::ldexp(real(a, i), -exponent[size_t(i / (n * n))]); }, 0);
      const auto power = [&](int k) {
        Bytes x(dtype, b.size());
        for (int64_t i = 0; i < x.size(); ++i) write(x, i, std::pow(real(b, i), k));
        return x;
      };
      Bytes b2 = power(2), b4 = power(4), b6 = power(6), vectors(real_part(dtype), count * 2 * n);
      const Bytes chosen =
          run("expm_choose", Op::expm, Bytes(DType::int32, count), [&](const params::Queue& q, Bytes& out) {
            kernels::linalg::expm_choose(q, {dtype, count, n, b.get(), b4.get(), b6.get(), exponent.data(),
                                             static_cast<int32_t*>(out.get()), vectors.get()});
          });
      const bool twice = real_part(dtype) == DType::float64;
      const double squarings[count] = {0, twice ? 2.0 : 3.0, twice ? 0.0 : 1.0};
      expect("expm_choose", chosen, [&](int64_t i) { return squarings[i]; }, 0);
      Bytes inner(dtype, 2 * b.size());
      Bytes times = chosen;
      const Bytes outer =
          run("expm_terms", Op::expm, Bytes(dtype, 2 * b.size()), [&](const params::Queue& q, Bytes& out) {
            Bytes x = b, x6 = b6;  // written in place
            kernels::linalg::expm_terms(q, {dtype, count, n, x.get(), b2.get(), b4.get(), x6.get(), exponent.data(),
                                            static_cast<const int32_t*>(times.get()), out.get(), inner.get()});
          });
      // The last entry of the first matrix, which nothing scales.
      const double x = real(a, (n - 1) * (n + 1)), x2 = x * x, unit = twice ? 0x1p-55 : 0x1p-24;
      const double left = twice ? 32382376266240000. +
                                      x2 * (1187353796428800. + x2 * (10559470521600. + x2 * 33522128640.))
                                : 8648640. + x2 * (277200. + x2 * (1512. + x2)),
                   right = twice ? 64764752532480000. +
                                       x2 * (7771770303897600. + x2 * (129060195264000. + x2 * 670442572800.))
                                 : 17297280. + x2 * (1995840. + x2 * (25200. + x2 * 56.));
      const int64_t row = (n - 1) * 2 * n;
      check(std::abs(real(outer, row + n - 1) / (left * unit) - 1) < tolerance(dtype), "expm_terms: odd powers");
      check(std::abs(real(outer, row + 2 * n - 1) / (right * unit) - 1) < tolerance(dtype), "expm_terms: even powers");
      Bytes u = varied_of(dtype, b.size(), 1), sums = varied_of(dtype, 2 * b.size(), 2);
      const Bytes p = run("expm_fraction", Op::expm, Bytes(dtype, b.size()), [&](const params::Queue& q, Bytes& out) {
        Bytes both = u;
        kernels::linalg::expm_fraction(q, {dtype, count, n, both.get(), sums.get(), out.get(), both.get()});
      });
      expect("expm_fraction", p, [&](int64_t i) { return read(u, i) + read(sums, i / n * 2 * n + n + i % n); }, 0);
      const Bytes kept = run("expm_keep", Op::expm, u, [&](const params::Queue& q, Bytes& out) {
        kernels::linalg::expm_keep(
            q, {itemsize(dtype), count, n * n, 1, static_cast<const int32_t*>(times.get()), p.data.data(), out.get()});
      });
      expect("expm_keep", kept, [&](int64_t i) { return squarings[i / (n * n)] <= 1 ? read(p, i) : read(u, i); }, 0);
    }
}

}  // namespace

int main(int argc, char** argv) {
  return stator::test::run(argc, argv,
                           {{"cross", test_cross},
                            {"spectrum", test_spectrum},
                            {"library_helpers", test_library_helpers},
                            {"expm", test_expm}});
}
