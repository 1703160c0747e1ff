# stator/error.hpp: a C++ exception becomes the class of the same name in stator.errors.
cdef extern from *:
    """
    #include <stator/error.hpp>
    #include <new>

    // Called inside the catch handler that Cython writes, with the GIL held.
    static inline void stator_raise(const char* name, const stator::Error& error, PyObject* fields) {
      if (!fields) return;
      PyObject* errors = PyImport_ImportModule("stator.errors");
      PyObject* exception =
          errors ? PyObject_CallMethod(errors, "from_native", "ssssO", name, error.op().c_str(), error.cause().c_str(),
                                       error.remedy().c_str(), fields)
                 : nullptr;
      if (exception) PyErr_SetObject((PyObject*)Py_TYPE(exception), exception);
      Py_XDECREF(exception);
      Py_XDECREF(errors);
      Py_DECREF(fields);
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
                     Py_BuildValue("{s:n,s:n,s:n,s:n,s:s}", "requested", (Py_ssize_t)f.requested, "free",
                                   (Py_ssize_t)f.free, "cached", (Py_ssize_t)f.cached, "limit", (Py_ssize_t)f.limit,
                                   "largest_owner", f.largest_owner.c_str()));
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
        PyErr_NoMemory();
      } catch (const std::exception& error) {
        PyErr_SetString(PyExc_RuntimeError, error.what());
      }
    }
    """
    void translate_exception "stator_translate_exception"() noexcept
