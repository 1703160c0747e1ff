// The checked target by itself: collectives against plain loops, and canaries that its checkers must catch.
// Compiled with -DSTATOR_TARGET=host_checked -DSTATOR_HOST=1 -DSTATOR_CHECKED=1 under AddressSanitizer and UBSan.
#include <sys/wait.h>
#include <unistd.h>

#include <numeric>
#include <string>
#include <vector>

#include "check.hpp"
#include "device/convert.cuh"
#include "device/group.cuh"
#include "host/launch.hpp"

namespace stator::STATOR_TARGET {

struct Pair {
  float value;
  int64_t index;
};
struct LargerPair {
  template <class A>
  static A identity() {
    return {-limits<float>::infinity(), -1};
  }
  Pair operator()(Pair a, Pair b) const {
    return a.value > b.value || (a.value == b.value && a.index < b.index) ? a : b;
  }
};

template <int Size>
STATOR_KERNEL(Size) void reduce_kernel(const float* x, int64_t n, double* sums, Pair* largest) {
  const Group<Size> group;
  const float* row = x + group.block() * n;
  const double sum = group.template map_sum<double>(n, [=](int64_t i) { return row[i]; });
  const Pair pair = group.template map_reduce<Pair>(n, LargerPair{}, [=](int64_t i) { return Pair{row[i], i}; });
  if (group.rank() == Size - 1) {
    sums[group.block()] = sum;
    largest[group.block()] = pair;
  }
}

template <int Size>
STATOR_KERNEL(Size) void scan_kernel(const int64_t* x, int64_t* y) {
  const Group<Size> group;
  const int64_t i = group.block() * Size + group.rank();
  y[i] = group.inclusive_scan(x[i], Sum{});
}

template <int Size>
STATOR_KERNEL(Size) void total_kernel(const float* x, int64_t n, double* partials, uint32_t* counter, double* total) {
  const Group<Size> group;
  const int64_t begin = n * group.block() / group.blocks(), end = n * (group.block() + 1) / group.blocks();
  const double part = group.template map_sum<double>(end - begin, [=](int64_t i) { return x[begin + i]; });
  if (group.rank() == 0) partials[group.block()] = part;
  if (!group.last_block(counter, uint32_t(group.blocks()))) return;
  const double sum = group.template map_sum<double>(group.blocks(), [=](int64_t i) { return partials[i]; });
  if (group.rank() == 0) *total = sum;
}

// Reverses each block's tile; Barrier = false forgets the barrier.
template <int Size, bool Barrier>
STATOR_KERNEL(Size) void reverse_kernel(const int* x, int* y) {
  const Group<Size> group;
  struct Tile {
    int item[Size];
  };
  Tile& tile = group.template shared<Tile>();
  const int64_t base = group.block() * Size;
  tile.item[group.rank()] = x[base + group.rank()];
  if constexpr (Barrier) group.sync();
  y[base + group.rank()] = tile.item[Size - 1 - group.rank()];
}

template <int Size>
STATOR_KERNEL(Size) void exit_kernel(int live, int* arrived) {
  const Group<Size> group;
  if (group.rank() >= live) return;
  group.sync();
  atomic_add(arrived, 1);
  group.sync();
}

template <int Size>
STATOR_KERNEL(Size) void dynamic_kernel(int n, int past, int* y) {
  const Group<Size> group;
  int* items = group.template dynamic<int>(n);
  for (int i = group.rank(); i < n + past; i += Size) items[i] = i;
  group.sync();
  group.for_each(n, [=](int64_t i) { y[i] = items[n - 1 - i]; });
}

template <int Size>
STATOR_KERNEL(Size) void static_overrun_kernel(int index, int* y) {
  const Group<Size> group;
  struct Tile {
    int item[Size];
  };
  Tile& tile = group.template shared<Tile>();
  int* const items = tile.item;
  items[group.rank() + index] = 1;
  *y = items[0];
}

template <int Size>
STATOR_KERNEL(Size) void divergent_kernel() {
  const Group<Size> group;
  if (group.rank() < Size / 2) {
    group.sync();
  } else {
    group.sync();
  }
}

template <int Size>
STATOR_KERNEL(Size) void divergent_reduce_kernel(int* y) {
  const Group<Size> group;
  if (group.rank() % 2 == 0)
    *y = group.reduce(1, Sum{});
  else
    *y = group.reduce(2, Sum{});
}

template <int Size>
STATOR_KERNEL(Size) void deadlock_kernel(int* y) {
  const Group<Size> group;
  if (group.rank() == 5)
    group.sync();
  else
    *y = group.reduce(group.rank(), Sum{});
}

template <int Size>
STATOR_KERNEL(Size) void missing_lane_kernel(int* y) {
  const Group<Size> group;
  if (group.rank() == 7) return;
  *y = group.reduce(1, Sum{});
}

}  // namespace stator::STATOR_TARGET

namespace {

using namespace stator;
using namespace stator::STATOR_TARGET;
using stator::test::check;

std::string seen;  // by the last launch

params::Queue queue() {
  params::Queue q{};
  q.submit = [](const params::Queue&, const params::Launch& l) {
    const char* message = l.entry(l, 0, l.blocks);
    seen = message ? message : "";
  };
  return q;
}

bool has(const char* part) { return seen.find(part) != std::string::npos; }

// Runs f in a child; true when it ended by AddressSanitizer.
template <class F>
bool dies(F f) {
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child == 0) {
    std::freopen("/dev/null", "w", stderr);
    f();
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return !(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

template <int Size>
void reduction(uint64_t seed) {
  set_block_seed(seed);
  for (int64_t n : {0, 1, Size - 1, Size, Size + 1, 37 * Size + 5}) {
    constexpr int64_t rows = 3;
    std::vector<float> x(size_t(rows * n));
    for (size_t i = 0; i < x.size(); ++i) x[i] = float((i * 7919) % 1009) - 300;
    double sums[rows];
    Pair largest[rows];
    launch(queue(), "reduce", reduce_kernel<Size>, {rows, Size}, x.data(), n, sums, largest);
    check(seen.empty(), "reduce ran", Size, n);
    for (int64_t r = 0; r < rows; ++r) {
      double sum = 0;
      Pair best = LargerPair::identity<Pair>();
      for (int64_t i = 0; i < n; ++i) {
        sum += x[size_t(r * n + i)];
        best = LargerPair{}(best, Pair{x[size_t(r * n + i)], i});
      }
      check(sums[r] == sum, "map_sum", Size, n);
      check(largest[r].index == best.index, "map_reduce of a pair", Size, n);
    }
  }
}

template <int Size>
void scan() {
  std::vector<int64_t> x(2 * Size), y(2 * Size), expected(2 * Size);
  std::iota(x.begin(), x.end(), 3);
  for (int b = 0; b < 2; ++b)
    std::partial_sum(x.begin() + b * Size, x.begin() + (b + 1) * Size, expected.begin() + b * Size);
  launch(queue(), "scan", scan_kernel<Size>, {2, Size}, x.data(), y.data());
  check(seen.empty() && y == expected, "inclusive_scan", Size);
}

void reductions() {
  for (uint64_t seed : {0, 1, 2, 3}) {
    reduction<1>(seed);
    reduction<8>(seed);
    reduction<32>(seed);
    reduction<64>(seed);
    reduction<1024>(seed);
  }
}

void scans() {
  scan<1>();
  scan<16>();
  scan<32>();
  scan<256>();
  scan<1024>();
}

void shared_memory() {
  constexpr int size = 128;
  std::vector<int> x(4 * size), y(4 * size), expected(4 * size);
  std::iota(x.begin(), x.end(), 0);
  for (int i = 0; i < 4 * size; ++i) expected[size_t(i)] = i / size * size + size - 1 - i % size;
  for (uint64_t seed : {0, 1, 2}) {
    set_block_seed(seed);
    launch(queue(), "reverse", reverse_kernel<size, true>, {4, size}, x.data(), y.data());
    check(seen.empty() && y == expected, "shared memory with a barrier", int64_t(seed));
    launch(queue(), "reverse", reverse_kernel<size, false>, {4, size}, x.data(), y.data());
    check(y != expected, "canary: a missing barrier reads poison", int64_t(seed));
  }
  std::vector<int> out(100);
  launch(queue(), "dynamic", dynamic_kernel<64>, {1, 64, 400}, 100, 0, out.data());
  check(seen.empty() && out[0] == 99 && out[99] == 0, "dynamic shared memory");
  launch(queue(), "dynamic", dynamic_kernel<64>, {1, 64, 396}, 100, 0, out.data());
  check(has("400 bytes of dynamic shared memory"), "canary: more dynamic shared memory than launched with");
}

void last_block() {
  std::vector<float> x(10000);
  std::iota(x.begin(), x.end(), 0.f);
  std::vector<double> partials(9);
  uint32_t counter = 0;
  for (uint64_t seed : {0, 5, 6}) {
    set_block_seed(seed);
    double total = 0;
    launch(queue(), "total", total_kernel<64>, {9, 64}, x.data(), int64_t(10000), partials.data(), &counter, &total);
    check(seen.empty() && total == 10000.0 * 9999 / 2 && counter == 0, "last_block", int64_t(seed));
  }
}

void exits() {
  int arrived = 0;
  launch(queue(), "exit", exit_kernel<128>, {2, 128}, 33, &arrived);
  check(seen.empty() && arrived == 66, "exited threads leave the barrier");
}

void canaries() {
  int y = 0;
  set_block_seed(0);
#if defined(__SANITIZE_ADDRESS__)
  check(dies([&] { launch(queue(), "overrun", static_overrun_kernel<64>, {1, 64}, 1, &y); }),
        "canary: overrun of shared<S>()");
  check(dies([&] { launch(queue(), "overrun", static_overrun_kernel<64>, {1, 64}, -1, &y); }),
        "canary: underrun of shared<S>()");
  check(dies([&] { launch(queue(), "overrun", dynamic_kernel<64>, {1, 64, 400}, 100, 1, &y); }),
        "canary: overrun of dynamic<T>()");
#endif
  check(!dies([&] { launch(queue(), "overrun", static_overrun_kernel<64>, {1, 64}, 0, &y); }), "no overrun, no death");
  for (uint64_t seed : {0, 11}) {
    set_block_seed(seed);
    launch(queue(), "divergent", divergent_kernel<64>, {3, 64});
    check(has("divergent block barrier") && has("divergent, block"), "canary: different barriers", int64_t(seed));
    launch(queue(), "divergent", divergent_reduce_kernel<64>, {3, 64}, &y);
    check(has("divergent warp collective"), "canary: different collectives", int64_t(seed));
    launch(queue(), "deadlock", deadlock_kernel<64>, {3, 64}, &y);
    check(has("deadlock"), "canary: deadlock", int64_t(seed));
    launch(queue(), "missing", missing_lane_kernel<64>, {3, 64}, &y);
    check(has("missing lane") && has("lane 7"), "canary: an exited lane in a mask", int64_t(seed));
    launch(queue(), "size", scan_kernel<64>, {1, 32}, nullptr, nullptr);
    check(has("blocks of 64 threads was launched with 32"), "canary: another block size");
    reduction<64>(seed);  // after a failure the next launch works
  }
}

void grids() {
  const params::DeviceLimits limits{100, 2048, 32, 0, 0};
  check(waves(limits, 256) == 800, "threads fill a multiprocessor", waves(limits, 256));
  check(waves(limits, 32) == 3200, "no more blocks than it holds", waves(limits, 32));
  check(waves(limits, 4096) == 100, "a block at least", waves(limits, 4096));
}

void messages() {
  launch(queue(), "divergent", divergent_kernel<64>, {1, 64});
  const size_t first = seen.find("checked_test.cpp:");
  check(first != std::string::npos && seen.find("checked_test.cpp:", first + 1) != std::string::npos,
        "both sites are named");
  std::printf("  %s\n", seen.c_str());
  int y;
  launch(queue(), "deadlock", deadlock_kernel<64>, {1, 64}, &y);
  std::printf("  %s\n", seen.c_str());
}

}  // namespace

int main(int argc, char** argv) {
  return stator::test::run(argc, argv,
                           {{"reductions", reductions},
                            {"scans", scans},
                            {"shared_memory", shared_memory},
                            {"last_block", last_block},
                            {"exits", exits},
                            {"canaries", canaries},
                            {"grids", grids},
                            {"messages", messages}});
}
