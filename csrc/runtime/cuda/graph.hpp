// Graphs of the cuda table: what the calls that may be captured tell them.
#pragma once

#include "runtime/cuda/call.hpp"

#include <memory>
#include <vector>

namespace stator::runtime {

struct CudaCall {
  bool pending = false;            // its arguments differ from those in the executable
  bool edited = false;             // ... from those in the graph
  cudaGraphNode_t node = nullptr;  // null for a library's, of which there may be several
  std::vector<std::byte> bytes;    // the arguments
  const void* function = nullptr;  // of a kernel; null for all else
  dim3 grid, block;
  size_t shared_bytes = 0;
  std::vector<size_t> offsets;  // of a kernel's parameters in the bytes
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
// Of a library's work, a copy or a fill.
Status note_other_call(ContextHandle, StreamHandle);

}  // namespace stator::runtime
