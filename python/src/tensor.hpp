// SPDX-License-Identifier: MIT
// Arrays of other libraries: what a Python object says about its memory, and copies between two.
#pragma once

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include <roc/c.h>

#include "call.hpp"
#include "layout.hpp"
#include "stream.hpp"

namespace roc::python {

/// The memory and the layout of an array, in whatever memory. Borrows the elements from `owner`,
/// or shares `memory`: another thread may close a DeviceArray during a call.
struct tensor {
  void* data = nullptr;  ///< the first element is at layout.offset bytes from here
  roc_tensor_device device = {ROCARRAY_DEVICE_CPU, 0};
  roc_element_type type = {};
  std::size_t element_size = 0;
  strided_layout layout;
  bool is_read_only = false;
  py::object dtype = py::none();  ///< None for a type that NumPy does not have
  py::object owner;
  std::shared_ptr<void const> memory;  ///< of a DeviceArray; otherwise null

  bool is_host_memory() const noexcept;
};

/// Returns DLPack's type for a NumPy dtype. Types that DLPack does not have, such as records, dates
/// and other byte orders, are opaque. Throws TypeError for Python objects.
roc_element_type element_type_of(py::dtype const& dtype);
/// Returns a dtype without subarrays. For one such as '(2,3)i2', returns that of its elements and
/// appends its axes to `shape`, as NumPy does.
py::dtype expand_subarrays(py::dtype dtype, extents& shape);
/// Returns an argument `dtype` as a dtype without subarrays, as expand_subarrays does. Throws
/// TypeError for Python objects.
py::dtype read_dtype(py::handle object, extents& shape);

/// Returns the dtype that the entries 'typestr' and 'descr' of a __cuda_array_interface__ describe;
/// `descr` may be None. Throws TypeError and ValueError.
py::dtype interface_dtype(py::object const& typestr, py::object const& descr);
/// Returns two integers of 32 bits, such as a version or a device of DLPack. `what` names them in
/// messages. Throws `problem` for other objects than a tuple or a list of them.
std::pair<std::int32_t, std::int32_t> read_pair(py::handle object, char const* what,
                                                PyObject* problem);

/// What find_tensor accepts besides arrays.
enum class accept { arrays, anything };

/// Returns the array that an object describes: a DeviceArray or numpy.ndarray, or by __dlpack__,
/// __cuda_array_interface__ or the buffer protocol, in this order. With accept::anything also what
/// numpy.asarray converts, such as lists and numbers; to `dtype`, unless that is None. Copies no
/// elements of an array. `bytes` are one element if `dtype` is that of texts or raw bytes.
///
/// Work of `stream`, or, without one, calls without a stream, come after the producer's work on
/// device memory. Throws TypeError, ValueError, and what the object's own protocol throws.
tensor find_tensor(py::handle object, stream_argument const& stream,
                   accept accepted = accept::arrays, py::object const& dtype = py::none());

/// Copies element by element, as the Python function `name`. Without a stream the copy is complete
/// on return; otherwise both owners live until it has finished.
void copy(char const* name, tensor const& from, tensor const& to, stream_argument const& stream);
/// Writes `value`, converted to the array's dtype, to every element.
void fill(char const* name, tensor const& to, py::handle value, stream_argument const& stream);
/// Writes zero bytes to every element.
void zero(char const* name, tensor const& to, stream_argument const& stream);

}  // namespace roc::python
