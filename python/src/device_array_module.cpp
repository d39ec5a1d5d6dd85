// SPDX-License-Identifier: MIT
// The Python side of device_array.hpp: the class and the functions that create arrays.
#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

#include <string>

#include "device_array.hpp"

namespace roc::python {
namespace {

using object = py::object;

device_array device_array_function(object const& shape, object const& dtype, object const& strides,
                                   std::string const& order_text, object const& stream) {
  order const o = read_order(order_text);
  extents axes = read_shape(shape);
  auto const element = read_dtype(dtype, axes);
  strided_layout layout =
      compact_layout(std::move(axes), o, static_cast<std::size_t>(element.itemsize()));
  if (!strides.is_none()) {
    layout.strides = read_strides(strides);
    if (layout.strides.size() != layout.rank()) {
      raise(PyExc_ValueError, "the array has " + std::to_string(layout.rank()) + " axes, but " +
                                  std::to_string(layout.strides.size()) +
                                  " strides were given; give one for each axis");
    }
  }
  return device_array("device_array", std::move(layout), element, stream_argument(stream));
}

object to_device(object const& source, object const& stream, bool copies, object to) {
  stream_argument const argument(stream);
  tensor const from = find_tensor(source, argument, accept::anything);
  if (to.is_none()) {
    to = py::cast(make_array_like("to_device", from, argument));
  } else if (!py::isinstance<device_array>(to)) {
    raise(PyExc_TypeError, std::string("the destination `to` is of type ") + type_name(to) +
                               "; use a DeviceArray, or copy()");
  }
  if (copies) copy("to_device", from, find_tensor(to, argument), argument);
  return to;
}

object get_item(device_array const& self, object const& key) {
  if (py::isinstance<py::str>(key)) return py::cast(self.field(py::str(key)));
  device_array const selected = self.view(select(self.layout(), key));
  if (!selects_element(self.layout(), key)) return py::cast(selected);
  object const element = selected.copy_to_host(py::none(), stream_argument(py::none()));
  return element[py::tuple()];
}

void set_item(device_array const& self, object const& key, object const& value) {
  device_array const selected = py::isinstance<py::str>(key)
                                    ? self.field(py::str(key))
                                    : self.view(select(self.layout(), key));
  stream_argument const none{py::none()};
  tensor const from = find_tensor(value, none, accept::anything, selected.dtype());
  tensor to = selected.describe();
  to.owner = py::cast(selected);
  if (from.layout.rank() == 0 && from.is_host_memory()) {
    fill("__setitem__", to, value, none);
  } else {
    copy("__setitem__", from, to, none);
  }
}

py::list split(device_array const& self, std::int64_t section) {
  if (section <= 0) {
    raise(PyExc_ValueError, "the section is " + std::to_string(section) + "; use 1 or more");
  }
  if (self.layout().rank() == 0) raise(PyExc_ValueError, "an array of rank 0 cannot be split");
  py::list result;
  std::int64_t const extent = self.layout().shape[0];
  for (std::int64_t begin = 0; begin < extent; begin += section) {
    result.append(self.view(select(self.layout(), py::slice(begin, begin + section, 1))));
    if (extent - begin <= section) break;
  }
  return result;
}

// Returns the extents of reshape(20, 50) and of reshape((20, 50)).
extents shape_of_arguments(py::args const& arguments) {
  bool const is_sequence = arguments.size() == 1 && !is_integer(arguments[0]);
  return read_shape(is_sequence ? py::handle(arguments[0]) : py::handle(arguments), true);
}

object transpose_of_arguments(device_array const& self, py::args const& arguments) {
  object axes = arguments;
  if (arguments.empty()) axes = py::none();
  if (arguments.size() == 1 && !is_integer(arguments[0])) axes = arguments[0];
  return py::cast(self.view(transpose(self.layout(), axes)));
}

std::string to_text(device_array const& self) {
  return "<rocarray.DeviceArray: shape " + to_string(self.layout().shape) + ", dtype " +
         text_of(self.dtype()) + ", device " + std::to_string(self.device()) + ">";
}

// What numpy.asarray calls. It copies, as numba's arrays do.
object to_numpy(device_array const& self, object const& dtype, object const& copies) {
  if (!copies.is_none() && !to_bool(copies, "copy")) {
    raise(PyExc_ValueError,
          "a DeviceArray cannot become a NumPy array without a copy; use copy_to_host()");
  }
  object const host = self.copy_to_host(py::none(), stream_argument(py::none()));
  return dtype.is_none() ? host : host.attr("astype")(dtype, py::arg("copy") = false);
}

}  // namespace

void define_device_array(py::module_& module) {
  using namespace py::literals;
  py::class_<device_array>(
      module, "DeviceArray",
      "An array of any rank in device memory, or a view of one.\n\n"
      "Create it with device_array, device_array_like or to_device. Indices, reshape, transpose "
      "and\n"
      "fields give views of the same memory, which lives as long as one of them.")
      .def_property_readonly(
          "shape", [](device_array const& self) { return to_tuple(self.layout().shape); },
          "The extents, a tuple.")
      .def_property_readonly(
          "strides", [](device_array const& self) { return to_tuple(self.layout().strides); },
          "The strides in bytes, a tuple.")
      .def_property_readonly("dtype", &device_array::dtype, "The type of elements, a numpy.dtype.")
      .def_property_readonly(
          "ndim", [](device_array const& self) { return self.layout().rank(); },
          "The number of axes.")
      .def_property_readonly(
          "size", [](device_array const& self) { return self.layout().size(); },
          "The number of elements.")
      .def_property_readonly("itemsize", &device_array::element_size, "Bytes of one element.")
      .def_property_readonly(
          "nbytes",
          [](device_array const& self) {
            return self.layout().size() * static_cast<std::int64_t>(self.element_size());
          },
          "Bytes of all elements.")
      .def_property_readonly("device", &device_array::device, "The ordinal of the device.")
      .def(
          "is_c_contiguous", [](device_array const& self) { return self.is_contiguous(order::c); },
          "Return True if the elements are contiguous in C order.")
      .def(
          "is_f_contiguous", [](device_array const& self) { return self.is_contiguous(order::f); },
          "Return True if the elements are contiguous in Fortran order.")
      .def(
          "copy_to_host",
          [](device_array const& self, object ary, object const& stream) {
            return self.copy_to_host(std::move(ary), stream_argument(stream));
          },
          "ary"_a = py::none(), "stream"_a = py::none(),
          "Copy to an array in host memory, or to a new numpy.ndarray, and return it.\n\n"
          "With a stream the copy is enqueued: the result must not be used until the stream has "
          "been\n"
          "synchronized.")
      .def(
          "copy_to_device",
          [](device_array const& self, object const& ary, object const& stream) {
            self.copy_to_device("copy_to_device", ary, stream_argument(stream));
          },
          "ary"_a, "stream"_a = py::none(),
          "Copy the elements of `ary`, in host or device memory, to this array.\n\n"
          "With a stream the copy is enqueued. Pageable memory may be changed on return, pinned "
          "and\n"
          "registered memory after the stream has been synchronized.")
      .def(
          "fill",
          [](device_array const& self, object const& value, object const& stream) {
            tensor to = self.describe();
            to.owner = py::cast(self);
            fill("fill", to, value, stream_argument(stream));
          },
          "value"_a, "stream"_a = py::none(), "Write a value to every element.")
      .def(
          "zero",
          [](device_array const& self, object const& stream) {
            tensor to = self.describe();
            to.owner = py::cast(self);
            zero("zero", to, stream_argument(stream));
          },
          "stream"_a = py::none(), "Write zero bytes to every element.")
      .def(
          "reshape",
          [](device_array const& self, py::args const& newshape, std::string const& o) {
            return self.reshape(shape_of_arguments(newshape), read_order(o));
          },
          "order"_a = "C",
          "Return a view with another shape; one extent may be -1.\n\n"
          "Elements keep their order, counted in C or Fortran order. ValueError if that needs a "
          "copy.")
      .def(
          "reshape_copy",
          [](device_array const& self, py::args const& newshape, std::string const& o,
             object const& stream) {
            return self.reshape_copy("reshape_copy", shape_of_arguments(newshape), read_order(o),
                                     stream_argument(stream));
          },
          "order"_a = "C", "stream"_a = py::none(), "Return a new array with another shape.")
      .def(
          "ravel",
          [](device_array const& self, std::string const& o) {
            return self.reshape({-1}, read_order(o));
          },
          "order"_a = "C", "Return a view with one axis. ValueError if that needs a copy.")
      .def(
          "ravel_copy",
          [](device_array const& self, std::string const& o, object const& stream) {
            return self.reshape_copy("ravel_copy", {-1}, read_order(o), stream_argument(stream));
          },
          "order"_a = "C", "stream"_a = py::none(), "Return a new array with one axis.")
      .def("transpose", &transpose_of_arguments,
           "Return a view with the axes in another order, by default reversed.")
      .def_property_readonly(
          "T",
          [](device_array const& self) { return self.view(transpose(self.layout(), py::none())); },
          "A view with the axes reversed.")
      .def(
          "squeeze", [](device_array const& self) { return self.view(squeeze(self.layout())); },
          "Return a view without the axes of extent 1.")
      .def(
          "view", [](device_array const& self, object const& dtype) { return self.view_as(dtype); },
          "dtype"_a, "Return a view of the same bytes as elements of another type.")
      .def("split", &split, "section"_a,
           "Return views of `section` indices of the first axis each; the last may be shorter.")
      .def(
          "record_stream",
          [](device_array const& self, object const& stream) {
            self.record_stream(stream_argument(stream));
          },
          "stream"_a,
          "Record that your own work on a stream uses the memory, before you enqueue it.\n\n"
          "The memory is reused only after that work. For a stream of another library, call it\n"
          "once more after the last work. Copies of this package do it themselves.")
      .def(
          "close", &device_array::close,
          "Free the memory after the work that uses it, without blocking.\n\n"
          "Calls in other threads and consumers of __dlpack__ keep it until they have finished. A\n"
          "consumer of __cuda_array_interface__ does not.\n\n"
          "Any further use of the array and of its views is a ValueError.")
      .def("__getitem__", &get_item, "key"_a,
           "Return a view of a region or of a field, or the element of a full index.")
      .def("__setitem__", &set_item, "key"_a, "value"_a,
           "Write a value, or the elements of an array of the same shape and type, to a region.")
      .def(
          "__len__",
          [](device_array const& self) {
            if (self.layout().rank() == 0)
              raise(PyExc_TypeError, "an array of rank 0 has no length");
            return self.layout().shape[0];
          },
          "Return the extent of the first axis.")
      .def("__repr__", &to_text)
      .def("__array__", &to_numpy, "dtype"_a = py::none(), "copy"_a = py::none(),
           "Return a copy in host memory, which numpy.asarray calls.")
      .def("__dlpack__", &device_array::export_dlpack, py::kw_only(), "stream"_a = py::none(),
           "max_version"_a = py::none(), "dl_device"_a = py::none(), "copy"_a = py::none(),
           "Return a DLPack capsule of the same memory, or of a copy.\n\n"
           "copy: None copies if DLPack cannot express the strides, True always.\n\n"
           "Later work of the consumer's stream comes after pending work of this package, and "
           "after\n"
           "that on the stream of the allocation.")
      .def(
          "__dlpack_device__",
          [](device_array const& self) { return py::make_tuple(roc_device_type(), self.device()); },
          "Return DLPack's type and ordinal of the device.")
      .def_property_readonly("__cuda_array_interface__", &device_array::cuda_array_interface,
                             "The CUDA array interface, version 3; not on the host platform.\n\n"
                             "Keep the array while a consumer uses the memory: it has no share.");

  module.def(
      "device_array", &device_array_function, "shape"_a, "dtype"_a = py::dtype("f8"),
      "strides"_a = py::none(), "order"_a = "C", "stream"_a = py::none(),
      "Return an array on the current device that is not initialized. Strides are in bytes.");
  module.def(
      "device_array_like",
      [](object const& ary, object const& stream) {
        stream_argument const argument(stream);
        return make_array_like("device_array_like", find_tensor(ary, argument, accept::anything),
                               argument);
      },
      "ary"_a, "stream"_a = py::none(),
      "Return an array with the shape, dtype and order of axes of another one, not initialized.");
  module.def(
      "to_device", &to_device, "obj"_a, "stream"_a = py::none(), "copy"_a = true,
      "to"_a = py::none(),
      "Copy an array, a sequence or a number to a new device array, or to the array `to`.\n\n"
      "With copy=False the new array is not initialized.");
}

}  // namespace roc::python
