// SPDX-License-Identifier: MIT
// Registration: pins existing host memory, so that copies run at link speed.
#pragma once

#include <concepts>
#include <cstddef>
#include <source_location>
#include <utility>
#include <vector>

#include <roc/config.hpp>
#include <roc/detail/call_scope.hpp>
#include <roc/detail/copy_operand.hpp>

namespace roc {

/// How memory is registered (flags of hipHostRegister).
struct registration_options {
  /// Kernels can access the memory through roc::device_view_of (hipHostRegisterMapped).
  bool mapped = false;
  bool portable = false;  ///< The memory is pinned for every device (hipHostRegisterPortable).
  /// The device only reads the memory (hipHostRegisterReadOnly); copies to it throw
  /// registration_error. Required for memory that the process itself may only read.
  bool read_only = false;
  /// Asks the system for huge pages before pinning (madvise). Halves the time for memory of which
  /// most pages have not been touched.
  bool huge_pages = false;
};

class registration;

namespace detail {

/// The bytes that host memory spans, with gaps.
struct host_extent {
  void const* data;
  std::size_t bytes;
};

// The functions below call HIP and throw registration_error and roc::error.

/// Registers all ranges or none: if one fails, those before it are deregistered.
ROCARRAY_API void register_extents(host_extent const* extents, std::size_t count,
                                   registration_options options);
/// Deregisters one range. Blocks until the copies that use it have finished.
ROCARRAY_API void deregister_extent(host_extent extent);
/// Adds ranges that other code has pinned to the table: all ranges or none.
ROCARRAY_API void adopt_extents(host_extent const* extents, std::size_t count);
/// Deregisters all ranges or none: checks first that all are registered. Blocks until the copies
/// that use the ranges have finished.
ROCARRAY_API void deregister_extents(host_extent const* extents, std::size_t count);
/// Deregisters all ranges. Errors go to the log hook. Blocks until the copies that use the ranges
/// have finished.
ROCARRAY_API void deregister_extents_quietly(host_extent const* extents,
                                             std::size_t count) noexcept;

template <class H>
host_extent extent_of(H&& host) {
  auto const view = as_host_view(host);
  auto const [low, high] = view.element_range();
  return {view.data() + low, static_cast<std::size_t>(high - low) * sizeof(*view.data())};
}

template <class... H>
registration register_ranges(registration_options options, H&... ranges);
template <class... H>
registration adopt_ranges(H&... ranges);
template <class... H>
void deregister_ranges(H&... ranges) {
  host_extent const extents[] = {extent_of(ranges)..., {nullptr, 0}};
  deregister_extents(extents, sizeof...(H));
}

/// The problem with ranges that must stay in memory after the call.
template <class... H>
using registration_misuse = first_misuse<host_misuse<H>..., temporary_misuse<H...>>;

}  // namespace detail

/// Keeps ranges registered during a scope. Returned by register_host and adopt_registered.
/// Move-only.
///
/// The destructor deregisters the ranges, also while an exception unwinds. It blocks until the
/// copies that use a part of them have finished, and never throws: errors go to the log hook. If
/// HIP cannot wait or deregister, the range stays registered. `deregister` does the same early and
/// can throw. `release` leaves the ranges registered until roc::deregister,
/// as numba.roc's `register` does outside a with-block.
class [[nodiscard]] ROCARRAY_API registration {
 public:
  /// Takes over the ranges; leaves `other` without ranges.
  registration(registration&& other) noexcept : extents_(std::exchange(other.extents_, {})) {}
  /// Deregisters the current ranges, as the destructor does, and takes over those of `other`.
  registration& operator=(registration&& other) noexcept;
  ~registration();

  /// Deregisters the ranges. Blocks until the copies that use them have finished. Throws
  /// roc::error.
  void deregister(detail::caller at = std::source_location::current());
  /// Leaves the ranges registered: the destructor does nothing.
  void release() noexcept { extents_.clear(); }

 private:
  explicit registration(std::vector<detail::host_extent> extents) noexcept
      : extents_(std::move(extents)) {}
  static registration make_registered(std::vector<detail::host_extent> extents,
                                      registration_options options);
  static registration make_adopted(std::vector<detail::host_extent> extents);
  template <class... H>
  friend registration detail::register_ranges(registration_options, H&...);
  template <class... H>
  friend registration detail::adopt_ranges(H&...);

  std::vector<detail::host_extent> extents_;
};

namespace detail {

template <class... H>
registration register_ranges(registration_options options, H&... ranges) {
  return registration::make_registered({extent_of(ranges)...}, options);
}
template <class... H>
registration adopt_ranges(H&... ranges) {
  return registration::make_adopted({extent_of(ranges)...});
}

}  // namespace detail

/// Registers host memory (hipHostRegister; numba.roc: `roc.register`).
///
/// A range that is registered already is counted, and needs as many deregistrations. A range of
/// zero length is ignored. Several ranges are registered all or none. A large range is registered
/// in chunks of ROCARRAY_REGISTER_CHUNK bytes (1G), unless it is mapped.
///
/// @param options see registration_options
/// @param ranges contiguous ranges, C arrays, host arrays and views. A strided one registers
///   everything from its first to its last byte.
/// @throws registration_error if a range overlaps a registered one without being the same (the
///   message names both), or if the runtime has registered it already (see adopt_registered);
///   roc::error
///
/// *Synchronization:* a range that is registered only in part, or by several registrations, is
/// copied as pageable memory is, and after every pending copy that touches a part of it.
///
/// *Lifetime:* the memory must stay allocated until it is deregistered.
template <detail::host_argument... H>
  requires(sizeof...(H) != 1 && detail::correct_use<detail::registration_misuse<H...>>)
[[nodiscard]] registration register_host(registration_options options, H&&... ranges) {
  detail::call_scope const call(__func__);
  return detail::register_ranges(options, ranges...);
}
/// Registers one range.
template <detail::host_argument H>
  requires detail::correct_use<detail::registration_misuse<H>>
[[nodiscard]] registration register_host(registration_options options, H&& range,
                                         detail::caller at = std::source_location::current()) {
  detail::call_scope const call(__func__, at);
  return detail::register_ranges(options, range);
}

/// Registers host memory with the default options.
template <detail::host_argument... H>
  requires(sizeof...(H) > 1 && detail::correct_use<detail::registration_misuse<H...>>)
[[nodiscard]] registration register_host(H&&... ranges) {
  detail::call_scope const call(__func__);
  return detail::register_ranges(registration_options{}, ranges...);
}
/// Registers one range with the default options.
template <detail::host_argument H>
  requires detail::correct_use<detail::registration_misuse<H>>
[[nodiscard]] registration register_host(H&& range,
                                         detail::caller at = std::source_location::current()) {
  detail::call_scope const call(__func__, at);
  return detail::register_ranges(registration_options{}, range);
}

/// Adopts host memory that other code has pinned with hipHostRegister or hipHostMalloc: copies then
/// treat it as registered memory. Each range must be within one pinned block. Ranges are counted as
/// by register_host; several are adopted all or none.
///
/// @returns a guard. Its destructor removes the ranges from the library's table. It blocks until
///   the copies that use the ranges, and the work enqueued after those copies, have finished. The
///   code that pinned the memory must unpin it later.
/// @throws registration_error if a range is not pinned, or overlaps one in the library's table
///   without being the same
template <detail::host_argument... H>
  requires(sizeof...(H) > 1 && detail::correct_use<detail::registration_misuse<H...>>)
[[nodiscard]] registration adopt_registered(H&&... ranges) {
  detail::call_scope const call(__func__);
  return detail::adopt_ranges(ranges...);
}
/// Adopts one range.
template <detail::host_argument H>
  requires detail::correct_use<detail::registration_misuse<H>>
[[nodiscard]] registration adopt_registered(H&& range,
                                            detail::caller at = std::source_location::current()) {
  detail::call_scope const call(__func__, at);
  return detail::adopt_ranges(range);
}

/// Deregisters ranges (hipHostUnregister; numba.roc: `roc.deregister`): all of them or none.
///
/// @throws registration_error for a range that is not registered, or an address inside one;
///   roc::error if HIP fails: the range stays registered, and can be deregistered again
///
/// *Synchronization:* blocks until the copies that use a part of the ranges have finished. Errors
/// of the copies go to the log hook.
template <detail::host_argument... H>
  requires(sizeof...(H) != 1)
void deregister(H&&... ranges) {
  detail::call_scope const call(__func__);
  detail::deregister_ranges(ranges...);
}
/// Deregisters one range.
template <detail::host_argument H>
void deregister(H&& range, detail::caller at = std::source_location::current()) {
  detail::call_scope const call(__func__, at);
  detail::deregister_ranges(range);
}

/// Deleted: the reason is in the compiler's message.
///@{
template <class... H, detail::incorrect_use Reason = detail::registration_misuse<H...>>
registration register_host(registration_options options, H&&... ranges) = delete;
template <class First, class... H,
          detail::incorrect_use Reason = detail::registration_misuse<First, H...>>
  requires(!std::same_as<std::remove_cvref_t<First>, registration_options>)
registration register_host(First&& first, H&&... ranges) = delete;
template <class... H, detail::incorrect_use Reason = detail::registration_misuse<H...>>
registration adopt_registered(H&&... ranges) = delete;
template <class... H,
          detail::incorrect_use Reason = detail::first_misuse<detail::host_misuse<H>...>>
void deregister(H&&... ranges) = delete;
///@}

}  // namespace roc
