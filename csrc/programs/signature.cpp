#include "programs/signature.hpp"

#include <cxxabi.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <memory>
#include <utility>

namespace stator {
namespace {

using ParameterKind = KernelParameter::Kind;
using namespace std::string_view_literals;

constexpr std::string_view blanks = " \t\r\n";

std::string_view trimmed(std::string_view text) {
  const size_t first = text.find_first_not_of(blanks);
  return first == text.npos ? std::string_view() : text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

// The parts between commas that no bracket encloses.
std::vector<std::string_view> parts_of(std::string_view text) {
  std::vector<std::string_view> parts;
  int depth = 0;
  size_t start = 0;
  for (size_t i = 0; i <= text.size(); ++i) {
    const char c = i < text.size() ? text[i] : ',';
    depth += (c == '<' || c == '(' || c == '[') - (c == '>' || c == ')' || c == ']');
    if (c != ',' || (depth > 0 && i < text.size())) continue;
    if (const std::string_view part = trimmed(text.substr(start, i - start)); !part.empty()) parts.push_back(part);
    start = i + 1;
  }
  return parts;
}

// The text between the brackets after ".entry kernel"; empty where there is no such kernel.
std::string_view declared(std::string_view ptx, std::string_view kernel) {
  constexpr std::string_view directive = ".entry";
  for (size_t at = ptx.find(directive); at != ptx.npos; at = ptx.find(directive, at + 1)) {
    std::string_view rest = trimmed(ptx.substr(at + directive.size()));
    if (!rest.starts_with(kernel)) continue;
    rest = trimmed(rest.substr(kernel.size()));
    if (rest.starts_with('(')) return rest.substr(1, rest.find(')') - 1);
  }
  return {};
}

// ".param .align 8 .b8 name[16]": the type is the first token that begins with a dot, but for those of placement.
void add_ptx_type(KernelParameter& parameter, std::string_view text) {
  std::string_view type;
  bool pointer = false;
  for (std::string_view rest = text; !rest.empty();) {
    const size_t end = std::min(rest.find_first_of(blanks), rest.size());
    const std::string_view token = rest.substr(0, end);
    rest = trimmed(rest.substr(end));
    pointer = pointer || token == ".ptr";
    if (type.empty() && token.size() >= 3 && token[0] == '.' && "bufs"sv.find(token[1]) != std::string_view::npos &&
        token[2] <= '9')
      type = token;
  }
  const bool array = text.ends_with(']');
  parameter.kind = pointer                                ? ParameterKind::pointer
                   : array || type.empty()                ? ParameterKind::bytes
                   : type[1] == 'f'                       ? ParameterKind::floating
                   : type[1] == 'b' && parameter.size < 4 ? ParameterKind::bytes  // a half
                                                          : ParameterKind::integer;
  if (!array) parameter.type = type.empty() ? type : type.substr(1);
}

constexpr std::pair<std::string_view, DType> elements[] = {{"bool", DType::bool_},
                                                           {"signed char", DType::int8},
                                                           {"short", DType::int16},
                                                           {"int", DType::int32},
                                                           {"long", DType::int64},
                                                           {"long long", DType::int64},
                                                           {"unsigned char", DType::uint8},
                                                           {"unsigned short", DType::uint16},
                                                           {"unsigned int", DType::uint32},
                                                           {"unsigned long", DType::uint64},
                                                           {"unsigned long long", DType::uint64},
                                                           {"__half", DType::float16},
                                                           {"__nv_bfloat16", DType::bfloat16},
                                                           {"float", DType::float32},
                                                           {"double", DType::float64},
                                                           {"float2", DType::complex64},
                                                           {"double2", DType::complex128},
                                                           {"cuda::std::complex<float>", DType::complex64},
                                                           {"cuda::std::complex<double>", DType::complex128}};

// The type without const, volatile and restrict after it.
std::string_view unqualified(std::string_view type) {
  for (bool cut = true; cut;) {
    cut = false;
    for (const std::string_view qualifier : {" const"sv, " volatile"sv, " __restrict"sv}) {
      if (!type.ends_with(qualifier)) continue;
      type.remove_suffix(qualifier.size());
      cut = true;
    }
  }
  return type;
}

ParameterKind kind_of(std::string_view type) {
  if (type.ends_with('*')) return ParameterKind::pointer;
  if (type == "float" || type == "double") return ParameterKind::floating;
  if (type == "char") return ParameterKind::integer;
  const auto found = std::find_if(std::begin(elements), std::end(elements), [&](auto& e) { return e.first == type; });
  const bool integer = found != std::end(elements) && (dtype_bit(found->second) & (dtypes::integers | dtypes::boolean));
  return integer ? ParameterKind::integer : ParameterKind::bytes;
}

std::string_view pointee(const KernelParameter& parameter) {
  const std::string_view type = unqualified(parameter.type);
  return type.ends_with('*') ? type.substr(0, type.size() - 1) : std::string_view();
}

}  // namespace

void add_ptx_types(std::vector<KernelParameter>& parameters, std::string_view ptx, std::string_view kernel) {
  const std::vector<std::string_view> parts = parts_of(declared(ptx, kernel));
  if (parts.size() != parameters.size()) return;
  for (size_t i = 0; i < parts.size(); ++i) add_ptx_type(parameters[i], parts[i]);
}

void add_cpp_types(std::vector<KernelParameter>& parameters, const std::string& symbol) {
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> text(abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status),
                                                    std::free);
  const std::string_view name = text ? std::string_view(text.get()) : std::string_view();
  if (status != 0 || !name.ends_with(')')) return;
  int depth = 0;
  size_t open = name.size();
  do {
    --open;
    depth += (name[open] == ')') - (name[open] == '(');
  } while (depth > 0 && open > 0);
  const std::vector<std::string_view> parts = parts_of(name.substr(open + 1, name.size() - open - 2));
  if (parts.size() != parameters.size()) return;
  for (size_t i = 0; i < parts.size(); ++i) {
    parameters[i].type = parts[i];
    parameters[i].kind = kind_of(unqualified(parts[i]));
  }
}

bool may_point_to(const KernelParameter& parameter, DType dtype) {
  const std::string_view type = unqualified(pointee(parameter));
  if (type == "char") return itemsize(dtype) == 1;
  const auto found = std::find_if(std::begin(elements), std::end(elements), [&](auto& e) { return e.first == type; });
  return found == std::end(elements) || found->second == dtype;
}

bool reads_only(const KernelParameter& parameter) {
  const std::string_view type = pointee(parameter);
  return type.ends_with(" const") || type.ends_with(" const volatile");
}

std::string signature_text(const std::vector<KernelParameter>& parameters) {
  std::string text;
  for (const KernelParameter& p : parameters)
    text += (text.empty() ? "" : ", ") + (p.type.empty() ? std::to_string(p.size) + " bytes" : p.type);
  return "(" + text + ")";
}

}  // namespace stator
