// SPDX-License-Identifier: MIT
// Fills of any memory: arrays, views, ranges, mdspans, DLPack tensors, raw pointers.
#pragma once

#include <source_location>

#include <roc/config.hpp>
#include <roc/detail/call_scope.hpp>
#include <roc/detail/memory_operand.hpp>
#include <roc/stream.hpp>

namespace roc {

/// Writes `value` to every element. Gaps and padding are not touched.
///
/// @param to an operand as for roc::copy: array, view, contiguous range, mdspan or memory_view with
///   elements of 1 to 16 bytes. If its type does not tell where the memory is, that is looked up.
/// @param value is converted to the element type
/// @throws lifetime_error (moved-from array), layout_error (strides leave the address space),
///   roc::error
///
/// *Synchronization:* ordered after all work enqueued earlier on the device, and complete on
/// return.
template <detail::memory_argument D>
  requires(detail::correct_use<detail::fill_memory_misuse<D>> && !detail::tensor_argument<D>)
void fill(D&& to, detail::memory_value_type<D> const& value,
          detail::caller at = std::source_location::current()) {
  detail::call_scope const call(__func__, at);
  detail::fill_argument(to, value, nullptr);
}
/// Enqueues the fill on `stream`. *Lifetime:* the value has been read on return; host memory must
/// live until the stream has been synchronized.
template <detail::memory_argument D>
  requires(detail::correct_use<detail::first_misuse<detail::fill_memory_misuse<D>,
                                                    detail::memory_temporary_misuse<D>>> &&
           !detail::tensor_argument<D>)
void fill(D&& to, detail::memory_value_type<D> const& value, stream_ref stream,
          detail::caller at = std::source_location::current()) {
  detail::call_scope const call(__func__, at);
  detail::fill_argument(to, value, &stream);
}
/// Writes `value` to every element of a DLPack tensor, as for other operands.
///
/// @param value must have the type of the tensor's elements
/// @throws dlpack_error also for another type of elements, and if the tensor is read-only
///@{
template <detail::tensor_argument D, class V>
  requires detail::correct_use<detail::fill_value_misuse<D, V>>
void fill(D&& to, V const& value, detail::caller at = std::source_location::current()) {
  detail::call_scope const call(__func__, at);
  detail::fill_argument(to, value, nullptr);
}
template <detail::tensor_argument D, class V>
  requires detail::correct_use<detail::fill_value_misuse<D, V>>
void fill(D&& to, V const& value, stream_ref stream,
          detail::caller at = std::source_location::current()) {
  detail::call_scope const call(__func__, at);
  detail::fill_argument(to, value, &stream);
}
///@}

/// Deleted: the reason is in the compiler's message.
///@{
template <class D, class V,
          detail::incorrect_use Reason =
              detail::first_misuse<detail::fill_memory_misuse<D>, detail::fill_value_misuse<D, V>>>
void fill(D&& to, V const& value) = delete;
template <class D, class V,
          detail::incorrect_use Reason =
              detail::first_misuse<detail::fill_memory_misuse<D>, detail::fill_value_misuse<D, V>,
                                   detail::memory_temporary_misuse<D>>>
void fill(D&& to, V const& value, stream_ref stream) = delete;
///@}

/// Writes zero bytes to every element of any size, and to the padding of a padded array.
///
/// @param to an operand as for roc::copy: array, view, contiguous range, mdspan, memory_view or
///   DLPack tensor. If its type does not tell where the memory is, that is looked up.
/// @throws lifetime_error (moved-from array), layout_error (strides leave the address space),
///   dlpack_error (a read-only tensor), roc::error
///
/// *Synchronization:* ordered after all work enqueued earlier on the device, and complete on
/// return.
template <detail::memory_argument D>
  requires detail::correct_use<detail::destination_memory_misuse<D>>
void zero(D&& to, detail::caller at = std::source_location::current()) {
  detail::call_scope const call(__func__, at);
  detail::zero_argument(to, nullptr);
}
/// Enqueues the zeroing on `stream`. *Lifetime:* host memory must live until the stream has been
/// synchronized.
template <detail::memory_argument D>
  requires detail::correct_use<detail::first_misuse<detail::destination_memory_misuse<D>,
                                                    detail::memory_temporary_misuse<D>>>
void zero(D&& to, stream_ref stream, detail::caller at = std::source_location::current()) {
  detail::call_scope const call(__func__, at);
  detail::zero_argument(to, &stream);
}

/// Deleted: the reason is in the compiler's message.
///@{
template <class D, detail::incorrect_use Reason = detail::destination_memory_misuse<D>>
void zero(D&& to) = delete;
template <class D, detail::incorrect_use Reason = detail::first_misuse<
                       detail::destination_memory_misuse<D>, detail::memory_temporary_misuse<D>>>
void zero(D&& to, stream_ref stream) = delete;
///@}

}  // namespace roc
