// The header that every generated module includes first, precompiled.
#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <math.h>
#include <pythread.h>

#include <cstdint>
#include <ios>
#include <mutex>
#include <new>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <typeinfo>
#include <utility>
#include <vector>

#include "stator/array.hpp"
#include "stator/backend.hpp"
#include "stator/creation.hpp"
#include "stator/interop.hpp"
#include "stator/op_table.hpp"
#include "stator/random.hpp"

// To add a line to a traceback, Cython's modules for the stable ABI evaluate a line of Python, in which the handler of
// a signal may run. What that handler raises, a KeyboardInterrupt mostly, Cython would drop in favour of the error at
// hand. It is raised at the main thread's next step instead.
inline PyObject* stator_evaluate(PyObject* code, PyObject* globals, PyObject* locals) {
  PyObject* const frame = PyEval_EvalCode(code, globals, locals);
  if (frame) return frame;
  PyObject *type, *raised, *traceback;
  PyErr_Fetch(&type, &raised, &traceback);
  PyErr_NormalizeException(&type, &raised, &traceback);
  const auto raise = [](void* pending) -> int {
    PyObject* const exception = static_cast<PyObject*>(pending);
    PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(exception)), exception);
    Py_DECREF(exception);
    return -1;
  };
  if (raised && Py_AddPendingCall(raise, raised) == 0) raised = nullptr;
  Py_XDECREF(type);
  Py_XDECREF(raised);
  Py_XDECREF(traceback);
  return nullptr;
}
#define PyEval_EvalCode stator_evaluate

// Calls f, which may wait for the device, without the GIL where callbacks of streams may need that. Whether the thread
// holds it is not known: the consumer of an array gives it back from anywhere.
template <class F>
void stator_let_callbacks_run(F f) {
  if (!stator::interop::callbacks_pending() || !Py_IsInitialized()) return f();
  const PyGILState_STATE state = PyGILState_Ensure();
  PyThreadState* const thread = PyEval_SaveThread();
  f();
  PyEval_RestoreThread(thread);
  PyGILState_Release(state);
}
