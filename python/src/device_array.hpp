// SPDX-License-Identifier: MIT
// Python's DeviceArray: an array of any rank in device memory, or a view of one.
#pragma once

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <roc/c.h>

#include "call.hpp"
#include "layout.hpp"
#include "stream.hpp"
#include "tensor.hpp"

namespace roc::python {

/// An allocation of the library. Shared by arrays, by calls that use it, which run without the GIL,
/// and by exports. Holds no Python object, so that any thread may destroy it.
class device_memory {
 public:
  /// Allocates in the order of `stream`, or on the current device. Throws MemoryError.
  device_memory(char const* name, std::size_t bytes, stream_argument const& stream);
  device_memory(device_memory const&) = delete;
  device_memory& operator=(device_memory const&) = delete;
  /// Frees the memory after the work that uses it; does not block.
  ~device_memory();

  void* data() const noexcept { return data_; }  ///< null for zero bytes
  int device() const noexcept { return device_; }
  /// Makes later work of `consumer` wait for the work enqueued so far on the stream of the
  /// allocation: work that used the block before may be pending there. The device must be current.
  /// Does not block. Throws, as the Python function `name`.
  void order_before(char const* name, roc_stream consumer) const;

 private:
  roc_stream stream() const noexcept {
    return stream_ == nullptr ? ROCARRAY_DEFAULT_STREAM : stream_->get();
  }

  std::shared_ptr<stream_handle> stream_;  // null: the default stream
  void* data_ = nullptr;
  std::int32_t device_ = 0;
};

/// What an array and its views share. The GIL guards it.
struct array_memory {
  std::shared_ptr<device_memory const> memory;  ///< null after close()
  int device;
};

class device_array {
 public:
  /// Allocates an array that is not initialized.
  device_array(char const* name, strided_layout layout, py::dtype dtype,
               stream_argument const& stream);

  /// Returns the array as an operand, without its owner. Throws ValueError after close().
  tensor describe() const;

  // Metadata. None of them needs the memory.
  strided_layout const& layout() const noexcept { return layout_; }
  py::dtype const& dtype() const noexcept { return dtype_; }
  std::size_t element_size() const noexcept { return element_size_; }
  int device() const noexcept { return shared_->device; }
  bool is_contiguous(order o) const { return python::is_contiguous(layout_, o, element_size_); }

  // Views of the same memory.
  device_array view(strided_layout layout) const { return {shared_, std::move(layout), dtype_}; }
  device_array view_as(py::handle dtype) const;
  /// Throws IndexError if the elements have no such field.
  device_array field(py::str const& name) const;
  /// Returns a view, or throws ValueError if that needs a copy.
  device_array reshape(extents const& shape, order o) const;
  /// Returns a new contiguous array, without a stream on the device of this one.
  device_array reshape_copy(char const* name, extents const& shape, order o,
                            stream_argument const& stream) const;

  // Copies.
  py::object copy_to_host(py::object host, stream_argument const& stream) const;
  void copy_to_device(char const* name, py::handle source, stream_argument const& stream) const;

  /// Gives up the share of the array and its views. Calls that run in other threads, and consumers
  /// of exports, keep theirs.
  void close() noexcept { shared_->memory.reset(); }
  void record_stream(stream_argument const& stream) const;
  py::object export_dlpack(py::object const& stream, py::object const& max_version,
                           py::object const& dl_device, py::object const& copy) const;
  py::dict cuda_array_interface() const;

 private:
  device_array(std::shared_ptr<array_memory> shared, strided_layout layout, py::dtype dtype)
      : shared_(std::move(shared)),
        layout_(std::move(layout)),
        dtype_(std::move(dtype)),
        element_size_(static_cast<std::size_t>(dtype_.itemsize())) {}

  /// Returns a capsule of the array as it is. The device must be current: consumers mean its
  /// default stream.
  py::object export_capsule(py::handle stream, bool is_versioned, std::uint64_t flags) const;
  /// Returns the memory. Throws ValueError after close().
  std::shared_ptr<device_memory const> const& memory() const;

  std::shared_ptr<array_memory> shared_;
  strided_layout layout_;
  py::dtype dtype_;
  std::size_t element_size_;
};

/// Returns an array like another one: C and Fortran order are kept, other layouts become contiguous
/// with the same order of axes.
device_array make_array_like(char const* name, tensor const& other, stream_argument const& stream);

/// Adds the class and the functions that create arrays to the module.
void define_device_array(py::module_& module);

}  // namespace roc::python
