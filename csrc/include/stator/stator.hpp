// Everything: auto be = stator::Backend::open("cpu"); auto c = stator::matmul(a, b);
#pragma once

#include <stator/array.hpp>
#include <stator/backend.hpp>
#include <stator/counting.hpp>
#include <stator/creation.hpp>
#include <stator/dtype.hpp>
#include <stator/elementwise.hpp>
#include <stator/error.hpp>
#include <stator/indexing.hpp>
#include <stator/linalg.hpp>
#include <stator/nn.hpp>
#include <stator/op_table.hpp>
#include <stator/order.hpp>
#include <stator/random.hpp>
#include <stator/reduction_gradients.hpp>
#include <stator/reductions.hpp>
#include <stator/scans.hpp>
#include <stator/sets.hpp>
