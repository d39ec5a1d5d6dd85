// SPDX-License-Identifier: MIT
// Calls between the library and resources of other libraries: see roc/interop.
#pragma once

#include <concepts>
#include <cstddef>
#include <type_traits>

#include <roc/config.hpp>
#include <roc/detail/resource_adapter.hpp>
#include <roc/memory/memory_resource.hpp>
#include <roc/stream.hpp>

#if defined(CUDA_API_PER_THREAD_DEFAULT_STREAM) || defined(HIP_API_PER_THREAD_DEFAULT_STREAM)
#error \
    "rocarray: the adapters of memory resources take a null stream for the legacy default stream; \
do not compile this file with per-thread default streams"
#endif

namespace roc::detail {

// Calls of other libraries to a resource of this one. `stream` is a native handle; null is the
// legacy default stream of the current device.

/// Allocates for work enqueued on `stream` after this call. Returns null for 0 bytes. Throws
/// out_of_memory; roc::error if the resource is on another device than the current one, or cannot
/// align to `alignment`.
ROCARRAY_API void* allocate_for(memory_resource& resource, std::size_t bytes, std::size_t alignment,
                                native_stream* stream);
/// Deallocates after the work enqueued on `stream` so far. If another device than the resource's is
/// current, blocks until all devices are idle. Errors go to the log hook; the memory is leaked if
/// the work cannot be awaited. Exceptions of host functions stay with their streams.
ROCARRAY_API void deallocate_for(memory_resource& resource, void* data, std::size_t bytes,
                                 native_stream* stream) noexcept;
/// Allocates memory that no work uses, for any stream. Blocks until earlier work has finished.
/// Throws as allocate_for does.
ROCARRAY_API void* allocate_idle(memory_resource& resource, std::size_t bytes,
                                 std::size_t alignment);
/// Deallocates memory that no work uses any more.
ROCARRAY_API void deallocate_idle(memory_resource& resource, void* data,
                                  std::size_t bytes) noexcept;

// Calls of this library to a resource of another one.

/// Returns the handle of the stream for a call with `device` as the current device. Throws
/// lifetime_error for a destroyed stream, and roc::error for a stream of another device.
ROCARRAY_API native_stream* handle_on(stream_ref stream, int device);
/// Returns the handle of a stream for a deallocation after its work: if the stream is of another
/// device or was destroyed, blocks until its work has finished and returns that of the default
/// stream. `is_idle` means that no work uses the memory. Throws roc::error if the work cannot be
/// awaited.
ROCARRAY_API native_stream* handle_to_deallocate(stream_ref stream, int device, bool is_idle);
/// Throws out_of_memory with the message of another library.
[[noreturn]] ROCARRAY_API void throw_foreign_out_of_memory(std::size_t bytes, char const* message);
/// Throws roc::error because another library has returned memory that is not aligned.
[[noreturn]] ROCARRAY_API void throw_misaligned(void const* data);

/// Converts to every pointer to a native stream.
struct native_stream_pointer {
  native_stream* handle;
  template <class T>
  operator T*() const noexcept {
    return reinterpret_cast<T*>(handle);
  }
};

/// The argument for a parameter that is a native stream or a class with a constructor for one, such
/// as rmm::cuda_stream_view and cuda::stream_ref. No header of the other library is needed.
struct stream_argument {
  native_stream* handle;

  template <class T>
  operator T*() const noexcept {
    return reinterpret_cast<T*>(handle);
  }
  template <class S>
    requires std::is_class_v<S> && std::is_constructible_v<S, native_stream_pointer>
  operator S() const {
    return S(native_stream_pointer{handle});
  }
  /// For calls to cuda_mr_resource.
  native_stream* value() const noexcept { return handle; }
};

template <class S>
concept pointer_to_stream = std::is_pointer_v<std::remove_cvref_t<S>>;
template <class S>
concept has_stream_value = requires(S const& stream) {
  { stream.value() } -> pointer_to_stream;
};
template <class S>
concept has_stream_get = requires(S const& stream) {
  { stream.get() } -> pointer_to_stream;
};
/// A stream of another library: a native handle, or a class with value() (rmm::cuda_stream_view) or
/// get() (cuda::stream_ref) that returns one.
template <class S>
concept foreign_stream = pointer_to_stream<S> || has_stream_value<S> || has_stream_get<S>;

/// Returns the native handle of a stream of another library.
template <foreign_stream S>
native_stream* handle_of(S const& stream) {
  if constexpr (pointer_to_stream<S>) {
    return reinterpret_cast<native_stream*>(stream);
  } else if constexpr (has_stream_value<S>) {
    return reinterpret_cast<native_stream*>(stream.value());
  } else {
    return reinterpret_cast<native_stream*>(stream.get());
  }
}

}  // namespace roc::detail
