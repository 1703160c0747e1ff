// Which kernels and libraries an op needs, and who makes them ready.
#include <stator/programs/prepare.hpp>

#include "core/op_call.hpp"
#include "core/text.hpp"
#include "libs/blas.hpp"
#include "libs/fft.hpp"
#include "libs/solver.hpp"
#include "libs/sparse.hpp"

#include <algorithm>
#include <initializer_list>

namespace stator {
namespace {

constexpr uint16_t this_call = call::prepare;

using Families = uint32_t;
constexpr Families bit(Family family) { return Families(1) << int(family); }

// The families whose kernels the ops of a family launch beside its own, in all; tests/layout compares them with what
// the files in csrc/ops include. Every family that is not listed uses the last ones.
struct Uses {
  Family family;
  std::initializer_list<Family> others;
};
constexpr Uses families_used[] = {
    {Family::convolution, {Family::reduce}},
    {Family::embedding, {Family::sort}},
    {Family::linalg, {Family::matmul, Family::reduce}},
    {Family::matmul, {Family::linalg, Family::reduce}},
    {Family::norm, {Family::linalg, Family::matmul, Family::reduce}},
    {Family::quantization, {Family::linalg, Family::matmul, Family::reduce}},
    {Family::random, {Family::sort}},
    {Family::recurrent, {Family::linalg, Family::matmul, Family::reduce}},
    {Family::resampling, {Family::pooling, Family::sort}},
    {Family::sets, {Family::reduce, Family::scan, Family::sort}},
    {Family::sparse, {Family::linalg, Family::matmul, Family::reduce, Family::scan}},
};
constexpr Family used_by_all[] = {Family::creation, Family::elementwise, Family::indexing, Family::movement};

// Those that work without the library of their family.
constexpr Op without_library[] = {Op::cdist,        Op::kron,         Op::outer,      Op::vecdot,
                                  Op::linalg_cross, Op::linalg_trace, Op::matrix_norm};

Families with_used(Families families) {
  for (const Family family : used_by_all) families |= bit(family);
  for (const Uses& one : families_used)
    if (families & bit(one.family))
      for (const Family other : one.others) families |= bit(other);
  return families;
}

void load_kernels(Context& context, Families families) {
  std::vector<std::string_view> names;
  for (int f = 0; f < family_count; ++f)
    if (with_used(families) & bit(Family(f))) names.push_back(name(Family(f)));
  context.runtime().prepare(names.data(), names.size(), this_call);
}

// Calls make(call), for an op that is named as that op. A library that no named op needs may be missing.
template <class F>
void prepare_library(const Backend& backend, const Stream& stream, const Op* needs, Op any, F make) {
  OpCall call(needs ? *needs : any, backend, stream);
  try {
    make(call);
  } catch (const LibraryNotFoundError&) {
    if (needs) throw;
  }
}

const Op* find_need(const std::vector<Op>& ops, Family family) {
  const auto needs = [=](Op op) {
    return op_info(op).family == family &&
           std::find(std::begin(without_library), std::end(without_library), op) == std::end(without_library);
  };
  const auto found = std::find_if(ops.begin(), ops.end(), needs);
  return found == ops.end() ? nullptr : &*found;
}

void prepare_libraries(const Backend& backend, const Stream& stream, const std::vector<Op>& ops, Families families) {
  const Context& context = *backend.context();
  const auto library = [&](Family family, bool needed, Op any, auto make) {
    prepare_library(backend, stream, needed ? find_need(ops, family) : nullptr, any, std::move(make));
  };
  if (with_used(families) & bit(Family::matmul))
    library(Family::matmul, true, Op::matmul, [](OpCall& call) { libs::blas(call.context()).prepare(call); });
  if (families & bit(Family::linalg))
    library(Family::linalg, true, Op::solve, [](OpCall& call) { libs::solver(call.context()).prepare(call); });
  // These have a substitute.
  const bool required = context.options().require_libraries == 1, host = context.runtime().is_host();
  if (!host && families & bit(Family::fft)) library(Family::fft, required, Op::fft, libs::cuda_fft_prepare);
  if (!host && families & bit(Family::sparse))
    library(Family::sparse, required, Op::csr_matmul, libs::cuda_sparse_prepare);
}

}  // namespace

void prepare(const Backend& backend, const std::vector<Op>& ops, const Stream& stream) {
  if (!backend.context())
    throw ValueError(op_text(this_call), "got a default-constructed backend", "Open one with Backend::open(device)");
  Context& context = *backend.context();
  const OpGuard guard(context, this_call);
  StreamBox& on = context.chosen_stream(stream, 0, this_call);
  if (on.is_captured())
    throw CaptureError(op_text(this_call), "stream " + std::to_string(on.index()) + " is being captured",
                       "Call it before the capture begins");
  Families families = ops.empty() ? ~Families(0) : 0;
  for (const Op op : ops) families |= bit(op_info(op).family);
  load_kernels(context, families);
  constexpr size_t counters = size_t(128) << 10;  // what most single-pass kernels need at once
  on.zeroed_scratch(counters, this_call);
  prepare_libraries(backend, stream, ops, families);
  on.synchronize(this_call);
  if (!on.is_own()) return;  // it is captured itself
  const StreamBox::OnStandIn captured(on, this_call);
  prepare_libraries(backend, stream, ops, families);
  on.synchronize(this_call);
}

}  // namespace stator
