// From a floating dtype to its type.
#pragma once

#include "device/target.cuh"

namespace stator::STATOR_TARGET::norm {

template <class F>
void with_float(DType dtype, F f) {
  switch (dtype) {
    case DType::float16: return f(type_tag<float16>{});
    case DType::bfloat16: return f(type_tag<bfloat16>{});
    case DType::float32: return f(type_tag<float>{});
    default: return f(type_tag<double>{});
  }
}

}  // namespace stator::STATOR_TARGET::norm
