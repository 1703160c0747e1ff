// Batches for routines that take a limited number of matrices.
#include "libs/cuda/session.hpp"

#include "check.hpp"

#include <utility>
#include <vector>

namespace {

using namespace stator::libs::cusolver;

using Pieces = std::vector<std::pair<int64_t, int64_t>>;
Pieces pieces(int64_t count, int64_t most) {
  Pieces found;
  for_each_piece(count, most, [&](int64_t first, int64_t n) { found.emplace_back(first, n); });
  return found;
}

void whole() {
  CHECK((pieces(5, 5) == Pieces{{0, 5}}));
  CHECK((pieces(5, int64_t(1) << 40) == Pieces{{0, 5}}));
}

void several() {
  CHECK((pieces(7, 3) == Pieces{{0, 3}, {3, 3}, {6, 1}}));
  CHECK((pieces(6, 3) == Pieces{{0, 3}, {3, 3}}));
}

void bytes() {
  // 512 x 512 complex128 are 4 MiB: 512 of them have one byte more than the library counts.
  CHECK(matrices_of_bytes(512, 512, 16) == 511);
  CHECK(matrices_of_bytes(64, 64, 8) == 65535);
  CHECK(matrices_of_bytes(int64_t(1) << 15, int64_t(1) << 15, 16) == 1);
}

}  // namespace

int main(int argc, char** argv) {
  return stator::test::run(argc, argv,
                           {{"a_small_batch_is_one_piece", whole},
                            {"a_large_batch_is_several", several},
                            {"a_piece_has_at_most_the_bytes_of_32_bits", bytes}});
}
