#include "libs/cuda/nvrtc.hpp"

#include "libs/compiler.hpp"
#include "libs/loader.hpp"

#include <memory>

namespace stator::libs {
namespace {

using namespace nvrtc;

void fill(Api& api, const Lookup& find) {
  find(api.create, "nvrtcCreateProgram");
  find(api.destroy, "nvrtcDestroyProgram");
  find(api.add_name_expression, "nvrtcAddNameExpression");
  find(api.compile, "nvrtcCompileProgram");
  find(api.lowered_name, "nvrtcGetLoweredName");
  find(api.log_size, "nvrtcGetProgramLogSize");
  find(api.log, "nvrtcGetProgramLog");
  find(api.ptx_size, "nvrtcGetPTXSize");
  find(api.ptx, "nvrtcGetPTX");
  find(api.code_size, "nvrtcGetCUBINSize");
  find(api.code, "nvrtcGetCUBIN");
  find(api.error_text, "nvrtcGetErrorString");
  find(api.version, "nvrtcVersion");
}

// One compilation. The calls throw CudaError.
class Compilation {
 public:
  Compilation(const Api& api, std::string_view op, const std::string& source, const std::string& file)
      : api_(api), op_(op) {
    check("nvrtcCreateProgram", api_.create(&program_, source.c_str(), file.c_str(), 0, nullptr, nullptr));
  }
  ~Compilation() { api_.destroy(&program_); }
  Compilation(const Compilation&) = delete;

  void expect(const std::string& expression) {
    check("nvrtcAddNameExpression", api_.add_name_expression(program_, expression.c_str()));
  }

  Status run(const std::vector<std::string>& options) {
    std::vector<const char*> texts;
    for (const std::string& option : options) texts.push_back(option.c_str());
    return api_.compile(program_, int(texts.size()), texts.data());
  }

  std::string lowered(const std::string& expression) {
    const char* name = nullptr;
    check("nvrtcGetLoweredName", api_.lowered_name(program_, expression.c_str(), &name));
    return name;
  }

  std::string log() { return without_end(text(api_.log_size, api_.log)); }
  std::string ptx() { return without_end(text(api_.ptx_size, api_.ptx)); }
  std::string code() { return text(api_.code_size, api_.code); }

 private:
  void check(const char* call, Status status) const {
    if (status != success) throw CudaError(std::string(op_), status, api_.error_text(status), call);
  }

  std::string text(Status (*size)(Program, size_t*), Status (*get)(Program, char*)) {
    size_t bytes = 0;
    check("nvrtc", size(program_, &bytes));
    std::string result(bytes, '\0');
    check("nvrtc", get(program_, result.data()));
    return result;
  }

  static std::string without_end(std::string text) {
    while (!text.empty() && (text.back() == '\0' || text.back() == '\n')) text.pop_back();
    return text;
  }

  const Api& api_;
  const std::string_view op_;
  Program program_ = nullptr;
};

}  // namespace

std::string compiler_version(std::string_view op) {
  const Api& api = calls_of<Api>(Library::nvrtc, op, fill);
  int major = 0, minor = 0;
  if (const Status status = api.version(&major, &minor); status != success)
    throw CudaError(std::string(op), status, api.error_text(status), "nvrtcVersion");
  return std::to_string(major) + "." + std::to_string(minor);
}

Compiled compile(std::string_view op, const std::string& source, const std::string& file,
                 const std::vector<std::string>& expressions, const std::vector<std::string>& options,
                 int architecture) {
  const Api& api = calls_of<Api>(Library::nvrtc, op, fill);
  Compilation compilation(api, op, source, file);
  for (const std::string& expression : expressions) compilation.expect(expression);
  std::vector<std::string> all = options;
  all.insert(all.begin(), "--gpu-architecture=sm_" + std::to_string(architecture));
  if (const Status status = compilation.run(all); status != success) {
    const std::string log = compilation.log();
    throw CompileError(std::string(op), "the source does not compile:\n" + (log.empty() ? api.error_text(status) : log),
                       "Fix the lines that the log names");
  }
  Compiled result{compilation.ptx(), compilation.code(), {}, compilation.log()};
  for (const std::string& expression : expressions) result.names.push_back(compilation.lowered(expression));
  return result;
}

}  // namespace stator::libs
