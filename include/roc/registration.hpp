// SPDX-License-Identifier: MIT
// Registration: pinning host memory that exists already, so that copies run at link speed.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include <roc/config.hpp>
#include <roc/detail/host_argument.hpp>

namespace roc {

/// How memory is registered (flags of hipHostRegister).
struct registration_options {
  bool mapped = false;     ///< kernels may reach it, by roc::device_view_of (hipHostRegisterMapped)
  bool portable = false;   ///< pinned for every device (hipHostRegisterPortable)
  /// The device only reads it (hipHostRegisterReadOnly), as memory that the process may only read
  /// needs it: copies to it are a registration_error.
  bool read_only = false;
  /// Asks the system for huge pages before pinning (madvise): half the time for memory that has not
  /// been touched much.
  bool huge_pages = false;
};

namespace detail {

/// The bytes that a host array spans, gaps included.
struct host_extent {
  void const* data;
  std::size_t bytes;
};

/// All of them or none: a failure takes back those registered before it.
ROCARRAY_API void register_extents(host_extent const* extents, std::size_t count,
                              registration_options options);
ROCARRAY_API void deregister_extent(host_extent extent);
/// Enters ranges that others have pinned: all of them or none.
ROCARRAY_API void adopt_extents(host_extent const* extents, std::size_t count);
/// Finds out first whether all are registered: one that is not leaves the others as they are.
ROCARRAY_API void deregister_extents(host_extent const* extents, std::size_t count);
ROCARRAY_API void deregister_extents_quietly(host_extent const* extents, std::size_t count) noexcept;

template <class H>
host_extent extent_of(H&& host) {
  auto const view = as_host_view(host);
  auto const [low, high] = view.element_range();
  return {view.data() + low, static_cast<std::size_t>(high - low) * sizeof(*view.data())};
}

}  // namespace detail

/// Keeps ranges registered for a scope; from register_host. Move-only.
///
/// Its end deregisters, also while an exception unwinds, and never throws: an error goes to the log
/// hook. `deregister` does it early and can throw; `release` leaves the ranges registered until
/// roc::deregister, as numba.roc's `register` does outside a with-block.
class [[nodiscard]] ROCARRAY_API registration {
 public:
  /// The other has no ranges then.
  registration(registration&& other) noexcept : extents_(std::exchange(other.extents_, {})) {}
  /// Deregisters what it had, as its end does.
  registration& operator=(registration&& other) noexcept;
  ~registration();

  /// Deregisters now, after the copies that still use the ranges. Throws roc::error.
  void deregister();
  /// Leaves the ranges registered; nothing happens at the scope's end.
  void release() noexcept { extents_.clear(); }

 private:
  explicit registration(std::vector<detail::host_extent> extents) noexcept
      : extents_(std::move(extents)) {}
  static registration of_registered(std::vector<detail::host_extent> extents,
                                    registration_options options);
  static registration of_adopted(std::vector<detail::host_extent> extents);
  template <detail::host_argument... H>
  friend registration register_host(registration_options, H&&...);
  template <detail::host_argument... H>
    requires(sizeof...(H) > 0)
  friend registration adopt_registered(H&&...);

  std::vector<detail::host_extent> extents_;
};

/// Registers host memory (hipHostRegister; numba.roc's `roc.register`): contiguous ranges, C
/// arrays, host arrays and views; a strided one registers all that it spans.
///
/// The same range again counts and needs as many deregistrations. Zero length is nothing. Several
/// ranges are registered all or none; a large one in pieces of ROCARRAY_REGISTER_CHUNK bytes (1G),
/// unless it is mapped. Throws registration_error where a range overlaps a registered one without
/// being the same (naming both), or the runtime knows it already (see adopt_registered); roc::error
/// for what HIP reports. The memory must stay allocated until it is deregistered.
template <detail::host_argument... H>
[[nodiscard]] registration register_host(registration_options options, H&&... ranges) {
  static_assert((!detail::owning_temporary<H&&> && ...),
                "rocarray: a temporary is gone before the registration ends");
  return registration::of_registered({detail::extent_of(ranges)...}, options);
}

/// Without options.
template <detail::host_argument... H>
  requires(sizeof...(H) > 0)
[[nodiscard]] registration register_host(H&&... ranges) {
  return register_host(registration_options{}, std::forward<H>(ranges)...);
}

/// Tells the library of host memory that somebody else pinned, by hipHostRegister or hipHostMalloc:
/// copies then use it as registered memory. Each range lies in one such piece. Its end, or
/// `deregister`, waits for the copies that use it, and what is behind them, and forgets it: who
/// pinned it unpins it, later. Counts as register_host does. Throws registration_error where a
/// range is not pinned, or overlaps one that the library knows without being the same; of several
/// ranges none is adopted then.
template <detail::host_argument... H>
  requires(sizeof...(H) > 0)
[[nodiscard]] registration adopt_registered(H&&... ranges) {
  static_assert((!detail::owning_temporary<H&&> && ...),
                "rocarray: a temporary is gone before the registration ends");
  return registration::of_adopted({detail::extent_of(ranges)...});
}

/// Deregisters ranges (hipHostUnregister; numba.roc's `roc.deregister`), after the copies that
/// still use them. Throws registration_error for a range that is not registered, or an address
/// inside one; none of several is deregistered then.
template <detail::host_argument... H>
void deregister(H&&... ranges) {
  detail::host_extent const extents[] = {detail::extent_of(ranges)..., {nullptr, 0}};
  detail::deregister_extents(extents, sizeof...(H));
}

}  // namespace roc
