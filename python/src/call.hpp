// SPDX-License-Identifier: MIT
// Calls of the C interface from Python: without the GIL, and with its errors as exceptions.
#pragma once

#include <pybind11/pybind11.h>

#include <optional>
#include <string>

#include <roc/c.h>
#include <roc/detail/call_scope.hpp>

namespace roc::python {

namespace py = pybind11;

/// Throws the Python exception of this type.
[[noreturn]] void raise(PyObject* type, std::string const& message);

/// Returns str(object).
inline std::string text_of(py::handle object) { return py::str(object); }
/// Returns repr(object), which is printable also if str(object) is not.
inline std::string repr_of(py::handle object) { return py::repr(object); }
/// Returns the name of an object's type, for messages.
inline std::string type_name(py::handle object) { return Py_TYPE(object.ptr())->tp_name; }

/// Throws the Python exception that stands for `status`, with the message of the calling thread's
/// last error. Does nothing for ROCARRAY_SUCCESS. The caller holds the GIL.
void check(roc_status status);

/// Records that this process uses the library. Returns false in a child of fork() whose parent had
/// used it: the library must not be called there. HIP does not work in such a process, whose memory
/// is a copy of state that other threads may have been changing. The caller holds the GIL.
bool begin_use() noexcept;
/// Returns true in a process in which begin_use() returns false. Any thread may call it.
bool is_disabled() noexcept;
/// Disables the library in this process if it was used before the fork. Called in the child.
void disable_after_fork() noexcept;
/// Throws RuntimeError if the library is disabled.
void check_process();

/// Returns true if the calling thread holds the GIL and can take it again after it has released it.
bool can_release_gil() noexcept;

/// Releases the GIL, which the calling thread must hold, while this exists.
class gil_release {
 public:
  gil_release() noexcept : thread_(PyEval_SaveThread()) {}
  gil_release(gil_release const&) = delete;
  gil_release& operator=(gil_release const&) = delete;
  /// Takes the GIL. Does not return in a thread other than the main one while the interpreter ends.
  ~gil_release();

 private:
  PyThreadState* thread_;
};

/// Returns f(), a status of the C interface, without holding the GIL: a callback of the driver may
/// wait for the GIL while it holds a lock that HIP takes. `name` is that of the Python function:
/// messages begin with it. f throws nothing. Does not call f if the library is disabled.
template <class F>
roc_status status_of(char const* name, F f) {
  if (!begin_use()) return ROCARRAY_ERROR_NOT_SUPPORTED;
  gil_release const released;
  detail::call_scope const scope(name);
  return f();
}

/// Calls f() as status_of does, and throws its error as a Python exception.
template <class F>
void call(char const* name, F f) {
  check_process();
  check(status_of(name, f));
}

/// Calls f() without the GIL from a destructor, which any thread may run, with or without the GIL.
/// f throws nothing, and its errors are ignored. Does not call f if the library is disabled.
template <class F>
void call_quietly(F f) noexcept {
  if (is_disabled()) return;
  std::optional<gil_release> released;
  if (can_release_gil()) released.emplace();
  f();
}

/// Returns f(), a status, with `device` current for the calling thread; -1 keeps the current one.
/// The caller does not hold the GIL, as in the function that call() runs.
template <class F>
roc_status with_device(int device, F f) {
  std::int32_t current = 0;
  roc_status status = roc_get_device(&current);
  bool const is_other = status == ROCARRAY_SUCCESS && device >= 0 && device != current;
  if (is_other) status = roc_set_device(device);
  if (status != ROCARRAY_SUCCESS) return status;
  status = f();
  if (is_other) roc_set_device(current);
  return status;
}

/// Makes a device current for the calling thread while this exists. -1: leaves the current one.
class device_scope {
 public:
  explicit device_scope(int device);
  device_scope(device_scope const&) = delete;
  device_scope& operator=(device_scope const&) = delete;
  ~device_scope();

 private:
  int previous_ = -1;  // -1 if nothing is to be restored
};

}  // namespace roc::python
