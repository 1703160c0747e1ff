// The exceptions of stator. Their types are part of the API, their texts are not. Every error has the op (may be
// empty), the cause with the values seen, and the remedy; what() joins them. Exhausted host memory is std::bad_alloc
// instead, an OutOfMemoryError in Python.
#pragma once

#include <stator/export.hpp>

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include <stator/macros/aside.inc>

namespace stator {

class STATOR_API Error : public std::runtime_error {
 public:
  Error(std::string op, std::string cause, std::string remedy = {});
  const std::string& op() const noexcept { return op_; }
  const std::string& cause() const noexcept { return cause_; }
  const std::string& remedy() const noexcept { return remedy_; }

 private:
  std::string op_, cause_, remedy_;
};

// A runtime or library call failed: its code, the code's name, and the call.
class STATOR_API CudaError : public Error {
 public:
  CudaError(std::string op, int code, std::string name, std::string call, std::string remedy = {});
  int code() const noexcept { return code_; }
  const std::string& name() const noexcept { return name_; }
  const std::string& call() const noexcept { return call_; }

 private:
  int code_;
  std::string name_, call_;
};

// Live allocations of one size that one op made.
struct MemoryOwner {
  std::string op;  // empty for what no op made
  size_t bytes = 0, count = 0;
};

class STATOR_API OutOfMemoryError : public Error {
 public:
  struct Figures {
    size_t requested, free, cached, limit;  // bytes
    std::string largest_owner;              // "4.0 MiB matmul", empty when nothing is live
    std::vector<MemoryOwner> owners{};      // those with the most bytes, the largest first
    std::string scope{};                    // whose budget the request exceeds; empty if none
    size_t budget = 0, in_budget = 0;       // bytes of that budget, and those in use
  };
  OutOfMemoryError(std::string op, Figures figures);
  const Figures& figures() const noexcept { return figures_; }

 private:
  Figures figures_;
};

// A matrix is singular or not positive definite, or its decomposition did not converge. Describes the first of a batch.
class STATOR_API LinAlgError : public Error {
 public:
  LinAlgError(std::string op, int64_t index, std::string cause, std::string remedy = {});
  int64_t index() const noexcept { return index_; }  // of the matrix in the batch, counted in row-major order

 private:
  int64_t index_;
};

// X(class, base): the other errors, without further members. A call that waits for a stream also throws the errors that
// kernels recorded in its error slot, such as IndexError.
#define STATOR_ERRORS(X)           \
  X(DeviceUnavailableError, Error) \
  X(BackendClosedError, Error)     \
  X(BackendMismatchError, Error)   \
  X(ForkedProcessError, Error)     \
  X(CaptureError, Error)           \
  X(CompileError, Error)           \
  X(LibraryNotFoundError, Error)   \
  X(StreamOrderError, Error)       \
  X(HostCopyError, Error)          \
  X(SynchronizationError, Error)   \
  X(ShapeError, Error)             \
  X(AxisError, ShapeError)         \
  X(DTypeError, Error)             \
  X(ValueError, Error)             \
  X(NumberRangeError, ValueError)  \
  X(UnsupportedError, Error)       \
  X(LoopLimitError, Error)         \
  X(IndexError, Error)

#define STATOR_X(name, base)            \
  class STATOR_API name : public base { \
   public:                              \
    using base::base;                   \
  };
STATOR_ERRORS(STATOR_X)
#undef STATOR_X

}  // namespace stator

#include <stator/macros/back.inc>
