// SPDX-License-Identifier: MIT
#include "tensor.hpp"

#include <numeric>
#include <optional>
#include <string>
#include <utility>

#include "device_array.hpp"
#include "dlpack.hpp"

namespace roc::python {
namespace {

// Element types

// Returns NumPy's dtype for a type, or None.
py::object dtype_of(roc_element_type type) {
  static char const codes[] = {'i', 'u', 'f', 0, 0, 'c', 'b'};
  char const code = type.code < sizeof codes && type.lanes == 1 ? codes[type.code] : '\0';
  if (code == 0 || type.bits % 8 != 0) return py::none();
  try {
    return py::dtype(std::string(1, code) + std::to_string(type.bits / 8));
  } catch (py::error_already_set& problem) {
    if (!problem.matches(PyExc_TypeError)) throw;
    return py::none();
  }
}

// Returns true for a dtype of texts or raw bytes, of which Python's `bytes` are one element.
bool is_text(py::object const& dtype) {
  if (dtype.is_none()) return false;
  char const kind = dtype.cast<py::dtype>().kind();
  return kind == 'S' || kind == 'U' || kind == 'V';
}

bool is_record(py::object const& dtype) { return !dtype.attr("fields").is_none(); }
// Returns true for raw bytes, such as 'V12'.
bool is_bytes(py::object const& dtype) {
  return dtype.cast<py::dtype>().kind() == 'V' && !is_record(dtype);
}

// A tensor of the C interface that describes a tensor. The pointers are to this object.
class description {
 public:
  // Describes elements as `unit` bytes each, with one more axis if an element has several of them.
  // `unit` is the element size, or a divisor of it and of all strides.
  description(tensor const& described, std::size_t unit) {
    auto const bytes = static_cast<std::int64_t>(unit);
    shape_ = described.layout.shape;
    for (std::size_t i = 0; i < described.layout.rank(); ++i) {
      strides_.push_back(shape_[i] == 1 ? 0 : described.layout.strides[i] / bytes);
    }
    value_.dtype = described.type;
    if (unit != described.element_size) {
      shape_.push_back(static_cast<std::int64_t>(described.element_size / unit));
      strides_.push_back(1);
      value_.dtype = {ROCARRAY_TYPE_OPAQUE, 8, static_cast<std::uint16_t>(unit)};
    }
    value_.data = described.data == nullptr
                      ? nullptr
                      : static_cast<std::byte*>(described.data) + described.layout.offset;
    value_.device = described.device;
    value_.ndim = static_cast<std::int32_t>(shape_.size());
    value_.shape = shape_.data();
    value_.strides = strides_.data();
  }
  description(description const&) = delete;
  description& operator=(description const&) = delete;

  roc_tensor const* get() const noexcept { return &value_; }

 private:
  extents shape_;
  extents strides_;
  roc_tensor value_{};
};

// Returns the largest unit of bytes in which elements and strides of the tensor can be counted.
std::size_t unit_of(tensor const& described) {
  std::size_t unit = described.element_size;
  if (has_whole_strides(described.layout, unit)) return unit;
  for (std::size_t i = 0; i < described.layout.rank(); ++i) {
    if (described.layout.shape[i] == 1) continue;
    auto const stride = static_cast<std::size_t>(described.layout.strides[i]);
    unit = std::gcd(unit, described.layout.strides[i] < 0 ? 0 - stride : stride);
  }
  return unit;
}

void check_writable(tensor const& to) {
  if (to.is_read_only) {
    raise(PyExc_ValueError, "the destination is read-only: an array of type " +
                                type_name(to.owner) + "; use one that is writable");
  }
}

// The C interface compares its element types. Types that are opaque there, and elements that are
// described as bytes, are told apart by their dtypes.
void check_dtypes(tensor const& from, tensor const& to) {
  if (from.dtype.is(to.dtype) || from.dtype.equal(to.dtype)) return;
  // Some libraries, such as numba, export records as bytes.
  if (from.element_size == to.element_size && ((is_record(from.dtype) && is_bytes(to.dtype)) ||
                                               (is_bytes(from.dtype) && is_record(to.dtype)))) {
    return;
  }
  raise(PyExc_ValueError, "element types of source and destination differ: " + text_of(from.dtype) +
                              ", " + text_of(to.dtype) + "; use arrays of the same type");
}

bool have_same_type(tensor const& from, tensor const& to) {
  return from.type.code == to.type.code && from.type.bits == to.type.bits &&
         from.type.lanes == to.type.lanes;
}

// Protocols

tensor from_numpy(py::array const& array) {
  // Guarded by the GIL. A guard of the compiler would be held while the import lets other threads
  // run, which would wait for it with the GIL.
  static PyObject* masked = nullptr;
  if (masked == nullptr) {
    py::object imported = py::module_::import("numpy.ma").attr("MaskedArray");
    if (masked == nullptr) masked = imported.release().ptr();
  }
  if (py::isinstance(array, masked)) {
    raise(PyExc_TypeError,
          "the array has a mask, which a copy would lose; use its data or filled()");
  }
  check_rank(static_cast<std::size_t>(array.ndim()));  // NumPy 2 has up to 64 axes
  tensor result;
  auto const dtype = array.dtype();
  result.data = const_cast<void*>(array.data());
  result.type = element_type_of(dtype);
  result.element_size = static_cast<std::size_t>(array.itemsize());
  result.layout.shape.assign(array.shape(), array.shape() + array.ndim());
  result.layout.strides.assign(array.strides(), array.strides() + array.ndim());
  result.is_read_only = !array.writeable();
  result.dtype = dtype;
  result.owner = array;
  return result;
}

// Reads a tensor of DLPack, which lives as long as `owner`.
tensor read_dlpack(roc_tensor const& from, bool is_read_only, py::object owner) {
  tensor result;
  std::size_t const bits = std::size_t{from.dtype.bits} * from.dtype.lanes;
  result.data = from.data;
  result.device = from.device;
  result.type = from.dtype;
  result.element_size = bits / 8;
  if (bits == 0 || bits % 8 != 0) {
    raise(PyExc_ValueError, "a DLPack tensor has elements of " + std::to_string(from.dtype.bits) +
                                " bits x " + std::to_string(from.dtype.lanes) +
                                " lanes; use a whole number of bytes");
  }
  if (from.ndim < 0 || static_cast<std::size_t>(from.ndim) > max_rank) {
    raise(PyExc_ValueError, "a DLPack tensor has rank " + std::to_string(from.ndim) +
                                "; use a rank from 0 to " + std::to_string(max_rank));
  }
  if (from.ndim != 0 && from.shape == nullptr) {
    raise(PyExc_ValueError, "a DLPack tensor of rank " + std::to_string(from.ndim) +
                                " has no extents; its producer must set its shape");
  }
  auto const rank = static_cast<std::size_t>(from.ndim);
  extents shape(from.shape, from.shape + rank);
  for (auto extent : shape) {
    if (extent < 0) {
      raise(PyExc_ValueError, "a DLPack tensor has a negative extent: " + std::to_string(extent) +
                                  "; its producer must set its shape");
    }
  }
  if (from.strides == nullptr) {
    result.layout = compact_layout(std::move(shape), order::c, result.element_size);
  } else {
    result.layout.shape = std::move(shape);
    for (std::size_t i = 0; i < rank; ++i) {
      std::int64_t bytes = 0;
      if (__builtin_mul_overflow(from.strides[i], static_cast<std::int64_t>(result.element_size),
                                 &bytes)) {
        raise(PyExc_ValueError,
              "a DLPack tensor has elements outside the address space: its stride " +
                  std::to_string(from.strides[i]) + " is too large");
      }
      result.layout.strides.push_back(bytes);
    }
  }
  std::int64_t const offset = static_cast<std::int64_t>(from.byte_offset);
  if (offset < 0) {
    raise(PyExc_ValueError,
          "a DLPack tensor has elements outside the address space: its byte offset " +
              std::to_string(from.byte_offset) + " is too large");
  }
  result.layout.offset = offset;
  result.is_read_only = is_read_only;
  result.dtype = dtype_of(from.dtype);
  result.owner = std::move(owner);
  return result;
}

// Takes a tensor out of its capsule. The result's owner calls the deleter.
template <class Managed>
tensor consume_capsule(py::object const& capsule) {
  auto* const managed =
      static_cast<Managed*>(PyCapsule_GetPointer(capsule.ptr(), dlpack_name<Managed>));
  if (managed == nullptr) throw py::error_already_set();
  bool is_read_only = false;
  if constexpr (std::is_same_v<Managed, dlpack_managed_versioned>) {
    if (managed->major_version != dlpack_major_version) {
      raise(PyExc_BufferError, "a DLPack tensor has version " +
                                   std::to_string(managed->major_version) + ", supported is " +
                                   std::to_string(dlpack_major_version) +
                                   "; its producer must respect max_version");
    }
    is_read_only = (managed->flags & dlpack_read_only) != 0;
    auto const bits = managed->tensor.dtype.bits;
    if (bits < 8 && (managed->flags & dlpack_is_padded) != 0) {
      raise(PyExc_BufferError, "a DLPack tensor has elements of " + std::to_string(bits) +
                                   " bits that are padded to bytes, which is not supported; export "
                                   "it as elements of 8 bits");
    }
  }
  py::capsule owner(managed, [](void* pointer) {
    auto* const self = static_cast<Managed*>(pointer);
    if (self->deleter != nullptr) self->deleter(self);
  });
  // The owner deletes the tensor from here on.
  if (PyCapsule_SetName(capsule.ptr(), dlpack_used_name<Managed>) != 0)
    throw py::error_already_set();
  return read_dlpack(managed->tensor, is_read_only, std::move(owner));
}

bool is_host_type(std::int32_t device_type) noexcept {
  return device_type == ROCARRAY_DEVICE_CPU || device_type == ROCARRAY_DEVICE_CUDA_HOST ||
         device_type == ROCARRAY_DEVICE_ROCM_HOST;
}

bool is_device(std::int32_t ordinal) {
  std::int32_t count = 0;
  call("device_count", [&] { return roc_device_count(&count); });
  return ordinal >= 0 && ordinal < count;
}

// The stream that a producer is told in __dlpack__: its work comes before later work there.
struct dlpack_stream {
  py::object number;                ///< the argument `stream`
  bool is_default_instead = false;  ///< the number is not that of the stream: order them
};

dlpack_stream dlpack_stream_of(std::int32_t device_type, stream_argument const& stream) {
  if (is_host_type(device_type)) return {py::none()};
  void* native = nullptr;
  call("__dlpack__", [&] { return roc_stream_native(stream.get(), &native); });
  auto const number = reinterpret_cast<std::uintptr_t>(native);
  bool const is_cuda =
      device_type == ROCARRAY_DEVICE_CUDA || device_type == ROCARRAY_DEVICE_CUDA_MANAGED;
  // The handle of the per-thread default stream is 2. DLPack has no number for it on ROCm, and
  // PyTorch refuses that of CUDA.
  if (is_cuda) return {py::int_(number == 0 || number == 2 ? 1 : number), number == 2};
  if (number == 1 || number == 2) return {py::int_(0), true};
  return {py::int_(number)};
}

tensor from_dlpack(py::handle object, stream_argument const& stream) {
  auto const [device_type, ordinal] = read_pair(
      object.attr("__dlpack_device__")(), "the result of __dlpack_device__", PyExc_BufferError);
  auto const [number, is_default_instead] = dlpack_stream_of(device_type, stream);
  py::object const method = object.attr("__dlpack__");
  py::object capsule;
  // The number means a stream of the current device, for some producers.
  std::optional<device_scope> of_tensor;
  if (!is_host_type(device_type) && is_device(ordinal)) of_tensor.emplace(ordinal);
  try {
    capsule = method(py::arg("stream") = number, py::arg("max_version") = py::make_tuple(
                                                     dlpack_major_version, dlpack_minor_version));
  } catch (py::error_already_set& problem) {
    if (!problem.matches(PyExc_TypeError)) throw;
    capsule = method(py::arg("stream") = number);  // from before DLPack 1
  }
  // The default stream that the producer was told is that of the tensor's device, which is current.
  // A tensor of a device that does not exist cannot be copied.
  if (is_default_instead && of_tensor) {
    order_streams("__dlpack__", ROCARRAY_DEFAULT_STREAM, stream.get(), ordinal);
  }
  if (PyCapsule_IsValid(capsule.ptr(), dlpack_name<dlpack_managed_versioned>)) {
    return consume_capsule<dlpack_managed_versioned>(capsule);
  }
  if (PyCapsule_IsValid(capsule.ptr(), dlpack_name<dlpack_managed>)) {
    return consume_capsule<dlpack_managed>(capsule);
  }
  raise(PyExc_BufferError,
        "__dlpack__ of an object of type " + type_name(object) +
            " returned no capsule that holds a tensor: " + std::string(py::repr(capsule)));
}

[[noreturn]] void wrong_interface_type(char const* key, py::handle value, char const* expected) {
  raise(PyExc_TypeError, std::string("__cuda_array_interface__ has '") + key + "' of type " +
                             type_name(value) + "; its producer must set " + expected);
}

// Reads an address or a stream of a __cuda_array_interface__.
std::uintptr_t read_address(py::handle value, char const* key) {
  if (!is_integer(value)) wrong_interface_type(key, value, "an integer");
  auto const number = py::reinterpret_steal<py::object>(PyNumber_Index(value.ptr()));
  if (!number) throw py::error_already_set();
  auto const result = PyLong_AsUnsignedLongLong(number.ptr());
  if (PyErr_Occurred() != nullptr) {
    if (PyErr_ExceptionMatches(PyExc_OverflowError) == 0) throw py::error_already_set();
    PyErr_Clear();
    raise(PyExc_ValueError, std::string("__cuda_array_interface__ has '") + key +
                                "' that is negative or has more than 64 bits; its producer must "
                                "set an address or a handle");
  }
  return static_cast<std::uintptr_t>(result);
}

// Makes work of `consumer` wait for the producer's work on the stream of a
// __cuda_array_interface__.
void wait_for_producer(py::handle number, stream_argument const& consumer) {
  if (number.is_none()) return;
  std::uintptr_t const value = read_address(number, "stream");
  if (value == 0) {
    raise(PyExc_ValueError,
          "__cuda_array_interface__ has stream 0, which is ambiguous; its producer "
          "must use 1 (legacy default), 2 (per-thread default) or a handle");
  }
  stream const producer = value == 1   ? stream::default_stream()
                          : value == 2 ? stream::per_thread_stream()
                                       : stream::external(value);
  order_streams("__cuda_array_interface__", producer.handle()->get(), consumer.get(),
                producer.device());
}

// Reads an entry of a __cuda_array_interface__, or None.
py::object entry_of(py::dict const& description, char const* key) {
  return description.contains(key) ? py::object(description[key]) : py::none();
}

// Reads what the interface says about an array. Does not access its memory.
tensor read_cuda_array_interface(py::object const& interface) {
  if (!PyDict_Check(interface.ptr())) {
    raise(PyExc_TypeError, "__cuda_array_interface__ is of type " + type_name(interface) +
                               "; its producer must return a dict");
  }
  auto const description = py::reinterpret_borrow<py::dict>(interface);
  for (char const* key : {"shape", "typestr", "data"}) {
    if (entry_of(description, key).is_none()) {
      raise(PyExc_ValueError,
            std::string("__cuda_array_interface__ has no '") + key + "'; its producer must set it");
    }
  }
  if (!entry_of(description, "mask").is_none()) {
    raise(PyExc_ValueError,
          "the array has a mask, which a copy would lose; use an array without one");
  }
  tensor result;
  py::dtype const dtype =
      interface_dtype(entry_of(description, "typestr"), entry_of(description, "descr"));
  py::object const data = entry_of(description, "data");
  if (!PyTuple_Check(data.ptr())) wrong_interface_type("data", data, "a tuple");
  if (PyTuple_GET_SIZE(data.ptr()) != 2) {
    raise(PyExc_ValueError, "__cuda_array_interface__ has 'data' of " +
                                std::to_string(PyTuple_GET_SIZE(data.ptr())) +
                                " elements; its producer must set the address and a bool");
  }
  py::object const address = data[py::int_(0)];
  result.data = reinterpret_cast<void*>(address.is_none() ? 0 : read_address(address, "data"));
  result.is_read_only = py::bool_(data[py::int_(1)]);
  result.type = element_type_of(dtype);
  result.element_size = static_cast<std::size_t>(dtype.itemsize());
  result.dtype = dtype;
  result.layout =
      compact_layout(read_shape(entry_of(description, "shape")), order::c, result.element_size);
  if (py::object const strides = entry_of(description, "strides"); !strides.is_none()) {
    result.layout.strides = read_strides(strides);
    if (result.layout.strides.size() != result.layout.rank()) {
      raise(PyExc_ValueError, "__cuda_array_interface__ has " +
                                  std::to_string(result.layout.strides.size()) + " strides for " +
                                  std::to_string(result.layout.rank()) + " axes");
    }
  }
  return result;
}

tensor from_cuda_array_interface(py::handle object, stream_argument const& stream) {
  py::object const interface = object.attr("__cuda_array_interface__");
  tensor result = read_cuda_array_interface(interface);
  if (roc_device_type() == ROCARRAY_DEVICE_HOST_PLATFORM) {
    raise(PyExc_ValueError,
          "an array of type " + type_name(object) +
              " is in memory of a GPU, which the host platform cannot access; use "
              "the package for nvidia or amd");
  }
  result.owner = py::reinterpret_borrow<py::object>(object);
  // The protocol does not name the device: by its convention it is the current one.
  std::int32_t device = 0;
  call("__cuda_array_interface__", [&] { return roc_get_device(&device); });
  result.device = {roc_device_type(), device};
  wait_for_producer(entry_of(interface, "stream"), stream);
  return result;
}

}  // namespace

bool tensor::is_host_memory() const noexcept { return is_host_type(device.device_type); }

roc_element_type element_type_of(py::dtype const& dtype) {
  auto const bits = static_cast<std::uint8_t>(8 * dtype.itemsize());
  if (dtype.attr("isnative").cast<bool>()) {
    switch (dtype.kind()) {
      case 'b': return {ROCARRAY_TYPE_BOOL, bits, 1};
      case 'i': return {ROCARRAY_TYPE_INT, bits, 1};
      case 'u': return {ROCARRAY_TYPE_UINT, bits, 1};
      case 'f': return {ROCARRAY_TYPE_FLOAT, bits, 1};
      case 'c':
        if (dtype.itemsize() < 32) return {ROCARRAY_TYPE_COMPLEX, bits, 1};
        break;  // bits does not hold 256
      default: break;
    }
  }
  if (dtype.attr("hasobject").cast<bool>()) {
    raise(PyExc_TypeError, "arrays of Python objects cannot be copied: dtype " + text_of(dtype) +
                               "; use a type without objects");
  }
  if (dtype.itemsize() == 0 || dtype.itemsize() > UINT16_MAX) {
    raise(PyExc_TypeError, "elements of " + std::to_string(dtype.itemsize()) +
                               " bytes cannot be copied: dtype " + text_of(dtype) +
                               "; use a type of 1 to 65535 bytes");
  }
  return {ROCARRAY_TYPE_OPAQUE, 8, static_cast<std::uint16_t>(dtype.itemsize())};
}

py::dtype expand_subarrays(py::dtype dtype, extents& shape) {
  for (py::object sub = dtype.attr("subdtype"); !sub.is_none(); sub = dtype.attr("subdtype")) {
    auto const axes = read_shape(sub[py::int_(1)]);
    shape.insert(shape.end(), axes.begin(), axes.end());
    dtype = sub[py::int_(0)].cast<py::dtype>();
  }
  check_rank(shape.size());
  return dtype;
}

py::dtype read_dtype(py::handle object, extents& shape) {
  auto const given = py::dtype::from_args(py::reinterpret_borrow<py::object>(object));
  auto result = expand_subarrays(given, shape);
  static_cast<void>(element_type_of(result));
  return result;
}

tensor find_tensor(py::handle object, stream_argument const& stream, accept accepted,
                   py::object const& dtype) {
  if (py::isinstance<device_array>(object)) {
    tensor result = object.cast<device_array const&>().describe();
    result.owner = py::reinterpret_borrow<py::object>(object);
    return result;
  }
  if (py::isinstance<py::array>(object)) {
    return from_numpy(py::reinterpret_borrow<py::array>(object));
  }
  if (py::hasattr(object, "__dlpack__") && py::hasattr(object, "__dlpack_device__")) {
    return from_dlpack(object, stream);
  }
  if (py::hasattr(object, "__cuda_array_interface__")) {
    return from_cuda_array_interface(object, stream);
  }
  auto const numpy = py::module_::import("numpy");
  py::object converted;
  // The format that NumPy gives the buffers of its scalars is not always one that it reads.
  bool const is_scalar = py::isinstance(object, numpy.attr("generic")) ||
                         (PyBytes_Check(object.ptr()) && is_text(dtype));
  if (PyObject_CheckBuffer(object.ptr()) != 0 && !is_scalar) {
    converted = py::reinterpret_steal<py::object>(PyMemoryView_FromObject(object.ptr()));
    if (!converted) throw py::error_already_set();
  } else if (accepted == accept::anything) {
    converted = py::reinterpret_borrow<py::object>(object);
  } else {
    raise(PyExc_TypeError, "an object of type " + type_name(object) +
                               " is no array; use one with __dlpack__, __cuda_array_interface__ or "
                               "the buffer protocol");
  }
  if (PyMemoryView_Check(converted.ptr())) {
    return from_numpy(numpy.attr("asarray")(converted));  // an array of the same memory
  }
  return from_numpy(numpy.attr("asarray")(converted, dtype));
}

py::dtype interface_dtype(py::object const& typestr, py::object const& descr) {
  if (!PyUnicode_Check(typestr.ptr())) {
    raise(PyExc_TypeError, "__cuda_array_interface__ has 'typestr' of type " + type_name(typestr) +
                               "; its producer must set a text");
  }
  auto const plain = py::dtype::from_args(typestr);
  // NumPy describes a type without fields as one field without a name.
  py::list no_fields;
  no_fields.append(py::make_tuple("", typestr));
  if (plain.kind() != 'V' || descr.is_none() || descr.equal(no_fields)) return plain;
  py::object described;
  try {
    // Fields without a name are padding.
    described = py::module_::import("numpy.lib.format").attr("descr_to_dtype")(descr);
  } catch (py::error_already_set& problem) {
    if (!problem.matches(PyExc_Exception)) throw;
    raise(PyExc_ValueError, "__cuda_array_interface__ has a 'descr' that describes no type: " +
                                repr_of(descr) + "; its producer must set that of a dtype");
  }
  auto result = described.cast<py::dtype>();
  if (result.itemsize() != plain.itemsize()) {
    raise(PyExc_ValueError, "__cuda_array_interface__ has a 'descr' of " +
                                std::to_string(result.itemsize()) + " bytes, but a 'typestr' of " +
                                std::to_string(plain.itemsize()) +
                                "; its producer must set both to the same size");
  }
  return result;
}

namespace {

// Clears the current exception if it is one of those by which int() refuses an object, and throws
// other exceptions, such as KeyboardInterrupt.
void clear_conversion_error() {
  for (PyObject* type : {PyExc_TypeError, PyExc_ValueError, PyExc_OverflowError}) {
    if (PyErr_ExceptionMatches(type) == 0) continue;
    PyErr_Clear();
    return;
  }
  throw py::error_already_set();
}

}  // namespace

std::pair<std::int32_t, std::int32_t> read_pair(py::handle object, char const* what,
                                                PyObject* problem) {
  std::int32_t values[2] = {};
  bool is_valid = PyTuple_Check(object.ptr()) || PyList_Check(object.ptr());
  is_valid = is_valid && PySequence_Size(object.ptr()) == 2;
  for (int i = 0; is_valid && i < 2; ++i) {
    auto const item = py::reinterpret_steal<py::object>(PySequence_GetItem(object.ptr(), i));
    if (!item) throw py::error_already_set();
    // Some enumerations of devices convert to integers only by int().
    bool const is_number = PyNumber_Check(item.ptr()) != 0 && !PyFloat_Check(item.ptr());
    auto const number =
        py::reinterpret_steal<py::object>(is_number ? PyNumber_Long(item.ptr()) : nullptr);
    int overflow = 0;
    long const value = number ? PyLong_AsLongAndOverflow(number.ptr(), &overflow) : 0;
    is_valid = number && overflow == 0 && value == static_cast<std::int32_t>(value);
    values[i] = static_cast<std::int32_t>(value);
    if (PyErr_Occurred() != nullptr) clear_conversion_error();
  }
  if (!is_valid) {
    raise(problem, std::string(what) + " is not valid: " + repr_of(object) +
                       "; use a tuple of two integers");
  }
  return {values[0], values[1]};
}

void copy(char const* name, tensor const& from, tensor const& to, stream_argument const& stream) {
  check_writable(to);
  std::size_t const unit = std::gcd(unit_of(from), unit_of(to));
  bool const as_bytes = unit != from.element_size || unit != to.element_size;
  bool const have_dtypes = !from.dtype.is_none() && !to.dtype.is_none();
  bool const is_opaque =
      from.type.code == ROCARRAY_TYPE_OPAQUE || to.type.code == ROCARRAY_TYPE_OPAQUE;
  if (have_dtypes && (as_bytes || is_opaque)) check_dtypes(from, to);
  // Types of which one has no dtype are left to the C interface, in their own units.
  bool const is_comparable = have_dtypes || have_same_type(from, to);
  description const source(from, is_comparable ? unit : from.element_size);
  description const destination(to, is_comparable ? unit : to.element_size);
  if (!stream) {
    call(name, [&] { return roc_copy(source.get(), destination.get(), nullptr); });
    pending_work::instance().release_finished();
    return;
  }
  pending_work::instance().enqueue(
      name, stream.handle(), {from.owner, to.owner}, [&](roc_stream target) {
        return roc_copy_async(source.get(), destination.get(), target, nullptr);
      });
}

void fill(char const* name, tensor const& to, py::handle value, stream_argument const& stream) {
  check_writable(to);
  auto const element =
      py::module_::import("numpy").attr("array")(value, to.dtype).cast<py::array>();
  if (element.size() != 1) {
    raise(PyExc_ValueError, "the value has " + std::to_string(element.size()) +
                                " elements; use one value, or copy_to_device");
  }
  constexpr std::size_t largest_value = 16;  // that roc_fill takes
  if (to.element_size > largest_value || !has_whole_strides(to.layout, to.element_size)) {
    tensor from = from_numpy(element);
    from.layout.shape = to.layout.shape;
    from.layout.strides.assign(to.layout.rank(), 0);
    copy(name, from, to, stream);
    return;
  }
  description const destination(to, to.element_size);
  void const* const bytes = element.data();
  if (!stream) {
    call(name, [&] { return roc_fill(destination.get(), bytes, to.element_size); });
    pending_work::instance().release_finished();
    return;
  }
  pending_work::instance().enqueue(name, stream.handle(), {to.owner}, [&](roc_stream target) {
    return roc_fill_async(destination.get(), bytes, to.element_size, target);
  });
}

void zero(char const* name, tensor const& to, stream_argument const& stream) {
  check_writable(to);
  description const destination(to, unit_of(to));
  if (!stream) {
    call(name, [&] { return roc_zero(destination.get()); });
    pending_work::instance().release_finished();
    return;
  }
  pending_work::instance().enqueue(name, stream.handle(), {to.owner}, [&](roc_stream target) {
    return roc_zero_async(destination.get(), target);
  });
}

}  // namespace roc::python
