// Every exported function of the doubles is defined through STATOR_VENDOR, which counts its calls and lets a test
// change its arguments or its result.
#pragma once

#include <atomic>
#include <cstdint>
#include <tuple>

#define STATOR_VENDOR_API __attribute__((visibility("default")))

namespace stator::emulator::vendor {

struct Argument {
  void* address;  // of the argument itself
  uint32_t bytes;
};

// What a test puts between callers and doubles. Null members are left out.
struct Interceptor {
  void* self = nullptr;
  // Before the call; may change arguments. True: the call does not happen and its result is *result.
  bool (*before)(void* self, const char* name, const Argument* arguments, uint32_t count, int* result) = nullptr;
  // After it; may change the result.
  void (*after)(void* self, const char* name, int* result) = nullptr;
};

// The calls of one symbol. All of them are a list from the time on at which the library is loaded.
struct Call {
  explicit Call(const char* symbol);
  const char* const name;
  std::atomic<uint64_t> count{0};
  Call* next = nullptr;
  static void tell();  // the services that there are calls to list
  static Call* first;
  static std::atomic<const Interceptor*> interceptor;
};

template <class Result, class... Parameters>
Result pass(Call& call, Result (*body)(Parameters...), std::tuple<Parameters&...> arguments) {
  if (call.count.fetch_add(1, std::memory_order_relaxed) == 0) Call::tell();
  const Interceptor* const between = Call::interceptor.load(std::memory_order_acquire);
  if constexpr (sizeof(Result) == sizeof(int)) {
    if (between) {
      int result = 0;
      bool skip = false;
      if (between->before)
        std::apply(
            [&](auto&... each) {
              const Argument all[] = {
                  Argument{const_cast<void*>(static_cast<const volatile void*>(&each)), sizeof(each)}...};
              skip = between->before(between->self, call.name, all, sizeof...(each), &result);
            },
            arguments);
      if (!skip) result = int(std::apply(body, arguments));
      if (between->after) between->after(between->self, call.name, &result);
      return Result(result);
    }
  }
  return std::apply(body, arguments);
}

}  // namespace stator::emulator::vendor

// STATOR_VENDOR(Status, libraryFunction, (int n, void* p), (n, p)) { ...body... }
#define STATOR_VENDOR(Result, name, parameters, arguments)                                    \
  static Result name##_double parameters;                                                     \
  static ::stator::emulator::vendor::Call name##_call(#name);                                 \
  extern "C" STATOR_VENDOR_API Result name parameters {                                       \
    return ::stator::emulator::vendor::pass(name##_call, &name##_double, std::tie arguments); \
  }                                                                                           \
  static Result name##_double parameters

extern "C" {
// Calls `visit` with every symbol and the number of its calls so far.
STATOR_VENDOR_API void stator_vendor_calls(void (*visit)(void* self, const char* name, uint64_t count), void* self);
// Calls `visit` with every kind of handle or descriptor and how many are alive.
STATOR_VENDOR_API void stator_vendor_objects(void (*visit)(void* self, const char* kind, uint64_t alive), void* self);
// Null takes it away. The structure stays the caller's.
STATOR_VENDOR_API void stator_vendor_intercept(const stator::emulator::vendor::Interceptor* interceptor);
}
