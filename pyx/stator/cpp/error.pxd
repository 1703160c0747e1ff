# stator/error.hpp: a C++ exception becomes the class of the same name in stator.errors.
cdef extern from *:
    """
    #include <stator/error.hpp>
    #include <stator/interop.hpp>
    #include <new>
    #include <stdexcept>

    // Called inside the catch handler that Cython writes, with the GIL held.
    static inline void stator_raise_text(const char* name, const char* op, const char* cause, const char* remedy,
                                         PyObject* fields) {
      if (!fields) return;
      // stator.errors.from_native, since modules cannot be imported any more while the interpreter ends.
      auto* make = static_cast<PyObject*>(stator::interop::binding());
      PyObject* exception = PyObject_CallFunction(make, "ssssO", name, op, cause, remedy, fields);
      if (exception) PyErr_SetObject((PyObject*)Py_TYPE(exception), exception);
      Py_XDECREF(exception);
      Py_DECREF(fields);
    }

    static inline void stator_raise(const char* name, const stator::Error& error, PyObject* fields) {
      stator_raise_text(name, error.op().c_str(), error.cause().c_str(), error.remedy().c_str(), fields);
    }

    // Without a C++ allocation, since the next one may fail too.
    static inline void stator_raise_host_memory() {
      stator_raise_text("OutOfMemoryError", "", "Host memory: an allocation of the library failed",
                        "Release arrays and other objects of this process, or work in smaller pieces", PyDict_New());
    }

    // Null, which Py_BuildValue passes on as a failure, where there is no memory for it.
    static inline PyObject* stator_owners(const std::vector<stator::MemoryOwner>& owners) {
      PyObject* const out = PyTuple_New((Py_ssize_t)owners.size());
      for (size_t i = 0; out && i < owners.size(); ++i) {
        PyObject* const owner = Py_BuildValue("(snn)", owners[i].op.c_str(), (Py_ssize_t)owners[i].bytes,
                                              (Py_ssize_t)owners[i].count);
        if (!owner || PyTuple_SetItem(out, (Py_ssize_t)i, owner)) {
          Py_DECREF(out);
          return nullptr;
        }
      }
      return out;
    }

    static inline void stator_translate_exception() {
      try {
        throw;
      } catch (const stator::CudaError& error) {
        stator_raise("CudaError", error,
                     Py_BuildValue("{s:i,s:s,s:s}", "code", error.code(), "name", error.name().c_str(), "call",
                                   error.call().c_str()));
      } catch (const stator::OutOfMemoryError& error) {
        const auto& f = error.figures();
        stator_raise("OutOfMemoryError", error,
                     Py_BuildValue("{s:n,s:n,s:n,s:n,s:s,s:N,s:s,s:n}", "requested", (Py_ssize_t)f.requested, "free",
                                   (Py_ssize_t)f.free, "cached", (Py_ssize_t)f.cached, "limit", (Py_ssize_t)f.limit,
                                   "largest_owner", f.largest_owner.c_str(), "owners", stator_owners(f.owners),
                                   "scope", f.scope.c_str(), "budget", (Py_ssize_t)f.budget));
      } catch (const stator::LinAlgError& error) {
        stator_raise("LinAlgError", error, Py_BuildValue("{s:n}", "index", (Py_ssize_t)error.index()));
      } catch (const stator::Error& error) {
        const char* name = "StatorError";
    #define STATOR_NAME(type, base) \\
      if (dynamic_cast<const stator::type*>(&error)) name = #type;  // a derived class stands after its base
        STATOR_ERRORS(STATOR_NAME)
    #undef STATOR_NAME
        stator_raise(name, error, PyDict_New());
      } catch (const std::bad_alloc&) {
        stator_raise_host_memory();
      } catch (const std::length_error&) {  // a container longer than any memory
        stator_raise_host_memory();
      } catch (const std::exception& error) {
        stator_raise_text("StatorError", "", error.what(), "", PyDict_New());
      }
    }
    """
    void translate_exception "stator_translate_exception"() noexcept
