// SPDX-License-Identifier: MIT
// Placement and visibility of managed memory (managed_array): advise, prefetch, migrate, attach.
//
// Each function accepts any part of managed memory, whether or not the library allocated it, and
// does nothing for an array without elements. Each throws roc::error: with
// std::errc::invalid_argument for other memory, and with std::errc::not_supported, naming the
// attribute, if the device lacks one that is needed.
#pragma once

#include <cstddef>
#include <source_location>

#include <roc/config.hpp>
#include <roc/detail/call_scope.hpp>
#include <roc/detail/copy_operand.hpp>
#include <roc/device.hpp>
#include <roc/memory/memory_location.hpp>
#include <roc/registration.hpp>
#include <roc/stream.hpp>

namespace roc {

/// Hints about the use of managed memory (hipMemAdvise). They change performance, never results.
enum class advice : unsigned char {
  read_mostly,            ///< rarely written: host and devices may each keep a copy
  not_read_mostly,        ///< undoes read_mostly
  preferred_location,     ///< pages stay at the location if possible
  no_preferred_location,  ///< undoes preferred_location
  accessed_by,            ///< the location accesses the memory remotely, without page faults
  not_accessed_by,        ///< undoes accessed_by
};

/// Which streams may access managed memory (hipStreamAttachMemAsync).
enum class attachment : unsigned char {
  global,  ///< every stream on every device
  host,    ///< no stream: the host may access the memory while devices work
  /// Only the given stream. Attach the memory globally before that stream is destroyed: a later
  /// roc::stream may get the native stream, to which the memory stays attached.
  single,
};

namespace detail {

ROCARRAY_API void advise(host_extent extent, roc::advice hint, memory_location location);
ROCARRAY_API void prefetch(host_extent extent, memory_location location, stream_ref stream);
ROCARRAY_API void migrate(host_extent extent, memory_location location);
ROCARRAY_API void attach(host_extent extent, stream_ref stream, attachment mode);

}  // namespace detail

/// Announces how managed memory will be used (hipMemAdvise).
///
/// Needs the device attribute ConcurrentManagedAccess.
/// @param array managed memory, or a part of it
/// @param hint the kind of use
/// @param location the device or host that the hint refers to
/// @throws roc::error
template <detail::host_argument H>
void advise(H&& array, roc::advice hint, memory_location location,
            detail::caller at = std::source_location::current()) {
  detail::call_scope const call(__func__, at);
  detail::advise(detail::extent_of(array), hint, location);
}

/// Enqueues the migration of managed memory to a location (hipMemPrefetchAsync).
///
/// Needs the device attribute ConcurrentManagedAccess.
/// @param array managed memory, or a part of it
/// @param location the device or host that the pages move to
/// @throws roc::error
///
/// *Synchronization:* runs in the order of `stream`. The destructor of a managed array waits for
/// it. On AMD, hipMemPrefetchAsync itself blocks until the work that was enqueued on the stream
/// before it has finished; prefetch from another thread if the caller must not wait.
template <detail::host_argument H>
  requires(!detail::owning_temporary<H>)
void prefetch(H&& array, memory_location location, stream_ref stream,
              detail::caller at = std::source_location::current()) {
  detail::call_scope const call(__func__, at);
  detail::prefetch(detail::extent_of(array), location, stream);
}

/// Migrates managed memory to a location (pyopencl: `enqueue_svm_migratemem`).
///
/// Needs the device attribute ConcurrentManagedAccess.
/// @param array managed memory, or a part of it
/// @param location the device or host that the pages move to
/// @throws roc::error
///
/// *Synchronization:* ordered after all work that was enqueued on the current device through the
/// library, and complete on return.
template <detail::host_argument H>
void migrate(H&& array, memory_location location,
             detail::caller at = std::source_location::current()) {
  detail::call_scope const call(__func__, at);
  detail::migrate(detail::extent_of(array), location);
}

/// Sets which streams may access a managed array (hipStreamAttachMemAsync; numba.cuda:
/// `managed_array(attach_global=)`).
///
/// Needs the device attribute ManagedMemory. Has no effect on AMD.
/// @param array a managed array; a part that begins at the first element means the whole array
/// @param mode which streams may access it
/// @throws roc::error with std::errc::invalid_argument for a part that does not begin at the first
///   element, and for attachment::single with the default stream
///
/// *Synchronization:* takes effect in the order of `stream`.
template <detail::host_argument H>
  requires(!detail::owning_temporary<H>)
void attach(H&& array, stream_ref stream, attachment mode = attachment::single,
            detail::caller at = std::source_location::current()) {
  detail::call_scope const call(__func__, at);
  detail::attach(detail::extent_of(array), stream, mode);
}

}  // namespace roc
