// Softmax, losses, the optimiser, take and random numbers of the checked target: see kernel_support.hpp.
#include "kernel_support.hpp"

namespace {

using namespace stator;

// `rows` lines of n elements, one after the other or side by side.
params::Softmax lines(DType dtype, int64_t rows, int64_t n, bool columns) {
  params::Softmax p{};
  p.dtype = p.out_dtype = dtype;
  p.ndim = 1;
  p.n = n;
  p.rows = p.shape[0] = rows;
  p.x_step = p.saved_step = p.y_step = columns ? rows : 1;
  p.x_strides[0] = p.saved_strides[0] = p.y_strides[0] = columns ? 1 : n;
  return p;
}

void test_softmax() {
  for (DType dtype : {DType::float16, DType::bfloat16, DType::float32, DType::float64})
    for (bool log : {false, true})
      for (int64_t n : {8, 33, 520, 2100, 36864})
        for (bool columns : {false, true})
          for (bool backward : {false, true}) {
            if (n > 10000 && dtype != DType::float32) continue;
            const int64_t rows = 5;
            Bytes x = numbers(dtype, rows * n, 1), saved = numbers(dtype, rows * n, 2);
            for (int64_t i = 0; i < saved.size(); ++i) write(saved, i, -real(saved, i) / 64);
            const std::string name = std::string("softmax ") + (log ? "log " : "") + (columns ? "columns " : "rows ") +
                                     (backward ? "backward " : "") + std::string(stator::name(dtype));
            params::Softmax p = lines(dtype, rows, n, columns);
            p.x = x.get();
            p.saved = backward ? saved.get() : nullptr;
            p.log = log;
            const params::SoftmaxNeeds needs = kernels::nn::softmax_needs(h200, p);
            const Bytes got = run(
                name, Op::softmax, Bytes(dtype, rows * n),
                [&](const params::Queue& q, Bytes& out) {
                  p.y = out.get();
                  std::vector<unsigned char> partials(size_t(needs.partial_bytes));
                  std::vector<uint32_t> counters(size_t(needs.counter_bytes) / sizeof(uint32_t));
                  p.partials = partials.data();
                  p.counters = counters.data();
                  (backward ? kernels::nn::softmax_backward : kernels::nn::softmax)(q, p);
                  for (uint32_t counter : counters) check(counter == 0, name + ": the counters are left zero");
                },
                needs.partial_bytes > 0 ? 2 : 1);
            std::vector<double> sums(rows);
            for (int64_t at = 0; at < rows * n; ++at) {
              const double v = real(x, at);
              sums[size_t(columns ? at % rows : at / n)] += !backward ? std::exp(v) : log ? v : v * real(saved, at);
            }
            expect(
                name, got,
                [&](int64_t at) {
                  const double v = real(x, at), y = real(saved, at), sum = sums[size_t(columns ? at % rows : at / n)];
                  if (backward) return log ? v - std::exp(y) * sum : y * (v - sum);
                  return log ? v - std::log(sum) : std::exp(v) / sum;
                },
                8 * tolerance(dtype));
          }
}

// The blocks of each launch, of which none runs.
struct Grids {
  std::vector<int64_t> blocks;
  static void submit(const params::Queue& q, const params::Launch& launch) {
    static_cast<Grids*>(q.stream)->blocks.push_back(launch.blocks);
  }
  params::Queue queue(Op op) { return {submit, this, &h200, {}, nullptr, 0, uint16_t(op)}; }
};

// Large problems give every multiprocessor work, whatever the axis, the dtypes and the number of lines.
void test_softmax_fills_the_device() {
  struct Case {
    const char* name;
    params::Softmax p;
    size_t launches;
  };
  params::Softmax converted = lines(DType::float16, 4096, 50000, false),
                  behind = lines(DType::float32, 512, 1024, false);
  converted.out_dtype = DType::float32;
  behind.ndim = 2;
  behind.shape[0] = 256;
  behind.shape[1] = 2;
  for (int64_t* strides : {behind.x_strides, behind.y_strides}) {
    strides[0] = 4096;
    strides[1] = 1024;
  }
  const Case cases[] = {{"columns", lines(DType::float32, 1024, 1024, true), 1},
                        {"tall columns", lines(DType::float32, 64, 100000, true), 2},
                        {"few long rows", lines(DType::float32, 8, 131072, false), 2},
                        {"converted rows", converted, 1},
                        {"rows after two axes", behind, 1}};
  for (const Case& c : cases)
    for (bool backward : {false, true}) {
      if (backward && c.p.dtype != c.p.out_dtype) continue;
      params::Softmax p = c.p;
      alignas(16) float any[4];  // only its alignment counts
      p.x = p.y = any;
      p.saved = backward ? any : nullptr;
      Grids grids;
      (backward ? kernels::nn::softmax_backward : kernels::nn::softmax)(grids.queue(Op::softmax), p);
      check(grids.blocks.size() == c.launches, std::string(c.name) + ": launches", int64_t(grids.blocks.size()));
      for (int64_t blocks : grids.blocks)
        check(blocks * 100 >= h200.multiprocessors * 95, std::string(c.name) + ": blocks", blocks);
    }
}

void test_cross_entropy() {
  for (DType dtype : {DType::float16, DType::bfloat16, DType::float32, DType::float64})
    for (int64_t classes : {10, 300})
      for (auto reduction : {params::LossReduction::none, params::LossReduction::mean, params::LossReduction::sum}) {
        const int64_t n = classes > 100 ? 67 : 1031;
        Bytes logits = numbers(dtype, n * classes, 1), target(DType::int32, n), grad = numbers(dtype, n, 0);
        for (int64_t i = 0; i < n; ++i) write(target, i, double(i % classes));
        params::CrossEntropy p{};
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
        const bool each = reduction == params::LossReduction::none;
        const Bytes loss = run(
            "cross_entropy", Op::cross_entropy, Bytes(dtype, each ? n : 1), [&](const params::Queue& q, Bytes& out) {
              std::vector<unsigned char> partials(size_t(kernels::nn::cross_entropy_scratch(h200, p)));
              uint32_t counter = 0;
              p.partials = partials.data();
              p.counters = &counter;
              p.out = out.get();
              kernels::nn::cross_entropy(q, p);
              check(counter == 0, "cross_entropy: the counter is left zero");
            });
        check(real(loss, 0) > 0, "cross_entropy: a positive loss");
        const int64_t weighed = kernels::nn::cross_entropy_backward_scratch(h200, p);
        check((weighed > 0) == (n > 1000 && reduction == params::LossReduction::mean), "the sum of the weights");
        const Bytes slope = run(
            "cross_entropy_backward", Op::cross_entropy_backward, Bytes(dtype, n * classes),
            [&](const params::Queue& q, Bytes& out) {
              std::vector<unsigned char> partials(weighed, 0);
              uint32_t counter = 0;
              double total = 0;
              p.partials = partials.data();
              p.counters = &counter;
              p.total = weighed > 0 ? &total : nullptr;
              p.out = out.get();
              kernels::nn::cross_entropy_backward(q, p);
              check(counter == 0, "cross_entropy_backward: the counter is left zero");
              // All rows but those of class 3, which is ignored.
              if (weighed > 0) check(total == double(n - (n + 6) / 10), "cross_entropy_backward: total");
            },
            weighed > 0 ? 2 : 1);
        double row = 0;  // the gradient of a row sums to zero
        for (int64_t c = 0; c < classes; ++c) row += real(slope, c);
        check(std::abs(row) <= 40 * tolerance(dtype), "cross_entropy_backward: a row sums to zero");
        check(real(slope, 3 * classes) == 0, "cross_entropy_backward: an ignored row has no gradient");
      }
}

void test_adam() {
  for (DType dtype : {DType::float16, DType::bfloat16, DType::float32, DType::float64})
    for (int count : {3, 60}) {
      const int64_t n = 5003;
      Bytes grad = numbers(dtype, n, 1);
      run("adam", Op::adam_step, Bytes(dtype, 3 * n * count), [&](const params::Queue& q, Bytes& out) {
        std::vector<params::OptimTensor> tensors;
        auto* at = static_cast<unsigned char*>(out.get());
        const int64_t step = n * itemsize(dtype);
        for (int i = 0; i < count; ++i, at += 3 * step) {
          params::OptimTensor t{};
          t.param = at;
          t.grad = grad.get();
          t.states[0] = at + step;
          t.states[1] = at + 2 * step;
          t.size = n;
          tensors.push_back(t);
        }
        params::OptimStep p{};
        p.tensors = tensors.data();
        p.tensor_count = count;
        p.dtype = p.state_dtype = dtype;
        p.numbers.lr.value = 0.1;
        p.numbers.step.value = p.numbers.grad_scale.value = p.numbers.grad_factor.value = 1;
        p.numbers.beta1 = 0.9;
        p.numbers.beta2 = 0.99;
        p.numbers.eps = 1e-8;
        p.numbers.weight_decay = 0.01;
        kernels::optim::adam(q, p);
        // From zero moments the first step is the learning rate against the sign of the gradient.
        check(std::abs(real(out, 0) + 0.1) < 0.01, "adam: the first step");
      });
    }
}

void test_take() {
  for (DType dtype : {DType::int8, DType::float16, DType::float32, DType::float64, DType::complex128})
    for (int64_t inner : {1, 5, 130}) {
      const int64_t n = 9, count = 700;
      Bytes x = numbers(dtype, 2 * n * inner, 1), index(DType::int16, count);
      for (int64_t i = 0; i < count; ++i) write(index, i, double(i % (2 * n)) - n);
      const auto gather = [&](const params::Queue& q, Bytes& out) {
        const int64_t row = n * inner;
        kernels::indexing::take(
            q,
            {x.get(), index.get(), out.get(), itemsize(dtype), DType::int16, 2, n, inner, count, {row, inner, 1}, 1});
      };
      const Bytes got = run("take", Op::take, Bytes(dtype, 2 * count * inner), gather);
      expect(
          "take", got,
          [&](int64_t i) {
            const int64_t o = i / (count * inner), k = i / inner % count, at = (k % (2 * n) - n + n) % n;
            return real(x, (o * n + at) * inner + i % inner);
          },
          0);
      write(index, 13, 100);
      Recorder device;
      Bytes out(dtype, 2 * count * inner);
      gather(device.queue(Op::take), out);
      check(device.record.fault == int32_t(params::Fault::index_out_of_range) && device.record.value == 100,
            "take: the error slot");
    }
}

void test_random() {
  for (DType dtype : {DType::float16, DType::bfloat16, DType::float32, DType::float64}) {
    const int64_t n = 9001;
    const params::Random draw{nullptr, dtype, n, {42, 7, nullptr}, 0, 1};
    for (bool normal : {false, true}) {
      const Bytes got = run("random", Op::uniform, Bytes(dtype, n), [&](const params::Queue& q, Bytes& out) {
        params::Random r = draw;
        r.out = out.get();
        (normal ? kernels::random::normal : kernels::random::uniform)(q, r);
      });
      double mean = 0;
      for (int64_t i = 0; i < n; ++i) mean += real(got, i) / double(n);
      check(std::abs(mean - (normal ? 0.0 : 0.5)) < 0.05, "random: the mean");
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  return stator::test::run(argc, argv,
                           {{"softmax", test_softmax},
                            {"softmax_fills_the_device", test_softmax_fills_the_device},
                            {"cross_entropy", test_cross_entropy},
                            {"adam", test_adam},
                            {"take", test_take},
                            {"random", test_random}});
}
