// Lists of tensors in the parameters of a launch. A block works on one chunk of one tensor.
#pragma once

#include "device/group.cuh"
#include "device/math/math.cuh"
#include "host/launch.hpp"
#include "params/optim.hpp"

namespace stator::STATOR_TARGET::optim {

struct OptimTuning {
  static constexpr int block = 256;
  static constexpr int chunk = by_target<4096, 16384>::value;
};

template <class Tensor, int Capacity>
struct TensorList {
  static constexpr int capacity = Capacity;
  Tensor tensors[Capacity];
  int32_t count;
};

// As many tensors as fit kernel parameters of 4 KiB and of 32 KiB, beside the numbers of a step.
template <class Tensor>
inline constexpr int few_tensors = 3840 / int(sizeof(Tensor));
template <class Tensor>
inline constexpr int many_tensors = 32000 / int(sizeof(Tensor));

struct Chunk {
  int32_t tensor;
  int64_t first, n;  // elements of it
};

// The chunk of a block, by a search in the ends of the tensors.
template <class Tensor, int Capacity>
STATOR_FN Chunk chunk_of(const TensorList<Tensor, Capacity>& list, int64_t block) {
  int low = 0, high = list.count - 1;
  while (low < high) {
    const int middle = (low + high) / 2;
    if (block < list.tensors[middle].end)
      high = middle;
    else
      low = middle + 1;
  }
  const int64_t before = low > 0 ? list.tensors[low - 1].end : 0;
  const int64_t first = (block - before) * OptimTuning::chunk, left = list.tensors[low].size - first;
  return {low, first, left < OptimTuning::chunk ? left : OptimTuning::chunk};
}

template <class Tensor>
int64_t chunks_of(const Tensor* tensors, int32_t count) {
  int64_t chunks = 0;
  for (int32_t i = 0; i < count; ++i) chunks += ceil_div(tensors[i].size, OptimTuning::chunk);
  return chunks;
}

template <class List, class Tensor, class F>
void submit_lists(const Tensor* tensors, int32_t count, F f) {
  for (int32_t first = 0; first < count;) {
    List list{};
    const int32_t before = first;
    int64_t chunks = 0;
    for (; first < count && list.count < List::capacity; ++first) {
      Tensor& t = list.tensors[list.count++] = tensors[first];
      t.end = chunks += ceil_div(t.size, OptimTuning::chunk);
    }
    f(list, chunks, before);
  }
}

// Calls f(list, chunks, the tensors before) for lists that have all tensors between them.
template <class Tensor, class F>
void for_lists(const Tensor* tensors, int32_t count, F f) {
  if (count <= few_tensors<Tensor>)
    submit_lists<TensorList<Tensor, few_tensors<Tensor>>>(tensors, count, f);
  else
    submit_lists<TensorList<Tensor, many_tensors<Tensor>>>(tensors, count, f);
}

STATOR_FN double value_of(const params::DeviceNumber& number) {
  if (number.at == nullptr) return number.value;
  constexpr DTypeSet numbers = dtype_bit(DType::int32) | dtype_bit(DType::int64) | dtypes::full_floats;
  return visit<numbers>(number.dtype, [=]<class T>(type_tag<T>) { return double(*static_cast<const T*>(number.at)); });
}

}  // namespace stator::STATOR_TARGET::optim
