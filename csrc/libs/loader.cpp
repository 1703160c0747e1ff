#include "libs/loader.hpp"

#include "runtime/runtime.hpp"
#include "runtime/shared_object.hpp"
#include "runtime/warning.hpp"

#include <stator/error.hpp>
#include <stator/libraries.hpp>

#include <dlfcn.h>
#include <link.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <initializer_list>
#include <mutex>
#include <utility>

namespace stator::libs {
namespace {

struct Spec {
  const char* name;
  std::array<const char*, 2> sonames;  // in order of preference; the first is the file in the wheel
  const char* wheel;                   // the folder of the wheel below site-packages
  const char* version_symbol;
  const char* remedy;
  const char* substitute = "";  // what stands in where it is missing
  std::array<Library, 3> needs{};
  int need_count = 0;
  const char* variable = nullptr;  // of the environment: a path that is taken before all others
};

constexpr const char* cuda_remedy = "Run pip install \"stator[cuda]\", or put a CUDA 13 toolkit on the library path";
constexpr const char* openblas_remedy =
    "Run pip install scipy-openblas32, install the system's OpenBLAS (libopenblas.so.0), or set STATOR_OPENBLAS to the "
    "path "
    "of one that is elsewhere";
constexpr const char* own_fft = "stator.fft on cuda takes stator's own kernels, which are slower";
constexpr const char* own_sparse = "products of sparse matrices on cuda take stator's own kernels, which are slower";
constexpr const char* nvidia = "nvidia/cu13/lib";

constexpr std::array<Spec, library_count> specs{{
    {.name = "cublasLt",
     .sonames = {"libcublasLt.so.13"},
     .wheel = nvidia,
     .version_symbol = "cublasLtGetProperty",
     .remedy = cuda_remedy},
    {.name = "cublas",
     .sonames = {"libcublas.so.13"},
     .wheel = nvidia,
     .version_symbol = "cublasGetProperty",
     .remedy = cuda_remedy,
     .needs = {Library::cublas_lt},
     .need_count = 1},
    {.name = "cusparse",
     .sonames = {"libcusparse.so.12"},
     .wheel = nvidia,
     .version_symbol = "cusparseGetProperty",
     .remedy = cuda_remedy,
     .substitute = own_sparse},
    {.name = "cusolver",
     .sonames = {"libcusolver.so.12"},
     .wheel = nvidia,
     .version_symbol = "cusolverGetProperty",
     .remedy = cuda_remedy,
     .needs = {Library::cublas_lt, Library::cublas, Library::cusparse},
     .need_count = 3},
    {.name = "cufft",
     .sonames = {"libcufft.so.12"},
     .wheel = nvidia,
     .version_symbol = "cufftGetProperty",
     .remedy = cuda_remedy,
     .substitute = own_fft},
    {.name = "nvrtc",
     .sonames = {"libnvrtc.so.13"},
     .wheel = nvidia,
     .version_symbol = "nvrtcVersion",
     .remedy = cuda_remedy},
    {.name = "cusparseLt",
     .sonames = {"libcusparseLt.so.0"},
     .wheel = nvidia,
     .version_symbol = "cusparseLtGetProperty",
     .remedy = "Run pip install nvidia-cusparselt-cu13, or put cuSPARSELt on the library path"},
    {.name = "openblas",
     .sonames = {"libscipy_openblas.so", "libopenblas.so.0"},
     .wheel = "scipy_openblas32/lib",
     .version_symbol = "openblas_get_config",
     .remedy = openblas_remedy,
     .variable = "STATOR_OPENBLAS"},
}};
constexpr const char* symbol_prefix = "scipy_";  // used by the scipy-openblas32 wheel

const Spec& spec_of(Library library) { return specs[static_cast<int>(library)]; }

struct Loader {
  std::mutex mutex;
  std::array<void*, library_count> handles{};
  std::array<bool, library_count> shared{};
  std::array<std::string, library_count> registered;
  std::array<bool, library_count> replaced{};  // whose substitute was warned of
  std::vector<std::string> warnings;           // collected while opening, given when the mutex is free
  std::vector<std::string> kept;               // for take_library_warnings()
  bool keep = false;
};
std::atomic<bool> warnings_waiting{false};

// Never destroyed, because threads may still call a library while the process exits.
Loader& loader() {
  static Loader* const instance = new Loader;
  return *instance;
}

std::string path_of(void* handle) {
  link_map* map = nullptr;
  return dlinfo(handle, RTLD_DI_LINKMAP, &map) == 0 && map != nullptr ? map->l_name : "";
}

void* loaded_copy(const Spec& spec) {
  for (const char* soname : spec.sonames) {
    if (soname == nullptr) continue;
    if (void* handle = dlopen(soname, RTLD_NOLOAD | RTLD_NOW | RTLD_LOCAL)) return handle;
  }
  return nullptr;
}

// "libcublas.so." of "libcublas.so.13": the common start of the names of all major versions.
std::string_view stem(std::string_view soname) { return soname.substr(0, soname.find(".so") + 4); }

struct MajorScan {
  std::string_view stem, major;
  std::string other;
};

int scan_object(dl_phdr_info* info, size_t, void* data) {
  auto& scan = *static_cast<MajorScan*>(data);
  const std::string_view path = info->dlpi_name == nullptr ? "" : info->dlpi_name;
  const std::string_view file = path.substr(path.rfind('/') + 1);
  if (file.size() <= scan.stem.size() || !file.starts_with(scan.stem)) return 0;
  const std::string_view version = file.substr(scan.stem.size());
  if (version.substr(0, version.find('.')) == scan.major) return 0;
  scan.other = path;
  return 1;
}

void look_for_other_major(Loader& s, const Spec& spec, const std::string& path) {
  const std::string_view soname = spec.sonames[0];
  const std::string_view prefix = stem(soname);
  if (prefix.size() >= soname.size()) return;  // its soname has no major version
  MajorScan scan{prefix, soname.substr(prefix.size()), {}};
  dl_iterate_phdr(scan_object, &scan);
  if (!scan.other.empty()) {
    s.warnings.push_back(std::string("two majors of ") + spec.name + " are loaded in this process: stator uses " +
                         path + ", something else loaded " + scan.other);
  }
}

// The file in the wheel of a library, relative to site-packages.
std::string wheel_file(const Spec& spec) { return std::string(spec.wheel) + "/" + spec.sonames[0]; }

// That file in the site-packages that holds this library's package, which is the folder above lib; else empty.
std::string beside(const Spec& spec) {
  const std::string folder = own_folder();
  if (folder.empty()) return {};
  return (std::filesystem::path(folder) / "../.." / wheel_file(spec)).lexically_normal().string();
}

// The value of the library's variable; empty where it is not set.
std::string named_by_environment(const Spec& spec) {
  const char* value = spec.variable ? std::getenv(spec.variable) : nullptr;
  return value ? value : "";
}

// The doubles of CUDA's libraries, in one file beside this library: with emulated devices they are all there is.
std::string doubles_file() { return own_folder() + "libstator_vendor.so"; }

bool has_double(Library library) { return library != Library::openblas && library != Library::nvrtc; }

// Opens what lies beside NVRTC, which some builds of it (13.0) seek by name only in the paths of the system. Where
// that fails, NVRTC says what is missing.
void open_builtins(const std::string& nvrtc) {
  namespace fs = std::filesystem;
  std::error_code failed;
  for (const fs::directory_entry& entry : fs::directory_iterator(fs::path(nvrtc).parent_path(), failed))
    if (entry.path().filename().string().starts_with("libnvrtc-builtins.so"))
      dlopen(entry.path().c_str(), RTLD_NOW | RTLD_LOCAL);
}

void* open_locked(Loader& s, Library library, std::string_view op) {
  void*& handle = s.handles[static_cast<int>(library)];
  if (handle != nullptr) return handle;
  const Spec& spec = spec_of(library);
  if (has_double(library) && runtime::cuda_emulated()) {
    handle = dlopen(doubles_file().c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle != nullptr) return handle;
    const char* cause = dlerror();
    throw LibraryNotFoundError(std::string(op),
                               std::string("the double of ") + spec.name +
                                   " could not be opened: " + (cause == nullptr ? doubles_file() : cause),
                               "Reinstall stator, or unset STATOR_EMULATE");
  }
  for (int i = 0; i < spec.need_count; ++i) open_locked(s, spec.needs[i], op);
  bool& shared = s.shared[static_cast<int>(library)];
  std::string tried;
  const auto attempt = [&](const std::string& file) {
    void* opened = dlopen(file.c_str(), RTLD_NOLOAD | RTLD_NOW | RTLD_LOCAL);
    shared = opened != nullptr;
    if (opened != nullptr) return opened;
    std::string cause;
    opened = open_shared_object(file, op, cause);
    if (opened == nullptr) tried += (tried.empty() ? "" : "; ") + cause;
    return opened;
  };
  if (const std::string named = named_by_environment(spec); !named.empty()) {
    handle = attempt(named);
    if (handle != nullptr) return handle;
    throw LibraryNotFoundError(std::string(op),
                               std::string(spec.variable) + "=" + named + " could not be opened: " + tried,
                               "Set it to the path of a shared object, or not at all");
  }
  if (spec.variable) tried = std::string(spec.variable) + " is not set";
  void* opened = loaded_copy(spec);
  shared = opened != nullptr;
  for (const std::string& path : {s.registered[static_cast<int>(library)], beside(spec)})
    if (opened == nullptr && !path.empty()) opened = attempt(path);
  for (const char* soname : spec.sonames) {
    if (opened == nullptr && soname != nullptr) opened = attempt(soname);
  }
  if (opened == nullptr) {
    throw LibraryNotFoundError(std::string(op),
                               "the library " + std::string(spec.name) + " could not be opened: " + tried, spec.remedy);
  }
  if (library == Library::nvrtc) open_builtins(path_of(opened));
  look_for_other_major(s, spec, path_of(opened));
  return handle = opened;
}

void* lookup(void* handle, const char* symbol) {
  if (void* address = dlsym(handle, (std::string(symbol_prefix) + symbol).c_str())) return address;
  return dlsym(handle, symbol);
}

std::string triple(std::initializer_list<int> numbers) {
  std::string text;
  for (const int number : numbers) text += (text.empty() ? "" : ".") + std::to_string(number);
  return text;
}

std::string version_of(Library library, void* handle) {
  void* address = lookup(handle, spec_of(library).version_symbol);
  if (address == nullptr) return "unknown";
  if (library == Library::openblas) {
    const std::string config = reinterpret_cast<char* (*)()>(address)();  // "OpenBLAS 0.3.30 DYNAMIC_ARCH ..."
    const size_t start = config.find(' ') + 1;
    return config.substr(start, config.find(' ', start) - start);
  }
  int major = 0, minor = 0, patch = 0;
  if (library == Library::nvrtc) {
    reinterpret_cast<int (*)(int*, int*)>(address)(&major, &minor);
    return triple({major, minor});
  }
  const auto property = reinterpret_cast<int (*)(int, int*)>(address);  // libraryPropertyType: major, minor, patch
  property(0, &major);
  property(1, &minor);
  property(2, &patch);
  return triple({major, minor, patch});
}

// The first path that open_locked would try, of those that exist; empty where only the system's search is left.
std::string would_open(const Loader& s, Library library) {
  const Spec& spec = spec_of(library);
  const std::string named = named_by_environment(spec);
  if (!named.empty()) return named;
  for (const std::string& path : {s.registered[static_cast<int>(library)], beside(spec)})
    if (!path.empty() && access(path.c_str(), R_OK) == 0) return path;
  return {};
}

// Gives the warnings that were collected, when the mutex is free.
void say(Loader& s, std::unique_lock<std::mutex>& lock) {
  std::vector<std::string> warnings = std::exchange(s.warnings, {});
  if (s.keep && !warnings.empty()) {
    s.kept.insert(s.kept.end(), warnings.begin(), warnings.end());
    warnings.clear();
    warnings_waiting = true;
  }
  lock.unlock();
  for (const std::string& text : warnings) warn("stator: %s", text.c_str());
}

void* handle_of(Library library, std::string_view op) {
  Loader& s = loader();
  std::unique_lock lock(s.mutex);
  void* handle = open_locked(s, library, op);
  say(s, lock);
  return handle;
}

}  // namespace

bool shared_with_process(Library library) {
  Loader& s = loader();
  const std::lock_guard lock(s.mutex);
  return s.shared[static_cast<int>(library)];
}

void* find_symbol(Library library, const char* symbol, std::string_view op) {
  return lookup(handle_of(library, op), symbol);
}

void* require_symbol(Library library, const char* symbol, std::string_view op) {
  void* handle = handle_of(library, op);
  if (void* address = lookup(handle, symbol)) return address;
  const Spec& spec = spec_of(library);
  throw LibraryNotFoundError(std::string(op),
                             std::string(spec.name) + " " + version_of(library, handle) + " at " + path_of(handle) +
                                 " has no symbol " + symbol,
                             spec.remedy);
}

void give_warning(std::string text) {
  Loader& s = loader();
  std::unique_lock lock(s.mutex);
  s.warnings.push_back(std::move(text));
  say(s, lock);
}

bool Replaceable::available(std::string_view op, bool required) {
  const State seen = state_.load(std::memory_order_relaxed);
  if (seen == State::there || (seen == State::missing && !required)) return seen == State::there;
  try {
    open_();
    state_ = State::there;
    return true;
  } catch (const LibraryNotFoundError& error) {
    const Spec& spec = spec_of(library_);
    if (required) {
      throw LibraryNotFoundError(
          std::string(op), error.cause() + ", and libraries are required here",
          error.remedy() + "; or open the backend without require_libraries, and " + spec.substitute);
    }
    if (file_handles_exhausted()) throw;
    state_ = State::missing;
    Loader& s = loader();
    std::unique_lock lock(s.mutex);
    if (!std::exchange(s.replaced[static_cast<int>(library_)], true))
      s.warnings.push_back(error.cause() + ", so " + spec.substitute + ". " + spec.remedy);
    say(s, lock);
    return false;
  }
}

}  // namespace stator::libs

namespace stator {

std::vector<LibraryInfo> libraries(bool load) {
  using namespace libs;
  Loader& s = loader();
  std::unique_lock lock(s.mutex);
  std::vector<LibraryInfo> found;
  for (int i = 0; i < library_count; ++i) {
    const Library library = static_cast<Library>(i);
    LibraryInfo info;
    info.name = specs[i].name;
    info.remedy = specs[i].remedy;
    info.substitute = specs[i].substitute;
    info.wheel_file = wheel_file(specs[i]);
    if (load) {
      try {
        open_locked(s, library, "");
      } catch (const LibraryNotFoundError&) {  // reported as found = false
      }
    }
    void* handle = s.handles[i];
    if (handle != nullptr) {
      info.path = path_of(handle);
      info.version = version_of(library, handle);
    } else if (void* copy = loaded_copy(specs[i])) {
      info.path = path_of(copy);
      dlclose(copy);  // only undoes the reference count of RTLD_NOLOAD
    } else if (!load) {
      info.path = would_open(s, library);
    }
    info.found = !info.path.empty();
    found.push_back(std::move(info));
  }
  say(s, lock);
  return found;
}

void keep_library_warnings(bool keep) {
  libs::Loader& s = libs::loader();
  const std::lock_guard lock(s.mutex);
  s.keep = keep;
}

bool library_warnings_waiting() noexcept { return libs::warnings_waiting.load(std::memory_order_relaxed); }

std::vector<std::string> take_library_warnings() {
  libs::Loader& s = libs::loader();
  const std::lock_guard lock(s.mutex);
  libs::warnings_waiting = false;
  return std::exchange(s.kept, {});
}

void set_library_path(std::string_view name, std::string_view path) {
  using namespace libs;
  Loader& s = loader();
  const std::lock_guard lock(s.mutex);
  for (int i = 0; i < library_count; ++i) {
    if (name != specs[i].name) continue;
    s.registered[i] = path;
    return;
  }
  throw ValueError("set_library_path", "no library is called '" + std::string(name) + "'",
                   "use a name that stator::libraries() lists");
}

}  // namespace stator
