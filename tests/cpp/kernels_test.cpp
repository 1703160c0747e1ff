// Every kernel of the faithful column on small sizes, on the grid that launchers pick for an H200: exact heap buffers
// under AddressSanitizer and UBSan, two orders of blocks and threads with equal bits, and plain loops as the
// reference.
#include <cmath>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "check.hpp"
#include "kernels/table.hpp"
#include "ops/scalar.hpp"

extern "C" const stator::kernels::Table* stator_column_host_faithful();

namespace {

using namespace stator;

const kernels::Table& table = *stator_column_host_faithful();
const abi::DeviceLimits h200{132, 2048, 227 * 1024, 50 << 20};

struct Device {
  uint32_t claim = 0;
  abi::FaultRecord record{};
  int launches = 0;
  int64_t blocks = 0;

  static void submit(const abi::Queue& q, const abi::Launch& launch) {
    auto* self = static_cast<Device*>(q.stream);
    ++self->launches;
    self->blocks += launch.blocks;
    const char* fault = launch.entry(launch, 0, launch.blocks);
    check(fault == nullptr, fault ? fault : launch.name);
  }
  abi::Queue queue(Op op) { return {submit, this, &h200, {&claim, &record}, nullptr, 0, uint16_t(op)}; }
};

// An array on the heap, exactly as large as it is: one byte beyond is the sanitizer's.
struct Bytes {
  std::vector<unsigned char> data;
  DType dtype;
  Bytes(DType d, int64_t n) : data(size_t(n) * itemsize(d)), dtype(d) {}
  void* get() { return data.data(); }
  int64_t size() const { return int64_t(data.size()) / itemsize(dtype); }
};

double read(const Bytes& x, int64_t i) {
  return visit(x.dtype, [&]<class T>(type_tag<T>) -> double {
    T v;
    std::memcpy(&v, x.data.data() + i * sizeof(T), sizeof(T));
    if constexpr (std::is_same_v<T, complex64> || std::is_same_v<T, complex128>)
      return v.re;
    else if constexpr (std::is_same_v<T, float16> || std::is_same_v<T, bfloat16>)
      return float(v);
    else
      return double(v);
  });
}
void write(Bytes& x, int64_t i, double value) {
  visit(x.dtype, [&]<class T>(type_tag<T>) {
    T v;
    if constexpr (std::is_same_v<T, float16> || std::is_same_v<T, bfloat16>)
      v = T(float(value));
    else
      v = T(value);
    std::memcpy(x.data.data() + i * sizeof(T), &v, sizeof(T));
  });
}

// Small whole numbers, 1 to 7: exact in every dtype, and in bool not 0.
Bytes numbers(DType dtype, int64_t n, int seed) {
  Bytes x(dtype, n);
  for (int64_t i = 0; i < n; ++i) write(x, i, double((i * 5 + seed * 3) % 7 + 1));
  return x;
}

// Runs `work` on a fresh copy of the output under two orders: equal bits, one launch; the last output.
Bytes run(const std::string& name, Op op, const Bytes& blank,
          const std::function<void(const abi::Queue&, Bytes&)>& work) {
  Bytes first = blank;
  for (uint64_t seed : {0, 1}) {
    table.set_block_seed(seed);
    Bytes out = blank;
    Device device;
    work(device.queue(op), out);
    check(device.launches == 1, (name + ": launches").c_str(), device.launches);
    check(device.record.fault == 0, (name + ": error slot").c_str());
    if (seed == 0)
      first = out;
    else
      check(out.data == first.data, (name + ": bits under another order").c_str(), seed);
  }
  table.set_block_seed(0);
  return first;
}

void expect(const std::string& name, const Bytes& got, const std::function<double(int64_t)>& want, double tolerance) {
  for (int64_t i = 0; i < got.size(); ++i) {
    const double a = read(got, i), b = want(i);
    if (std::abs(a - b) <= tolerance * std::max(1.0, std::abs(b)) || (std::isnan(a) && std::isnan(b))) continue;
    check(false, (name + ": " + std::to_string(a) + " instead of " + std::to_string(b) + " at").c_str(), i);
    return;
  }
  check(true, name.c_str());
}

double tolerance(DType d) {
  return d == DType::bfloat16 ? 1e-2 : d == DType::float16 ? 2e-3 : real_part(d) == DType::float32 ? 1e-5 : 1e-12;
}

// rows x cols, contiguous or transposed in memory.
abi::Elementwise space(int64_t rows, int64_t cols, bool transposed, Bytes& out, std::vector<Bytes*> in, DType compute) {
  abi::Elementwise e{};
  e.ndim = transposed ? 2 : 1;
  e.size = rows * cols;
  e.shape[0] = transposed ? rows : e.size;
  e.shape[1] = cols;
  e.compute = compute_dtype(compute);
  e.input_count = int32_t(in.size());
  e.out.data = out.get();
  e.out.dtype = out.dtype;
  e.out.strides[0] = transposed ? cols : 1;
  e.out.strides[1] = 1;
  for (size_t k = 0; k < in.size(); ++k) {
    e.in[k].data = in[k]->get();
    e.in[k].dtype = in[k]->dtype;
    e.in[k].strides[0] = 1;
    e.in[k].strides[1] = transposed ? rows : 0;
  }
  return e;
}

DType result_of(const OpInfo& row, DType d) {
  return row.result == ResultRule::boolean ? DType::bool_ : row.result == ResultRule::inexact ? to_inexact(d) : d;
}

double reference(Op op, double a, double b) {
  switch (op) {
    case Op::add: return a + b;
    case Op::subtract: return a - b;
    case Op::multiply: return a * b;
    case Op::divide: return a / b;
    case Op::maximum: return std::max(a, b);
    case Op::equal: return a == b;
    case Op::less: return a < b;
    case Op::negative: return -a;
    case Op::exp: return std::exp(a);
    case Op::log: return std::log(a);
    case Op::tanh: return std::tanh(a);
    case Op::relu: return std::max(a, 0.0);
    case Op::relu_backward: return b > 0 ? a : 0;
    default: return NAN;
  }
}

// Unsigned results wrap and bool saturates: their values are compared with NumPy's elsewhere.
bool comparable(DType d) { return !in(d, dtypes::unsigned_integers | dtypes::boolean); }

void test_elementwise() {
  for (int op = 0; op < op_count; ++op) {
    const OpInfo& row = op_info(Op(op));
    const bool binary = row.shape_class == ShapeClass::binary;
    if (!binary && row.shape_class != ShapeClass::unary) continue;
    for (int d = 0; d < dtype_count; ++d) {
      const DType dtype = DType(d);
      if (!in(dtype, row.dtypes)) continue;
      const DType result = result_of(row, dtype), computed = row.result == ResultRule::inexact ? result : dtype;
      for (bool transposed : {false, true}) {
        const int64_t rows = 67, cols = transposed ? 41 : 131;
        Bytes a = numbers(dtype, rows * cols, 1), b = numbers(dtype, rows * cols, 2);
        const std::string name =
            std::string(row.name) + " " + std::string(stator::name(dtype)) + (transposed ? " strided" : "");
        const Bytes got = run(name, Op(op), Bytes(result, rows * cols), [&](const abi::Queue& q, Bytes& out) {
          table.elementwise.op[op](
              q, space(rows, cols, transposed, out, binary ? std::vector{&a, &b} : std::vector{&a}, computed));
        });
        if (!comparable(dtype)) continue;
        expect(
            name, got,
            [&](int64_t i) {
              const int64_t at = transposed ? (i % cols) * rows + i / cols : i;
              return reference(Op(op), read(a, at), binary ? read(b, at) : 0);
            },
            tolerance(result));
      }
    }
  }
}

void test_copies() {
  for (int d = 0; d < dtype_count; ++d)
    for (int t = 0; t < dtype_count; ++t)
      for (bool transposed : {false, true}) {
        if (transposed && d != t && t % 3) continue;
        const int64_t rows = 69, cols = 71;
        Bytes x = numbers(DType(d), rows * cols, d);
        const std::string name =
            "copy " + std::string(stator::name(DType(d))) + " to " + std::string(stator::name(DType(t)));
        const Bytes got = run(name, Op::copy, Bytes(DType(t), rows * cols), [&](const abi::Queue& q, Bytes& out) {
          table.elementwise.copy(q, space(rows, cols, transposed, out, {&x}, DType(t)));
        });
        expect(
            name, got,
            [&](int64_t i) {
              const double v = read(x, transposed ? (i % cols) * rows + i / cols : i);
              return DType(t) == DType::bool_ ? v != 0 : v;
            },
            0);
      }
  for (int d = 0; d < dtype_count; ++d) {
    const Bytes filled = run("fill", Op::full, Bytes(DType(d), 3001), [&](const abi::Queue& q, Bytes& out) {
      abi::Elementwise e = space(3001, 1, false, out, {&out}, DType(d));
      Bytes one(DType(d), 1);
      write(one, 0, 1);
      std::memcpy(e.in[0].value, one.get(), one.data.size());
      e.in[0].data = nullptr;
      e.in[0].immediate = true;
      e.in[0].strides[0] = 0;
      table.elementwise.fill(q, e);
    });
    expect("fill", filled, [](int64_t) { return 1.0; }, 0);
    if (!in(DType(d), dtypes::reals)) continue;
    const Bytes counted = run("arange", Op::arange, Bytes(DType(d), 101), [&](const abi::Queue& q, Bytes& out) {
      table.elementwise.arange(q, {out.get(), DType(d), 101, 2, 1, 2, 1});
    });
    expect("arange", counted, [](int64_t i) { return double(i + 2); }, 0);
  }
}

// x is rows x cols, contiguous; reduces the rows, the columns or everything, and every other column of each row.
void test_reductions() {
  struct Layout {
    const char* name;
    int64_t kept, kept_stride, reduced, reduced_stride;
  };
  for (int op = 0; op < op_count; ++op) {
    const OpInfo& row = op_info(Op(op));
    if (row.shape_class != ShapeClass::reduce) continue;
    for (int d = 0; d < dtype_count; ++d) {
      const DType dtype = DType(d);
      if (!in(dtype, row.dtypes)) continue;
      for (const Layout& l : {Layout{"rows", 37, 301, 301, 1}, Layout{"columns", 301, 1, 37, 301},
                              Layout{"all", 1, 1, 37 * 301, 1}, Layout{"strided", 37, 301, 150, 2}}) {
        Bytes x = numbers(dtype, 37 * 301, d);
        const bool is_integer = in(dtype, dtypes::integers | dtypes::boolean);
        const DType wide = in(dtype, dtypes::unsigned_integers) ? DType::uint64 : DType::int64;
        const DType result = row.result == ResultRule::index        ? DType::int64
                             : row.result == ResultRule::inexact    ? to_inexact(dtype)
                             : row.result == ResultRule::accumulate ? (is_integer ? wide : dtype)
                                                                    : dtype;
        const DType compute =
            row.result == ResultRule::inexact || row.result == ResultRule::accumulate ? result : dtype;
        const std::string name = std::string(row.name) + " " + std::string(stator::name(dtype)) + " " + l.name;
        const Bytes got = run(name, Op(op), Bytes(result, l.kept), [&](const abi::Queue& q, Bytes& out) {
          abi::Reduction r{};
          r.in = x.get();
          r.out = out.get();
          r.in_dtype = dtype;
          r.compute = compute;
          r.out_dtype = result;
          r.kept_ndim = l.kept > 1;
          r.reduced_ndim = 1;
          r.kept_shape[0] = r.kept_size = l.kept;
          r.kept_strides[0] = l.kept_stride;
          r.reduced_shape[0] = r.reduced_size = l.reduced;
          r.reduced_strides[0] = l.reduced_stride;
          const kernels::ReductionNeeds needs = table.reduction.needs(h200, Op(op), r);
          std::vector<unsigned char> partials(size_t(needs.partial_bytes));
          std::vector<uint32_t> counters(size_t(needs.counter_bytes / 4));
          table.reduction.op[op](q, r, {partials.data(), counters.data()});
          for (uint32_t c : counters) check(c == 0, (name + ": counters are left zero").c_str());
        });
        expect(
            name, got,
            [&](int64_t k) {
              double sum = 0, largest = -1;
              int64_t at = 0;
              for (int64_t i = 0; i < l.reduced; ++i) {
                const double v = read(x, k * l.kept_stride + i * l.reduced_stride);
                sum += v;
                if (v > largest) largest = v, at = i;
              }
              if (Op(op) == Op::argmax) return double(at);
              return Op(op) == Op::max ? largest : Op(op) == Op::mean ? sum / double(l.reduced) : sum;
            },
            tolerance(result));
      }
    }
  }
}

void test_softmax() {
  for (DType dtype : {DType::float16, DType::bfloat16, DType::float32, DType::float64})
    for (bool log : {false, true})
      for (int64_t n : {8, 33, 520, 2100})
        for (bool columns : {false, true})
          for (bool backward : {false, true}) {
            const int64_t lines = 5, cols = columns ? lines : 1;
            Bytes x = numbers(dtype, lines * n, 1), saved = numbers(dtype, lines * n, 2);
            for (int64_t i = 0; i < saved.size(); ++i) write(saved, i, -read(saved, i) / 64);
            const std::string name = std::string("softmax ") + (log ? "log " : "") + (columns ? "columns " : "rows ") +
                                     (backward ? "backward " : "") + std::string(stator::name(dtype));
            const Bytes got = run(name, Op::softmax, Bytes(dtype, lines * n), [&](const abi::Queue& q, Bytes& out) {
              abi::Softmax p{};
              p.x = x.get();
              p.saved = backward ? saved.get() : nullptr;
              p.y = out.get();
              p.dtype = p.out_dtype = dtype;
              p.log = log;
              p.ndim = 1;
              p.n = n;
              p.lines = p.shape[0] = lines;
              p.x_step = p.saved_step = p.y_step = cols;
              p.x_strides[0] = p.saved_strides[0] = p.y_strides[0] = columns ? 1 : n;
              (backward ? table.nn.softmax_backward : table.nn.softmax)(q, p);
            });
            expect(
                name, got,
                [&](int64_t at) {
                  const int64_t line = columns ? at % lines : at / n;
                  const auto index = [&](int64_t i) { return columns ? i * lines + line : line * n + i; };
                  double sum = 0;
                  for (int64_t i = 0; i < n; ++i) {
                    const double v = read(x, index(i));
                    sum += !backward ? std::exp(v) : log ? v : v * read(saved, index(i));
                  }
                  const double v = read(x, at), y = read(saved, at);
                  if (backward) return log ? v - std::exp(y) * sum : y * (v - sum);
                  return log ? v - std::log(sum) : std::exp(v) / sum;
                },
                8 * tolerance(dtype));
          }
}

void test_cross_entropy() {
  for (DType dtype : {DType::float16, DType::bfloat16, DType::float32, DType::float64})
    for (int64_t classes : {10, 300})
      for (auto reduction : {abi::LossReduction::none, abi::LossReduction::mean, abi::LossReduction::sum}) {
        const int64_t n = 1031;
        Bytes logits = numbers(dtype, n * classes, 1), target(DType::int32, n), grad = numbers(dtype, n, 0);
        for (int64_t i = 0; i < n; ++i) write(target, i, double(i % classes));
        abi::CrossEntropy p{};
        p.logits = logits.get();
        p.target = target.get();
        p.grad = grad.get();
        p.dtype = dtype;
        p.target_dtype = DType::int32;
        p.n = n;
        p.classes = classes;
        p.logit_strides[0] = classes;
        p.logit_strides[1] = p.target_stride = p.grad_stride = 1;
        p.ignore_index = 3;
        p.label_smoothing = 0.1;
        p.reduction = reduction;
        const bool each = reduction == abi::LossReduction::none;
        const Bytes loss =
            run("cross_entropy", Op::cross_entropy, Bytes(dtype, each ? n : 1), [&](const abi::Queue& q, Bytes& out) {
              std::vector<unsigned char> partials(size_t(table.nn.cross_entropy_scratch(h200, p)));
              uint32_t counter = 0;
              p.partials = partials.data();
              p.counters = &counter;
              p.out = out.get();
              table.nn.cross_entropy(q, p);
              check(counter == 0, "cross_entropy: the counter is left zero");
            });
        check(read(loss, 0) > 0, "cross_entropy: a positive loss");
        const Bytes slope = run("cross_entropy_backward", Op::cross_entropy_backward, Bytes(dtype, n * classes),
                                [&](const abi::Queue& q, Bytes& out) {
                                  p.out = out.get();
                                  table.nn.cross_entropy_backward(q, p);
                                });
        double row = 0;  // the gradient of a row sums to zero
        for (int64_t c = 0; c < classes; ++c) row += read(slope, c);
        check(std::abs(row) <= 40 * tolerance(dtype), "cross_entropy_backward: a row sums to zero");
        check(read(slope, 3 * classes) == 0, "cross_entropy_backward: an ignored row has no gradient");
      }
}

void test_adam() {
  for (DType dtype : {DType::float16, DType::bfloat16, DType::float32, DType::float64})
    for (int count : {3, 60}) {
      const int64_t n = 5003;
      Bytes grad = numbers(dtype, n, 1);
      run("adam", Op::adam_step, Bytes(dtype, 3 * n * count), [&](const abi::Queue& q, Bytes& out) {
        std::vector<abi::AdamTensor> tensors;
        auto* at = static_cast<unsigned char*>(out.get());
        const int64_t step = n * itemsize(dtype);
        for (int i = 0; i < count; ++i, at += 3 * step)
          tensors.push_back({at, at + step, at + 2 * step, grad.get(), n});
        abi::Adam p{tensors.data(), count, dtype, dtype, 0.1, 0.9, 0.99, 1e-8, 0.01, 0.1, 0.01, false, false};
        table.nn.adam(q, p);
        // From zero moments the first step is the learning rate against the sign of the gradient.
        check(std::abs(read(out, 0) + 0.1) < 0.01, "adam: the first step");
      });
    }
}

void test_take() {
  for (DType dtype : {DType::int8, DType::float16, DType::float32, DType::float64, DType::complex128})
    for (int64_t inner : {1, 5, 130}) {
      const int64_t n = 9, count = 700;
      Bytes x = numbers(dtype, 2 * n * inner, 1), index(DType::int16, count);
      for (int64_t i = 0; i < count; ++i) write(index, i, double(i % (2 * n)) - n);
      const auto gather = [&](const abi::Queue& q, Bytes& out) {
        const int64_t row = n * inner;
        table.indexing.take(
            q,
            {x.get(), index.get(), out.get(), itemsize(dtype), DType::int16, 2, n, inner, count, {row, inner, 1}, 1});
      };
      const Bytes got = run("take", Op::take, Bytes(dtype, 2 * count * inner), gather);
      expect(
          "take", got,
          [&](int64_t i) {
            const int64_t o = i / (count * inner), k = i / inner % count, at = (k % (2 * n) - n + n) % n;
            return read(x, (o * n + at) * inner + i % inner);
          },
          0);
      write(index, 13, 100);
      Device device;
      Bytes out(dtype, 2 * count * inner);
      gather(device.queue(Op::take), out);
      check(device.record.fault == int32_t(abi::Fault::index_out_of_range) && device.record.value == 100,
            "take: the error slot");
    }
}

void test_random() {
  for (DType dtype : {DType::float16, DType::bfloat16, DType::float32, DType::float64}) {
    const int64_t n = 9001;
    const abi::Random draw{nullptr, dtype, n, 42, 7, 0, 1};
    for (bool normal : {false, true}) {
      const Bytes got = run("random", Op::uniform, Bytes(dtype, n), [&](const abi::Queue& q, Bytes& out) {
        abi::Random r = draw;
        r.out = out.get();
        (normal ? table.random.normal : table.random.uniform)(q, r);
      });
      double mean = 0;
      for (int64_t i = 0; i < n; ++i) mean += read(got, i) / double(n);
      check(std::abs(mean - (normal ? 0.0 : 0.5)) < 0.05, "random: the mean");
    }
  }
}

}  // namespace

int main() {
  for (auto* test : {test_elementwise, test_copies, test_reductions, test_softmax, test_cross_entropy, test_adam,
                     test_take, test_random})
    test();
  return finish();
}
