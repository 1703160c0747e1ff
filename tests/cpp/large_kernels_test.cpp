// Sizes beyond 2^31: how launches are split, on real extents and, with a small limit, against the launch that is not
// split; offsets in 64 bits. Checked target, see kernel_support.hpp. No memory of that size is touched.
#include "kernel_support.hpp"

#include "kernels/elementwise/layout.cuh"
#include "kernels/indexing/index_arrays.cuh"

namespace {

using namespace stator;
namespace target = stator::host_checked;

constexpr int64_t limit = target::elementwise::largest_small_size;

params::Elementwise space(std::initializer_list<int64_t> shape, std::initializer_list<int64_t> out,
                          std::initializer_list<int64_t> x, std::initializer_list<int64_t> y) {
  params::Elementwise e{};
  e.ndim = int32_t(shape.size());
  e.input_count = 2;
  e.size = 1;
  for (int64_t extent : shape) e.size *= extent;
  std::copy(shape.begin(), shape.end(), e.shape);
  std::copy(out.begin(), out.end(), e.out.strides);
  std::copy(x.begin(), x.end(), e.in[0].strides);
  std::copy(y.begin(), y.end(), e.in[1].strides);
  return e;
}

int64_t offset_of_element(const params::Elementwise& e, const params::ElementwiseOperand& operand, int64_t linear) {
  int64_t offset = 0;
  for (int d = e.ndim - 1; d >= 0; --d) {
    offset += linear % e.shape[d] * operand.strides[d];
    linear /= e.shape[d];
  }
  return offset * itemsize(operand.dtype);
}

// Pieces follow each other without a gap, none is empty or too long, and each begins where its operands do.
void expect_partition(const char* name, params::Elementwise e, int64_t most, int64_t pieces_at_most) {
  std::vector<char> memory(1);
  params::ElementwiseOperand* const operands[] = {&e.out, &e.in[0], &e.in[1]};
  for (auto* operand : operands) operand->data = memory.data();
  e.out.dtype = DType::float16;
  e.in[0].dtype = DType::float64;
  e.in[1].dtype = DType::int8;
  int64_t next = 0, pieces = 0;
  const auto address = [](const void* data) { return reinterpret_cast<intptr_t>(data); };
  target::elementwise::for_each_small_subspace(
      e, 0,
      [&](const params::Elementwise& piece, int64_t first) {
        int64_t size = 1;
        for (int d = 0; d < piece.ndim; ++d) size *= piece.shape[d];
        bool fine = first == next && size == piece.size && size > 0 && size <= most;
        const params::ElementwiseOperand* const moved[] = {&piece.out, &piece.in[0], &piece.in[1]};
        for (int k = 0; k < 3; ++k)
          fine = fine && address(moved[k]->data) - address(memory.data()) == offset_of_element(e, *operands[k], first);
        check(fine, name, first);
        next = first + piece.size;
        ++pieces;
      },
      most);
  check(next == e.size && pieces <= pieces_at_most, name, pieces);
}

void test_pieces() {
  const int64_t big = int64_t(1) << 31;
  expect_partition("one long axis", space({4 * big + 7}, {1}, {1}, {0}), limit, 8);
  expect_partition("just too long", space({limit + 1}, {1}, {-1}, {3}), limit, 2);
  expect_partition("many rows", space({3 * big, 5}, {5, 1}, {1, 3 * big}, {0, -1}), limit, 16);
  expect_partition("two rows longer than a launch", space({2, big + 5}, {big + 5, 1}, {0, 1}, {1, 0}), limit, 4);
  expect_partition("rows longer than launches", space({3, 3 * big, 2}, {6 * big, 2, 1}, {0, 1, 7}, {1, 0, 0}), limit,
                   32);
  expect_partition("no split", space({limit}, {1}, {1}, {1}), limit, 1);
  for (int64_t most : {1, 2, 64, 1000})
    expect_partition("a small limit", space({7, 50, 33}, {1650, 33, 1}, {1, 7, 350}, {-3, 0, 1}), most, 20000);
}

// One op over strided operands, whole and in pieces: equal bits.
void test_split_launches() {
  for (DType dtype : {DType::int8, DType::int64, DType::float32, DType::complex128}) {
    Bytes x = numbers(dtype, 7 * 50 * 33, 1), y = numbers(dtype, 33, 2);
    params::Elementwise e = space({7, 50, 33}, {1650, 33, 1}, {1, 7, 350}, {0, 0, 1});
    e.out.dtype = e.in[0].dtype = e.in[1].dtype = e.compute = dtype;
    if (dtype == DType::int8) e.compute = DType::int64;
    e.in[0].data = x.get();
    e.in[1].data = y.get();
    const auto launch = [&](const params::Queue& q, const params::Elementwise& piece, Op op) {
      op == Op::copy ? kernels::creation::copy(q, piece) : kernels::elementwise::run(q, op, piece);
    };
    for (Op op : {Op::multiply, Op::copy}) {
      e.input_count = op == Op::copy ? 1 : 2;
      const Bytes whole = run("unsplit", op, Bytes(dtype, e.size), [&](const params::Queue& q, Bytes& out) {
        e.out.data = out.get();
        launch(q, e, op);
      });
      for (int64_t most : {100, 1000}) {
        Bytes out(dtype, e.size);
        e.out.data = out.get();
        Recorder device;
        target::elementwise::for_each_small_subspace(
            e, 0, [&](const params::Elementwise& piece, int64_t) { launch(device.queue(op), piece, op); }, most);
        check(device.launches > 1 && out.data == whole.data, "split: the bits of the unsplit launch", most);
      }
    }
  }
}

// The launcher itself splits, and says in which element of the whole a fault was: launches are counted, not run.
struct Counter {
  int launches = 0;
  int64_t blocks = 0;
  static void submit(const params::Queue& q, const params::Launch& launch) {
    ++static_cast<Counter*>(q.stream)->launches;
    static_cast<Counter*>(q.stream)->blocks += launch.blocks;
  }
};

void test_launchers_split() {
  std::vector<char> memory(16);
  params::Elementwise e = space({3, (int64_t(1) << 31) + 5}, {(int64_t(1) << 31) + 5, 1}, {0, 1}, {1, 0});
  e.out.dtype = e.in[0].dtype = e.in[1].dtype = e.compute = DType::float64;
  e.out.data = e.in[0].data = e.in[1].data = memory.data();
  Counter counter;
  const params::Queue q{Counter::submit, &counter, &h200, {}, nullptr, 0, uint16_t(Op::hypot)};
  kernels::elementwise::run(q, Op::hypot, e);
  check(counter.launches >= 4, "hypot of 3 x (2^31 + 5): launches", counter.launches);
  check(counter.blocks * 256 * 16 >= e.size, "hypot of 3 x (2^31 + 5): blocks", counter.blocks);
}

// Offsets in a space of 2^33 elements in 64 bits, and in a small one in both widths.
void test_places() {
  Bytes index(DType::int32, 8);
  for (int64_t k = 0; k < 8; ++k) write(index, k, double(k % 2 ? -1 - k : k * 100));
  for (const bool huge : {false, true}) {
    params::Indexed p{};
    p.ndim = 3;
    p.entry_count = 1;
    const int64_t shape[] = {huge ? int64_t(1) << 28 : 37, 8, 5}, strides[] = {7, 0, -3}, other[] = {1, 0, 9};
    std::copy(shape, shape + 3, p.shape);
    std::copy(strides, strides + 3, p.x_strides);
    std::copy(other, other + 3, p.other_strides);
    p.size = shape[0] * 40;
    p.entries[0].data = index.get();
    p.entries[0].dtype = DType::int32;
    p.entries[0].extent = 1000;
    p.entries[0].step = int64_t(1) << 32;
    p.entries[0].strides[1] = 1;
    target::indexing::IndexedExtents extents(p), wide = extents;
    check(extents.narrow == !huge, "offsets: which width");
    wide.narrow = false;
    for (int64_t linear = 0; linear < p.size; linear += huge ? 123456789 : 1) {
      const int64_t i = linear / 40, j = linear / 5 % 8, k = linear % 5;
      const int64_t at = int64_t(real(index, j)), row = at < 0 ? at + 1000 : at;
      const int64_t want_x = i * 7 + (row << 32) - 3 * k, want_other = i + 9 * k;
      for (const auto& how : {extents, wide}) {
        const auto got = target::indexing::offsets_at(p, how, linear, {}, 0);
        check(got.x == want_x && got.other == want_other, "offsets", linear);
      }
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  return stator::test::run(argc, argv,
                           {{"pieces", test_pieces},
                            {"split_launches", test_split_launches},
                            {"launchers_split", test_launchers_split},
                            {"offsets", test_places}});
}
