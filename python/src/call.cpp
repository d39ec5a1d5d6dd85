// SPDX-License-Identifier: MIT
#include "call.hpp"

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

}  // namespace

void raise(PyObject* type, std::string const& message) {
  PyErr_SetString(type, message.c_str());
  throw py::error_already_set();
}

void check(roc_status status) {
  if (status != ROCARRAY_SUCCESS) raise(exception_of(status), roc_last_error_message());
}

device_scope::device_scope(int device) {
  std::int32_t current = 0;
  check(roc_get_device(&current));
  if (device < 0 || device == current) return;
  check(roc_set_device(device));
  previous_ = current;
}

}  // namespace roc::python
