// Compression of a matrix of which half is zero, and its product. The compressed form is the double's own: a header
// that names the problem, the values that are kept, and the position of each in its group.
#include "emulator/vendor/blas/product.hpp"
#include "emulator/vendor/common/call.hpp"
#include "emulator/vendor/sparselt/objects.hpp"

#include <vector>

using namespace stator::emulator::vendor;
using namespace stator::emulator::vendor::sparselt;

namespace {

constexpr const char* compress_name = "cusparseLtSpMMACompress";
constexpr const char* name = "cusparseLtMatmul";
constexpr uint64_t header = 32;

// Two of four are kept, of floats one of two: always in lines along k.
struct Groups {
  const Descriptor& matrix;
  bool along_columns;  // k runs over the columns
  int64_t size, kept;

  explicit Groups(const Matmul& p)
      : matrix(p.structured()),
        along_columns(p.a.structured ? p.op_a == Op::none : p.op_b != Op::none),
        size(matrix.type == Type::r32f ? 2 : 4),
        kept(size / 2) {}
  int64_t lines() const { return along_columns ? matrix.rows : matrix.columns; }
  int64_t length() const { return along_columns ? matrix.columns : matrix.rows; }
  int64_t at(int64_t line, int64_t position) const {
    return along_columns ? matrix.at(line, position) : matrix.at(position, line);
  }
  char* values(void* compressed) const { return static_cast<char*>(compressed) + header; }
  uint8_t* positions(void* compressed) const {
    return static_cast<uint8_t*>(compressed) + header + uint64_t(lines() * length()) / 2 * size_of(matrix.type);
  }
};

// False if a group has too many elements that are not zero.
bool compress(const Groups& g, const char* dense, void* compressed) {
  const uint64_t item = size_of(g.matrix.type);
  char* value = g.values(compressed);
  uint8_t* position = g.positions(compressed);
  for (int64_t line = 0; line < g.lines(); ++line)
    for (int64_t first = 0; first < g.length(); first += g.size) {
      int64_t kept = 0;
      for (int64_t i = 0; i < g.size; ++i) {
        const char* const element = dense + g.at(line, first + i) * int64_t(item);
        // The last ones of a group fill it up, if there are fewer.
        const bool fills = g.size - i == g.kept - kept;
        if (load(g.matrix.type, element, 0) == 0.0 && !fills) continue;
        if (kept == g.kept) return false;
        std::memcpy(value, element, item);
        value += item;
        *position++ = uint8_t(i);
        ++kept;
      }
    }
  return true;
}

std::vector<char> expand(const Groups& g, void* compressed) {
  const uint64_t item = size_of(g.matrix.type);
  const Range all = g.matrix.range(nullptr);
  std::vector<char> dense(all.pitch * all.rows);
  const char* value = g.values(compressed);
  const uint8_t* position = g.positions(compressed);
  for (int64_t line = 0; line < g.lines(); ++line)
    for (int64_t first = 0; first < g.length(); first += g.size)
      for (int64_t i = 0; i < g.kept; ++i, value += item)
        std::memcpy(dense.data() + uint64_t(g.at(line, first + *position++)) * item, value, item);
  return dense;
}

// What destroyed descriptors leave to a plan is open.
bool complete(const char* what, const Plan& plan) {
  for (const void* each : plan.matmul.descriptors)
    if (!descriptors.find(each)) {
      complain(what, "A matrix descriptor of the plan was destroyed before the plan.");
      return false;
    }
  return true;
}

struct Product {
  Plan plan;
  float alpha, beta;
  const void *a, *b, *c;
  void *d, *workspace;
};

void run(const Product& p) {
  const Matmul& m = p.plan.matmul;
  const Range scratch = bytes_at(p.workspace, p.plan.workspace);
  if (!writes("the workspace of cusparseLtMatmul", scratch)) return;
  scribble(scratch);
  const Groups groups(m);
  void* const compressed = const_cast<void*>(m.a.structured ? p.a : p.b);
  const void* const dense = m.a.structured ? p.b : p.a;
  const Descriptor& plain = m.a.structured ? m.b : m.a;
  if (!reads(name, bytes_at(compressed, p.plan.compressed)) || !reads(name, plain.range(dense))) return;
  if (p.beta != 0 && !reads(name, m.c.range(p.c))) return;
  if (!writes(name, m.d.range(p.d))) return;
  uint64_t number = 0;
  std::memcpy(&number, compressed, sizeof(number));
  if (number != p.plan.number) {
    complain(name, "The compressed matrix is not one that was compressed for this problem.");
    return poison(m.d.range(p.d));
  }
  const std::vector<char> expanded = expand(groups, compressed);
  const auto values =
      blas::multiply({.arithmetic = m.compute == Compute::i32 ? blas::Arithmetic::f64 : blas::Arithmetic::f32,
                      .op_a = m.op_a,
                      .op_b = m.op_b,
                      .m = m.m,
                      .n = m.n,
                      .k = m.k,
                      .alpha = p.alpha,
                      .beta = p.beta,
                      .a = m.a.structured ? expanded.data() : dense,
                      .b = m.a.structured ? dense : expanded.data(),
                      .c = p.c,
                      .type_a = m.a.type,
                      .type_b = m.b.type,
                      .type_c = m.c.type,
                      .lda = m.a.ld,
                      .ldb = m.b.ld,
                      .ldc = m.c.ld,
                      .row_a = m.a.by_rows(),
                      .row_b = m.b.by_rows(),
                      .row_c = m.c.by_rows()});
  poison(m.d.range(p.d));
  for (int64_t j = 0; j < m.n; ++j)
    for (int64_t i = 0; i < m.m; ++i) store(m.d.type, p.d, m.d.at(i, j), values[size_t(j * m.m + i)]);
  wrote(m.d.range(p.d));
}

}  // namespace

STATOR_VENDOR(Status, cusparseLtSpMMACompress,
              (const void* handle, const void* plan, const void* dense, void* compressed, void* buffer, void* stream),
              (handle, plan, dense, compressed, buffer, stream)) {
  Status status = Status::success;
  if (!use(handle, compress_name, status)) return status;
  const Plan* const found = behind(plans, plan);
  if (!found || !dense || !compressed || (found->buffer && !buffer)) return Status::invalid_value;
  if (!complete(compress_name, *found) || !services().is_stream(stream)) return Status::invalid_value;
  if (!aligned(dense, 16) || !aligned(compressed, 16) || !aligned(buffer, 16)) return Status::invalid_value;
  const int error = enqueue(stream, compress_name, [p = *found, dense, compressed, buffer] {
    const Range scratch = bytes_at(buffer, p.buffer), result = bytes_at(compressed, p.compressed);
    if (!writes(compress_name, scratch) || !writes(compress_name, result)) return;
    scribble(scratch);
    const Groups groups(p.matmul);
    if (!reads(compress_name, groups.matrix.range(dense))) return;
    std::memset(compressed, 0, p.compressed);
    if (!compress(groups, static_cast<const char*>(dense), compressed)) {
      complain(compress_name, "More than half of a group of the matrix is not zero.");
      return scribble(result);
    }
    std::memcpy(compressed, &p.number, sizeof(p.number));
    wrote(result);
  });
  return error ? Status::execution_failed : Status::success;
}

STATOR_VENDOR(Status, cusparseLtMatmul,
              (const void* handle, const void* plan, const void* alpha, const void* a, const void* b, const void* beta,
               const void* c, void* d, void* workspace, void** streams, int32_t count),
              (handle, plan, alpha, a, b, beta, c, d, workspace, streams, count)) {
  Status status = Status::success;
  if (!use(handle, name, status)) return status;
  const Plan* const found = behind(plans, plan);
  if (!found || !alpha || !beta || !a || !b || !c || !d || count < 0 || (count > 0 && !streams))
    return Status::invalid_value;
  if (found->workspace && !workspace) return Status::invalid_value;
  if (!complete(name, *found)) return Status::invalid_value;
  if (!readable_by_host(name, alpha) || !readable_by_host(name, beta)) return Status::execution_failed;
  for (const void* each : {a, b, c, static_cast<const void*>(d), static_cast<const void*>(workspace)})
    if (!aligned(each, 16)) return Status::invalid_value;
  for (int32_t i = 0; i < count; ++i)
    if (!services().is_stream(streams[i])) return Status::invalid_value;
  const Product product{*found,   *static_cast<const float*>(alpha), *static_cast<const float*>(beta), a, b, c, d,
                        workspace};
  const int error = enqueue(count > 0 ? streams[0] : nullptr, name, [product] { run(product); });
  return error ? Status::execution_failed : Status::success;
}
