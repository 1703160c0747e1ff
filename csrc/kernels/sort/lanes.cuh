// Fast host: what device/lane_sort.cuh does, compiled once.
#pragma once

#include "device/target.cuh"

#include <cstdint>

namespace stator::STATOR_TARGET::sort {

// Sorts n keys of a; b is room for as many. Equal keys are alike.
void sort_keys(uint32_t* a, uint32_t* b, int64_t n);
void sort_keys(uint64_t* a, uint64_t* b, int64_t n);

// Puts the keys of a that belong at [first, last) there; smaller ones stand before them, larger ones after.
void select_keys(uint32_t* a, uint32_t* b, int64_t n, int64_t first, int64_t last);
void select_keys(uint64_t* a, uint64_t* b, int64_t n, int64_t first, int64_t last);

}  // namespace stator::STATOR_TARGET::sort
