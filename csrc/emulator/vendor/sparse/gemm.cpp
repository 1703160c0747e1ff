// Products of two sparse matrices, in three phases. The number of elements is known on the host after the second: that
// phase waits for the stream.
#include "emulator/vendor/common/call.hpp"
#include "emulator/vendor/sparse/matrix.hpp"

#include <map>
#include <vector>

using namespace stator::emulator::vendor;
using namespace stator::emulator::vendor::sparse;

namespace {

constexpr const char* product_name = "cusparseSpGEMM";

struct Structure {
  bool done = false;
  std::vector<int64_t> offsets{0}, indices;
};
struct State {
  enum class Phase { made, estimated, computed } phase = Phase::made;
  Range first, second;
  uint64_t number = 0;
  std::shared_ptr<Structure> structure;
};
Registry<State> states{"cusparseSpGEMMDescr_t"};

struct Problem {
  Handle* handle = nullptr;
  State* state = nullptr;
  Matrix a, b, c;
  Matrix* c_descriptor = nullptr;
  Type compute;
  Scalars scalars;

  Status find(void* h, Op op_a, Op op_b, const void* alpha, const void* pa, const void* pb, const void* beta, void* pc,
              Type type, int algorithm, void* descriptor) {
    Status status = Status::success;
    handle = use(h, product_name, status);
    if (!handle) return status;
    state = states.find(descriptor);
    const Matrix *const fa = matrices.find(pa), *const fb = matrices.find(pb);
    c_descriptor = matrices.find(pc);
    if (!state || !fa || !fb || !c_descriptor || !valid(op_a) || !valid(op_b)) return Status::invalid_value;
    a = *fa;
    b = *fb;
    c = *c_descriptor;
    compute = type;
    // Algorithms 2 and 3 need a phase more, which the double does not have.
    if (op_a != Op::none || op_b != Op::none || (algorithm != 0 && algorithm != 3)) return Status::not_supported;
    if (!all_are(compute, {a.type, b.type, c.type})) return Status::not_supported;
    if (a.index != Index::i32 || b.index != Index::i32 || c.index != Index::i32) return Status::not_supported;
    if (a.base != b.base || a.base != c.base) return Status::not_supported;
    if (a.columns != b.rows || c.rows != a.rows || c.columns != b.columns) return Status::invalid_value;
    return read_scalars(product_name, alpha, beta, compute, scalars);
  }
  uint64_t first_bytes() const { return 64 + uint64_t(a.rows) * 8 + uint64_t(a.nnz) * 8; }
  uint64_t second_bytes() const { return 128 + uint64_t(a.rows) * 12 + uint64_t(a.nnz + b.nnz) * 16; }
};

// Rows of the product with their columns in ascending order.
void multiply(const Matrix& a, const Matrix& b, Structure& product) {
  std::vector<int64_t> offsets_a, indices_a, offsets_b, indices_b;
  if (!read_structure(product_name, a, offsets_a, indices_a) || !read_structure(product_name, b, offsets_b, indices_b))
    return;
  for (int64_t i = 0; i < a.rows; ++i) {
    std::map<int64_t, bool> columns;
    for (int64_t e = offsets_a[size_t(i)]; e < offsets_a[size_t(i) + 1]; ++e) {
      const auto k = size_t(indices_a[size_t(e)]);
      for (int64_t f = offsets_b[k]; f < offsets_b[k + 1]; ++f) columns[indices_b[size_t(f)]] = true;
    }
    for (const auto& [column, present] : columns) product.indices.push_back(column);
    product.offsets.push_back(int64_t(product.indices.size()));
  }
  product.done = true;
}

template <class T>
void write(const Problem& p, const Structure& structure) {
  Csr<T> a, b;
  if (!read(product_name, p.a, a) || !read(product_name, p.b, b)) return;
  const Range offsets = bytes_at(p.c.offsets, uint64_t(p.c.rows + 1) * p.c.index_bytes());
  const Range indices = bytes_at(p.c.indices, uint64_t(p.c.nnz) * p.c.index_bytes()), values = values_of(p.c);
  for (const Range& range : {offsets, indices, values})
    if (!writes(product_name, range)) return;
  const T alpha = narrow<T>(p.scalars.alpha), beta = narrow<T>(p.scalars.beta);
  if (beta != T(0) && !reads(product_name, values)) return;
  if (beta == T(0)) poison(values);
  for (int64_t i = 0; i < p.c.rows; ++i) {
    std::map<int64_t, T> row;
    for (int64_t e = a.offsets[size_t(i)]; e < a.offsets[size_t(i) + 1]; ++e) {
      const auto k = size_t(a.indices[size_t(e)]);
      for (int64_t f = b.offsets[k]; f < b.offsets[k + 1]; ++f)
        row[b.indices[size_t(f)]] += times(a.values[size_t(e)], b.values[size_t(f)]);
    }
    for (int64_t e = structure.offsets[size_t(i)]; e < structure.offsets[size_t(i) + 1]; ++e) {
      const int64_t column = structure.indices[size_t(e)];
      T value = times(alpha, row[column]);
      if (beta != T(0)) value += times(beta, load_as<T>(p.c.type, p.c.values, e));
      store(p.c.type, p.c.values, e, value);
      static_cast<int32_t*>(p.c.indices)[e] = int32_t(column + p.c.base);
    }
  }
  for (int64_t i = 0; i <= p.c.rows; ++i)
    static_cast<int32_t*>(p.c.offsets)[i] = int32_t(structure.offsets[size_t(i)] + p.c.base);
  wrote(offsets);
  wrote(indices);
  wrote(values);
}

}  // namespace

STATOR_VENDOR(Status, cusparseSpGEMM_createDescr, (void** made), (made)) {
  if (!made) return Status::invalid_value;
  *made = states.add(std::make_unique<State>());
  return Status::success;
}
STATOR_VENDOR(Status, cusparseSpGEMM_destroyDescr, (void* object), (object)) { return destroy(states, object); }

STATOR_VENDOR(Status, cusparseSpGEMM_workEstimation,
              (void* handle, Op op_a, Op op_b, const void* alpha, const void* a, const void* b, const void* beta,
               void* c, Type compute, int algorithm, void* descriptor, size_t* bytes, void* buffer),
              (handle, op_a, op_b, alpha, a, b, beta, c, compute, algorithm, descriptor, bytes, buffer)) {
  Problem p;
  const Status status = p.find(handle, op_a, op_b, alpha, a, b, beta, c, compute, algorithm, descriptor);
  if (status != Status::success) return status;
  if (!bytes) return Status::invalid_value;
  if (!buffer) {
    *bytes = size_t(p.first_bytes());
    return Status::success;
  }
  if (*bytes < p.first_bytes()) return Status::invalid_value;
  if (services().is_capturing(p.handle->stream)) return Status::execution_failed;
  p.state->phase = State::Phase::estimated;
  p.state->first = bytes_at(buffer, p.first_bytes());
  p.state->number = new_mark();
  const int error = enqueue(p.handle->stream, product_name, [first = p.state->first, number = p.state->number] {
    if (writes(product_name, first)) leave_mark(first, number);
  });
  return launched(error ? error : services().synchronize(p.handle->stream));
}

// Resources may be insufficient for these algorithms, which the caller must expect: with a seed they are now and then.
STATOR_VENDOR(Status, cusparseSpGEMM_compute,
              (void* handle, Op op_a, Op op_b, const void* alpha, const void* a, const void* b, const void* beta,
               void* c, Type compute, int algorithm, void* descriptor, size_t* bytes, void* buffer),
              (handle, op_a, op_b, alpha, a, b, beta, c, compute, algorithm, descriptor, bytes, buffer)) {
  Problem p;
  const Status status = p.find(handle, op_a, op_b, alpha, a, b, beta, c, compute, algorithm, descriptor);
  if (status != Status::success) return status;
  if (!bytes) return Status::invalid_value;
  if (p.state->phase == State::Phase::made) {
    complain(product_name, "compute came before workEstimation had its buffer.");
    return Status::invalid_value;
  }
  if (choose(12) == 11) return Status::insufficient_resources;
  if (!buffer) {
    *bytes = size_t(p.second_bytes());
    return Status::success;
  }
  if (*bytes < p.second_bytes()) return Status::invalid_value;
  if (services().is_capturing(p.handle->stream)) return Status::execution_failed;
  p.state->second = bytes_at(buffer, p.second_bytes());
  p.state->structure = std::make_shared<Structure>();
  const int error = enqueue(
      p.handle->stream, product_name,
      [p, first = p.state->first, second = p.state->second, number = p.state->number, structure = p.state->structure] {
        if (!intact(product_name, first, number) || !writes(product_name, second)) return;
        leave_mark(second, number);
        multiply(p.a, p.b, *structure);
      });
  if (error || services().synchronize(p.handle->stream) || !p.state->structure->done) return Status::execution_failed;
  p.c_descriptor->nnz = int64_t(p.state->structure->indices.size());
  p.state->phase = State::Phase::computed;
  return Status::success;
}

STATOR_VENDOR(Status, cusparseSpGEMM_copy,
              (void* handle, Op op_a, Op op_b, const void* alpha, const void* a, const void* b, const void* beta,
               void* c, Type compute, int algorithm, void* descriptor),
              (handle, op_a, op_b, alpha, a, b, beta, c, compute, algorithm, descriptor)) {
  Problem p;
  const Status status = p.find(handle, op_a, op_b, alpha, a, b, beta, c, compute, algorithm, descriptor);
  if (status != Status::success) return status;
  const bool ready =
      p.state->phase == State::Phase::computed && p.c.offsets && (p.c.nnz == 0 || (p.c.indices && p.c.values));
  if (!ready) {
    complain(product_name, "copy came before compute, or before the result had memory.");
    return Status::invalid_value;
  }
  return launched(enqueue(
      p.handle->stream, product_name,
      [p, first = p.state->first, second = p.state->second, number = p.state->number, structure = p.state->structure] {
        if (!intact(product_name, first, number) || !intact(product_name, second, number)) return;
        with_compute(p.compute, [&](auto tag) { write<typename decltype(tag)::type>(p, *structure); });
      }));
}
