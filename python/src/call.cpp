// SPDX-License-Identifier: MIT
#include "call.hpp"

#include <unistd.h>

#include <atomic>

namespace roc::python {
namespace {

PyObject* exception_of(roc_status status) {
  switch (status) {
    case ROCARRAY_ERROR_INVALID_ARGUMENT:
    case ROCARRAY_ERROR_SHAPE:
    case ROCARRAY_ERROR_LAYOUT:
    case ROCARRAY_ERROR_OVERLAP:
    case ROCARRAY_ERROR_LIFETIME:
    case ROCARRAY_ERROR_REGISTRATION: return PyExc_ValueError;
    case ROCARRAY_ERROR_OUT_OF_MEMORY: return PyExc_MemoryError;
    case ROCARRAY_ERROR_NOT_SUPPORTED: return PyExc_NotImplementedError;
    default: return PyExc_RuntimeError;
  }
}

// The state of the process. Written with the GIL.
std::atomic<bool> is_library_used = false;
std::atomic<bool> is_library_disabled = false;

bool is_interpreter_ending() noexcept {
#if PY_VERSION_HEX >= 0x030D0000
  return Py_IsFinalizing() != 0;
#else
  return _Py_IsFinalizing() != 0;
#endif
}

PyThreadState* current_thread_state() noexcept {
#if PY_VERSION_HEX >= 0x030D0000
  return PyThreadState_GetUnchecked();
#else
  return _PyThreadState_UncheckedGet();
#endif
}

}  // namespace

void raise(PyObject* type, std::string const& message) {
  PyErr_SetString(type, message.c_str());
  throw py::error_already_set();
}

void check(roc_status status) {
  if (status != ROCARRAY_SUCCESS) raise(exception_of(status), roc_last_error_message());
}

bool begin_use() noexcept {
  is_library_used.store(true, std::memory_order_relaxed);
  return !is_disabled();
}

bool is_disabled() noexcept { return is_library_disabled.load(std::memory_order_relaxed); }

void disable_after_fork() noexcept {
  if (is_library_used.load(std::memory_order_relaxed)) {
    is_library_disabled.store(true, std::memory_order_relaxed);
  }
}

void check_process() {
  if (!is_disabled()) return;
  raise(PyExc_RuntimeError,
        "rocarray cannot be used after fork, because the parent process has used it; use the start "
        "method 'spawn' of multiprocessing");
}

bool can_release_gil() noexcept {
  if (Py_IsInitialized() == 0 || is_interpreter_ending()) return false;
  // PyGILState_Check() is true in every thread after a sub-interpreter has been created. Before
  // Python 3.12, the current state is that of the thread that holds the GIL, whichever that is.
  PyThreadState* const current = current_thread_state();
  return current != nullptr && current == PyGILState_GetThisThreadState();
}

gil_release::~gil_release() {
  try {
    PyEval_RestoreThread(thread_);
  } catch (...) {
    // While the interpreter ends, Python before 3.14 ends the thread by unwinding its stack, which
    // would release Python objects without the GIL. Later versions let the thread wait instead.
    for (;;) pause();
  }
}

device_scope::device_scope(int device) {
  if (device < 0) return;
  std::int32_t current = 0;
  call("set_device", [&] {
    roc_status const status = roc_get_device(&current);
    if (status != ROCARRAY_SUCCESS || current == device) return status;
    return roc_set_device(device);
  });
  if (current != device) previous_ = current;
}

device_scope::~device_scope() {
  if (previous_ >= 0) call_quietly([this] { roc_set_device(previous_); });
}

}  // namespace roc::python
