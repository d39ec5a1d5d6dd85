// SPDX-License-Identifier: MIT
// Calls of the C interface from Python: without the GIL, and with its errors as exceptions.
#pragma once

#include <pybind11/pybind11.h>

#include <string>

#include <roc/c.h>
#include <roc/detail/call_scope.hpp>

namespace roc::python {

namespace py = pybind11;

/// Throws the Python exception of this type.
[[noreturn]] void raise(PyObject* type, std::string const& message);

/// Returns str(object).
inline std::string text_of(py::handle object) { return py::str(object); }
/// Returns the name of an object's type, for messages.
inline std::string type_name(py::handle object) { return Py_TYPE(object.ptr())->tp_name; }

/// Throws the Python exception that stands for `status`, with the message of the calling thread's
/// last error. Does nothing for ROCARRAY_SUCCESS. The caller holds the GIL.
void check(roc_status status);

/// Returns f(), a status of the C interface, without holding the GIL. `name` is that of the Python
/// function: messages begin with it.
template <class F>
roc_status status_of(char const* name, F f) {
  // Not a guard: while Python ends, taking the GIL may end the thread by unwinding its stack, which
  // must not happen in a destructor. f throws nothing.
  PyThreadState* const thread = PyEval_SaveThread();
  roc_status status = ROCARRAY_SUCCESS;
  {
    detail::call_scope const scope(name);
    status = f();
  }
  PyEval_RestoreThread(thread);
  return status;
}

/// Calls f() as status_of does, and throws its error as a Python exception.
template <class F>
void call(char const* name, F f) {
  check(status_of(name, f));
}

/// Makes a device current for the calling thread while this exists. -1: leaves the current one.
class device_scope {
 public:
  explicit device_scope(int device);
  device_scope(device_scope const&) = delete;
  device_scope& operator=(device_scope const&) = delete;
  ~device_scope() {
    if (previous_ >= 0) roc_set_device(previous_);
  }

 private:
  int previous_ = -1;  // -1 if nothing is to be restored
};

}  // namespace roc::python
