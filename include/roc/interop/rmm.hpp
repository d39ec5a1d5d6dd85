// SPDX-License-Identifier: MIT
// A resource of the library as one of RMM's class device_memory_resource. Includes no header of
// RMM.
#pragma once

#include <cstddef>

#include <roc/detail/foreign_allocation.hpp>
#include <roc/memory/memory_resource.hpp>

namespace roc {

/// A memory resource of this library as a rmm::mr::device_memory_resource, the base class of RMM's
/// resources until 26.04: `roc::rmm_resource<rmm::mr::device_memory_resource,
/// rmm::cuda_stream_view, rmm::out_of_memory> resource(pool);`. Later versions of RMM, and its
/// resource references, take a cuda_mr_resource.
///
/// Memory is aligned to 256 bytes. The streams of the calls become streams of the library, so that
/// memory is reused only after the work before its deallocation; the device of the resource must be
/// current, as RMM demands. A null stream is the legacy default stream.
///
/// Allocation throws BadAlloc if memory is exhausted, and roc::error if another device is current.
/// Deallocation does not throw: errors go to the log hook.
///
/// *Lifetime:* the memory resource is borrowed. It must outlive this object and the memory.
///
/// @tparam Base rmm::mr::device_memory_resource
/// @tparam Stream rmm::cuda_stream_view
/// @tparam BadAlloc rmm::out_of_memory, for adaptors that catch it; constructed from the message
template <class Base, detail::foreign_stream Stream, class BadAlloc = detail::foreign_bad_alloc>
class rmm_resource final : public Base {
 public:
  /// Refers to `resource`.
  /// @throws roc::error if the device cannot access the memory of the resource
  explicit rmm_resource(memory_resource& resource) : resource_(resource) {
    detail::check_accessible(resource, false, true);
  }

  /// Returns the memory resource.
  memory_resource& upstream() const noexcept { return resource_; }

 private:
  void* do_allocate(std::size_t bytes, Stream stream) override {
    return detail::with_bad_alloc<BadAlloc>([&] {
      return detail::allocate_for(resource_, bytes, memory_resource::alignment,
                                  detail::handle_of(stream));
    });
  }
  void do_deallocate(void* data, std::size_t bytes, Stream stream) noexcept override {
    detail::deallocate_for(resource_, data, bytes, detail::handle_of(stream));
  }
  bool do_is_equal(Base const& other) const noexcept override {
    auto const* const same = dynamic_cast<rmm_resource const*>(&other);
    return same != nullptr && same->resource_ == resource_;
  }

  memory_resource& resource_;
};

}  // namespace roc
