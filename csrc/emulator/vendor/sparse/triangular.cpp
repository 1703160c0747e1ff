// Solutions with a sparse triangle: sizes, analysis, solution. The analysis keeps the matrix's values, and its buffer
// must last until the last solution.
#include "emulator/vendor/common/call.hpp"
#include "emulator/vendor/sparse/matrix.hpp"

#include <vector>

using namespace stator::emulator::vendor;
using namespace stator::emulator::vendor::sparse;

namespace {

// A vector is a matrix of one column here.
struct Solve {
  Op op_a = Op::none, op_b = Op::none;
  Matrix a;
  DenseMatrix b, c;
  Type compute = Type::r32f;

  bool same_as(const Solve& other) const {
    const Matrix& x = a;
    const Matrix& y = other.a;
    return op_a == other.op_a && op_b == other.op_b && compute == other.compute && x.rows == y.rows && x.nnz == y.nnz &&
           x.offsets == y.offsets && x.indices == y.indices && x.index == y.index && x.base == y.base &&
           x.upper == y.upper && x.unit == y.unit && c.rows == other.c.rows && c.columns == other.c.columns;
  }
  uint64_t bytes() const {
    return 64 + uint64_t(a.rows) * (op_a == Op::none ? 16 : 24) + uint64_t(a.nnz) * size_of(a.type) +
           uint64_t(c.columns) * 8;
  }
};

// What the analysis found, which work fills.
struct Analysis {
  bool sized = false, analysed = false;
  Solve solve;
  Range buffer;
  uint64_t number = 0;
  struct Found {
    bool done = false;
    std::vector<int64_t> offsets, indices;
    std::vector<char> values;
  };
  std::shared_ptr<Found> found;
};
Registry<Analysis> vector_states{"cusparseSpSVDescr_t"}, matrix_states{"cusparseSpSMDescr_t"};

constexpr const char* solution_name = "cusparse triangular solution";

DenseMatrix as_matrix(const DenseVector& v) { return {v.size, 1, v.size, v.values, v.type, Order::columns}; }

Status check(const Solve& s, int algorithm) {
  if (!valid(s.op_a) || !valid(s.op_b) || s.op_b == Op::adjoint) return Status::invalid_value;
  if (algorithm != 0) return Status::not_supported;
  if (!all_are(s.compute, {s.a.type, s.b.type, s.c.type})) return Status::not_supported;
  const int64_t rows = s.op_b == Op::none ? s.b.rows : s.b.columns,
                columns = s.op_b == Op::none ? s.b.columns : s.b.rows;
  const bool fits = s.a.rows == s.a.columns && rows == s.a.rows && s.c.rows == rows && s.c.columns == columns;
  return fits ? Status::success : Status::invalid_value;
}

Status find_vector(Op op, const void* a, const void* x, const void* y, Type compute, int algorithm, Solve& solve) {
  const Matrix* const matrix = matrices.find(a);
  const DenseVector *const vx = vectors.find(x), *const vy = vectors.find(y);
  if (!matrix || !vx || !vy) return Status::invalid_value;
  solve = {op, Op::none, *matrix, as_matrix(*vx), as_matrix(*vy), compute};
  return check(solve, algorithm);
}

Status find_matrix(Op op_a, Op op_b, const void* a, const void* b, const void* c, Type compute, int algorithm,
                   Solve& solve) {
  const Matrix* const matrix = matrices.find(a);
  const DenseMatrix *const mb = dense_matrices.find(b), *const mc = dense_matrices.find(c);
  if (!matrix || !mb || !mc) return Status::invalid_value;
  solve = {op_a, op_b, *matrix, *mb, *mc, compute};
  return check(solve, algorithm);
}

// Alpha is read in every phase, and used in the last.
Status begin(void* handle, const void* alpha, Type compute, Analysis* state, Handle** h, std::complex<double>* factor) {
  Status status = Status::success;
  *h = use(handle, solution_name, status);
  if (!*h) return status;
  if (!state) return Status::invalid_value;
  Scalars scalars;
  status = read_scalars(solution_name, alpha, alpha, compute, scalars);
  if (factor) *factor = scalars.alpha;
  return status;
}

Status state_bytes(Analysis* state, const Solve& solve, size_t* bytes) {
  if (!bytes) return Status::invalid_value;
  state->sized = true;
  *bytes = size_t(solve.bytes());
  return Status::success;
}

Status analyse(Handle* h, Analysis* state, const Solve& solve, void* buffer) {
  if (!state->sized) {
    complain(solution_name, "The analysis came before the size of its buffer was asked for.");
    return Status::invalid_value;
  }
  if (!buffer) return Status::invalid_value;
  state->analysed = true;
  state->solve = solve;
  state->buffer = bytes_at(buffer, solve.bytes());
  state->number = new_mark();
  state->found = std::make_shared<Analysis::Found>();
  return launched(
      enqueue(h->stream, solution_name, [solve, found = state->found, range = state->buffer, number = state->number] {
        if (!writes(solution_name, range)) return;
        leave_mark(range, number);
        if (!read_structure(solution_name, solve.a, found->offsets, found->indices) ||
            !reads(solution_name, values_of(solve.a)))
          return;
        const char* const first = static_cast<const char*>(solve.a.values);
        found->values.assign(first, first + values_of(solve.a).width);
        found->done = true;
      }));
}

template <class T>
void run(const Solve& s, const Analysis::Found& found, std::complex<double> factor) {
  if (!reads(solution_name, s.b.range()) || !writes(solution_name, s.c.range())) return;
  Csr<T> a{s.a.rows, s.a.columns, found.offsets, found.indices, std::vector<T>(found.indices.size())};
  for (size_t i = 0; i < a.values.size(); ++i) a.values[i] = load_as<T>(s.a.type, found.values.data(), int64_t(i));
  a = turned(a, s.op_a);
  const bool upper = (s.a.upper != 0) != (s.op_a != Op::none), unit = s.a.unit != 0;
  const int64_t n = a.rows, count = s.c.columns;
  std::vector<T> x = gather<T>(s.b.type, s.b.values, s.op_b, n, count, s.b.ld, s.b.order == Order::rows);
  if (s.b.values != s.c.values) poison(s.c.range());
  for (int64_t j = 0; j < count; ++j) {
    T* const column = x.data() + j * n;
    for (int64_t step = 0; step < n; ++step) {
      const int64_t i = upper ? n - 1 - step : step;
      T sum = times(narrow<T>(factor), column[i]), pivot(0);
      for (int64_t e = a.offsets[size_t(i)]; e < a.offsets[size_t(i) + 1]; ++e) {
        const int64_t k = a.indices[size_t(e)];
        if (k == i) pivot += a.values[size_t(e)];
        if (upper ? k > i : k < i) sum -= times(a.values[size_t(e)], column[k]);  // the other triangle is not read
      }
      column[i] = unit ? sum : sum / pivot;
      store(s.c.type, s.c.values, s.c.at(i, j), column[i]);
    }
  }
  wrote(s.c.range());
}

Status finish(Handle* h, Analysis* state, const Solve& solve, std::complex<double> factor) {
  if (!state->analysed || !solve.same_as(state->solve)) {
    complain(solution_name, "The solution is not the one that was analysed.");
    return Status::invalid_value;
  }
  return launched(
      enqueue(h->stream, solution_name, [=, found = state->found, range = state->buffer, number = state->number] {
        if (!found->done || !intact(solution_name, range, number)) return poison(solve.c.range());
        with_compute(solve.compute, [&](auto tag) {
          using T = typename decltype(tag)::type;
          if constexpr (!std::is_same_v<T, int32_t>) run<T>(solve, *found, factor);
        });
      }));
}

Status create(Registry<Analysis>& registry, void** made) {
  if (!made) return Status::invalid_value;
  *made = registry.add(std::make_unique<Analysis>());
  return Status::success;
}

}  // namespace

STATOR_VENDOR(Status, cusparseSpSV_createDescr, (void** made), (made)) { return create(vector_states, made); }
STATOR_VENDOR(Status, cusparseSpSV_destroyDescr, (void* object), (object)) { return destroy(vector_states, object); }
STATOR_VENDOR(Status, cusparseSpSM_createDescr, (void** made), (made)) { return create(matrix_states, made); }
STATOR_VENDOR(Status, cusparseSpSM_destroyDescr, (void* object), (object)) { return destroy(matrix_states, object); }

// The three phases differ in what they do once everything is found.
#define SPARSE_VECTOR(phase, last_type, last, action)                                                         \
  STATOR_VENDOR(Status, cusparseSpSV_##phase,                                                                 \
                (void* handle, Op op, const void* alpha, const void* a, const void* x, void* y, Type compute, \
                 int algorithm, void* descriptor last_type),                                                  \
                (handle, op, alpha, a, x, y, compute, algorithm, descriptor last)) {                          \
    Analysis* const state = vector_states.find(descriptor);                                                   \
    Handle* h = nullptr;                                                                                      \
    std::complex<double> factor;                                                                              \
    Solve solve;                                                                                              \
    Status status = begin(handle, alpha, compute, state, &h, &factor);                                        \
    if (status == Status::success) status = find_vector(op, a, x, y, compute, algorithm, solve);              \
    return status == Status::success ? action : status;                                                       \
  }
#define SPARSE_MATRIX(phase, last_type, last, action)                                                      \
  STATOR_VENDOR(Status, cusparseSpSM_##phase,                                                              \
                (void* handle, Op op_a, Op op_b, const void* alpha, const void* a, const void* b, void* c, \
                 Type compute, int algorithm, void* descriptor last_type),                                 \
                (handle, op_a, op_b, alpha, a, b, c, compute, algorithm, descriptor last)) {               \
    Analysis* const state = matrix_states.find(descriptor);                                                \
    Handle* h = nullptr;                                                                                   \
    std::complex<double> factor;                                                                           \
    Solve solve;                                                                                           \
    Status status = begin(handle, alpha, compute, state, &h, &factor);                                     \
    if (status == Status::success) status = find_matrix(op_a, op_b, a, b, c, compute, algorithm, solve);   \
    return status == Status::success ? action : status;                                                    \
  }
#define COMMA ,
SPARSE_VECTOR(bufferSize, COMMA size_t* bytes, COMMA bytes, state_bytes(state, solve, bytes))
SPARSE_VECTOR(analysis, COMMA void* buffer, COMMA buffer, analyse(h, state, solve, buffer))
SPARSE_VECTOR(solve, , , finish(h, state, solve, factor))
SPARSE_MATRIX(bufferSize, COMMA size_t* bytes, COMMA bytes, state_bytes(state, solve, bytes))
SPARSE_MATRIX(analysis, COMMA void* buffer, COMMA buffer, analyse(h, state, solve, buffer))
SPARSE_MATRIX(solve, , , finish(h, state, solve, factor))
