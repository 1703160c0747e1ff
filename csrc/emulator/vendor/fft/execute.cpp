#include "emulator/vendor/fft/plan.hpp"
#include "emulator/vendor/fft/transform.hpp"

#include <algorithm>
#include <complex>
#include <vector>

namespace stator::emulator::vendor::fft {

namespace {

constexpr const char* what = "cufftXtExec";

// The values of one batch, by rows without gaps; the last axis has the length of the complex side.
template <class R>
struct Field {
  using Complex = std::complex<R>;
  int64_t n[3];
  std::vector<Complex> values;
  Complex* row(int64_t x, int64_t y) { return values.data() + (x * n[1] + y) * n[2]; }

  // Transforms all lines along an axis that is not the last.
  void across(int axis, bool inverse) {
    if (n[axis] == 1) return;
    const Transform<R> transform(n[axis]);
    std::vector<Complex> line(static_cast<size_t>(n[axis]));
    const int64_t step = axis == 0 ? n[1] * n[2] : n[2], blocks = axis == 0 ? 1 : n[0];
    for (int64_t block = 0; block < blocks; ++block)
      for (int64_t i = 0; i < step; ++i) {
        Complex* const first = values.data() + block * n[1] * n[2] + i;
        for (int64_t j = 0; j < n[axis]; ++j) line[size_t(j)] = first[j * step];
        transform.run(line.data(), inverse);
        for (int64_t j = 0; j < n[axis]; ++j) first[j * step] = line[size_t(j)];
      }
  }
};

template <class R>
void run_batch(const Plan& plan, const Transform<R>& last, const void* input, void* output, int64_t batch,
               bool inverse) {
  using Complex = std::complex<R>;
  const int64_t length = plan.n[2], half = length / 2 + 1, width = plan.kind == Kind::complex ? length : half;
  Field<R> field{{plan.n[0], plan.n[1], width}, {}};
  field.values.resize(size_t(plan.n[0] * plan.n[1] * width));
  std::vector<Complex> line(static_cast<size_t>(length));
  for (int64_t x = 0; x < plan.n[0]; ++x)
    for (int64_t y = 0; y < plan.n[1]; ++y) {
      const int64_t first = plan.in.offset(batch, x, y);
      Complex* const row = field.row(x, y);
      if (plan.kind == Kind::to_real) {
        for (int64_t z = 0; z < half; ++z) row[z] = Complex(load(plan.in.type, input, first + z * plan.in.stride));
        continue;
      }
      for (int64_t z = 0; z < length; ++z)
        line[size_t(z)] = Complex(load(plan.in.type, input, first + z * plan.in.stride));
      last.run(line.data(), inverse);
      std::copy_n(line.begin(), width, row);
    }
  field.across(1, inverse);
  field.across(0, inverse);
  if (plan.kind == Kind::to_real)
    for (int64_t y = 0; y < plan.n[0]; ++y)  // the input counts as spent before any output is there
      for (int64_t z = 0; z < plan.n[1]; ++z) scribble(plan.in.row(input, batch, y, z));
  for (int64_t x = 0; x < plan.n[0]; ++x)
    for (int64_t y = 0; y < plan.n[1]; ++y) {
      const int64_t first = plan.out.offset(batch, x, y);
      const Complex* row = field.row(x, y);
      if (plan.kind == Kind::to_real) {
        // Imaginary parts that a real signal cannot have reach the odd elements of the result, as they do in cuFFT's.
        for (int64_t z = 0; z < half; ++z) line[size_t(z)] = row[z];
        R astray = line[0].imag();
        line[0] = line[0].real();
        if (length % 2 == 0) {
          astray += line[size_t(half - 1)].imag();
          line[size_t(half - 1)] = line[size_t(half - 1)].real();
        }
        for (int64_t z = half; z < length; ++z) line[size_t(z)] = std::conj(line[size_t(length - z)]);
        last.run(line.data(), true);
        for (int64_t z = 1; z < length; z += 2) line[size_t(z)] += astray;
        row = line.data();
      }
      const int64_t count = plan.kind == Kind::to_real ? length : width;
      for (int64_t z = 0; z < count; ++z) {
        const std::complex<double> value(double(row[z].real()), double(row[z].imag()));
        store(plan.out.type, output, first + z * plan.out.stride, value);
      }
      wrote(plan.out.row(output, batch, x, y));
    }
}

template <class R>
void run_all(const Plan& plan, const void* input, void* output, bool inverse) {
  const Transform<R> last(plan.n[2]);
  for (int64_t batch = 0; batch < plan.batch; ++batch) {
    for (int64_t x = 0; x < plan.n[0]; ++x)
      for (int64_t y = 0; y < plan.n[1]; ++y)
        if (!reads(what, plan.in.row(input, batch, x, y)) || !writes(what, plan.out.row(output, batch, x, y))) return;
    run_batch(plan, last, input, output, batch, inverse);
  }
}

}  // namespace

Range Side::row(const void* start, int64_t batch, int64_t x, int64_t y) const {
  const uint64_t item = size_of(type);
  const char* const first = static_cast<const char*>(start) + offset(batch, x, y) * int64_t(item);
  if (stride == 1) return bytes_at(first, uint64_t(extent[2]) * item);
  return {first, item, uint64_t(extent[2]), uint64_t(stride) * item};
}

void lay_out(Plan& plan, bool in_place) {
  const int64_t half = plan.n[2] / 2 + 1;
  Side* const sides[] = {&plan.in, &plan.out};
  for (int i = 0; i < 2; ++i) {
    Side& side = *sides[i];
    const bool is_complex_side = is_complex(side.type);
    for (int axis = 0; axis < 3; ++axis) side.extent[axis] = plan.n[axis];
    if (plan.kind != Kind::complex && is_complex_side) side.extent[2] = half;
    if (!side.basic) continue;
    for (int axis = 0; axis < 3; ++axis) side.embed[axis] = side.extent[axis];
    if (plan.kind != Kind::complex && !is_complex_side && in_place) side.embed[2] = 2 * half;
    side.stride = 1;
    side.distance = side.embed[0] * side.embed[1] * side.embed[2];
  }
}

void execute(const Plan& plan, void* input, void* output, bool inverse) {
  // A rounding of results, none of the sums.
  if (plan.in.type == Type::c64f || plan.in.type == Type::r64f)
    run_all<long double>(plan, input, output, inverse);
  else
    run_all<double>(plan, input, output, inverse);
}

}  // namespace stator::emulator::vendor::fft
