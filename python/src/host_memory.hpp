// SPDX-License-Identifier: MIT
// Registration of host memory, and NumPy arrays in pinned and managed memory.
#pragma once

#include <pybind11/pybind11.h>

#include "call.hpp"

namespace roc::python {

/// Adds the class Registration and the functions of host memory to the module.
void define_host_memory(py::module_& module);

}  // namespace roc::python
