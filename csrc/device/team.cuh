// Teams: the warps of a block, each of which works on its own data without barriers of the block. On the fast host the
// block is the only team.
#pragma once

#include "sublanes.cuh"

namespace stator::STATOR_TARGET {

// Every loop assigns index i to the same thread of the team, so a team reads what it wrote at i without a barrier.
template <int Size>
struct Team {
  static_assert(Size % most_sublanes == 0, "a block must be whole teams");
  static constexpr int size = most_sublanes, count = fast_host ? 1 : Size / size;

  STATOR_FN explicit Team(const Group<Size>& group) : index_(group.rank() / size), rank_(group.rank() % size) {}

  STATOR_FN int index() const { return index_; }  // of the team in its block
  STATOR_FN int rank() const { return rank_; }    // of the thread in its team

  // Calls f(i) for every i in [first, last), which are not negative.
  template <class F>
  STATOR_FN void for_each(int64_t first, int64_t last, F f) const {
    for (int64_t i = start(first); i < last; i += size) f(i);
  }

  // The sum of f(i) over i in [first, last), in every thread; A{} is zero. All threads of the team must call it; the
  // order of additions depends on the range only.
  template <class A, class F>
  STATOR_FN A sum(int64_t first, int64_t last, F f) const {
    A total{};
    STATOR_UNROLL(2)
    for (int64_t i = start(first); i < last; i += size) total = total + f(i);
    return from_first_sublane(sum_sublanes(total, size));
  }

  // The value of the thread of the team with this rank. All threads of the team must call it.
  template <class A>
  STATOR_FN A from(A value, int rank) const {
    return from_sublane(value, rank);
  }

 private:
  STATOR_FN int64_t start(int64_t first) const { return first + ((rank_ - first) & (size - 1)); }

  int index_, rank_;
};

}  // namespace stator::STATOR_TARGET
