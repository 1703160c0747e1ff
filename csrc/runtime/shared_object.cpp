#include "runtime/shared_object.hpp"

#include <stator/error.hpp>

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>
#include <cerrno>

namespace stator {

std::string own_folder() {
  Dl_info info{};
  if (!dladdr(reinterpret_cast<const void*>(&own_folder), &info) || !info.dli_fname) return {};
  const std::string path = info.dli_fname;
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? std::string() : path.substr(0, slash + 1);
}

// Asked of the system, because the dynamic linker reports a failure as text in the user's language.
bool file_handles_exhausted(std::string* why) {
  const int handle = ::open("/", O_RDONLY | O_CLOEXEC);
  const int error = errno;
  if (handle >= 0) {
    ::close(handle);
    return false;
  }
  if (error != EMFILE && error != ENFILE) return false;
  if (!why) return true;
  rlimit limit{};
  if (error == EMFILE && getrlimit(RLIMIT_NOFILE, &limit) == 0)
    *why = "this process has as many files open as it may have, " + std::to_string(limit.rlim_cur) + " (EMFILE)";
  else
    *why = "this machine has as many files open as it may have (ENFILE)";
  return true;
}

void* open_shared_object(const std::string& file, std::string_view op, std::string& cause) {
  if (void* opened = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL)) return opened;
  const char* text = dlerror();
  cause = text ? text : file;
  if (std::string why; file_handles_exhausted(&why)) {
    throw LibraryNotFoundError(std::string(op), file + " could not be opened: no file handle is left, " + why,
                               "Close files, or raise the limit (ulimit -n), and repeat the call");
  }
  return nullptr;
}

bool driver_started() {
  void* const driver = dlopen("libcuda.so.1", RTLD_NOLOAD | RTLD_LAZY | RTLD_LOCAL);
  if (!driver) return false;
  constexpr int not_initialized = 3;  // CUDA_ERROR_NOT_INITIALIZED
  const auto count = reinterpret_cast<int (*)(int*)>(dlsym(driver, "cuDeviceGetCount"));
  int devices = 0;
  const bool started = count && count(&devices) != not_initialized;
  dlclose(driver);
  return started;
}

}  // namespace stator
