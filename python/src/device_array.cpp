// SPDX-License-Identifier: MIT
#include "device_array.hpp"

#include <string>
#include <vector>

#include "dlpack.hpp"

namespace roc::python {
namespace {

std::int64_t signed_size(std::size_t bytes) noexcept { return static_cast<std::int64_t>(bytes); }

// An exported tensor and what it points to.
template <class Managed>
struct dlpack_export {
  Managed managed{};
  std::shared_ptr<void const> memory;
  extents shape;
  extents strides;
};

template <class Managed>
py::object make_capsule(tensor const& source, std::uint64_t flags) {
  auto exported = std::make_unique<dlpack_export<Managed>>();
  exported->memory = source.memory;
  exported->shape = source.layout.shape;
  for (auto stride : source.layout.strides) {
    exported->strides.push_back(stride / signed_size(source.element_size));
  }
  Managed& managed = exported->managed;
  managed.manager_context = exported.get();
  managed.deleter = [](Managed* self) {
    delete static_cast<dlpack_export<Managed>*>(self->manager_context);
  };
  if constexpr (std::is_same_v<Managed, dlpack_managed_versioned>) {
    managed.major_version = dlpack_major_version;
    managed.minor_version = dlpack_minor_version;
    managed.flags = flags;
  }
  auto& tensor = managed.tensor;
  // Null for an array without elements, as the protocol asks. The offset of a view is part of the
  // address: some consumers, such as PyTorch, ignore byte_offset.
  tensor.data = source.layout.size() == 0
                    ? nullptr
                    : static_cast<std::byte*>(source.data) + source.layout.offset;
  tensor.byte_offset = 0;
  tensor.device = source.device;
  tensor.dtype = source.type;
  tensor.ndim = static_cast<std::int32_t>(exported->shape.size());
  tensor.shape = exported->shape.data();
  tensor.strides = exported->strides.data();
  PyObject* const capsule = PyCapsule_New(&managed, dlpack_name<Managed>, [](PyObject* self) {
    if (!PyCapsule_IsValid(self, dlpack_name<Managed>)) return;  // a consumer has taken it
    auto* const unused = static_cast<Managed*>(PyCapsule_GetPointer(self, dlpack_name<Managed>));
    unused->deleter(unused);
  });
  if (capsule == nullptr) throw py::error_already_set();
  exported.release();
  return py::reinterpret_steal<py::object>(capsule);
}

// Returns the stream of a consumer, given as __dlpack__(stream=) does; nothing for -1, with which
// the consumer orders the work itself.
std::optional<stream> consumer_stream(py::handle number) {
  bool const is_cuda = roc_device_type() == ROCARRAY_DEVICE_CUDA;
  if (number.is_none()) return stream::default_stream();
  std::int64_t const value = to_integer(number, "the stream of __dlpack__", PyExc_ValueError);
  if (value == -1) return {};
  if (value < 0 || (is_cuda ? value == 0 : value == 1 || value == 2)) {
    raise(PyExc_ValueError,
          "the stream " + std::to_string(value) +
              " is not allowed in __dlpack__ on this platform; use " +
              (is_cuda ? "1 for the legacy default stream, 2 for that of the thread"
                       : "0 for the default stream"));
  }
  if (value == (is_cuda ? 1 : 0)) return stream::default_stream();
  if (is_cuda && value == 2) return stream::per_thread_stream();
  return stream::external(static_cast<std::uintptr_t>(value));
}

// Exports an array of NumPy, which knows max_version since 2.1.
py::object export_host(py::object const& host, py::object const& max_version) {
  py::object const method = host.attr("__dlpack__");
  if (max_version.is_none()) return method();
  try {
    return method(py::arg("max_version") = max_version);
  } catch (py::error_already_set& problem) {
    if (!problem.matches(PyExc_TypeError)) throw;
  }
  return method();
}

}  // namespace

device_memory::device_memory(char const* name, std::size_t bytes, stream_argument const& stream)
    : stream_(stream.handle()) {
  call(name, [&] {
    roc_status const status = roc_stream_device(stream.get(), &device_);
    if (status != ROCARRAY_SUCCESS) return status;
    return roc_allocate(ROCARRAY_DEFAULT_RESOURCE, bytes, stream.get(), &data_);
  });
}

device_memory::~device_memory() {
  if (data_ == nullptr) return;
  call_quietly([this] {
    if (roc_free(data_, stream()) == ROCARRAY_SUCCESS) return;
    // The stream has ended, if it is one of other code. The library has recorded which work uses
    // the memory. If this fails too, the runtime has failed, and other calls report that.
    roc_free(data_, ROCARRAY_DEFAULT_STREAM);
  });
}

void device_memory::order_before(char const* name, roc_stream consumer) const {
  order_streams(name, stream(), consumer, device_);
}

device_array::device_array(char const* name, strided_layout layout, py::dtype dtype,
                           stream_argument const& stream)
    : device_array(nullptr, std::move(layout), std::move(dtype)) {
  std::size_t const bytes = allocation_bytes(layout_, element_size_);
  auto memory = std::make_shared<device_memory const>(name, bytes, stream);
  int const device = memory->device();
  shared_ = std::make_shared<array_memory>(array_memory{std::move(memory), device});
}

std::shared_ptr<device_memory const> const& device_array::memory() const {
  if (shared_->memory == nullptr) {
    raise(PyExc_ValueError,
          "the memory of the array was freed by close(); use an array that is open");
  }
  return shared_->memory;
}

tensor device_array::describe() const {
  tensor result;
  result.memory = memory();
  result.data = memory()->data();
  result.device = {roc_device_type(), device()};
  result.type = element_type_of(dtype_);
  result.element_size = element_size_;
  result.layout = layout_;
  result.dtype = dtype_;
  return result;
}

device_array device_array::view_as(py::handle requested) const {
  extents axes;
  py::dtype dtype = read_dtype(requested, axes);
  if (!axes.empty()) {
    raise(PyExc_ValueError, "the elements of a view cannot be arrays: dtype " + text_of(requested) +
                                "; use view('" + text_of(dtype.attr("str")) + "') and reshape");
  }
  auto const old_size = signed_size(element_size_);
  auto const new_size = static_cast<std::int64_t>(dtype.itemsize());
  strided_layout layout = layout_;
  if (old_size != new_size) {
    std::size_t const last = layout.rank() - 1;
    bool const is_possible = layout.rank() != 0 && layout.strides[last] == old_size &&
                             layout.shape[last] * old_size % new_size == 0;
    if (!is_possible) {
      raise(PyExc_ValueError,
            "a view of elements of " + std::to_string(old_size) + " bytes as elements of " +
                std::to_string(new_size) +
                " needs a contiguous last axis with a multiple of those bytes: shape " +
                to_string(layout.shape) + "; copy the array first");
    }
    layout.shape[last] = layout.shape[last] * old_size / new_size;
    layout.strides[last] = new_size;
  }
  return {shared_, std::move(layout), std::move(dtype)};
}

device_array device_array::field(py::str const& name) const {
  py::object const fields = dtype_.attr("fields");
  if (fields.is_none() || !fields.contains(name)) {
    raise(PyExc_IndexError,
          "the elements have no field " + repr_of(name) + ": dtype " + repr_of(dtype_));
  }
  py::tuple const description = fields[name];
  strided_layout layout = layout_;
  layout.offset += description[1].cast<std::int64_t>();
  extents axes;  // of a field that is an array
  auto dtype = expand_subarrays(description[0].cast<py::dtype>(), axes);
  auto const inner =
      compact_layout(std::move(axes), order::c, static_cast<std::size_t>(dtype.itemsize()));
  layout.shape.insert(layout.shape.end(), inner.shape.begin(), inner.shape.end());
  layout.strides.insert(layout.strides.end(), inner.strides.begin(), inner.strides.end());
  check_rank(layout.rank());
  return {shared_, std::move(layout), std::move(dtype)};
}

device_array device_array::reshape(extents const& shape, order o) const {
  auto result = try_reshape(layout_, shape, o, element_size_);
  if (!result) {
    raise(PyExc_ValueError, "reshape of strided array from " + to_string(layout_.shape) + " to " +
                                to_string(shape) + " needs a copy; use reshape_copy");
  }
  return view(std::move(*result));
}

device_array device_array::reshape_copy(char const* name, extents const& shape, order o,
                                        stream_argument const& stream) const {
  auto layout = compact_layout(layout_.shape, o, element_size_);
  static_cast<void>(try_reshape(layout, shape, o, element_size_));  // before anything is allocated
  device_scope const current(stream ? -1 : device());
  device_array const result(name, std::move(layout), dtype_, stream);
  tensor from = describe();
  tensor to = result.describe();
  from.owner = py::cast(*this);
  to.owner = py::cast(result);
  copy(name, from, to, stream);
  return result.reshape(shape, o);
}

py::object device_array::copy_to_host(py::object host, stream_argument const& stream) const {
  tensor from = describe();
  from.owner = py::cast(*this);
  if (host.is_none()) {
    strided_layout const layout = like_layout(layout_, element_size_);
    host = py::array(dtype_, layout.shape, layout.strides);
  }
  tensor const to = find_tensor(host, stream);
  if (!to.is_host_memory()) {
    raise(PyExc_ValueError,
          "the destination of copy_to_host is in device memory; use copy_to_device "
          "of the destination, or copy()");
  }
  copy("copy_to_host", from, to, stream);
  return host;
}

void device_array::copy_to_device(char const* name, py::handle source,
                                  stream_argument const& stream) const {
  tensor to = describe();
  to.owner = py::cast(*this);
  copy(name, find_tensor(source, stream, accept::anything), to, stream);
}

void device_array::record_stream(stream_argument const& stream) const {
  auto const used = memory();
  call("record_stream", [&] { return roc_record_stream(used->data(), stream.get()); });
}

py::object device_array::export_dlpack(py::object const& stream_number,
                                       py::object const& max_version, py::object const& dl_device,
                                       py::object const& copy) const {
  tensor const source = describe();
  auto const used = memory();  // the calls below may run Python code, which may close the array
  bool const is_versioned =
      !max_version.is_none() && read_pair(max_version, "max_version", PyExc_ValueError).first >= 1;
  bool const must_copy = !copy.is_none() && to_bool(copy, "copy");
  bool const may_copy = must_copy || copy.is_none();
  if (!dl_device.is_none()) {
    auto const [type, ordinal] = read_pair(dl_device, "dl_device", PyExc_ValueError);
    if (type == ROCARRAY_DEVICE_CPU && may_copy) {
      return export_host(copy_to_host(py::none(), stream_argument(py::none())), max_version);
    }
    if (type != source.device.device_type || ordinal != source.device.device_id) {
      raise(PyExc_BufferError, "the array cannot be exported to device (" + std::to_string(type) +
                                   ", " + std::to_string(ordinal) + "): it is on (" +
                                   std::to_string(source.device.device_type) + ", " +
                                   std::to_string(source.device.device_id) +
                                   "); copy it to an array there");
    }
  }
  // DLPack's floating-point types have the formats of IEEE 754. The format of long double may be
  // another one, such as 80 bits padded to 128.
  bool const is_long_double = source.type.code == ROCARRAY_TYPE_FLOAT && source.type.bits > 64;
  if (source.type.code == ROCARRAY_TYPE_OPAQUE || is_long_double) {
    raise(PyExc_BufferError, "DLPack has no type for elements of dtype " + text_of(dtype_) +
                                 "; export a view of another dtype");
  }
  device_scope const current(device());
  bool const has_strides = has_whole_strides(layout_, element_size_);
  if (must_copy || (may_copy && !has_strides)) {
    auto const contiguous =
        reshape_copy("__dlpack__", layout_.shape, order::c, stream_argument(py::none()));
    return contiguous.export_capsule(stream_number, is_versioned, dlpack_is_copied);
  }
  if (!has_strides) {
    raise(PyExc_BufferError, "DLPack counts strides in elements, but the strides " +
                                 to_string(layout_.strides) + " are no multiples of " +
                                 std::to_string(element_size_) + " bytes; export a copy");
  }
  return export_capsule(stream_number, is_versioned, 0);
}

py::object device_array::export_capsule(py::handle stream_number, bool is_versioned,
                                        std::uint64_t flags) const {
  tensor const source = describe();
  auto const used = memory();
  if (auto const consumer = consumer_stream(stream_number)) {
    roc_stream const target = consumer->handle()->get();
    pending_work::instance().order_before("__dlpack__", target);
    used->order_before("__dlpack__", target);
    call("__dlpack__", [&] { return roc_record_stream(used->data(), target); });
  }
  return is_versioned ? make_capsule<dlpack_managed_versioned>(source, flags)
                      : make_capsule<dlpack_managed>(source, flags);
}

py::dict device_array::cuda_array_interface() const {
  if (roc_device_type() == ROCARRAY_DEVICE_HOST_PLATFORM) {
    raise(PyExc_AttributeError,
          "a DeviceArray has no __cuda_array_interface__ on the host platform: its memory is not "
          "that of a GPU");
  }
  tensor const source = describe();
  auto const used = memory();
  device_scope const current(device());
  char const* const name = "__cuda_array_interface__";
  pending_work::instance().order_before(name, ROCARRAY_DEFAULT_STREAM);
  used->order_before(name, ROCARRAY_DEFAULT_STREAM);
  // 0 for an array without elements, as the protocol asks.
  auto const address = layout_.size() == 0 ? 0 : reinterpret_cast<std::uintptr_t>(source.data);
  py::dict result;
  result["shape"] = to_tuple(layout_.shape);
  result["typestr"] = dtype_.attr("str");
  try {
    result["descr"] = dtype_.attr("descr");
  } catch (py::error_already_set& problem) {
    if (!problem.matches(PyExc_ValueError)) throw;
    // NumPy does not describe fields that overlap or are out of order. The entry is optional.
  }
  result["data"] = py::make_tuple(
      address == 0 ? 0 : address + static_cast<std::uintptr_t>(layout_.offset), false);
  result["strides"] =
      is_contiguous(order::c) ? py::object(py::none()) : py::object(to_tuple(layout_.strides));
  result["version"] = 3;
  result["stream"] = 1;  // the legacy default stream
  return result;
}

device_array make_array_like(char const* name, tensor const& other, stream_argument const& stream) {
  if (other.dtype.is_none()) {
    raise(PyExc_TypeError,
          "NumPy has no type for the elements of this array, such as bfloat16; use "
          "copy() between two arrays of other libraries");
  }
  return device_array(name, like_layout(other.layout, other.element_size),
                      other.dtype.cast<py::dtype>(), stream);
}

}  // namespace roc::python
