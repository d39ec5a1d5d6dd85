// SPDX-License-Identifier: MIT
// One array on several devices: split into parts, gathered from parts, copied to each device.
#pragma once

#include <concepts>
#include <cstddef>
#include <initializer_list>
#include <iterator>
#include <source_location>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include <roc/config.hpp>
#include <roc/copy.hpp>
#include <roc/detail/call_scope.hpp>
#include <roc/detail/memory_operand.hpp>
#include <roc/device.hpp>
#include <roc/device_array.hpp>
#include <roc/host_array.hpp>
#include <roc/layout/shape.hpp>
#include <roc/stream.hpp>

namespace roc {

namespace detail {

template <class R>
concept stream_range = requires(R const& range) {
  { *std::begin(range) } -> std::convertible_to<stream_ref>;
  std::end(range);
};

}  // namespace detail

/// The streams of a call that copies from or to several devices: one for each part, on the part's
/// device. A default stream stands for that of the part's device. Created implicitly from a range
/// of streams, or from streams in braces. Borrows the streams, and copies the range.
class stream_list {
 public:
  /// Lists the streams in braces.
  stream_list(std::initializer_list<stream_ref> streams) : streams_(streams) {}
  /// Lists the streams of a range, such as a std::vector of roc::stream.
  template <detail::stream_range R>
  stream_list(R const& streams) : streams_(std::begin(streams), std::end(streams)) {}

  /// Returns the number of streams.
  std::size_t size() const noexcept { return streams_.size(); }
  /// Returns a stream by its number, which must be less than size().
  stream_ref const& operator[](std::size_t number) const noexcept { return streams_[number]; }

 private:
  std::vector<stream_ref> streams_;
};

namespace detail {

// The following functions are complete on return if `streams` is null. Precondition of split and
// gather: check_parts_and_axis has succeeded.

/// Copies the parts of `source` along the axis to `parts`. Throws what split_to_devices throws.
ROCARRAY_API void split(strided_region const& source, strided_region const* parts,
                        std::size_t count, std::size_t axis, stream_list const* streams);
/// Copies `parts` to the parts of `destination` along the axis. Throws what roc::gather throws.
ROCARRAY_API void gather(strided_region const* parts, std::size_t count,
                         strided_region const& destination, std::size_t axis,
                         stream_list const* streams);
/// Copies `source` to each destination. Throws what roc::broadcast throws.
ROCARRAY_API void broadcast(strided_region const& source, strided_region const* destinations,
                            std::size_t count, stream_list const* streams);

/// A range of device arrays, or of views of device memory.
template <class P>
concept device_parts = !device_argument<P> && requires(std::remove_reference_t<P>& parts) {
  requires device_argument<decltype(*std::begin(parts))>;
  // An array that is returned by value is destroyed before it is copied; a view may be.
  requires is_device_view<decltype(*std::begin(parts))> ||
               std::is_reference_v<decltype(*std::begin(parts))>;
  std::end(parts);
};
template <class P>
using part_type = decltype(*std::begin(std::declval<std::remove_reference_t<P>&>()));
template <class P>
using part_view = view_type<std::remove_reference_t<part_type<P>>>;

/// A list of devices.
template <class X>
concept device_list = std::convertible_to<X, std::vector<device> const&>;

/// The undivided operand: the source of a split or broadcast, the destination of a gather.
template <class X>
concept whole_argument = memory_argument<X> && !tensor_argument<X>;

/// Throws roc::error if there are no parts, and shape_error unless the axis exists.
ROCARRAY_API void check_parts_and_axis(std::size_t parts, std::size_t axis, std::size_t rank);

/// The parts as operands, and as regions that refer to them.
template <class T, std::size_t N>
struct part_regions {
  template <class P>
  explicit part_regions(P& parts) {
    for (auto&& part : parts) operands.push_back(operand_of(part));
    regions.reserve(operands.size());
    for (auto const& operand : operands) regions.push_back(operand.region());
  }
  part_regions(part_regions const&) = delete;
  part_regions& operator=(part_regions const&) = delete;

  /// Returns the shape of the array that the parts form along the axis. Throws what
  /// check_parts_and_axis throws. Does not check whether the parts fit together.
  shape<N> total_shape(std::size_t axis) const {
    check_parts_and_axis(operands.size(), axis, N);
    shape<N> result = operands.front().shape;
    result[axis] = 0;
    for (auto const& operand : operands) result[axis] += operand.shape[axis];
    return result;
  }

  std::vector<copy_operand<T, N>> operands;
  std::vector<strided_region> regions;
};
template <class P>
using regions_of_parts = part_regions<typename part_view<P>::element_type, part_view<P>::rank>;

template <class P, class S>
void split_arguments(S& source, P& parts, std::size_t axis, stream_list const* streams) {
  regions_of_parts<P> const to(parts);
  auto const from =
      located_operand_of(source, operand_role::source).with_rank_of(to.total_shape(axis));
  split(from.region(), to.regions.data(), to.regions.size(), axis, streams);
}

template <class P, class D>
void gather_arguments(P& parts, D& destination, std::size_t axis, stream_list const* streams) {
  regions_of_parts<P> const from(parts);
  auto const to = located_operand_of(destination, operand_role::destination)
                      .with_rank_of(from.total_shape(axis));
  gather(from.regions.data(), from.regions.size(), to.region(), axis, streams);
}

template <class P, class S>
void broadcast_arguments(S& source, P& destinations, stream_list const* streams) {
  regions_of_parts<P> const to(destinations);
  if (to.regions.empty()) return;
  auto const from =
      located_operand_of(source, operand_role::source).with_rank_of(to.operands[0].shape);
  broadcast(from.region(), to.regions.data(), to.regions.size(), streams);
}

/// Throws roc::error if the list is empty.
ROCARRAY_API void check_device_list(std::vector<device> const& devices);
/// Throws roc::error unless there is one stream for each device, on that device. Does nothing if
/// `streams` is null.
ROCARRAY_API void check_part_streams(std::vector<device> const& devices,
                                     stream_list const* streams);

/// Returns a new array on a device, on a stream of it or on its default stream.
template <class T, std::size_t N>
device_array<T, N> make_part(shape<N> const& extents, strides<N> const& source_strides,
                             device const& target, stream_list const* streams, std::size_t number) {
  device_guard const guard(target);
  return device_array<T, N>(extents, layout::like_strides(extents, source_strides),
                            streams == nullptr ? stream_ref() : (*streams)[number]);
}

template <class S>
auto split_to_new_arrays(S& source, std::vector<device> const& devices, std::size_t axis,
                         stream_list const* streams) {
  using view = memory_view_for<S>;
  check_device_list(devices);
  check_parts_and_axis(devices.size(), axis, view::rank);
  check_part_streams(devices, streams);
  auto const whole = memory_view_of(source);
  std::vector<device_array<typename view::value_type, view::rank>> parts;
  parts.reserve(devices.size());
  for (std::size_t number = 0; number != devices.size(); ++number) {
    auto extents = whole.shape();
    std::size_t const remainder = extents[axis] % devices.size();
    extents[axis] = extents[axis] / devices.size() + (number < remainder ? 1 : 0);
    parts.push_back(make_part<typename view::value_type>(extents, whole.strides(), devices[number],
                                                         streams, number));
  }
  split_arguments(source, parts, axis, streams);
  return parts;
}

template <class S>
auto broadcast_to_new_arrays(S& source, std::vector<device> const& devices,
                             stream_list const* streams) {
  using view = memory_view_for<S>;
  check_device_list(devices);
  check_part_streams(devices, streams);
  auto const whole = memory_view_of(source);
  std::vector<device_array<typename view::value_type, view::rank>> copies;
  copies.reserve(devices.size());
  for (std::size_t number = 0; number != devices.size(); ++number) {
    copies.push_back(make_part<typename view::value_type>(whole.shape(), whole.strides(),
                                                          devices[number], streams, number));
  }
  broadcast_arguments(source, copies, streams);
  return copies;
}

// Which misuse the arguments have; as in copy_operand.hpp.

template <class X>
constexpr auto find_whole_misuse() {
  if constexpr (tensor_argument<X>) {
    return misuse::argument_is_not_an_array_a_view_or_a_contiguous_range{};
  } else {
    return memory_misuse<X>{};
  }
}
template <class X>
using whole_misuse = decltype(find_whole_misuse<X>());

template <class P>
using parts_misuse =
    std::conditional_t<device_parts<P>, misuse::none,
                       misuse::argument_is_not_a_range_of_device_arrays_or_device_views>;

template <class S, class D>
constexpr auto find_pair_misuse() {
  // The first is the source, the second the destination.
  if constexpr (device_parts<D>) {
    using both = first_misuse<whole_misuse<S>, write_misuse<typename part_view<D>::element_type>>;
    if constexpr (!std::same_as<both, misuse::none>) {
      return both{};
    } else {
      return memory_copy_misuse<S, part_view<D>&>{};
    }
  } else if constexpr (device_parts<S>) {
    using of_destination = whole_misuse<D>;
    if constexpr (!std::same_as<of_destination, misuse::none>) {
      return of_destination{};
    } else {
      return memory_copy_misuse<part_view<S>&, D>{};
    }
  } else {
    return parts_misuse<D>{};
  }
}
template <class S, class D>
constexpr auto find_rank_misuse() {
  // Contiguous host memory takes the shape of the parts, but not the reverse.
  using pair = decltype(find_pair_misuse<S, D>());
  if constexpr (!std::same_as<pair, misuse::none>) {
    return pair{};
  } else {
    using parts = std::conditional_t<device_parts<D>, D, S>;
    using whole = std::conditional_t<device_parts<D>, S, D>;
    constexpr std::size_t rank = memory_view_for<whole>::rank;
    return std::conditional_t<rank == part_view<parts>::rank || rank == 1, misuse::none,
                              misuse::ranks_of_source_and_destination_differ>{};
  }
}

/// The misuse of a copy between S and D that is complete on return. One of them is the range of
/// parts.
template <class S, class D>
using several_devices_misuse = decltype(find_rank_misuse<S, D>());

template <class P>
constexpr bool is_owning_temporary_range() {
  if constexpr (device_parts<P>) {
    return !std::is_lvalue_reference_v<P> && is_device_array<part_type<P>> &&
           !std::ranges::enable_borrowed_range<std::remove_cvref_t<P>>;
  } else {
    return owning_memory_temporary<P>;
  }
}
/// The problem with temporaries in an asynchronous call.
template <class... X>
using several_devices_temporary_misuse = std::conditional_t<
    (is_owning_temporary_range<X>() || ...),
    misuse::temporary_would_be_destroyed_before_the_asynchronous_call_has_finished, misuse::none>;
template <class S, class D>
using async_several_devices_misuse =
    first_misuse<several_devices_misuse<S, D>, several_devices_temporary_misuse<S, D>>;

}  // namespace detail

/// Copies an array to several devices: the parts divide the axis in order; each receives as
/// many consecutive indices as it has. The parts are copied at the same time, from pageable memory
/// too, so that the links of all devices are in use.
///
/// @param source array, view, contiguous range, mdspan or memory_view, in any layout. A contiguous
///   range of host memory is in C order if the parts have another rank.
/// @param parts range of arrays or views on any devices, in any layouts, such as
///   `std::vector<device_array<T, N>>`. Their extents along the axis add up to that of the source,
///   and the others are equal to those of the source. Parts may be empty, and may be on one device.
/// @param axis the axis that is split
/// @throws what roc::copy throws, with the number of the part in messages about a part: shape_error
///   (also if there is no such axis), layout_error, overlap_error (parts overlap each other or the
///   source), lifetime_error; roc::error if there are no parts. Nothing is copied then.
/// @throws out_of_memory (staging memory), roc::error. No work of the call is pending then; parts
///   may have been written.
///
/// *Synchronization:* ordered after all work enqueued earlier on the devices through the library,
/// and complete on return. (MPI: `MPI_Scatterv`; torch: `comm.scatter`)
template <detail::whole_argument S, detail::device_parts P>
  requires detail::correct_use<detail::several_devices_misuse<S, P>>
void split_to_devices(S&& source, P&& parts, std::size_t axis = 0,
                      detail::caller at = std::source_location::current()) {
  detail::call_scope const call(__func__, at);
  detail::split_arguments(source, parts, axis, nullptr);
}

/// Enqueues the copy of each part on its stream.
///
/// @param streams one stream for each part, on the part's device
/// @throws roc::error also if the streams do not match the parts
///
/// *Synchronization:* as for copy(from, to, stream), on each stream. There is no order between the
/// streams: if the source is on a device, each stream must have waited for the work that writes it.
/// If the call fails after it has enqueued copies, it blocks until their streams are idle.
///
/// *Lifetime:* as for copy(from, to, stream). The source, unless it is pageable, must live and must
/// not change until all streams have been synchronized.
template <detail::whole_argument S, detail::device_parts P>
  requires detail::correct_use<detail::async_several_devices_misuse<S, P>>
void split_to_devices(S&& source, P&& parts, std::size_t axis, stream_list const& streams,
                      detail::caller at = std::source_location::current()) {
  detail::call_scope const call(__func__, at);
  detail::split_arguments(source, parts, axis, &streams);
}

/// Splits an array into one new array on each device, in the order of the devices. The extents of
/// the parts along the axis differ by 1 at most: if the extent is not a multiple of their number,
/// the first parts are one index longer. If there are more devices than indices, the last parts are
/// empty.
///
/// @param devices a device for each part; one device may have several parts
/// @returns the parts; each has the order of the axes in memory that device_array_like gives it
/// @throws what the function with existing parts throws; roc::error if there are no devices
template <detail::whole_argument S>
[[nodiscard]] auto split_to_devices(S&& source, std::vector<device> const& devices,
                                    std::size_t axis = 0,
                                    detail::caller at = std::source_location::current()) {
  detail::call_scope const call(__func__, at);
  return detail::split_to_new_arrays(source, devices, axis, nullptr);
}

/// Splits an array into new arrays, each of which is allocated and written in the order of its
/// stream.
///
/// *Synchronization:*, *Lifetime:* as for existing parts with streams.
template <detail::whole_argument S>
  requires detail::correct_use<detail::several_devices_temporary_misuse<S>>
[[nodiscard]] auto split_to_devices(S&& source, std::vector<device> const& devices,
                                    std::size_t axis, stream_list const& streams,
                                    detail::caller at = std::source_location::current()) {
  detail::call_scope const call(__func__, at);
  return detail::split_to_new_arrays(source, devices, axis, &streams);
}

/// Copies arrays on several devices into one array, one after the other along the axis. The reverse
/// of split_to_devices, with the same parameters and errors; the parts may overlap each other, but
/// not the destination.
///
/// @param destination on the host or on a device, in any layout
///
/// *Synchronization:* ordered after all work enqueued earlier on the devices through the library,
/// and complete on return. (MPI: `MPI_Gatherv`; torch: `comm.gather`)
template <detail::device_parts P, detail::whole_argument D>
  requires detail::correct_use<detail::several_devices_misuse<P, D>>
void gather(P&& parts, D&& destination, std::size_t axis = 0,
            detail::caller at = std::source_location::current()) {
  detail::call_scope const call(__func__, at);
  detail::gather_arguments(parts, destination, axis, nullptr);
}

/// Enqueues the copy of each part on its stream. Parameters, order, errors and lifetime as for
/// split_to_devices with streams; the destination is complete when all streams have been
/// synchronized.
template <detail::device_parts P, detail::whole_argument D>
  requires detail::correct_use<detail::async_several_devices_misuse<P, D>>
void gather(P&& parts, D&& destination, std::size_t axis, stream_list const& streams,
            detail::caller at = std::source_location::current()) {
  detail::call_scope const call(__func__, at);
  detail::gather_arguments(parts, destination, axis, &streams);
}

/// Returns a new array in C order on a device, with the parts one after the other along the axis.
/// Throws what gather throws.
template <detail::device_parts P>
[[nodiscard]] auto gather_to_device(P&& parts, device const& target, std::size_t axis = 0,
                                    detail::caller at = std::source_location::current()) {
  detail::call_scope const call(__func__, at);
  using view = detail::part_view<P>;
  auto const extents = detail::regions_of_parts<P>(parts).total_shape(axis);
  device_array<typename view::value_type, view::rank> result;
  {
    device_guard const guard(target);
    result = device_array<typename view::value_type, view::rank>(extents);
  }
  // The memory of a view without a device is on the current one.
  detail::gather_arguments(parts, result, axis, nullptr);
  return result;
}

/// Returns a new host array in C order with the parts one after the other along the axis. Throws
/// what gather throws.
template <detail::device_parts P>
[[nodiscard]] auto gather_to_host(P&& parts, std::size_t axis = 0,
                                  detail::caller at = std::source_location::current()) {
  detail::call_scope const call(__func__, at);
  using view = detail::part_view<P>;
  host_array<typename view::value_type, view::rank> result(
      detail::regions_of_parts<P>(parts).total_shape(axis));
  detail::gather_arguments(parts, result, axis, nullptr);
  return result;
}

/// Copies an array to arrays on several devices.
///
/// A large array on a device is sent along a chain: each device forwards a slab of the array to the
/// next device while it receives the following one. No link carries a byte twice, so that the time
/// grows little with the number of devices. The chain follows the fastest links
/// (device::link_to). If the array is so small that this would not be faster, the source's device
/// sends all copies. An array on the host is copied to all devices at the same time, each over its
/// own link; together they are limited by the rate at which the host's memory is read.
///
/// @param source as for split_to_devices
/// @param destinations range of arrays or views of the source's shape, on any devices and in any
///   layouts. One device may have several, and so may that of the source. No destinations: does
///   nothing.
/// @throws as split_to_devices
///
/// *Synchronization:* ordered after all work enqueued earlier on the devices through the library,
/// and complete on return. (NCCL: `ncclBroadcast`; MPI: `MPI_Bcast`; torch: `comm.broadcast`)
template <detail::whole_argument S, detail::device_parts P>
  requires detail::correct_use<detail::several_devices_misuse<S, P>>
void broadcast(S&& source, P&& destinations, detail::caller at = std::source_location::current()) {
  detail::call_scope const call(__func__, at);
  detail::broadcast_arguments(source, destinations, nullptr);
}

/// Enqueues a broadcast.
///
/// @param streams one stream for each destination, on the destination's device
/// @throws roc::error also if the streams do not match the destinations, or if one of them is
///   captured and the data are to be sent along a chain
///
/// *Synchronization:* a destination is written in the order of its stream. In a chain its stream
/// also waits for the streams of devices that send to it or receive from it: work enqueued later
/// may overwrite or free the destination. As for copy, each stream must have waited for the work
/// that writes the source. If the call fails after it has enqueued copies, it blocks until their
/// streams are idle.
///
/// *Lifetime:* as for split_to_devices with streams. No destination may be changed before all
/// streams have been synchronized, except by work on its own stream.
template <detail::whole_argument S, detail::device_parts P>
  requires detail::correct_use<detail::async_several_devices_misuse<S, P>>
void broadcast(S&& source, P&& destinations, stream_list const& streams,
               detail::caller at = std::source_location::current()) {
  detail::call_scope const call(__func__, at);
  detail::broadcast_arguments(source, destinations, &streams);
}

/// Returns a new array on each device with the contents of an array, in the order of the devices.
///
/// @returns the copies; each has the order of the axes in memory that device_array_like gives it
/// @throws what broadcast throws; roc::error if there are no devices
template <detail::whole_argument S>
[[nodiscard]] auto broadcast_to_devices(S&& source, std::vector<device> const& devices,
                                        detail::caller at = std::source_location::current()) {
  detail::call_scope const call(__func__, at);
  return detail::broadcast_to_new_arrays(source, devices, nullptr);
}

/// Returns new arrays, each of which is allocated and written in the order of its stream. Order and
/// lifetime as for broadcast with streams.
template <detail::whole_argument S>
  requires detail::correct_use<detail::several_devices_temporary_misuse<S>>
[[nodiscard]] auto broadcast_to_devices(S&& source, std::vector<device> const& devices,
                                        stream_list const& streams,
                                        detail::caller at = std::source_location::current()) {
  detail::call_scope const call(__func__, at);
  return detail::broadcast_to_new_arrays(source, devices, &streams);
}

/// Deleted: selected for arguments that cannot be copied, so that the compiler shows the reason.
///@{
template <class S, class P, detail::incorrect_use Reason = detail::several_devices_misuse<S, P>>
  requires(!detail::device_list<P>)
void split_to_devices(S&& source, P&& parts, std::size_t axis = 0) = delete;
template <class S, class P,
          detail::incorrect_use Reason = detail::async_several_devices_misuse<S, P>>
  requires(!detail::device_list<P>)
void split_to_devices(S&& source, P&& parts, std::size_t axis, stream_list const& streams) = delete;
template <class S, detail::incorrect_use Reason = detail::whole_misuse<S>>
void split_to_devices(S&& source, std::vector<device> const& devices,
                      std::size_t axis = 0) = delete;
template <class S, detail::incorrect_use Reason = detail::first_misuse<
                       detail::whole_misuse<S>, detail::several_devices_temporary_misuse<S>>>
void split_to_devices(S&& source, std::vector<device> const& devices, std::size_t axis,
                      stream_list const& streams) = delete;
template <class P, class D,
          detail::incorrect_use Reason =
              detail::first_misuse<detail::parts_misuse<P>, detail::several_devices_misuse<P, D>>>
void gather(P&& parts, D&& destination, std::size_t axis = 0) = delete;
template <class P, class D,
          detail::incorrect_use Reason = detail::first_misuse<
              detail::parts_misuse<P>, detail::async_several_devices_misuse<P, D>>>
void gather(P&& parts, D&& destination, std::size_t axis, stream_list const& streams) = delete;
template <class P, detail::incorrect_use Reason = detail::parts_misuse<P>>
void gather_to_device(P&& parts, device const& target, std::size_t axis = 0) = delete;
template <class P, detail::incorrect_use Reason = detail::parts_misuse<P>>
void gather_to_host(P&& parts, std::size_t axis = 0) = delete;
template <class S, class P, detail::incorrect_use Reason = detail::several_devices_misuse<S, P>>
void broadcast(S&& source, P&& destinations) = delete;
template <class S, class P,
          detail::incorrect_use Reason = detail::async_several_devices_misuse<S, P>>
void broadcast(S&& source, P&& destinations, stream_list const& streams) = delete;
template <class S, detail::incorrect_use Reason = detail::whole_misuse<S>>
void broadcast_to_devices(S&& source, std::vector<device> const& devices) = delete;
template <class S, detail::incorrect_use Reason = detail::first_misuse<
                       detail::whole_misuse<S>, detail::several_devices_temporary_misuse<S>>>
void broadcast_to_devices(S&& source, std::vector<device> const& devices,
                          stream_list const& streams) = delete;
///@}

}  // namespace roc
