// Names of dtypes and NumPy's promotion rules, with bfloat16 added.
#include <stator/dtype.hpp>
#include <stator/error.hpp>

#include <algorithm>

namespace stator {
namespace {

DType signed_of(int bytes) {
  return bytes == 1 ? DType::int8 : bytes == 2 ? DType::int16 : bytes == 4 ? DType::int32 : DType::int64;
}

DType promote_integers(DType a, DType b) {
  const bool signed_a = in(a, dtypes::signed_integers), signed_b = in(b, dtypes::signed_integers);
  if (signed_a == signed_b) return itemsize(a) >= itemsize(b) ? a : b;
  const DType with_sign = signed_a ? a : b, without = signed_a ? b : a;
  if (itemsize(with_sign) > itemsize(without)) return with_sign;
  return without == DType::uint64 ? DType::float64 : signed_of(2 * itemsize(without));
}

// The float that NumPy promotes an integer of this width to; beside 8-bit integers a 16-bit float keeps its own dtype.
DType float_for(DType integer, DType floating) {
  const int bytes = itemsize(integer);
  const DType need = bytes == 1 ? floating : bytes == 2 ? DType::float32 : DType::float64;
  return itemsize(need) > itemsize(floating) ? need : floating;
}

DType promote_floats(DType a, DType b) {
  if (a == b) return a;
  if (itemsize(a) == itemsize(b)) return DType::float32;  // float16 and bfloat16
  return itemsize(a) > itemsize(b) ? a : b;
}

DType complex_of(DType real) { return real == DType::float64 ? DType::complex128 : DType::complex64; }

}  // namespace

std::string_view name(DType d) {
  static constexpr std::string_view names[dtype_count] = {"bool",     "int8",    "int16",   "int32",     "int64",
                                                          "uint8",    "uint16",  "uint32",  "uint64",    "float16",
                                                          "bfloat16", "float32", "float64", "complex64", "complex128"};
  return names[static_cast<int>(d)];
}

DType promote(DType a, DType b) {
  if (a == b || b == DType::bool_) return a;
  if (a == DType::bool_) return b;
  if (in(a, dtypes::integers) && in(b, dtypes::integers)) return promote_integers(a, b);
  const bool complex = in(a, dtypes::complexes) || in(b, dtypes::complexes);
  const DType x = real_part(a), y = real_part(b);
  const DType real = in(x, dtypes::integers)   ? float_for(x, y)
                     : in(y, dtypes::integers) ? float_for(y, x)
                                               : promote_floats(x, y);
  return complex ? complex_of(real) : real;
}

DType promote(std::span<const DType> dtypes) {
  if (dtypes.empty()) throw ValueError("promote", "no dtypes were given", "Give one or more");
  if (std::all_of(dtypes.begin(), dtypes.end(), [&](DType d) { return d == dtypes[0]; })) return dtypes[0];
  DType common =
      *std::max_element(dtypes.begin(), dtypes.end(), [](DType a, DType b) { return kind_of(a) < kind_of(b); });
  // The highest kind comes first: int8 and uint8 each promote to float16 beside a float16, but their common int16 would
  // promote to float32.
  for (int kind = int(kind_of(common)); kind >= 0; --kind)
    for (const DType d : dtypes)
      if (int(kind_of(d)) == kind) common = promote(common, d);
  return common;
}

bool can_cast_same_kind(DType from, DType to) {
  // bool < unsigned < signed < floating < complex, as in NumPy.
  auto rank = [](DType d) {
    switch (kind_of(d)) {
      case Kind::boolean: return 0;
      case Kind::unsigned_integer: return 1;
      case Kind::signed_integer: return 2;
      case Kind::floating: return 3;
      case Kind::complex_floating: return 4;
    }
    __builtin_unreachable();
  };
  return rank(from) <= rank(to);
}

}  // namespace stator
