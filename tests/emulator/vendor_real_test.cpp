// The doubles against the libraries themselves, by the calls that need no GPU: descriptors, attributes, names,
// versions. STATOR_CUDA_LIBRARIES names the folder of the real libraries; without them the test is skipped. Libraries
// of a later version than the double's may take what the double refuses; nothing else may differ.
#include "emulator/vendor/common/types.hpp"
#include "vendor_stub.hpp"

#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <set>
#include <string>
#include <vector>

using namespace stator::test;

extern "C" {
const char* cublasGetStatusName(int);
int cublasGetProperty(int, int*);
int cublasLtGetProperty(int, int*);
int cublasLtMatmulDescCreate(void**, int, int);
int cublasLtMatmulDescDestroy(void*);
int cublasLtMatmulDescSetAttribute(void*, int, const void*, size_t);
int cublasLtMatrixLayoutCreate(void**, int, uint64_t, uint64_t, int64_t);
int cublasLtMatrixLayoutDestroy(void*);
int cublasLtMatrixLayoutSetAttribute(void*, int, const void*, size_t);
int cublasLtMatmulPreferenceCreate(void**);
int cublasLtMatmulPreferenceDestroy(void*);
int cublasLtMatmulPreferenceSetAttribute(void*, int, const void*, size_t);
int cusolverGetProperty(int, int*);
int cusolverDnCreateParams(void**);
int cusolverDnDestroyParams(void*);
int cusolverDnCreateGesvdjInfo(void**);
int cusolverDnDestroyGesvdjInfo(void*);
int cufftGetProperty(int, int*);
const char* cusparseGetErrorName(int);
int cusparseGetProperty(int, int*);
int cusparseCreateCsr(void**, int64_t, int64_t, int64_t, void*, void*, void*, int, int, int, int);
int cusparseDestroySpMat(const void*);
int cusparseSpMatSetAttribute(void*, int, const void*, size_t);
int cusparseSpMatGetSize(const void*, int64_t*, int64_t*, int64_t*);
int cusparseCsrSetPointers(void*, void*, void*, void*);
int cusparseCreateDnVec(void**, int64_t, void*, int);
int cusparseDestroyDnVec(const void*);
int cusparseCreateDnMat(void**, int64_t, int64_t, int64_t, void*, int, int);
int cusparseDestroyDnMat(const void*);
int cusparseSpSV_createDescr(void**);
int cusparseSpSV_destroyDescr(void*);
int cusparseSpSM_createDescr(void**);
int cusparseSpSM_destroyDescr(void*);
int cusparseSpGEMM_createDescr(void**);
int cusparseSpGEMM_destroyDescr(void*);
const char* cusparseLtGetErrorName(int);
int cusparseLtGetProperty(int, int*);
}

namespace {

std::string folder;
std::set<std::string> compared;   // functions
std::set<std::string> taken_now;  // calls that a later version takes

void* open(const char* library) { return dlopen((folder + "/" + library).c_str(), RTLD_NOW | RTLD_LOCAL); }

// A library and the function that says its version.
struct Library {
  const char* file;
  const char* property;
  int (*twin)(int, int*);
};
const Library blas{"libcublas.so.13", "cublasGetProperty", cublasGetProperty};
const Library lt{"libcublasLt.so.13", "cublasLtGetProperty", cublasLtGetProperty};
const Library solver{"libcusolver.so.12", "cusolverGetProperty", cusolverGetProperty};
const Library sparse{"libcusparse.so.12", "cusparseGetProperty", cusparseGetProperty};
const Library fft{"libcufft.so.12", "cufftGetProperty", cufftGetProperty};
const Library sparse_lt{"libcusparseLt.so.0", "cusparseLtGetProperty", cusparseLtGetProperty};

std::vector<int> version(int (*property)(int, int*)) {
  std::vector<int> numbers(3, -1);
  for (int which = 0; property && which < 3; ++which) property(which, &numbers[which]);
  return numbers;
}
bool later(const Library& library) {
  void* const opened = open(library.file);
  const auto real = opened ? reinterpret_cast<int (*)(int, int*)>(dlsym(opened, library.property)) : nullptr;
  return version(real) > version(library.twin);
}

// A function in both versions.
template <class F>
struct Both {
  F* twin;
  F* real;
  const char* name;
  bool later;
  template <class... Numbers>
  void agree(int mine, int theirs, Numbers... numbers) const {
    const bool taken = later && mine != 0 && theirs == 0;
    if (taken) taken_now.insert((std::string(name) + ... + (" " + std::to_string(numbers))));
    check(mine == theirs || taken, std::string("statuses of ") + name + " differ", numbers..., mine, theirs);
  }
};

template <class F>
Both<F> both(const Library& library, const char* name, F* twin) {
  void* const opened = open(library.file);
  const auto real = opened ? reinterpret_cast<F*>(dlsym(opened, name)) : nullptr;
  if (real) compared.insert(name);
  return {twin, real, name, later(library)};
}
#define BOTH(library, function) both(library, #function, &function)

// Statuses and what came out by an integer.
template <class F, class... Arguments>
void same(const Both<F>& f, Arguments... arguments) {
  if (!f.real) return fail(std::string("the library has no ") + f.name);
  const int mine = f.twin(arguments...), theirs = f.real(arguments...);
  f.agree(mine, theirs);
}

void versions() {
  const auto property = [](const Both<int(int, int*)>& f) {
    for (int which = 0; which < 3; ++which) {
      int mine = -1, theirs = -2;
      if (f.real) check(f.twin(which, &mine) == f.real(which, &theirs), f.name);
      // A later patch is the same interface.
      if (which < 1) check(mine == theirs, std::string("major version of ") + f.name, mine, theirs);
    }
  };
  property(BOTH(blas, cublasGetProperty));
  property(BOTH(lt, cublasLtGetProperty));
  property(BOTH(solver, cusolverGetProperty));
  property(BOTH(sparse, cusparseGetProperty));
  property(BOTH(fft, cufftGetProperty));
  property(BOTH(sparse_lt, cusparseLtGetProperty));
  int unused = 0;
  same(BOTH(blas, cublasGetProperty), 3, &unused);
  same(BOTH(sparse, cusparseGetProperty), 3, &unused);
}

void names() {
  const auto name = [](const Both<const char*(int)>& f) {
    for (int status = 0; status < 20; ++status)
      if (f.real) check(std::string(f.twin(status)) == f.real(status), f.name, status);
  };
  name(BOTH(blas, cublasGetStatusName));
  name(BOTH(sparse, cusparseGetErrorName));
  name(BOTH(sparse_lt, cusparseLtGetErrorName));
}

// An object of each side, made by `create` and destroyed in the end.
template <class Destroy>
struct Pair {
  void *mine = nullptr, *theirs = nullptr;
  Both<Destroy> destroy;
  template <class Create, class... Arguments>
  Pair(const Both<Create>& create, const Both<Destroy>& with, Arguments... arguments) : destroy(with) {
    if (!create.real || !with.real) {
      fail(std::string("the library has no ") + create.name);
      return;
    }
    const int a = create.twin(&mine, arguments...), b = create.real(&theirs, arguments...);
    create.agree(a, b);
    if (a != 0) mine = nullptr;
    if (b != 0) theirs = nullptr;
  }
  ~Pair() {
    if (mine) check(destroy.twin(mine) == 0, destroy.name);
    if (theirs) check(destroy.real(theirs) == 0, destroy.name);
  }
};

template <class Object>
void attributes(const Object& object, const Both<int(void*, int, const void*, size_t)>& set, int count,
                const std::vector<int>& left_out = {}) {
  const char zeros[32] = {};
  for (int attribute = 0; attribute < count; ++attribute)
    for (const size_t bytes : {1, 2, 4, 8, 16}) {
      bool skip = false;
      for (const int each : left_out) skip = skip || attribute == each;
      if (skip || !object.theirs) continue;
      const int mine = set.twin(object.mine, attribute, zeros, bytes),
                theirs = set.real(object.theirs, attribute, zeros, bytes);
      set.agree(mine, theirs, attribute, bytes);
    }
}

void products() {
  const auto layout = [](int type, uint64_t rows, uint64_t columns, int64_t ld) {
    return Pair(BOTH(lt, cublasLtMatrixLayoutCreate), BOTH(lt, cublasLtMatrixLayoutDestroy), type, rows, columns, ld);
  };
  layout(0, 4, 4, 2);
  layout(99, 0, 4, -4);
  attributes(layout(0, 4, 4, 4), BOTH(lt, cublasLtMatrixLayoutSetAttribute), 10);
  const Pair description(BOTH(lt, cublasLtMatmulDescCreate), BOTH(lt, cublasLtMatmulDescDestroy), 68, 0);
  // Two attributes that no header explains, or that belong to an emulation of floating types.
  attributes(description, BOTH(lt, cublasLtMatmulDescSetAttribute), 40, {16, 38});
  const Pair preference(BOTH(lt, cublasLtMatmulPreferenceCreate), BOTH(lt, cublasLtMatmulPreferenceDestroy));
  attributes(preference, BOTH(lt, cublasLtMatmulPreferenceSetAttribute), 14);
  same(BOTH(lt, cublasLtMatmulDescDestroy), nullptr);
}

void solvers() {
  const Pair params(BOTH(solver, cusolverDnCreateParams), BOTH(solver, cusolverDnDestroyParams));
  const Pair info(BOTH(solver, cusolverDnCreateGesvdjInfo), BOTH(solver, cusolverDnDestroyGesvdjInfo));
  CHECK(params.theirs && info.theirs);
}

void sparse_descriptors() {
  const auto create = BOTH(sparse, cusparseCreateCsr);
  const auto destroy = BOTH(sparse, cusparseDestroySpMat);
  void* const p = reinterpret_cast<void*>(0x10000);
  const int64_t large = int64_t(1) << 33;
  struct Csr {
    int64_t rows, columns, nnz;
    void *offsets, *indices, *values;
    int first, second, base, type;
  };
  void *const odd = reinterpret_cast<void*>(0x10001), *const half = reinterpret_cast<void*>(0x10004),
              *const eight = reinterpret_cast<void*>(0x10008);
  for (const Csr& c : std::vector<Csr>{{4, 4, 3, p, p, p, 2, 2, 0, 0},
                                       {4, 4, 0, nullptr, nullptr, nullptr, 2, 2, 0, 0},
                                       {0, 0, 0, nullptr, nullptr, nullptr, 2, 2, 0, 0},
                                       {4, 4, 17, p, p, p, 2, 2, 0, 0},
                                       {-1, 4, 3, p, p, p, 2, 2, 0, 0},
                                       {4, 4, -1, p, p, p, 2, 2, 0, 0},
                                       {0, 4, 3, p, p, p, 2, 2, 0, 0},
                                       {large, 4, 3, p, p, p, 2, 2, 0, 0},
                                       {large, 4, 3, p, p, p, 3, 3, 0, 1},
                                       {4, 4, 3, p, p, p, 3, 2, 0, 0},
                                       {4, 4, 3, p, p, p, 2, 3, 0, 0},
                                       {4, 4, 3, p, p, p, 2, 2, 1, 4},
                                       {4, 4, 3, p, p, p, 2, 2, 2, 0},
                                       {4, 4, 3, p, p, p, 2, 2, 0, 99},
                                       {4, 4, 3, p, p, p, 2, 2, 0, 14},
                                       {4, 4, 3, odd, p, p, 2, 2, 0, 0},
                                       {4, 4, 3, p, odd, p, 2, 2, 0, 0},
                                       {4, 4, 3, p, p, half, 2, 2, 0, 0},
                                       {4, 4, 3, p, p, half, 2, 2, 0, 1},
                                       {4, 4, 3, p, p, half, 2, 2, 0, 4},
                                       {4, 4, 3, p, p, eight, 2, 2, 0, 5},
                                       {4, 4, 3, p, half, p, 3, 3, 0, 0}})
    Pair(create, destroy, c.rows, c.columns, c.nnz, c.offsets, c.indices, c.values, c.first, c.second, c.base, c.type);
  const Pair matrix(create, destroy, int64_t(4), int64_t(4), int64_t(3), p, p, p, 2, 2, 0, 0);
  attributes(matrix, BOTH(sparse, cusparseSpMatSetAttribute), 3);
  const auto size = BOTH(sparse, cusparseSpMatGetSize);
  int64_t rows = 0, columns = 0, nnz = 0;
  CHECK(size.real && size.real(matrix.theirs, &rows, &columns, &nnz) == size.twin(matrix.mine, &rows, &columns, &nnz));
  const auto point = BOTH(sparse, cusparseCsrSetPointers);
  CHECK(point.real && point.real(matrix.theirs, p, nullptr, p) == point.twin(matrix.mine, p, nullptr, p));
  same(destroy, nullptr);
}

void dense_descriptors() {
  void *const p = reinterpret_cast<void*>(0x10000), *const odd = reinterpret_cast<void*>(0x10001);
  const auto vector = [](int64_t count, void* values, int type) {
    Pair(BOTH(sparse, cusparseCreateDnVec), BOTH(sparse, cusparseDestroyDnVec), count, values, type);
  };
  vector(4, p, 0);
  vector(0, nullptr, 0);
  vector(4, nullptr, 4);
  vector(-1, p, 0);
  vector(4, p, 99);
  vector(4, p, 24);
  vector(4, odd, 0);
  vector(4, reinterpret_cast<void*>(0x10008), 5);
  vector(4, reinterpret_cast<void*>(0x10004), 4);
  const auto matrix = [](int64_t rows, int64_t columns, int64_t ld, void* values, int type, int order) {
    Pair(BOTH(sparse, cusparseCreateDnMat), BOTH(sparse, cusparseDestroyDnMat), rows, columns, ld, values, type, order);
  };
  matrix(4, 3, 4, p, 0, 1);
  matrix(4, 3, 3, p, 0, 1);
  matrix(4, 3, 3, p, 0, 2);
  matrix(4, 3, 2, p, 0, 2);
  matrix(0, 0, 0, nullptr, 0, 1);
  matrix(0, 3, 1, nullptr, 0, 1);
  matrix(4, 3, 4, p, 0, 3);
  matrix(-4, 3, 4, p, 0, 1);
  matrix(4, 3, 4, p, 99, 1);
  Pair(BOTH(sparse, cusparseSpSV_createDescr), BOTH(sparse, cusparseSpSV_destroyDescr));
  Pair(BOTH(sparse, cusparseSpSM_createDescr), BOTH(sparse, cusparseSpSM_destroyDescr));
  Pair(BOTH(sparse, cusparseSpGEMM_createDescr), BOTH(sparse, cusparseSpGEMM_destroyDescr));
}

}  // namespace

int main(int argc, char** argv) {
  const char* const chosen = std::getenv("STATOR_CUDA_LIBRARIES");
  folder = chosen ? chosen : "";
  const bool present = !folder.empty() && open(lt.file);
  if (!present) {
    std::puts("skipped: STATOR_CUDA_LIBRARIES names no folder with the CUDA 13 libraries");
    return 77;
  }
  for (const char* needed : {"libnvJitLink.so.13", blas.file, sparse.file}) open(needed);  // by others of them
  const int code = run(argc, argv,
                       {{"versions", versions},
                        {"names", names},
                        {"products", products},
                        {"solvers", solvers},
                        {"sparse descriptors", sparse_descriptors},
                        {"dense descriptors", dense_descriptors}},
                       assert_clean);
  std::printf("%zu functions compared\n", compared.size());
  for (const std::string& call : taken_now) std::printf("taken only by a later version: %s\n", call.c_str());
  return code;
}
