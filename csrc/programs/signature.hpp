// What the code of a kernel says about its parameters.
#pragma once

#include <stator/programs/program.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace stator {

// Adds what PTX declares for the kernel (.entry) to parameters whose sizes are known.
void add_ptx_types(std::vector<KernelParameter>& parameters, std::string_view ptx, std::string_view kernel);
// Adds the types that the mangled name of a C++ kernel has; that of an extern "C" kernel has none.
void add_cpp_types(std::vector<KernelParameter>& parameters, const std::string& symbol);
// False where the parameter is known to point to other elements than the dtype's.
bool may_point_to(const KernelParameter& parameter, DType dtype);
// Whether the parameter is a pointer to const, so that the kernel does not write what it leads to.
bool reads_only(const KernelParameter& parameter);
std::string signature_text(const std::vector<KernelParameter>& parameters);  // "(float, float const*, i32)"

}  // namespace stator
