// The end of a binding's interpreter, which closes the backends that it opened and leaves the program's own.
#include "core_support.hpp"

#include <stator/binding.hpp>
#include <stator/creation.hpp>
#include <stator/elementwise.hpp>

namespace {

using namespace stator;
using namespace stator::test;

template <class F>
bool is_closed_error(F f) {
  try {
    f();
  } catch (const BackendClosedError&) {
    return true;
  }
  return false;
}

void test_owners_are_released_without_another_launch() {
  const Backend backend = Backend::open("cpu");
  double value = 1;
  int released = 0;
  const auto made = [&] {
    return interop::from_owner(backend, {&value, DType::float64, {1}, {1}, true}, &released,
                               [](void* count) { ++*static_cast<int*>(count); });
  };
  Array array = made();
  static_cast<void>(add(array, array).item());
  array = {};
  interop::release_owners();
  CHECK(released == 1);
  array = made();
  interop::release_later(array);
  interop::release_owners();
  CHECK(released == 2);
  backend.close();
}

// The last one, since a process has one end of its interpreter.
void test_the_end_of_an_interpreter_closes_its_own_backends() {
  const Backend own = Backend::open("cpu"), bound = Backend::open("cpu");
  interop::bind(bound);
  const Array x = full(own, {3}, 1.0), y = full(bound, {3}, 1.0);
  int released = 0, called = 0;
  double value = 1;
  Array late = interop::from_owner(own, {&value, DType::float64, {1}, {1}, true}, &released,
                                   [](void* count) { ++*static_cast<int*>(count); });
  const auto count = [](void* calls) { ++*static_cast<int*>(calls); };
  interop::add_callback(bound.stream(0), &called, count, [](void*) {});
  CHECK(!interop::binding_ended());
  interop::end_binding();
  interop::end_binding();
  CHECK(interop::binding_ended() && called == 1);
  CHECK(bound.closed() && !own.closed());
  CHECK(is_closed_error([&] { add(y, y); }));
  double sums[3] = {};
  add(x, x).to_host(sums);
  CHECK(sums[0] == 2 && sums[2] == 2);

  const Backend next = Backend::open("cpu");
  CHECK(full(next, {}, 2.0).item().re == 2);
  const Backend refused = Backend::open("cpu");
  CHECK(is_closed_error([&] { interop::bind(refused); }) && refused.closed());
  late = {};
  interop::release_owners();
  CHECK(released == 0);  // the interpreter that could do it has ended
  interop::add_callback(own.stream(0), &called, count, [](void*) {});
  own.synchronize();
  CHECK(called == 1);
  next.close();
  own.close();
}

}  // namespace

int main(int argc, char** argv) {
  return stator::test::run(
      argc, argv,
      {{"owners_are_released_without_another_launch", test_owners_are_released_without_another_launch},
       {"the_end_of_an_interpreter_closes_its_own_backends", test_the_end_of_an_interpreter_closes_its_own_backends}});
}
