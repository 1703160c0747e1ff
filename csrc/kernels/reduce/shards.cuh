// The units that fill the reduction table: reduction.cu, compiled STATOR_SHARDS times with
// STATOR_SHARD = 0, 1, ...; reduction_fill.cu needs STATOR_SHARDS too.
#pragma once

#include "device/column.cuh"
#include "params/reduce.hpp"

namespace stator::STATOR_COLUMN {

template <int Shard>
void fill_reduction_shard(kernels::ReductionTable&);

}  // namespace stator::STATOR_COLUMN
