// The cache of plans: order of eviction, limit, figures, and plans that outlive their entry.
#include <memory>

#include "check.hpp"
#include "libs/plan_cache.hpp"

namespace {

using stator::libs::PlanCache;
using stator::libs::PlanCaches;
using stator::test::check;

struct Key {
  int64_t number, unused;
};

// The plan of a key is its number; `made` counts.
struct Fixture {
  PlanCaches kind{3};
  PlanCache cache{kind};
  int made = 0;
  std::shared_ptr<const int> get(int64_t number, size_t size = 1) {
    return cache.get<int>(Key{number, 0}, [&]() -> PlanCache::Entry {
      ++made;
      return {std::make_shared<int>(int(number)), size};
    });
  }
};

void test_hits_and_misses() {
  Fixture f;
  check(*f.get(1) == 1 && *f.get(2) == 2 && *f.get(1) == 1, "plans by key");
  const auto info = f.kind.info();
  check(f.made == 2 && info.hits == 1 && info.misses == 2 && info.evictions == 0 && info.plans == 2, "figures");
}

void test_the_least_recently_used_goes() {
  Fixture f;
  for (int64_t i : {1, 2, 3, 1, 4}) f.get(i);  // 2 is the oldest use
  check(f.kind.info().plans == 3 && f.kind.info().evictions == 1, "a fourth plan pushes one out");
  f.get(1);
  f.get(3);
  f.get(4);
  check(f.made == 4, "those used later stay");
  f.get(2);
  check(f.made == 5, "the one used first is made again");
}

void test_sizes_and_limits() {
  Fixture f;
  const auto held = f.get(7, 2);
  f.get(8, 2);  // 4 beyond 3: 7 goes
  check(f.kind.info().plans == 1 && f.kind.info().bytes == 2 && *held == 7, "by size; a holder keeps its plan");
  f.kind.set_limit(1);
  check(f.kind.info().plans == 0 && f.kind.info().limit == 1, "a lower limit drops at once");
  check(*f.get(9, 5) == 9 && f.kind.info().plans == 0, "one beyond the limit is made, and not kept");
  f.kind.set_limit(10);
  f.get(1);
  f.kind.trim(0);
  check(f.kind.info().plans == 0 && f.kind.info().limit == 10, "clearing keeps the limit");
}

void test_kinds_are_apart() {
  Fixture a, b;
  a.get(1);
  PlanCache second(a.kind);
  second.get<int>(Key{1, 0}, []() -> PlanCache::Entry { return {std::make_shared<int>(5), 1}; });
  check(a.kind.info().plans == 2 && a.kind.info().misses == 2 && b.kind.info().misses == 0, "figures of one kind");
}

}  // namespace

int main(int argc, char** argv) {
  return stator::test::run(argc, argv,
                           {{"hits_and_misses", test_hits_and_misses},
                            {"the_least_recently_used_goes", test_the_least_recently_used_goes},
                            {"sizes_and_limits", test_sizes_and_limits},
                            {"kinds_are_apart", test_kinds_are_apart}});
}
