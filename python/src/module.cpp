// SPDX-License-Identifier: MIT
// The extension module rocarray._rocarray.
#include <pybind11/pybind11.h>

#include <string>

#include <roc/c.h>

#include "device_array.hpp"
#include "host_memory.hpp"
#include "stream.hpp"
#include "tensor.hpp"

namespace roc::python {
namespace {

void copy_function(py::object const& from, py::object const& to, py::object const& stream) {
  stream_argument const argument(stream);
  copy("copy", find_tensor(from, argument), find_tensor(to, argument), argument);
}

int device_count() {
  std::int32_t count = 0;
  call("device_count", [&] { return roc_device_count(&count); });
  return count;
}

int get_device() {
  std::int32_t device = 0;
  call("get_device", [&] { return roc_get_device(&device); });
  return device;
}

std::string platform() {
  switch (roc_device_type()) {
    case ROCARRAY_DEVICE_CUDA: return "nvidia";
    case ROCARRAY_DEVICE_ROCM: return "amd";
    default: return "host";
  }
}

}  // namespace

PYBIND11_MODULE(_rocarray, module) {
  module.doc() = "Arrays in GPU memory, and copies at link speed.";
  define_streams(module);
  define_device_array(module);
  define_host_memory(module);
  module.def(
      "copy", &copy_function, py::arg("from_"), py::arg("to"), py::arg("stream") = py::none(),
      "Copy an array to another one of the same shape and type: from, to.\n\n"
      "Both may be in host or device memory and of any library and layout: DeviceArray,\n"
      "numpy.ndarray, and what has __dlpack__, __cuda_array_interface__ or the buffer protocol.\n"
      "Without a stream the copy is complete on return.");
  module.def("device_count", &device_count, "Return the number of devices; 0 without a driver.");
  module.def("get_device", &get_device, "Return the ordinal of the thread's current device.");
  module.def(
      "set_device", [](int device) { call("set_device", [&] { return roc_set_device(device); }); },
      py::arg("device"), "Make a device current for the calling thread.");
  module.def("_interface_dtype", &interface_dtype);  // for the tests
  module.def("_disable_after_fork", &disable_after_fork);
  module.attr("platform") = platform();
}

}  // namespace roc::python
