// Graphs of the cuda table: what the calls that may be captured tell them.
#pragma once

#include "runtime/cuda_call.hpp"

#include <memory>
#include <vector>

namespace stator::runtime {

struct CudaCall {
  enum class Kind : uint8_t { library, kernel, copy, fill };
  Kind kind = Kind::library;
  bool pending = false;            // its arguments differ from those in the executable
  bool edited = false;             // ... from those in the graph
  cudaGraphNode_t node = nullptr;  // null for a library's, of which there may be several
  std::vector<std::byte> bytes;    // the arguments
  const void* function = nullptr;
  dim3 grid, block;
  size_t shared_bytes = 0;
  std::vector<size_t> offsets;  // of a kernel's parameters in the bytes
  int value = 0;                // of a fill
  size_t size = 0;              // of a copy or a fill, in bytes
};

struct CudaGraph {
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t executable = nullptr;
  std::vector<CudaCall> calls;
  std::vector<size_t> changed;  // calls whose arguments are pending
};

// A capture. CUDA has a number for each stretch of it: parts under a condition are graphs of their own.
struct CudaRecording {
  cudaStream_t stream = nullptr;
  unsigned long long number = 0, native = 0;  // of the whole, of what is captured now
  std::unique_ptr<CudaGraph> graph;
  struct Part {
    cudaGraph_t around;
    cudaGraphNode_t node;  // of the condition, in the graph around
  };
  std::vector<Part> parts;  // that are being captured, the innermost last
};

extern std::atomic<int64_t> cuda_graph_count;  // that were made and not destroyed

// To be called after a call has succeeded; nothing where its stream is not captured.
Status note_kernel(ContextHandle, const void* function, dim3 grid, dim3 block, size_t shared_bytes,
                   void* const* parameters, StreamHandle);
Status note_copy(ContextHandle, void* to, const void* from, size_t bytes, StreamHandle);
Status note_fill(ContextHandle, void* to, int byte, size_t bytes, StreamHandle);
Status note_library_call(ContextHandle, StreamHandle);

}  // namespace stator::runtime
