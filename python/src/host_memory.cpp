// SPDX-License-Identifier: MIT
#include "host_memory.hpp"

#include <pybind11/numpy.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
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
  py::object array;  // the one that was given
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
  return {{low == high ? nullptr : first, static_cast<std::size_t>(high - low)},
          py::reinterpret_borrow<py::object>(object),
          array.owner};
}

std::vector<owned_range> ranges_of(py::args const& arrays) {
  std::vector<owned_range> result;
  for (py::handle array : arrays) result.push_back(range_of(array));
  return result;
}

// A range that is or was registered, and the entry of its owner in the table.
struct registered_range {
  roc_host_range range;
  std::uint64_t entry = 0;
};

// The owners of registered memory, which must stay allocated until it is deregistered. One object
// for the process; the GIL guards it. Never destroyed, so that memory that is still registered when
// the process ends stays allocated.
class owner_table {
 public:
  using key = std::tuple<void const*, std::size_t, std::uint64_t>;  // address, bytes, entry
  using node = std::map<key, owned_range>::node_type;

  static owner_table& instance() {
    static auto* const instance = new owner_table;
    return *instance;
  }

  // Adds the owner of a range and returns the number of its entry.
  std::uint64_t add(owned_range const& added) {
    owners_.emplace(key_of(added.range, ++last_entry_), added);
    return last_entry_;
  }
  // Removes an entry. Returns an empty node if it was removed before.
  node remove(registered_range const& item) noexcept {
    return owners_.extract(key_of(item.range, item.entry));
  }
  // Removes an entry of a range: that of the given array if it has one.
  node remove(roc_host_range const& range, py::handle array) noexcept {
    auto const first = owners_.lower_bound(key_of(range, 0));
    auto const last = owners_.upper_bound(key_of(range, UINT64_MAX));
    if (first == last) return {};
    auto const given =
        std::find_if(first, last, [&](auto const& item) { return item.second.array.is(array); });
    return owners_.extract(given == last ? first : given);
  }

 private:
  static key key_of(roc_host_range const& range, std::uint64_t entry) noexcept {
    return {range.data, range.bytes, entry};
  }

  std::map<key, owned_range> owners_;
  std::uint64_t last_entry_ = 0;
};

std::vector<roc_host_range> without_owners(std::vector<registered_range> const& ranges) {
  std::vector<roc_host_range> result;
  for (auto const& item : ranges) result.push_back(item.range);
  return result;
}

// Registers ranges. The owners are entered first: another thread may deregister the ranges before
// this one has the GIL again.
std::vector<registered_range> register_ranges(std::vector<owned_range> const& ranges,
                                              std::uint32_t flags) {
  auto& owners = owner_table::instance();
  std::vector<registered_range> result;
  result.reserve(ranges.size());
  try {
    for (auto const& item : ranges) {
      if (item.range.bytes != 0) result.push_back({item.range, owners.add(item)});
    }
    auto const described = without_owners(result);
    call("register", [&] { return roc_register_host(described.data(), described.size(), flags); });
  } catch (...) {
    for (auto const& item : result) owners.remove(item);  // `ranges` keep them alive
    throw;
  }
  return result;
}

void call_deregister(std::vector<roc_host_range> const& ranges) {
  call("deregister", [&] { return roc_deregister(ranges.data(), ranges.size()); });
  pending_work::instance().release_finished();
}

// What roc.deregister does.
void deregister_arrays(py::args const& arrays) {
  auto const ranges = ranges_of(arrays);
  std::vector<roc_host_range> described;
  for (auto const& item : ranges) described.push_back(item.range);
  std::vector<owner_table::node> released;  // destroyed last: that may run Python code
  released.reserve(ranges.size());
  call_deregister(described);
  for (auto const& item : ranges) {
    if (item.range.bytes == 0) continue;
    released.push_back(owner_table::instance().remove(item.range, item.array));
  }
}

/// What register() returns. Does nothing when it is destroyed: numba.roc's `roc.register(a)` leaves
/// the array registered. Holds no Python object, so that the arrays can be deregistered, and then
/// destroyed, without it.
class registration {
 public:
  explicit registration(std::vector<registered_range> ranges) : ranges_(std::move(ranges)) {}

  void deregister() {
    if (is_done_) {
      raise(PyExc_ValueError,
            "the arrays were deregistered by this object before; register them again");
    }
    auto const described = without_owners(ranges_);
    std::vector<owner_table::node> released;  // destroyed last: that may run Python code
    released.reserve(ranges_.size());
    is_done_ = true;  // before the call: another thread may run during it
    try {
      call_deregister(described);
    } catch (...) {
      is_done_ = false;
      throw;
    }
    for (auto const& item : ranges_) {
      auto& owners = owner_table::instance();
      auto owner = owners.remove(item);
      // deregister(array) may have taken the entry for another registration of the same range.
      if (owner.empty()) owner = owners.remove(item.range, py::handle());
      released.push_back(std::move(owner));
    }
    ranges_.clear();
  }
  void exit() {
    if (!is_done_) deregister();
  }

 private:
  std::vector<registered_range> ranges_;
  bool is_done_ = false;
};

registration register_arrays(py::args const& arrays, bool mapped, bool portable, bool read_only,
                             bool huge_pages) {
  std::uint32_t const flags = (mapped ? ROCARRAY_REGISTER_MAPPED : 0) |
                              (portable ? ROCARRAY_REGISTER_PORTABLE : 0) |
                              (read_only ? ROCARRAY_REGISTER_READ_ONLY : 0) |
                              (huge_pages ? ROCARRAY_REGISTER_HUGE_PAGES : 0);
  return registration(register_ranges(ranges_of(arrays), flags));
}

// Frees the memory after the copies that use it.
void free_host(void* memory) {
  call_quietly([memory] { roc_free_host(memory); });
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
      .def(
          "__enter__", [](py::object self) { return self; }, "Return the object itself.")
      .def(
          "__exit__",
          [](registration& self, py::object const&, py::object const&, py::object const&) {
            self.exit();
          },
          py::arg("kind"), py::arg("value"), py::arg("traceback"), py::pos_only(),
          "Deregister the arrays, unless that was done.");
  module.def("register", &register_arrays, py::kw_only(), "mapped"_a = false, "portable"_a = false,
             "read_only"_a = false, "huge_pages"_a = false,
             "Register the memory of arrays, so that copies run at link speed: all or none.\n\n"
             "The arrays stay alive until they are deregistered, by the context manager that this\n"
             "returns or by deregister(). Registering the same range again counts.");
  module.def(
      "deregister", [](py::args const& arrays) { deregister_arrays(arrays); },
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
