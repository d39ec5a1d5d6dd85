// SPDX-License-Identifier: MIT
// Managed memory (managed_array): where its pages lie, and who uses them.
//
// Each call asks the device first whether it can: roc::error (std::errc::not_supported) names the
// attribute that it lacks. The array may be any part of managed memory; other memory is a
// roc::error (std::errc::invalid_argument). Without elements nothing happens.
#pragma once

#include <cstddef>

#include <roc/config.hpp>
#include <roc/detail/host_argument.hpp>
#include <roc/device.hpp>
#include <roc/registration.hpp>
#include <roc/stream.hpp>

namespace roc {

/// A place for pages of managed memory: a device, or the host.
class ROCARRAY_API memory_location {
 public:
  /// The device's memory.
  memory_location(device const& on) noexcept : ordinal_(on.ordinal()) {}  // NOLINT: implicit
  /// The host's memory.
  static memory_location host() noexcept { return {}; }

  bool is_host() const noexcept { return ordinal_ < 0; }  ///< whether it is no device
  /// The device's, or -1.
  int ordinal() const noexcept { return ordinal_; }

 private:
  memory_location() = default;
  int ordinal_ = -1;
};

/// Hints of hipMemAdvise; they change speed, never results.
enum class advice : unsigned char {
  read_mostly,            ///< seldom written: each side may keep a copy of its own
  not_read_mostly,        ///< takes read_mostly back
  preferred_location,     ///< the pages stay at the location where they can
  no_preferred_location,  ///< takes preferred_location back
  accessed_by,            ///< the location uses the memory where it lies, without faults
  not_accessed_by,        ///< takes accessed_by back
};

/// Who may use managed memory (hipStreamAttachMemAsync).
enum class attachment : unsigned char {
  global,  ///< any stream on any device
  host,    ///< no device: the host may use it while a device works
  single,  ///< the given stream alone
};

namespace detail {

ROCARRAY_API void advise(host_extent extent, roc::advice hint, memory_location where);
ROCARRAY_API void prefetch(host_extent extent, memory_location to, stream_ref stream);
ROCARRAY_API void migrate(host_extent extent, memory_location to);
ROCARRAY_API void attach(host_extent extent, stream_ref stream, attachment to);

}  // namespace detail

/// Tells how the memory will be used (hipMemAdvise; pyopencl has none, numba.cuda neither). Needs
/// ConcurrentManagedAccess.
template <detail::host_argument H>
void advise(H&& array, roc::advice hint, memory_location where) {
  detail::advise(detail::extent_of(array), hint, where);
}

/// Moves the memory to the location, enqueued on `stream` (hipMemPrefetchAsync). Needs
/// ConcurrentManagedAccess. The array's destructor waits for it.
template <detail::host_argument H>
  requires(!detail::owning_temporary<H>)
void prefetch(H&& array, memory_location to, stream_ref stream) {
  detail::prefetch(detail::extent_of(array), to, stream);
}

/// Moves the memory to the location, after all work enqueued earlier on the current device through
/// the library; done on return (pyopencl: `enqueue_svm_migratemem`). Needs
/// ConcurrentManagedAccess.
template <detail::host_argument H>
void migrate(H&& array, memory_location to) {
  detail::migrate(detail::extent_of(array), to);
}

/// Says from when on, in the order of `stream`, who may use the whole array
/// (hipStreamAttachMemAsync; numba.cuda: `managed_array(attach_global=)`). Needs ManagedMemory. On
/// AMD nothing happens. Throws roc::error (invalid_argument) for a part of an array that does not
/// begin it, and for `single` with the default stream.
template <detail::host_argument H>
  requires(!detail::owning_temporary<H>)
void attach(H&& array, stream_ref stream, attachment to = attachment::single) {
  detail::attach(detail::extent_of(array), stream, to);
}

}  // namespace roc
