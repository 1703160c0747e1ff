// What is asked of all gradients at once: their common length, and whether one of them is not finite.
#include "device/convert.cuh"
#include "device/functional.cuh"
#include "host/launcher.hpp"
#include "kernels/optim/length.cuh"
#include "kernels/optim/tensors.cuh"

namespace stator::STATOR_TARGET::optim {
namespace {

// What blocks find are lengths, since the squares of float64 may be too large.
struct Length {
  template <class T, class Group>
  STATOR_FN static double of(const Group& group, const T* x, int64_t n) {
    return length_of<opmath_t<T>>(group, n, [=](int64_t i) { return opmath_t<T>(x[i]); });
  }
  template <class Group>
  STATOR_FN static double all(const Group& group, const double* partials, int64_t n) {
    return length_of<double>(group, n, [=](int64_t i) { return partials[i]; });
  }
  STATOR_FN static void finish(const params::GradList& p, double length) {
    const double norm = length / value_of(p.grad_scale), limit = p.max_norm / (norm + 1e-6);
    store(p.norm, p.norm_dtype, norm);
    store(p.factor, p.norm_dtype, limit > 1 ? 1.0 : limit);  // NaN stays
  }
  STATOR_FN static void store(void* at, DType dtype, double value) {
    if (dtype == DType::float64)
      *static_cast<double*>(at) = value;
    else
      *static_cast<float*>(at) = float(value);
  }
};

struct NotFinite {
  template <class T, class Group>
  STATOR_FN static double of(const Group& group, const T* x, int64_t n) {
    using A = opmath_t<T>;
    return double(group.template map_reduce<int>(n, Max{}, [=](int64_t i) {
      const A v = A(x[i]);
      return int(v - v != A(0));
    }));
  }
  template <class Group>
  STATOR_FN static double all(const Group& group, const double* partials, int64_t n) {
    return group.template map_reduce<double>(n, Max{}, [=](int64_t i) { return partials[i]; });
  }
  STATOR_FN static void finish(const params::GradList& p, double found) { *p.found = found > 0; }
};

// The last of all blocks, which may be of several launches, folds what the blocks found.
template <class Fold, int Capacity, int Size>
STATOR_KERNEL(Size) void gradients_kernel(TensorList<params::GradTensor, Capacity> list, params::GradList p,
                                          int64_t before, int64_t total) {
  const Group<Size> group;
  double found = 0;
  if (list.count > 0) {
    const Chunk chunk = chunk_of(list, group.block());
    const params::GradTensor& t = list.tensors[chunk.tensor];
    found = visit<dtypes::floats>(t.dtype, [&]<class T>(type_tag<T>) {
      return Fold::of(group, static_cast<const T*>(t.grad) + chunk.first, chunk.n);
    });
  }
  if (group.rank() == 0) p.partials[before + group.block()] = found;
  if (!group.last_block(p.counters, uint32_t(total))) return;
  const double all = Fold::all(group, p.partials, total);
  if (group.rank() == 0) Fold::finish(p, all);
}

int64_t grad_chunks(const params::DeviceLimits&, const params::GradList& p) {
  const int64_t chunks = chunks_of(p.tensors, p.tensor_count);
  return chunks > 0 ? chunks : 1;
}

template <class Fold>
void fold_gradients(const params::Queue& q, const params::GradList& p, const char* name) {
  constexpr int few = few_tensors<params::GradTensor>;
  if (p.tensor_count == 0)
    return launch(q, name, gradients_kernel<Fold, few, OptimTuning::block>, {1, OptimTuning::block}, {}, p, 0, 1);
  const int64_t total = chunks_of(p.tensors, p.tensor_count);
  int64_t before = 0;
  for_lists(p.tensors, p.tensor_count,
            [&]<class Tensor, int Capacity>(const TensorList<Tensor, Capacity>& list, int64_t chunks, int32_t) {
              launch(q, name, gradients_kernel<Fold, Capacity, OptimTuning::block>, {chunks, OptimTuning::block}, list,
                     p, before, total);
              before += chunks;
            });
}

void grad_norm(const params::Queue& q, const params::GradList& p) { fold_gradients<Length>(q, p, "grad_norm"); }
void has_inf_nan(const params::Queue& q, const params::GradList& p) { fold_gradients<NotFinite>(q, p, "has_inf_nan"); }

}  // namespace

}  // namespace stator::STATOR_TARGET::optim

STATOR_LAUNCHER(optim, grad_chunks)
STATOR_LAUNCHER(optim, grad_norm)
STATOR_LAUNCHER(optim, has_inf_nan)
