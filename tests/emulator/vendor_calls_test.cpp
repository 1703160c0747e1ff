// What all doubles have in common: calls are counted, and a test may come between.
#include "emulator/vendor/common/call.hpp"
#include "vendor_stub.hpp"

#include <cstring>
#include <map>
#include <string>

using namespace stator::test;
using stator::emulator::vendor::Argument;
using stator::emulator::vendor::Interceptor;

extern "C" {
int cublasCreate_v2(void**);
int cublasDestroy_v2(void*);
int cublasSetMathMode(void*, int);
int cusparseCreateDnVec(void**, int64_t, void*, int);
int cusparseDestroyDnVec(const void*);
}

namespace {

std::map<std::string, uint64_t> counts() {
  std::map<std::string, uint64_t> found;
  stator_vendor_calls(
      [](void* self, const char* name, uint64_t count) {
        auto& all = *static_cast<std::map<std::string, uint64_t>*>(self);
        check(all.emplace(name, count).second, std::string("is listed twice: ") + name);
      },
      &found);
  return found;
}

void calls_are_counted() {
  const auto before = counts();
  CHECK(before.contains("cusparseLtMatmul") && before.contains("cufftXtExec") && before.contains("cusolverDnZungqr"));
  void* handle = nullptr;
  CHECK(cublasCreate_v2(&handle) == 0);
  CHECK(cublasDestroy_v2(handle) == 0);
  CHECK(cublasDestroy_v2(handle) == 1);
  const auto after = counts();
  CHECK(after.at("cublasCreate_v2") == before.at("cublasCreate_v2") + 1);
  CHECK(after.at("cublasDestroy_v2") == before.at("cublasDestroy_v2") + 2);
  CHECK(after.at("cublasSetMathMode") == before.at("cublasSetMathMode"));
  CHECK(after.size() == before.size());
}

void arguments_and_results_can_be_changed() {
  void* handle = nullptr;
  CHECK(cublasCreate_v2(&handle) == 0);
  const Interceptor changed{.before = [](void*, const char* name, const Argument* arguments, uint32_t count, int*) {
    if (std::strcmp(name, "cublasSetMathMode") == 0 && count == 2 && arguments[1].bytes == sizeof(int)) {
      const int wrong = 7;
      std::memcpy(arguments[1].address, &wrong, sizeof(wrong));
    }
    return false;
  }};
  stator_vendor_intercept(&changed);
  CHECK(cublasSetMathMode(handle, 0) == 7);
  const Interceptor swallowed{.after = [](void*, const char*, int* result) { *result = 0; }};
  stator_vendor_intercept(&swallowed);
  CHECK(cublasSetMathMode(handle, 7) == 0);
  int seen = 0;
  const Interceptor skipped{.self = &seen,
                            .before = [](void* self, const char*, const Argument*, uint32_t, int* result) {
                              ++*static_cast<int*>(self);
                              *result = 14;
                              return true;
                            }};
  stator_vendor_intercept(&skipped);
  CHECK(cublasDestroy_v2(handle) == 14);
  CHECK(seen == 1);
  stator_vendor_intercept(nullptr);
  CHECK(cublasDestroy_v2(handle) == 0);
}

void live_objects_are_told() {
  const auto alive = [] {
    uint64_t sum = 0;
    stator_vendor_objects(
        [](void* self, const char* kind, uint64_t count) {
          if (std::strcmp(kind, "cusparseDnVecDescr_t") == 0) *static_cast<uint64_t*>(self) += count;
        },
        &sum);
    return sum;
  };
  void* vector = nullptr;
  CHECK(cusparseCreateDnVec(&vector, 0, nullptr, 0) == 0);
  CHECK(alive() == 1);
  CHECK(cusparseDestroyDnVec(vector) == 0);
  CHECK(alive() == 0);
}

}  // namespace

int main(int argc, char** argv) {
  return run(argc, argv,
             {{"counts", calls_are_counted},
              {"interception", arguments_and_results_can_be_changed},
              {"objects", live_objects_are_told}},
             assert_clean);
}
