// A library that stator's own kernels replace where it is missing: what is warned of, required and remembered.
#include "core_support.hpp"

#include "libs/loader.hpp"

#include <stator/libraries.hpp>

namespace {

using namespace stator;
using namespace stator::test;
using libs::Library;
using libs::Replaceable;

int attempts = 0, warnings = 0;
bool missing = true;

void look_up() {
  ++attempts;
  if (missing) throw LibraryNotFoundError("", "it is nowhere", "Install it");
}
void count(const char* text) {
  ++warnings;
  last_warning = text;
}

void substitutes() {
  attempts = warnings = 0;
  missing = true;
  set_warning_handler(count);
  Replaceable library(Library::cufft, look_up);
  CHECK(!library.available("fft.fft", false));
  CHECK(!library.available("fft.fft", false));
  CHECK(attempts == 1);
  CHECK(warnings == 1);
  CHECK(last_warning.find("It is nowhere") != std::string::npos);
  CHECK(last_warning.find("stator.fft") != std::string::npos);
  CHECK(last_warning.find("stator[cuda]") != std::string::npos);
  Replaceable again(Library::cufft, look_up);
  CHECK(!again.available("fft.fft", false));
  CHECK(warnings == 1);  // once per process and library
}

void required() {
  warnings = 0;
  missing = true;
  Replaceable library(Library::cusparse, look_up);
  for (int i = 0; i < 2; ++i) {
    try {
      library.available("sparse.matmul", true);
      CHECK(false);
    } catch (const LibraryNotFoundError& error) {
      CHECK(error.op() == "sparse::matmul");  // no binding: C++ names
      CHECK(error.cause().find("It is nowhere") != std::string::npos);
      CHECK(error.remedy().find("require_libraries") != std::string::npos);
    }
  }
  CHECK(warnings == 0);
  missing = false;  // installed meanwhile
  CHECK(library.available("sparse.matmul", true));
  CHECK(library.available("sparse.matmul", false));
}

void kept() {
  warnings = 0;
  missing = true;
  keep_library_warnings(true);
  Replaceable library(Library::cusparse, look_up);
  CHECK(!library.available("sparse.matmul", false));
  CHECK(warnings == 0);
  CHECK(library_warnings_waiting());
  CHECK(take_library_warnings().size() == 1);
  CHECK(!library_warnings_waiting());
  CHECK(take_library_warnings().empty());
  keep_library_warnings(false);
}

}  // namespace

int main(int argc, char** argv) {
  return run(argc, argv,
             {{"a_missing_library_is_replaced_with_one_warning", substitutes},
              {"a_required_library_is_an_error_until_it_is_there", required},
              {"warnings_are_kept_until_they_are_taken", kept}});
}
