// The cuda table's calls for graphs.
#include "runtime/cuda_call.hpp"
#include "runtime/graph_table.hpp"

namespace stator::runtime {
namespace {

int refuse_begin(void*, void*) { return status::not_supported; }
int refuse_end(void*, void*, GraphHandle*) { return status::not_supported; }
int no_id(void*, void*, uint64_t* out) {
  *out = 0;
  return status::success;
}
int refuse_instantiate(void*, GraphHandle, GraphHandle) { return status::not_supported; }
int refuse_launch(void*, GraphHandle, bool, void*) { return status::not_supported; }
int destroy(void*, GraphHandle) { return status::success; }
GraphArguments arguments(GraphHandle, size_t) { return {}; }
int write(GraphHandle, size_t, size_t, uint64_t) { return status::not_supported; }

}  // namespace

constinit const GraphTable cuda_graphs{.begin = refuse_begin,
                                       .end = refuse_end,
                                       .id = no_id,
                                       .instantiate = refuse_instantiate,
                                       .launch = refuse_launch,
                                       .destroy = destroy,
                                       .arguments = arguments,
                                       .write = write};

}  // namespace stator::runtime
