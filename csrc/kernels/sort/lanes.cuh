// Fast host: the sort, the selection and the partition of host/lanes/lane_sort.hpp, compiled once.
#pragma once

#include "device/target.cuh"

#include <cstdint>

namespace stator::STATOR_TARGET::sort {

// Sorts n keys of a; b has room for as many. The order of equal keys does not matter: nothing else tells them apart.
void sort_keys(uint32_t* a, uint32_t* b, int64_t n);
void sort_keys(uint64_t* a, uint64_t* b, int64_t n);

// Moves the keys of a whose sorted positions are [first, last) there, smaller ones before them and larger ones after;
// b has room for n.
void select_keys(uint32_t* a, uint32_t* b, int64_t n, int64_t first, int64_t last);
void select_keys(uint64_t* a, uint64_t* b, int64_t n, int64_t first, int64_t last);

// Moves the keys below the pivot to `low` and the others to `high`, which both have room for n, in their order; returns
// how many went to `low`. `from` is one of the two.
int64_t partition_keys(const uint32_t* from, int64_t n, uint32_t* low, uint32_t* high, uint32_t pivot);
int64_t partition_keys(const uint64_t* from, int64_t n, uint64_t* low, uint64_t* high, uint64_t pivot);

}  // namespace stator::STATOR_TARGET::sort
