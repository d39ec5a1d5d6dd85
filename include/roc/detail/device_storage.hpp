// SPDX-License-Identifier: MIT
// The owner of device memory: an allocation of the library or adopted memory.
#pragma once

#include <cstddef>
#include <utility>

#include <roc/config.hpp>
#include <roc/memory/memory_resource.hpp>
#include <roc/stream.hpp>

namespace roc::detail {

/// The function that frees adopted memory, with its type erased: <functional> takes longer to
/// compile than all headers of this library.
struct finalizer {
  void* closure;                            // of the function
  void (*run)(void* closure, void* data);   // calls the function; may throw
  void (*destroy)(void* closure) noexcept;  // deletes the closure
};

/// Owns device memory: an allocation from a resource, or adopted memory. Null for zero bytes, and
/// after a move. Move-only, except that share() returns one more owner of the same memory; the last
/// owner frees it.
///
/// The destructor returns an allocation in the order of the stream that it was made on and of every
/// stream that used it since, and does not block. It frees adopted memory after all recorded uses,
/// for which it blocks. Errors go to the log hook.
class ROCARRAY_API device_storage {
 public:
  device_storage() = default;
  /// Allocates on the device of the stream, or on the current one. Throws out_of_memory,
  /// roc::error.
  device_storage(std::size_t bytes, stream_ref stream);
  /// Allocates from `resource`, on its device if it belongs to one. Throws out_of_memory, and
  /// roc::error if the stream belongs to another device or the memory is pinned or pageable.
  device_storage(std::size_t bytes, stream_ref stream, memory_resource& resource);
  /// Adopts device or managed memory, which `deleter(data)` frees. Throws roc::error for other
  /// memory; the deleter is not called then.
  template <class F>
  static device_storage adopt(void* data, std::size_t bytes, F deleter) {
    return device_storage(data, bytes, make_finalizer(std::move(deleter)));
  }
  /// Adopts memory that the work enqueued on `prior` so far may use: all uses come after it.
  /// Work on the default stream must also call record_stream.
  template <class F>
  static device_storage adopt_after(stream_ref prior, void* data, std::size_t bytes, F deleter) {
    return device_storage(data, bytes, make_finalizer(std::move(deleter)), &prior);
  }
  ~device_storage() {
    if (data_ != nullptr) drop();
  }
  device_storage(device_storage&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)),
        bytes_(other.bytes_),
        record_(other.record_),
        resource_(other.resource_),
        device_(std::exchange(other.device_, -1)),
        is_shared_(other.is_shared_) {}
  device_storage& operator=(device_storage&& other) noexcept {
    device_storage(std::move(other)).swap(*this);
    return *this;
  }
  void swap(device_storage& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
    std::swap(record_, other.record_);
    std::swap(resource_, other.resource_);
    std::swap(device_, other.device_);
    std::swap(is_shared_, other.is_shared_);
  }

  /// Returns false after a move and default construction.
  explicit operator bool() const noexcept { return device_ >= 0; }
  int device() const noexcept { return device_; }
  /// Returns the beginning of the memory; null for zero bytes.
  void* data() const noexcept { return data_; }

  /// Returns one more owner of the same memory. Thread-safe, as a copy of a std::shared_ptr is.
  device_storage share() const noexcept;
  /// Returns true if share() returned this object: other owners may exist.
  bool is_shared() const noexcept { return is_shared_; }
  /// Gives up ownership of the memory, which is not shared: the caller frees it, with hipFree or as
  /// the finalizer would have done. Throws lifetime_error, and keeps the memory, if hipFree cannot
  /// free it.
  void release();

 private:
  template <class F>
  static finalizer make_finalizer(F deleter) {
    return {new F(std::move(deleter)),
            [](void* closure, void* memory) { (*static_cast<F*>(closure))(memory); },
            [](void* closure) noexcept { delete static_cast<F*>(closure); }};
  }

  /// Adopts `data`; owns the closure, also if it throws.
  device_storage(void* data, std::size_t bytes, finalizer f);
  /// Adopts `data` as adopt_after does, or as adopt if `prior` is null.
  device_storage(void* data, std::size_t bytes, finalizer f, stream_ref const* prior);
  device_storage(device_storage const&) = default;

  /// Sets all members from a new allocation; leaves this empty if it throws.
  void allocate(std::size_t bytes, stream_ref stream, memory_resource& resource);
  /// Ends the ownership of this object, and frees the memory if there is no other owner.
  void drop() noexcept;

  void* data_ = nullptr;
  std::size_t bytes_ = 0;
  memory::allocation_record* record_ = nullptr;  // the pool's, or owned with the memory
  weak_resource_ref resource_;                   // empty for adopted memory
  int device_ = -1;
  bool is_shared_ = false;
};

/// Records that work on `stream`, enqueued by the user, uses the allocation that contains `data`.
/// Throws roc::error.
ROCARRAY_API void record_stream(void const* data, int device, stream_ref stream);

/// Records that another library has enqueued work on `stream` for this one: later calls without a
/// stream come after it. The device must be current if `stream` is a default stream. Throws
/// roc::error.
ROCARRAY_API void record_work(stream_ref stream);

}  // namespace roc::detail
