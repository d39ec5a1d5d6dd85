// SPDX-License-Identifier: MIT
#include "host_memory.hpp"

#include <pybind11/numpy.h>

#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <roc/c.h>

#include "layout.hpp"
#include "stream.hpp"
#include "tensor.hpp"

namespace roc::python {
namespace {

// The bytes of an array, and what keeps them allocated.
struct owned_range {
  roc_host_range range;
  py::object owner;
};

owned_range range_of(py::handle object) {
  tensor const array = find_tensor(object, stream_argument(py::none()));
  if (!array.is_host_memory()) {
    raise(PyExc_ValueError,
          "an array of type " + type_name(object) + " is in device memory; register host memory");
  }
  auto const [low, high] = bytes_of(array.layout, array.element_size);
  auto const* const first = static_cast<std::byte const*>(array.data) + array.layout.offset + low;
  return {{low == high ? nullptr : first, static_cast<std::size_t>(high - low)}, array.owner};
}

std::vector<owned_range> ranges_of(py::args const& arrays) {
  std::vector<owned_range> result;
  for (py::handle array : arrays) result.push_back(range_of(array));
  return result;
}

std::vector<roc_host_range> without_owners(std::vector<owned_range> const& ranges) {
  std::vector<roc_host_range> result;
  for (auto const& item : ranges) result.push_back(item.range);
  return result;
}

// The owners of registered memory: it must stay allocated until it is deregistered. Guarded by the
// GIL. Never destroyed, so that memory that is still registered when the process ends stays
// allocated.
using owner_table = std::multimap<std::pair<void const*, std::size_t>, py::object>;
owner_table& owners() {
  static auto* const instance = new owner_table;
  return *instance;
}

void register_ranges(std::vector<owned_range> const& ranges, std::uint32_t flags) {
  auto const described = without_owners(ranges);
  call("register", [&] { return roc_register_host(described.data(), described.size(), flags); });
  for (auto const& item : ranges) {
    if (item.range.bytes != 0)
      owners().emplace(std::pair(item.range.data, item.range.bytes), item.owner);
  }
}

void deregister_ranges(std::vector<owned_range> const& ranges) {
  auto const described = without_owners(ranges);
  call("deregister", [&] { return roc_deregister(described.data(), described.size()); });
  pending_work::instance().release_finished();
  std::vector<py::object> released;  // destroyed last: that may run Python code
  for (auto const& range : described) {
    auto const position = owners().find({range.data, range.bytes});
    if (position == owners().end()) continue;
    released.push_back(std::move(position->second));
    owners().erase(position);
  }
}

/// What register() returns. Does nothing when it is destroyed: numba.roc's `roc.register(a)` leaves
/// the array registered.
class registration {
 public:
  explicit registration(std::vector<owned_range> ranges) : ranges_(std::move(ranges)) {}

  void deregister() {
    if (is_done_) {
      raise(PyExc_ValueError,
            "the arrays were deregistered by this object before; register them again");
    }
    deregister_ranges(ranges_);
    is_done_ = true;
    ranges_.clear();
  }
  void exit() {
    if (!is_done_) deregister();
  }

 private:
  std::vector<owned_range> ranges_;
  bool is_done_ = false;
};

registration register_arrays(py::args const& arrays, bool mapped, bool portable, bool read_only,
                             bool huge_pages) {
  auto ranges = ranges_of(arrays);
  std::uint32_t const flags = (mapped ? ROCARRAY_REGISTER_MAPPED : 0) |
                              (portable ? ROCARRAY_REGISTER_PORTABLE : 0) |
                              (read_only ? ROCARRAY_REGISTER_READ_ONLY : 0) |
                              (huge_pages ? ROCARRAY_REGISTER_HUGE_PAGES : 0);
  register_ranges(ranges, flags);
  return registration(std::move(ranges));
}

bool is_interpreter_ending() noexcept {
#if PY_VERSION_HEX >= 0x030D0000
  return Py_IsFinalizing() != 0;
#else
  return _Py_IsFinalizing() != 0;
#endif
}

// Frees the memory after the copies that use it. The destructor of a capsule holds the GIL.
void free_host(void* memory) {
  if (is_interpreter_ending()) {  // the GIL, once released, could not be taken again
    roc_free_host(memory);
    return;
  }
  status_of("free_host", [&] { return roc_free_host(memory); });
}

// Returns a numpy.ndarray in memory of roc_allocate_host.
py::array allocate_host(char const* name, std::int32_t kind, std::uint32_t flags,
                        py::object const& shape, py::object const& dtype,
                        std::string const& order_text) {
  extents axes = read_shape(shape);
  auto const element = read_dtype(dtype, axes);
  auto const layout = compact_layout(std::move(axes), read_order(order_text),
                                     static_cast<std::size_t>(element.itemsize()));
  std::size_t const bytes = allocation_bytes(layout, static_cast<std::size_t>(element.itemsize()));
  if (bytes == 0) return py::array(element, layout.shape, layout.strides);
  void* data = nullptr;
  call(name, [&] { return roc_allocate_host(kind, flags, bytes, &data); });
  py::capsule const owner(data, free_host);
  return py::array(element, layout.shape, layout.strides, data, owner);
}

}  // namespace

void define_host_memory(py::module_& module) {
  using namespace py::literals;
  py::class_<registration>(module, "Registration",
                           "Registered arrays: a context manager that deregisters them at its end.")
      .def("deregister", &registration::deregister,
           "Deregister the arrays now. Blocks until the copies that use them have finished.")
      .def("__enter__", [](py::object self) { return self; })
      .def("__exit__", [](registration& self, py::args const&) { self.exit(); });
  module.def("register", &register_arrays, py::kw_only(), "mapped"_a = false, "portable"_a = false,
             "read_only"_a = false, "huge_pages"_a = false,
             "Register the memory of arrays, so that copies run at link speed: all or none.\n\n"
             "The arrays stay alive until they are deregistered, by the context manager that this\n"
             "returns or by deregister(). Registering the same range again counts.");
  module.def(
      "deregister", [](py::args const& arrays) { deregister_ranges(ranges_of(arrays)); },
      "Deregister the memory of arrays: all or none.\n\n"
      "Blocks until the copies that use them have finished.");
  module.def(
      "pinned_array",
      [](py::object const& shape, py::object const& dtype, std::string const& o, bool portable,
         bool wc) {
        std::uint32_t const flags =
            (portable ? ROCARRAY_MEMORY_PORTABLE : 0) | (wc ? ROCARRAY_MEMORY_WRITE_COMBINED : 0);
        return allocate_host("pinned_array", ROCARRAY_MEMORY_PINNED, flags, shape, dtype, o);
      },
      "shape"_a, "dtype"_a = py::dtype("f8"), "order"_a = "C", "portable"_a = false, "wc"_a = false,
      "Return a numpy.ndarray in pinned memory, not initialized.\n\n"
      "wc: write-combined, which is fast to write and to send, and slow to read.");
  module.def(
      "managed_array",
      [](py::object const& shape, py::object const& dtype, std::string const& o) {
        return allocate_host("managed_array", ROCARRAY_MEMORY_MANAGED, 0, shape, dtype, o);
      },
      "shape"_a, "dtype"_a = py::dtype("f8"), "order"_a = "C",
      "Return a numpy.ndarray in managed memory, which kernels can access, not initialized.");
}

}  // namespace roc::python
