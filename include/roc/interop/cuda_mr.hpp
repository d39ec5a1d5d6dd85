// SPDX-License-Identifier: MIT
// A resource of the library as one of cuda::mr, which RMM takes too. Includes no header of CUDA.
#pragma once

#include <concepts>
#include <cstddef>
#include <string_view>

#include <roc/detail/foreign_allocation.hpp>
#include <roc/memory/memory_resource.hpp>

namespace roc {

namespace detail {

/// Returns true if P is a class with this name in any namespace, such as
/// cuda::mr::device_accessible, whose header is not included here.
template <class P>
constexpr bool has_name(std::string_view name) {
  std::string_view const function = __PRETTY_FUNCTION__;
  std::string_view argument = function.substr(0, function.find_first_of(";,]"));
  if (!argument.ends_with(name)) return false;
  argument.remove_suffix(name.size());
  return argument.ends_with(':') || argument.ends_with(' ');
}

}  // namespace detail

/// A memory resource of this library as a resource of cuda::mr, for CCCL and for RMM:
/// `roc::cuda_mr_resource<cuda::mr::device_accessible> resource(pool);`.
///
/// Models cuda::mr::resource and cuda::mr::async_resource of CCCL 3.0, and
/// cuda::mr::synchronous_resource and cuda::mr::resource of CCCL 3.1 and later, with the
/// properties. RMM takes it as a rmm::device_async_resource_ref.
///
/// A value: copies refer to the same resource. The streams of the calls become streams of the
/// library, so that memory is reused only after the work before its deallocation; the device of the
/// resource must be current. A null stream is the legacy default stream.
///
/// *Lifetime:* the memory resource is borrowed. It must outlive this object and the memory.
///
/// @tparam Properties cuda::mr::device_accessible, cuda::mr::host_accessible, or other properties
///   without a value
template <class... Properties>
class cuda_mr_resource {
 public:
  /// Refers to `resource`.
  /// @throws roc::error if the memory of the resource is not accessible as the properties say
  explicit cuda_mr_resource(memory_resource& resource) : resource_(&resource) {
    detail::check_accessible(resource, (detail::has_name<Properties>("host_accessible") || ...),
                             (detail::has_name<Properties>("device_accessible") || ...));
  }

  /// Returns the memory resource.
  memory_resource& upstream() const noexcept { return *resource_; }

  /// @name Stream-ordered allocation
  /// The stream is a native handle, or a class with value() or get() that returns one. Allocation
  /// returns null for 0 bytes. It throws std::bad_alloc if memory is exhausted, and roc::error if
  /// another device is current or `alignment` is no power of two up to 256. Deallocation does not
  /// throw: errors go to the log hook.
  ///@{
  /// Allocates for work enqueued on `stream` after this call (CCCL 3.1).
  template <detail::foreign_stream S>
  [[nodiscard]] void* allocate(S stream, std::size_t bytes,
                               std::size_t alignment = memory_resource::alignment) {
    return detail::with_bad_alloc([&] {
      return detail::allocate_for(*resource_, bytes, alignment, detail::handle_of(stream));
    });
  }
  /// Deallocates after the work enqueued on `stream` so far (CCCL 3.1).
  template <detail::foreign_stream S>
  void deallocate(S stream, void* data, std::size_t bytes,
                  std::size_t = memory_resource::alignment) noexcept {
    detail::deallocate_for(*resource_, data, bytes, detail::handle_of(stream));
  }
  /// Allocates for work enqueued on `stream` after this call (CCCL 3.0).
  template <detail::foreign_stream S>
  [[nodiscard]] void* allocate_async(std::size_t bytes, std::size_t alignment, S stream) {
    return allocate(stream, bytes, alignment);
  }
  /// Allocates with the alignment of the library (CCCL 3.0).
  template <detail::foreign_stream S>
  [[nodiscard]] void* allocate_async(std::size_t bytes, S stream) {
    return allocate(stream, bytes);
  }
  /// Deallocates after the work enqueued on `stream` so far (CCCL 3.0).
  template <detail::foreign_stream S>
  void deallocate_async(void* data, std::size_t bytes, std::size_t, S stream) noexcept {
    deallocate(stream, data, bytes);
  }
  /// Deallocates after the work enqueued on `stream` so far (CCCL 3.0).
  template <detail::foreign_stream S>
  void deallocate_async(void* data, std::size_t bytes, S stream) noexcept {
    deallocate(stream, data, bytes);
  }
  ///@}

  /// @name Allocation without a stream
  /// Allocation blocks until the memory can be used on any stream and by the host, and throws as
  /// the form with a stream. Memory is deallocated after all work that uses it has finished.
  ///@{
  /// Allocates (CCCL 3.0).
  [[nodiscard]] void* allocate(std::size_t bytes,
                               std::size_t alignment = memory_resource::alignment) {
    return detail::with_bad_alloc(
        [&] { return detail::allocate_idle(*resource_, bytes, alignment); });
  }
  /// Deallocates (CCCL 3.0).
  void deallocate(void* data, std::size_t bytes,
                  std::size_t = memory_resource::alignment) noexcept {
    detail::deallocate_idle(*resource_, data, bytes);
  }
  /// Allocates (CCCL 3.1).
  [[nodiscard]] void* allocate_sync(std::size_t bytes,
                                    std::size_t alignment = memory_resource::alignment) {
    return allocate(bytes, alignment);
  }
  /// Deallocates (CCCL 3.1).
  void deallocate_sync(void* data, std::size_t bytes,
                       std::size_t = memory_resource::alignment) noexcept {
    deallocate(data, bytes);
  }
  ///@}

  /// Returns true if memory allocated from one may be deallocated by the other.
  friend bool operator==(cuda_mr_resource const& a, cuda_mr_resource const& b) noexcept {
    return *a.resource_ == *b.resource_;
  }
  /// Declares the properties.
  template <class P>
    requires(std::same_as<P, Properties> || ...)
  friend constexpr void get_property(cuda_mr_resource const&, P) noexcept {}

 private:
  memory_resource* resource_;
};

}  // namespace roc
