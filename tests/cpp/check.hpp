// The smallest test harness: counts, names what failed, ends with "N passed, M failed".
#pragma once

#include <cstdio>

inline int passed = 0, failed = 0;

template <class... Numbers>
void check(bool good, const char* what, Numbers... numbers) {
  if (good) {
    ++passed;
    return;
  }
  ++failed;
  std::printf("FAILED: %s", what);
  (std::printf(" %lld", static_cast<long long>(numbers)), ...);
  std::printf("\n");
}

inline int finish() {
  std::printf("%d passed, %d failed\n", passed, failed);
  return failed == 0 && passed > 0 ? 0 : 1;
}
