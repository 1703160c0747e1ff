// may_overlap compares the extents first; where they meet, it looks for indices of a and b whose byte offsets coincide,
// which is a bounded linear Diophantine problem with one term per distinct stride.
#include "memory/overlap.hpp"

#include "memory/buffer.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string>
#include <vector>

namespace stator {
namespace {

// The values step * k for lowest <= k <= highest, where step > 0.
struct Term {
  int64_t step, lowest, highest;
};

// Whether a sum of one value of each term lies in (target - a_size, target + b_size). Depth-first over the terms, with
// a bounded number of attempts; true when they are used up.
struct Search {
  std::vector<Term> terms;               // by descending step
  std::vector<int64_t> lowest, highest;  // of the sum of the terms from i on
  int64_t a_size, b_size;
  int budget = 4096;

  // When all terms are there.
  void prepare() {
    std::sort(terms.begin(), terms.end(), [](const Term& s, const Term& t) { return s.step > t.step; });
    lowest.assign(terms.size() + 1, 0);
    highest = lowest;
    for (size_t i = terms.size(); i-- > 0;) {
      lowest[i] = lowest[i + 1] + terms[i].step * terms[i].lowest;
      highest[i] = highest[i + 1] + terms[i].step * terms[i].highest;
    }
  }

  bool hits(int64_t target, size_t i) {
    if (i == terms.size()) return -b_size < target && target < a_size;
    const Term& t = terms[i];
    const auto floor_div = [](int64_t n, int64_t d) { return n / d - (n % d < 0); };
    const int64_t first = -floor_div(-(target - a_size + 1 - highest[i + 1]), t.step);
    const int64_t last = floor_div(target + b_size - 1 - lowest[i + 1], t.step);
    for (int64_t k = std::max(first, t.lowest); k <= std::min(last, t.highest); ++k) {
      if (--budget < 0 || hits(target - k * t.step, i + 1)) return true;
    }
    return false;
  }
};

void add_terms(const Array& array, bool negative, std::vector<Term>& terms) {
  for (int d = 0; d < array.ndim(); ++d) {
    int64_t step = array.strides()[d] * itemsize(array.dtype()), reach = array.shape()[d] - 1;
    if (step == 0 || reach == 0) continue;
    const bool down = (step < 0) != negative;
    step = std::abs(step);
    const auto same = std::find_if(terms.begin(), terms.end(), [&](const Term& t) { return t.step == step; });
    Term& term = same != terms.end() ? *same : terms.emplace_back(Term{step, 0, 0});
    (down ? term.lowest : term.highest) += down ? -reach : reach;
  }
}

}  // namespace

Extent extent_of(const Array& array) {
  if (array.size() == 0) return {0, 0};
  Extent extent{0, 1};
  for (int d = 0; d < array.ndim(); ++d) {
    const int64_t reach = (array.shape()[d] - 1) * array.strides()[d];
    (reach < 0 ? extent.begin : extent.end) += reach;
  }
  return {extent.begin * itemsize(array.dtype()), extent.end * itemsize(array.dtype())};
}

bool same_view(const Array& a, const Array& b) {
  if (a.data_ptr() != b.data_ptr() || a.dtype() != b.dtype() || !(a.shape() == b.shape())) return false;
  for (int d = 0; d < a.ndim(); ++d) {
    if (a.shape()[d] > 1 && a.strides()[d] != b.strides()[d]) return false;
  }
  return true;
}

bool may_overlap(const Array& a, const Array& b) {
  if (a.size() == 0 || b.size() == 0) return false;
  const int64_t distance = static_cast<char*>(b.data_ptr()) - static_cast<char*>(a.data_ptr());
  const Extent ea = extent_of(a), eb = extent_of(b);
  if (ea.end <= distance + eb.begin || distance + eb.end <= ea.begin) return false;
  // An element i of a and an element j of b meet where sum(i * stride) - sum(j * stride) is within one item of the
  // distance.
  Search search{{}, {}, {}, itemsize(a.dtype()), itemsize(b.dtype())};
  add_terms(a, false, search.terms);
  add_terms(b, true, search.terms);
  search.prepare();
  return search.hits(distance, 0);
}

bool search_itself(const Array& array) {
  std::array<Term, Dims::max_size> terms;
  const auto end = [&](int count) { return terms.begin() + count; };
  int count = 0;
  bool repeats = false;
  for (int d = array.ndim() - 1; d >= 0; --d) {
    const int64_t step = std::abs(array.strides()[d]), reach = array.shape()[d] - 1;
    if (reach < 0) return false;
    if (reach == 0) continue;
    repeats = repeats || step == 0;
    terms[size_t(count++)] = {step, -reach, reach};
  }
  if (repeats) return true;
  // In permuted arrays too, mostly each step is beyond all that smaller ones reach.
  std::sort(terms.begin(), end(count), [](const Term& s, const Term& t) { return s.step < t.step; });
  int64_t reached = 0;
  if (std::all_of(terms.begin(), end(count), [&](const Term& t) {
        const bool beyond = t.step > reached;
        reached += t.step * t.highest;
        return beyond;
      }))
    return false;
  // Two elements meet where the differences of their indices, not all 0, times the steps add up to 0.
  Search search{{terms.begin(), end(count)}, {}, {}, 1, 1};
  search.prepare();
  for (size_t i = 0; i < search.terms.size(); ++i) {
    const Term& t = search.terms[i];
    for (int64_t k = 1; k <= t.highest && k * t.step <= search.highest[i + 1]; ++k)
      if (search.hits(-k * t.step, i + 1)) return true;
  }
  return false;
}

void require_distinct(std::string_view op, const Array& array, std::string_view what) {
  if (overlaps_itself(array)) [[unlikely]]
    throw ValueError(std::string(op),
                     std::string(what) + " has elements that are the same memory, as broadcast_to makes them: shape " +
                         str(array.shape()) + ", strides " + str(array.strides()),
                     "Copy it first");
}

void require_writable(std::string_view op, const Array& array, std::string_view what) {
  if (buffer_of(array, op).read_only()) [[unlikely]]
    throw ValueError(std::string(op), std::string(what) + " is read-only", "Copy it first");
  require_distinct(op, array, what);
}

}  // namespace stator
