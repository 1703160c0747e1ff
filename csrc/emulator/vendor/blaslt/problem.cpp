#include "emulator/vendor/blaslt/problem.hpp"

#include <algorithm>

namespace stator::emulator::vendor::blaslt {

namespace {

using blas::Arithmetic;

// Which of the eight-bit products exist, by the types of a, b, c and d: those of the table for compute capability 9.
bool float8_exists(const Problem& p) {
  const Type a = p.a.type, b = p.b.type, c = p.c.type, d = p.d.type;
  if (a == Type::e5m2 && b == Type::e5m2) return false;
  if (c == Type::r32f) return d == Type::r32f;
  if (c != Type::r16bf && c != Type::r16f) return false;
  if (d == c || d == Type::e4m3) return true;
  return d == Type::e5m2 && (a == Type::e5m2 || b == Type::e5m2);
}

Type float8_bias(const Problem& p) { return p.c.type == Type::r16f ? Type::r16f : Type::r16bf; }

// Dimensions, pointers and strides of these kernels are multiples of 16 bytes, and only the form TN exists.
bool float8_fits(const Problem& p, int capability) {
  const bool form =
      p.description.op_a == 1 && p.description.op_b == 0 && !p.a.by_rows() && !p.b.by_rows() && !p.d.by_rows();
  const auto whole = [](const Layout& l) {
    return l.line() * int64_t(size_of(l.type)) % 16 == 0 && l.ld * int64_t(size_of(l.type)) % 16 == 0;
  };
  return form && capability >= 89 && whole(p.a) && whole(p.b) && whole(p.c) && whole(p.d);
}

// Regular order of data: the form TN, leading dimensions and m and k in fours.
bool integer_fits(const Problem& p) {
  const bool form =
      p.description.op_a == 1 && p.description.op_b == 0 && !p.a.by_rows() && !p.b.by_rows() && !p.d.by_rows();
  return form && p.a.ld % 4 == 0 && p.b.ld % 4 == 0 && p.c.ld % 4 == 0 && p.d.ld % 4 == 0 && p.m % 4 == 0 &&
         p.k % 4 == 0;
}

bool scalars_given(const Description& d) { return d.scale_a || d.scale_b || d.scale_c || d.scale_d || d.largest_d; }

// The arithmetic, with the scale type and the type of bias that the tables state for it.
Status classify(Problem& p, int capability) {
  const Description& d = p.description;
  if (is_float8(p.a.type) || is_float8(p.b.type)) {
    const bool types = is_float8(p.a.type) && is_float8(p.b.type) && d.compute == Compute::f32 && d.scale == Type::r32f;
    if (!types || !float8_exists(p) || !float8_fits(p, capability)) return Status::not_supported;
    if (!is_float8(p.d.type) && d.largest_d) return Status::invalid_value;
    if (!is_float8(p.d.type) && d.scale_d) return Status::invalid_value;
    if (!is_float8(p.c.type) && d.scale_c) return Status::invalid_value;
    p.arithmetic = Arithmetic::f32;
    p.bias_type = float8_bias(p);
    return Status::success;
  }
  if (scalars_given(d)) return Status::invalid_value;
  if (p.c.type != p.d.type) return Status::not_supported;
  const bool integers = d.compute == Compute::i32 || d.compute == Compute::i32_pedantic;
  if (integers && p.a.type == Type::r8i && p.b.type == Type::r8i && p.c.type == Type::r8i) {
    if (d.scale != Type::r32f || !integer_fits(p)) return Status::not_supported;
    p.arithmetic = Arithmetic::f64;  // its sums are exact
    p.bias_type = Type::r32f;
    return Status::success;
  }
  p.arithmetic = blas::arithmetic_of({d.compute, p.a.type, p.b.type, p.c.type});
  if (p.arithmetic == Arithmetic::none || d.scale != blas::scale_type_of(p.arithmetic)) return Status::not_supported;
  if (integers && !integer_fits(p)) return Status::not_supported;
  p.bias_type = p.d.type;
  const bool epilogue = d.epilogue != plain;
  if (epilogue && (integers || is_complex(p.d.type) || p.a.type == Type::r8i)) return Status::not_supported;
  if (epilogue && p.d.by_rows()) return Status::not_supported;
  return Status::success;
}

bool has_room(const Layout& l) {
  return l.rows > 0 && l.columns > 0 && l.ld >= l.line() && (l.order == 0 || l.order == 1) && l.plane_offset == 0;
}

bool same_shape(const Layout& x, const Layout& y) {
  return x.rows == y.rows && x.columns == y.columns && x.order == y.order && x.batches == y.batches;
}

}  // namespace

Status describe(const Description& description, const Layout& a, const Layout& b, const Layout& c, const Layout& d,
                int capability, Problem& p) {
  p = {description, a, b, c, d};
  if (!blas::is_known(description.compute)) return Status::invalid_value;
  if (!blas::valid(description.op_a) || !blas::valid(description.op_b) || description.op_c != 0)
    return Status::invalid_value;
  if (!has_room(a) || !has_room(b) || !has_room(c) || !has_room(d)) return Status::invalid_value;
  const bool turned_a = description.op_a != 0, turned_b = description.op_b != 0;
  p.m = int64_t(d.rows);
  p.n = int64_t(d.columns);
  p.k = int64_t(turned_a ? a.rows : a.columns);
  const bool agree = int64_t(turned_a ? a.columns : a.rows) == p.m && int64_t(turned_b ? b.rows : b.columns) == p.n &&
                     int64_t(turned_b ? b.columns : b.rows) == p.k && same_shape(c, d);
  if (!agree) return Status::invalid_value;
  if (d.batches < 1 || a.batches != d.batches || b.batches != d.batches) return Status::invalid_value;
  if (a.batch_mode || b.batch_mode || c.batch_mode || d.batch_mode) return Status::not_supported;
  if (d.batches > 1 && blas::overlapping(d.line(), d.lines(), d.ld, d.stride, d.batches)) return Status::invalid_value;
  if (description.pointer_mode != 0 || description.fill != 2) return Status::not_supported;
  if (description.epilogue & ~(plain | relu | with_bias | gelu)) return Status::not_supported;
  if (description.epilogue == 0 || ((description.epilogue & plain) && description.epilogue != plain))
    return Status::invalid_value;
  if ((description.epilogue & relu) && (description.epilogue & gelu)) return Status::invalid_value;
  for (const int32_t mode : description.scale_modes)
    if (mode != 0) return Status::not_supported;
  const Status status = classify(p, capability);
  if (status != Status::success) return status;
  // Where it is not stated, the type is the table's: of eight-bit products with float results not that of d.
  if (p.has(with_bias) && description.bias_type != -1 && Type(description.bias_type) != p.bias_type)
    return Status::not_supported;
  return Status::success;
}

Algorithm algorithm_for(const Problem& p, const Preference& preference) {
  Algorithm made;
  made.workspace = std::min<uint64_t>(preference.workspace, choose(4) * 4096);
  const Layout* const layouts[] = {&p.a, &p.b, &p.c, &p.d};
  for (int i = 0; i < 4; ++i) {
    const Layout& l = *layouts[i];
    made.types[i] = uint8_t(l.type);
    made.orders |= uint8_t(l.by_rows()) << i;
    // Loads of up to 16 bytes, where the preference and the lines allow them.
    uint64_t fits = std::min<uint64_t>(16, std::max<uint64_t>(1, preference.alignment[i]));
    while (uint64_t(l.ld) * size_of(l.type) % fits || (l.batches > 1 && uint64_t(l.stride) * size_of(l.type) % fits))
      fits /= 2;
    made.alignment[i] = uint16_t(std::max<uint64_t>(fits, is_float8(p.a.type) ? 16 : p.narrow() ? 4 : 1));
  }
  made.scale = uint8_t(p.description.scale);
  made.bias = uint8_t(p.bias_type);
  made.operations = uint8_t(p.description.op_a * 4 + p.description.op_b);
  made.epilogue = p.description.epilogue;
  made.compute = int32_t(p.description.compute);
  return made;
}

bool serves(const Algorithm& algorithm, const Problem& problem) {
  Preference same;
  Algorithm wanted = algorithm_for(problem, same);
  const bool alike = algorithm.magic == wanted.magic &&
                     std::equal(algorithm.types, algorithm.types + 4, wanted.types) &&
                     algorithm.scale == wanted.scale && algorithm.bias == wanted.bias &&
                     algorithm.orders == wanted.orders && algorithm.operations == wanted.operations &&
                     algorithm.epilogue == wanted.epilogue && algorithm.compute == wanted.compute;
  // Lines must keep the alignment that the algorithm was chosen for.
  return alike && std::equal(algorithm.alignment, algorithm.alignment + 4, wanted.alignment,
                             [](uint16_t had, uint16_t has) { return had <= has; });
}

}  // namespace stator::emulator::vendor::blaslt
