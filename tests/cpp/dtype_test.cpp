// Sets of dtypes, and the switch from a dtype to its type.
#include <stator/dtype.hpp>

#include <sys/wait.h>
#include <unistd.h>
#include <cstdio>
#include <type_traits>

#include "check.hpp"

namespace stator {
namespace {

using test::check;

void test_sets_hold_the_dtypes_of_their_kind() {
  for (int i = 0; i < dtype_count; ++i) {
    const DType d = DType(i);
    visit(d, [=]<class T>(type_tag<T>) {
      constexpr bool whole = std::is_integral_v<T> && !std::is_same_v<T, bool>;
      const std::string of(name(d));
      check(dtype_of_v<T> == d, "the type belongs to " + of);
      check(in(d, dtypes::signed_integers) == (whole && std::is_signed_v<T>), "signed_integers and " + of);
      check(in(d, dtypes::unsigned_integers) == (whole && std::is_unsigned_v<T>), "unsigned_integers and " + of);
      check(in(d, dtypes::halves) == (!whole && !is_complex<T> && sizeof(T) == 2), "halves and " + of);
      check(in(d, dtypes::full_floats) == std::is_floating_point_v<T>, "full_floats and " + of);
      check(in(d, dtypes::complexes) == is_complex<T>, "complexes and " + of);
    });
  }
}

void test_a_dtype_outside_of_the_set_aborts() {
  const pid_t child = fork();
  if (child == 0) {
    volatile int unexpected = int(DType::int32);
    visit<dtypes::floats>(DType(unexpected), []<class T>(type_tag<T>) {});
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  check(!WIFEXITED(status) || WEXITSTATUS(status) != 0, "visit of floats with int32 ends the process");
}

}  // namespace
}  // namespace stator

int main(int argc, char** argv) {
  return stator::test::run(argc, argv,
                           {{"sets_hold_the_dtypes_of_their_kind", stator::test_sets_hold_the_dtypes_of_their_kind},
                            {"a_dtype_outside_of_the_set_aborts", stator::test_a_dtype_outside_of_the_set_aborts}});
}
