#include "emulator/vendor/blaslt/problem.hpp"
#include "emulator/vendor/common/call.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

using namespace stator::emulator::vendor;
using namespace stator::emulator::vendor::blaslt;

namespace {

const char* const name = "cublasLtMatmul";

// cublasLtMatmulHeuristicResult_t.
struct Found {
  Algorithm algorithm;
  size_t workspace;
  Status state;
  float waves;
  int reserved[4];
};
static_assert(sizeof(Found) == 96);

Status find(void* handle, void* description, void* a, void* b, void* c, void* d, Problem& problem) {
  Status status = Status::success;
  blas::Handle* const h = blas::use(handle, name, status);
  if (!h) return status;
  const Description* const wanted = descriptions.find(description);
  const Layout *const la = layouts.find(a), *const lb = layouts.find(b), *const lc = layouts.find(c),
                      *const ld = layouts.find(d);
  if (!wanted || !la || !lb || !lc || !ld) return Status::invalid_value;
  return describe(*wanted, *la, *lb, *lc, *ld, services().compute_capability(h->device), problem);
}

struct Pointers {
  const void *a, *b, *c;
  void* d;
};

const void* batch_of(const void* start, const Layout& layout, int64_t batch) {
  return static_cast<const char*>(start) + batch * layout.stride * int64_t(size_of(layout.type));
}
Range range_of(const void* start, const Layout& l) {
  return matrix_at(start, size_of(l.type), l.line(), l.lines(), l.ld);
}

// tanh's approximation, which is the library's.
double gelu_of(double x) { return 0.5 * x * (1 + std::tanh(0.7978845608028654 * (x + 0.044715 * x * x * x))); }

double scalar_at(const void* pointer) { return pointer ? double(*static_cast<const float*>(pointer)) : 1.0; }

bool reads_scalars(const Problem& p) {
  const Description& d = p.description;
  for (const void* each : {d.scale_a, d.scale_b, d.scale_c, d.scale_d})
    if (each && !reads("a scale of cublasLtMatmul", bytes_at(each, 4))) return false;
  return !d.largest_d || writes("the largest value of cublasLtMatmul", bytes_at(d.largest_d, 4));
}

// One batch. `largest` grows.
bool run_batch(const Problem& p, const Pointers& at, std::complex<double> alpha, std::complex<double> beta,
               int64_t batch, double& largest) {
  const Description& d = p.description;
  const void *const a = batch_of(at.a, p.a, batch), *const b = batch_of(at.b, p.b, batch);
  const void* const c = batch_of(at.c, p.c, batch);
  void* const to = const_cast<void*>(batch_of(at.d, p.d, batch));
  if (alpha != 0.0 && !(reads(name, range_of(a, p.a)) && reads(name, range_of(b, p.b)))) return false;
  if (beta != 0.0 && !reads(name, range_of(c, p.c))) return false;
  if (!writes(name, range_of(to, p.d))) return false;
  const uint64_t item = size_of(p.bias_type);
  const void* const bias = static_cast<const char*>(d.bias) + (d.bias ? batch * d.bias_stride * int64_t(item) : 0);
  if (p.has(with_bias) && !reads("the bias of cublasLtMatmul", bytes_at(bias, uint64_t(p.m) * item))) return false;
  const std::vector<std::complex<double>> values =
      blas::multiply({.arithmetic = p.arithmetic,
                      .op_a = Op(d.op_a),
                      .op_b = Op(d.op_b),
                      .m = p.m,
                      .n = p.n,
                      .k = p.k,
                      .alpha = alpha,
                      .beta = beta,
                      .a = a,
                      .b = b,
                      .c = c,
                      .type_a = p.a.type,
                      .type_b = p.b.type,
                      .type_c = p.c.type,
                      .lda = p.a.ld,
                      .ldb = p.b.ld,
                      .ldc = p.c.ld,
                      .row_a = p.a.by_rows(),
                      .row_b = p.b.by_rows(),
                      .row_c = p.c.by_rows(),
                      .scale_ab = scalar_at(d.scale_a) * scalar_at(d.scale_b),
                      .scale_c = scalar_at(d.scale_c)});
  if (to != c || beta == 0.0) poison(range_of(to, p.d));
  const double scale = scalar_at(d.scale_d);
  // As the library on an H100: in rows that are not aligned, halves are rounded before the epilogue and after it.
  const bool ends = p.has(with_bias) || p.has(relu) || p.has(gelu);
  const bool twice = ends && size_of(p.d.type) == 2 && (p.m % 8 != 0 || p.d.ld % 8 != 0 || !aligned(to, 16));
  const auto rounded = [&](std::complex<double> value) {
    uint16_t half = 0;
    store(p.d.type, &half, 0, value);
    return load(p.d.type, &half, 0);
  };
  for (int64_t j = 0; j < p.n; ++j)
    for (int64_t i = 0; i < p.m; ++i) {
      std::complex<double> value = values[size_t(j * p.m + i)];
      if (twice) value = rounded(value);
      if (p.has(with_bias)) value += load(p.bias_type, bias, i).real();
      if (p.has(relu) && value.real() < 0) value = 0;
      if (p.has(gelu)) value = gelu_of(value.real());
      largest = std::max(largest, std::fabs(value.real()));
      store(p.d.type, to, p.d.by_rows() ? i * p.d.ld + j : j * p.d.ld + i, value * scale);
    }
  wrote(range_of(to, p.d));
  return true;
}

bool lie_apart(const void* x, const Layout& lx, const void* y, const Layout& ly) {
  const auto end = [](const void* start, const Layout& l) {
    return static_cast<const char*>(start) +
           ((l.batches - 1) * l.stride + (l.lines() - 1) * l.ld + l.line()) * int64_t(size_of(l.type));
  };
  return end(x, lx) <= y || end(y, ly) <= x;
}

}  // namespace

STATOR_VENDOR(Status, cublasLtMatmulAlgoGetHeuristic,
              (void* handle, void* description, void* a, void* b, void* c, void* d, void* preference, int requested,
               void* results, int* returned),
              (handle, description, a, b, c, d, preference, requested, results, returned)) {
  if (requested <= 0 || !results || !returned) return Status::invalid_value;
  *returned = 0;
  const Preference* const wishes = preferences.find(preference);
  if (!wishes) return Status::invalid_value;
  Problem problem;
  const Status status = find(handle, description, a, b, c, d, problem);
  if (status != Status::success) return status;
  const Algorithm algorithm = algorithm_for(problem, *wishes);
  // Kernels that need more than the caller promises are left out, and then none may be left.
  for (int i = 0; i < 4; ++i)
    if (algorithm.alignment[i] > wishes->alignment[i]) return Status::not_supported;
  const Found found{algorithm, algorithm.workspace, Status::success, 1.0f, {}};
  std::memcpy(results, &found, sizeof(found));
  *returned = 1;
  return Status::success;
}

STATOR_VENDOR(Status, cublasLtMatmul,
              (void* handle, void* description, const void* alpha, const void* a, void* layout_a, const void* b,
               void* layout_b, const void* beta, const void* c, void* layout_c, void* d, void* layout_d,
               const void* algorithm, void* workspace, size_t workspace_bytes, void* stream),
              (handle, description, alpha, a, layout_a, b, layout_b, beta, c, layout_c, d, layout_d, algorithm,
               workspace, workspace_bytes, stream)) {
  Problem p;
  const Status status = find(handle, description, layout_a, layout_b, layout_c, layout_d, p);
  if (status != Status::success) return status;
  if (!alpha || !beta || !a || !b || !d) return Status::invalid_value;
  for (const void* scalar : {alpha, beta})
    if (!readable_by_host(name, scalar, size_of(p.description.scale))) return Status::execution_failed;
  const std::complex<double> factor = load(p.description.scale, alpha, 0), old = load(p.description.scale, beta, 0);
  if (!c && old != 0.0) return Status::invalid_value;
  if (p.has(with_bias) && !p.description.bias) return Status::invalid_value;
  if (!services().is_stream(stream)) return Status::invalid_value;
  Preference own;
  own.workspace = workspace_bytes;
  Algorithm chosen = algorithm_for(p, own);
  if (algorithm) {
    std::memcpy(&chosen, algorithm, sizeof(chosen));
    if (!serves(chosen, p)) return Status::not_supported;
  } else {
    for (uint16_t& alignment : chosen.alignment) alignment = is_float8(p.a.type) ? 16 : p.narrow() ? 4 : 1;
  }
  const void* const starts[] = {a, b, c ? c : d, d};
  const Layout* const all[] = {&p.a, &p.b, &p.c, &p.d};
  for (int i = 0; i < 4; ++i) {
    const uint64_t whole =
        std::max<uint64_t>(chosen.alignment[i], size_of(all[i]->type) > 8 ? 8 : size_of(all[i]->type));
    if (!aligned(starts[i], whole)) return Status::invalid_value;
  }
  if (workspace_bytes < chosen.workspace || (chosen.workspace && !workspace)) return Status::invalid_value;
  if (workspace && !aligned(workspace, 256)) return Status::invalid_value;
  if (!lie_apart(d, p.d, a, p.a) || !lie_apart(d, p.d, b, p.b))
    complain(name, "The result lies where an operand lies.");
  if (c && c != d && !lie_apart(d, p.d, c, p.c)) complain(name, "The result lies partly where c lies.");
  if (c == d && (p.c.ld != p.d.ld || p.c.stride != p.d.stride || p.c.type != p.d.type)) return Status::invalid_value;
  const Range scratch = bytes_at(workspace, workspace ? workspace_bytes : 0);
  return blas::launched(
      enqueue(stream, name, "the workspace of cublasLtMatmul", scratch, [=, at = Pointers{a, b, c ? c : d, d}] {
        if (!reads_scalars(p)) return;
        double largest = 0;
        for (int64_t batch = 0; batch < p.d.batches; ++batch)
          if (!run_batch(p, at, factor, old, batch, largest)) return;
        if (p.description.largest_d) {
          *static_cast<float*>(p.description.largest_d) = float(largest);
          wrote(bytes_at(p.description.largest_d, 4));
        }
      }));
}
