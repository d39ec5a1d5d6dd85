// SPDX-License-Identifier: MIT
// A memory resource over one of another library: RMM, cuda::mr or std::pmr. Includes no header of
// RMM or CUDA.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <memory_resource>
#include <mutex>
#include <new>
#include <optional>
#include <source_location>
#include <type_traits>
#include <utility>

#include <roc/detail/call_scope.hpp>
#include <roc/detail/foreign_allocation.hpp>
#include <roc/device.hpp>
#include <roc/memory/memory_resource.hpp>
#include <roc/stream.hpp>

namespace roc {

namespace detail {

/// cuda::mr of CCCL 3.1 and later, and RMM from 26.06 on.
template <class R>
concept stream_first_resource =
    requires(R& r, stream_argument stream, void* data, std::size_t bytes, std::size_t alignment) {
      { r.allocate(stream, bytes, alignment) } -> std::same_as<void*>;
      r.deallocate(stream, data, bytes, alignment);
    };
/// cuda::mr of CCCL up to 3.0, and the resource references of RMM of that time.
template <class R>
concept async_resource =
    requires(R& r, stream_argument stream, void* data, std::size_t bytes, std::size_t alignment) {
      { r.allocate_async(bytes, alignment, stream) } -> std::same_as<void*>;
      r.deallocate_async(data, bytes, alignment, stream);
    };
/// rmm::mr::device_memory_resource.
template <class R>
concept stream_last_resource =
    requires(R& r, stream_argument stream, void* data, std::size_t bytes) {
      { r.allocate(bytes, stream) } -> std::same_as<void*>;
      r.deallocate(data, bytes, stream);
    };
/// cuda::mr of CCCL 3.1 and later, without streams.
template <class R>
concept sync_resource = requires(R& r, void* data, std::size_t bytes, std::size_t alignment) {
  { r.allocate_sync(bytes, alignment) } -> std::same_as<void*>;
  r.deallocate_sync(data, bytes, alignment);
};
/// std::pmr, and cuda::mr of CCCL up to 3.0 without streams.
template <class R>
concept plain_resource = requires(R& r, void* data, std::size_t bytes, std::size_t alignment) {
  { r.allocate(bytes, alignment) } -> std::same_as<void*>;
  r.deallocate(data, bytes, alignment);
};
template <class R>
concept stream_ordered_foreign_resource =
    stream_first_resource<R> || async_resource<R> || stream_last_resource<R>;
template <class R>
concept any_foreign_resource =
    stream_ordered_foreign_resource<R> || sync_resource<R> || plain_resource<R>;
template <class R>
concept pmr_resource_class = std::derived_from<R, std::pmr::memory_resource>;

}  // namespace detail

/// A memory resource that allocates from a resource of another library, so that a program has one
/// pool: `roc::foreign_resource upstream(*rmm::mr::get_current_device_resource());`.
///
/// R is a class with one of these pairs of members; the first that it has is used:
/// - `allocate(stream, bytes, alignment)` (cuda::mr of CCCL 3.1, RMM from 26.06 on)
/// - `allocate_async(bytes, alignment, stream)` (cuda::mr of CCCL 3.0, RMM's references to it)
/// - `allocate(bytes, stream)` (rmm::mr::device_memory_resource, until 26.04)
/// - `allocate_sync(bytes, alignment)`, `allocate(bytes, alignment)` (cuda::mr without streams,
///   std::pmr)
///
/// Streams pass through unchanged, so that both libraries order the memory by the same streams.
/// Without streams, a deallocation blocks until the work of its stream has finished.
///
/// A std::bad_alloc of the other library becomes roc::out_of_memory; other exceptions of it pass
/// unchanged. Exceptions of a deallocation go to the log hook. While the other library is called,
/// the device of this resource is current.
///
/// A std::pmr::memory_resource serves host arrays of the kind host_memory::pageable, on every
/// platform. Device arrays do not take it: roc::error. Its calls are serialized, because most
/// resources of std::pmr are not thread-safe; do not use it elsewhere at the same time.
///
/// *Lifetime:* an lvalue is borrowed and must outlive this resource; an rvalue is moved in and
/// owned, as is proper for references such as rmm::device_async_resource_ref. What such a reference
/// refers to must outlive this resource.
template <class R>
  requires detail::any_foreign_resource<std::remove_reference_t<R>>
class foreign_resource final : public memory_resource {
  using upstream_type = std::remove_reference_t<R>;

 public:
  /// Creates a resource of device memory; of pageable host memory, if R is a std::pmr resource.
  ///
  /// @param upstream the resource of the other library, of this device
  /// @param device ordinal of the device; -1: the current one
  /// @throws roc::error if the device does not exist. A std::pmr resource needs a device too.
  explicit foreign_resource(R&& upstream, int device = -1,
                            detail::caller at = std::source_location::current())
      : foreign_resource(std::forward<R>(upstream),
                         detail::pmr_resource_class<upstream_type>
                             ? std::optional(host_memory::pageable)
                             : std::nullopt,
                         device, at) {}
  /// Creates a resource of host memory.
  ///
  /// @param upstream the resource of the other library
  /// @param kind the kind of its memory, which the library cannot find out. It must be right: the
  ///   host accesses the memory, and copies take `pinned` and `mapped` memory for page-locked.
  /// @param device ordinal of the device; -1: the current one
  /// @throws roc::error if the device does not exist
  foreign_resource(R&& upstream, host_memory kind, int device = -1,
                   detail::caller at = std::source_location::current())
    requires(!detail::pmr_resource_class<upstream_type>)
      : foreign_resource(std::forward<R>(upstream), std::optional(kind), device, at) {}

  /// Returns the resource of the other library.
  upstream_type& upstream() noexcept { return upstream_; }

 private:
  static constexpr bool is_stream_ordered = detail::stream_ordered_foreign_resource<upstream_type>;

  foreign_resource(R&& upstream, std::optional<host_memory> kind, int device, detail::caller at)
      : upstream_(std::forward<R>(upstream)),
        device_(device >= 0 ? roc::device(device, at) : roc::device(at)),
        kind_(kind) {}

  void* do_allocate(std::size_t bytes, stream_ref stream) override {
    return do_allocate_block(bytes, stream).data;
  }

  detail::resource_block do_allocate_block(std::size_t bytes, stream_ref stream) override {
    auto const handle = detail::handle_on(stream, device_.ordinal());
    device_guard const guard(device_);
    void* data = nullptr;
    try {
      data = call_allocate(bytes, {handle});
    } catch (std::bad_alloc const& error) {
      detail::throw_foreign_out_of_memory(bytes, error.what());
    }
    if (data == nullptr) detail::throw_foreign_out_of_memory(bytes, "it has returned null");
    if (reinterpret_cast<std::uintptr_t>(data) % alignment != 0) {
      call_deallocate(data, bytes, {handle});
      detail::throw_misaligned(data);
    }
    return {data, nullptr, is_stream_ordered};
  }

  void do_deallocate(void* data, std::size_t bytes, stream_ref stream) noexcept override {
    do_deallocate_block({data}, bytes, stream);
  }

  void do_deallocate_block(detail::resource_block const& block, std::size_t bytes,
                           stream_ref stream) noexcept override {
    std::optional<device_guard> guard;
    detail::native_stream* handle = nullptr;
    try {
      handle = prepare_deallocation(guard, block, stream);
    } catch (std::exception const&) {
      // Once more, so that a transient failure does not leak memory.
      try {
        handle = prepare_deallocation(guard, block, stream);
      } catch (std::exception const& error) {
        return log_leak(block.data, error.what());
      }
    }
    try {
      call_deallocate(block.data, bytes, {handle});
    } catch (std::exception const& error) {
      log_leak(block.data, error.what());
    } catch (...) {
      log_leak(block.data, "an exception that is not a std::exception");
    }
  }

  static void log_leak(void const* data, char const* reason) noexcept {
    char text[256];
    std::snprintf(text, sizeof text, "it is leaked: %s", reason);
    detail::log_failed_deallocation(data, text);
  }

  // Makes the device current, and returns the stream on which the block may be deallocated. Blocks
  // until its work has finished if the other library has no streams. Throws roc::error.
  detail::native_stream* prepare_deallocation(std::optional<device_guard>& guard,
                                              detail::resource_block const& block,
                                              stream_ref stream) {
    guard.emplace(device_);
    if constexpr (is_stream_ordered) {
      return detail::handle_to_deallocate(stream, device_.ordinal(), !block.has_prior_work);
    } else {
      if (block.has_prior_work) detail::wait_for_stream(stream, device_.ordinal());
      return nullptr;
    }
  }

  bool do_is_equal(memory_resource const& other) const noexcept override {
    auto const* const same = dynamic_cast<foreign_resource const*>(&other);
    if (same == nullptr || !(same->device_ == device_) || same->kind_ != kind_) return false;
    if constexpr (std::equality_comparable<upstream_type>) {
      return same->upstream_ == upstream_;
    } else {
      return std::addressof(same->upstream_) == std::addressof(upstream_);
    }
  }

  int do_device_ordinal() const noexcept override { return device_.ordinal(); }
  std::optional<host_memory> do_host_kind() const noexcept override { return kind_; }

  // Calls of a resource of std::pmr hold the mutex.
  std::unique_lock<std::mutex> lock() {
    if constexpr (detail::pmr_resource_class<upstream_type>) {
      return std::unique_lock(mutex_);
    } else {
      return {};
    }
  }

  void* call_allocate(std::size_t bytes, detail::stream_argument stream) {
    auto const lock = this->lock();
    if constexpr (detail::stream_first_resource<upstream_type>) {
      return upstream_.allocate(stream, bytes, alignment);
    } else if constexpr (detail::async_resource<upstream_type>) {
      return upstream_.allocate_async(bytes, alignment, stream);
    } else if constexpr (detail::stream_last_resource<upstream_type>) {
      return upstream_.allocate(bytes, stream);
    } else if constexpr (detail::sync_resource<upstream_type>) {
      return upstream_.allocate_sync(bytes, alignment);
    } else {
      return upstream_.allocate(bytes, alignment);
    }
  }

  void call_deallocate(void* data, std::size_t bytes, detail::stream_argument stream) {
    auto const lock = this->lock();
    if constexpr (detail::stream_first_resource<upstream_type>) {
      upstream_.deallocate(stream, data, bytes, alignment);
    } else if constexpr (detail::async_resource<upstream_type>) {
      upstream_.deallocate_async(data, bytes, alignment, stream);
    } else if constexpr (detail::stream_last_resource<upstream_type>) {
      upstream_.deallocate(data, bytes, stream);
    } else if constexpr (detail::sync_resource<upstream_type>) {
      upstream_.deallocate_sync(data, bytes, alignment);
    } else {
      upstream_.deallocate(data, bytes, alignment);
    }
  }

  R upstream_;  // a reference if it is borrowed
  roc::device device_;
  std::optional<host_memory> kind_;
  std::mutex mutex_;
};

/// An lvalue is borrowed, an rvalue is owned.
template <class R, class... A>
foreign_resource(R&&, A...) -> foreign_resource<R>;

}  // namespace roc
