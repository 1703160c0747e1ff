// ldmatrix, stmatrix and mma.sync, by the tables of fragments that PTX documents.
#include "emulator/machine/level/addresses.hpp"
#include "emulator/machine/level/floats.hpp"
#include "emulator/machine/level/small_float.hpp"

namespace stator::emulator::machine {
namespace {

void whole_warp(Warp& w, const Instruction& i, uint32_t mask) {
  if (mask != all_lanes)
    stop(w, i, first_lane(mask), Fault::missing_lanes,
         "All 32 lanes of a warp take part in the instruction; " + std::to_string(__builtin_popcount(mask)) + " do.");
}

// Matrices of 8 x 8 16-bit elements: lanes 8k..8k+7 have the addresses of the rows of matrix k, and each lane holds two
// neighbours of a row, or of a column if transposed.
template <bool Transposed, bool Store>
Flow move_matrices(Warp& w, const Instruction& i, uint32_t mask) {
  whole_warp(w, i, mask);
  const unsigned count = i.vector;
  alignas(64) uint64_t a[lanes];
  read_addresses(w, i.op[Store ? 0 : count], i.offset, a);
  const auto base = reinterpret_cast<uint64_t>(w.block->shared);
  if (i.op[Store ? 0 : count].bytes == 8 && a[0] - base < w.block->shared_bytes)
    for (uint64_t& v : a) v -= base;  // a generic address
  const uint32_t used = uint32_t(memory::low_bits(8 * count));
  const Pattern p = pattern_of(a, used, 16);
  constexpr Access access{16, !Store, Store};
  check_shared_pattern(w, i, used, a, p, access);
  Counters& c = w.worker->counters;
  (Store ? c.shared_stores : c.shared_loads) += 1;
  (Store ? c.shared_store_wavefronts : c.shared_load_wavefronts) += wavefronts(a, used, 16, p);
  if (w.block->launch->races) note_access(w, i, used, a, access, true);
  uint32_t values[4][lanes];
  for (unsigned k = 0; k < count; ++k)
    for (unsigned l = 0; l < lanes; ++l) {
      if (Store) values[k][l] = w.lane_values<uint32_t>(i.op[1 + k])[l];
      for (unsigned half = 0; half < 2; ++half) {
        const unsigned row = Transposed ? 2 * (l % 4) + half : l / 4, column = Transposed ? l / 4 : 2 * (l % 4) + half;
        std::byte* const at = w.block->shared + a[8 * k + row] + 2 * column;
        std::byte* const value = reinterpret_cast<std::byte*>(&values[k][l]) + 2 * half;
        std::memcpy(Store ? at : value, Store ? value : at, 2);
      }
    }
  if (!Store)
    for (unsigned k = 0; k < count; ++k) std::memcpy(w.lane_values<uint32_t>(i.op[k]), values[k], sizeof values[k]);
  return Flow::next;
}

// The elements of a 16 x K and of a K x 8 fragment that lane l holds in element e of a register file of `per` elements
// a register. Rows come in groups of lanes of four; columns within a group; further registers add 8 rows, then half of
// K.
struct Position {
  unsigned row, column;
};
Position position_a(unsigned l, unsigned e, unsigned per, unsigned registers) {
  const unsigned r = e / per, half = registers / 2;  // registers: 1, 2 or 4
  const unsigned row = l / 4 + (registers > 1 && r % 2 ? 8 : 0);
  return {row, l % 4 * per + e % per + (half > 1 && r >= 2 ? 4 * per : 0)};
}
Position position_b(unsigned l, unsigned e, unsigned per) { return {l % 4 * per + e % per + e / per * 4 * per, l / 4}; }

enum class Element { f16, bf16, tf32, s8, u8, f64 };
constexpr unsigned bits_of(Element e) {
  return e == Element::f64 ? 64 : e == Element::tf32 ? 32 : e == Element::s8 || e == Element::u8 ? 8 : 16;
}

double element(const Warp& w, const Operand* from, Element kind, unsigned l, unsigned e) {
  if (kind == Element::f64) return w.lane_values<double>(from[e])[l];
  const unsigned per = 32 / bits_of(kind);
  const uint32_t word = w.lane_values<uint32_t>(from[e / per])[l] >> (bits_of(kind) * (e % per));
  switch (kind) {
    case Element::f16: return from_f16(uint16_t(word));
    case Element::bf16: return from_bf16(uint16_t(word));
    case Element::tf32: return std::bit_cast<float>(word & 0xffffe000);  // the hardware ignores the rest
    case Element::s8: return int8_t(word);
    default: return uint8_t(word);
  }
}

enum class Sum { f32, f16, s32, f64 };

// Products are exact; they are added to the accumulator in the order of k, each sum rounded to the accumulator's
// precision (an order and a rounding that the hardware does not promise).
template <unsigned M, unsigned K, Element A, Element B, Sum S>
Flow multiply(Warp& w, const Instruction& i, uint32_t mask) {
  whole_warp(w, i, mask);
  constexpr unsigned N = 8;
  constexpr unsigned per_a = A == Element::f64 ? 1 : 32 / bits_of(A);
  constexpr unsigned elements_a = M * K / lanes, elements_b = K * N / lanes, elements_c = M * N / lanes;
  constexpr unsigned registers_a = elements_a / per_a, registers_b = elements_b / per_a;
  constexpr unsigned registers_c = S == Sum::f16 ? elements_c / 2 : elements_c;
  const Operand* const op = w.code->operands(i);
  const Operand *const d = op, *const a = op + registers_c, *const b = a + registers_a, *const c = b + registers_b;
  double left[M][K], right[K][N], sum[M][N];
  const auto each_c = [&](auto f) {
    for (unsigned l = 0; l < lanes; ++l)
      for (unsigned e = 0; e < elements_c; ++e) f(l, e, l / 4 + (e / 2) * 8, l % 4 * 2 + e % 2);
  };
  for (unsigned l = 0; l < lanes; ++l) {
    for (unsigned e = 0; e < elements_a; ++e) {
      const Position p = position_a(l, e, per_a, registers_a);
      left[p.row][p.column] = element(w, a, A, l, e);
    }
    for (unsigned e = 0; e < elements_b; ++e) {
      const Position p = position_b(l, e, per_a);
      right[p.row][p.column] = element(w, b, B, l, e);
    }
  }
  each_c([&](unsigned l, unsigned e, unsigned row, unsigned column) {
    if (S == Sum::f64)
      sum[row][column] = w.lane_values<double>(c[e])[l];
    else if (S == Sum::f32)
      sum[row][column] = w.lane_values<float>(c[e])[l];
    else if (S == Sum::s32)
      sum[row][column] = w.lane_values<int32_t>(c[e])[l];
    else
      sum[row][column] = from_f16(uint16_t(w.lane_values<uint32_t>(c[e / 2])[l] >> (16 * (e % 2))));
  });
  for (unsigned row = 0; row < M; ++row)
    for (unsigned column = 0; column < N; ++column) {
      double v = sum[row][column];
      for (unsigned k = 0; k < K; ++k) {
        if (S == Sum::f64)
          v = __builtin_fma(left[row][k], right[k][column], v);
        else if (S == Sum::s32)
          v += left[row][k] * right[k][column];
        else
          v = float(v + left[row][k] * right[k][column]);
      }
      sum[row][column] = v;
    }
  each_c([&](unsigned l, unsigned e, unsigned row, unsigned column) {
    const double v = sum[row][column];
    if (S == Sum::f64)
      w.lane_values<double>(d[e])[l] = v;
    else if (S == Sum::f32)
      w.lane_values<float>(d[e])[l] = canonical(float(v));
    else if (S == Sum::s32 && i.sat)
      w.lane_values<int32_t>(d[e])[l] = v > INT32_MAX ? INT32_MAX : v < INT32_MIN ? INT32_MIN : int32_t(v);
    else if (S == Sum::s32)
      w.lane_values<uint32_t>(d[e])[l] = uint32_t(int64_t(v));
    else
      std::memcpy(reinterpret_cast<std::byte*>(w.lane_values<uint32_t>(d[e / 2]) + l) + 2 * (e % 2),
                  std::array{to_f16(v)}.data(), 2);
  });
  return Flow::next;
}

template <unsigned K>
Handler of_bytes(const Form& f) {
  const bool a = f.types[1] == Type::s8, b = f.types[2] == Type::s8;
  if (a)
    return b ? multiply<16, K, Element::s8, Element::s8, Sum::s32>
             : multiply<16, K, Element::s8, Element::u8, Sum::s32>;
  return b ? multiply<16, K, Element::u8, Element::s8, Sum::s32> : multiply<16, K, Element::u8, Element::u8, Sum::s32>;
}

Handler product(const Form& f) {
  if (f.type_count != 4 || f.types[0] != f.types[3] || !f.has("row") || !f.has("col")) return nullptr;
  const Type d = f.types[0], a = f.types[1];
  const bool k8 = f.has("m16n8k8"), k16 = f.has("m16n8k16"), k32 = f.has("m16n8k32"), k4 = f.has("m16n8k4");
  if (a == Type::f16 && f.types[2] == a && d == Type::f32)
    return k8    ? multiply<16, 8, Element::f16, Element::f16, Sum::f32>
           : k16 ? multiply<16, 16, Element::f16, Element::f16, Sum::f32>
                 : nullptr;
  if (a == Type::f16 && f.types[2] == a && d == Type::f16)
    return k8    ? multiply<16, 8, Element::f16, Element::f16, Sum::f16>
           : k16 ? multiply<16, 16, Element::f16, Element::f16, Sum::f16>
                 : nullptr;
  if (a == Type::bf16 && f.types[2] == a && d == Type::f32)
    return k8    ? multiply<16, 8, Element::bf16, Element::bf16, Sum::f32>
           : k16 ? multiply<16, 16, Element::bf16, Element::bf16, Sum::f32>
                 : nullptr;
  if (a == Type::tf32 && f.types[2] == a && d == Type::f32)
    return k4   ? multiply<16, 4, Element::tf32, Element::tf32, Sum::f32>
           : k8 ? multiply<16, 8, Element::tf32, Element::tf32, Sum::f32>
                : nullptr;
  if (a == Type::f64 && d == Type::f64 && f.has("m8n8k4")) return multiply<8, 4, Element::f64, Element::f64, Sum::f64>;
  const bool bytes = (a == Type::s8 || a == Type::u8) && (f.types[2] == Type::s8 || f.types[2] == Type::u8);
  if (bytes && d == Type::s32) return k16 ? of_bytes<16>(f) : k32 ? of_bytes<32>(f) : nullptr;
  return nullptr;
}

Handler find(const Form& f) {
  if (f.base == "mma" && f.has("sync")) return product(f);
  const bool plain = f.has("m8n8") && f.type() == Type::b16;
  if (f.base == "ldmatrix" && plain) return f.has("trans") ? move_matrices<true, false> : move_matrices<false, false>;
  if (f.base == "stmatrix" && plain) return f.has("trans") ? move_matrices<true, true> : move_matrices<false, true>;
  return nullptr;
}

}  // namespace

Choice select_matrix(const Form& f) { return {find(f), f.base == "mma" ? Kind::matrix : Kind::memory}; }

}  // namespace stator::emulator::machine
