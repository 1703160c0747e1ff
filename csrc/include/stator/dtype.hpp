// Names of dtypes, promotion and casts.
#pragma once

#include <stator/device/element_types.hpp>

#include <span>
#include <string_view>

namespace stator {

// "bool", "int8", ...: the names of the array API (and "bfloat16").
STATOR_API std::string_view name(DType d);

// numpy.result_type of two array dtypes. bfloat16 with float16 gives float32; with integers bfloat16 behaves as
// float16.
STATOR_API DType promote(DType a, DType b);
// The common dtype of one or more dtypes, whatever their order. ValueError for none.
STATOR_API DType promote(std::span<const DType> dtypes);

// True where numpy.can_cast(from, to, "same_kind") holds.
STATOR_API bool can_cast_same_kind(DType from, DType to);

}  // namespace stator
