// Softmax, losses, the optimiser, take and random numbers of the checked target: see kernel_support.hpp.
#include "kernel_support.hpp"

namespace {

using namespace stator;

void test_softmax() {
  for (DType dtype : {DType::float16, DType::bfloat16, DType::float32, DType::float64})
    for (bool log : {false, true})
      for (int64_t n : {8, 33, 520, 2100})
        for (bool columns : {false, true})
          for (bool backward : {false, true}) {
            const int64_t rows = 5, cols = columns ? rows : 1;
            Bytes x = numbers(dtype, rows * n, 1), saved = numbers(dtype, rows * n, 2);
            for (int64_t i = 0; i < saved.size(); ++i) write(saved, i, -real(saved, i) / 64);
            const std::string name = std::string("softmax ") + (log ? "log " : "") + (columns ? "columns " : "rows ") +
                                     (backward ? "backward " : "") + std::string(stator::name(dtype));
            const Bytes got = run(name, Op::softmax, Bytes(dtype, rows * n), [&](const params::Queue& q, Bytes& out) {
              params::Softmax p{};
              p.x = x.get();
              p.saved = backward ? saved.get() : nullptr;
              p.y = out.get();
              p.dtype = p.out_dtype = dtype;
              p.log = log;
              p.ndim = 1;
              p.n = n;
              p.rows = p.shape[0] = rows;
              p.x_step = p.saved_step = p.y_step = cols;
              p.x_strides[0] = p.saved_strides[0] = p.y_strides[0] = columns ? 1 : n;
              (backward ? kernels::nn::softmax_backward : kernels::nn::softmax)(q, p);
            });
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
        const Bytes slope = run("cross_entropy_backward", Op::cross_entropy_backward, Bytes(dtype, n * classes),
                                [&](const params::Queue& q, Bytes& out) {
                                  p.out = out.get();
                                  kernels::nn::cross_entropy_backward(q, p);
                                });
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
        std::vector<params::AdamTensor> tensors;
        auto* at = static_cast<unsigned char*>(out.get());
        const int64_t step = n * itemsize(dtype);
        for (int i = 0; i < count; ++i, at += 3 * step)
          tensors.push_back({at, at + step, at + 2 * step, grad.get(), n});
        params::Adam p{tensors.data(), count, dtype, dtype, 0.1, 0.9, 0.99, 1e-8, 0.01, 0.1, 0.01, false, false};
        kernels::nn::adam(q, p);
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
    const params::Random draw{nullptr, dtype, n, 42, 7, 0, 1};
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
                            {"cross_entropy", test_cross_entropy},
                            {"adam", test_adam},
                            {"take", test_take},
                            {"random", test_random}});
}
