// SPDX-License-Identifier: MIT
#include "transfer/batch_contents.hpp"

#include <algorithm>

#include "transfer/checked_form.hpp"

namespace roc::transfer {
namespace {

bool is_compact(detail::region const& r) noexcept {
  std::ptrdiff_t expected = 1;
  for (std::size_t i = r.rank; i-- != 0;) {
    if (r.shape[i] != 1 && r.strides[i] != expected) return false;
    expected *= static_cast<std::ptrdiff_t>(r.shape[i]);
  }
  return true;
}

}  // namespace

void batch_contents::add(detail::region const& source, detail::region const& destination) {
  check_shapes(source, destination);
  if (is_empty(source)) return;
  batch_piece piece{};
  piece.way = direction_of(source, destination);
  piece.source_device = source.device;
  piece.destination_device = destination.device;
  piece.first_axis = axes.size();
  if (is_compact(source) && is_compact(destination)) {
    // What most pieces are; the long way would find the same.
    piece.source = static_cast<std::byte const*>(source.data);
    piece.destination = static_cast<std::byte*>(destination.data);
    piece.run = source.element_size;
    for (std::size_t i = 0; i < source.rank; ++i) piece.run *= source.shape[i];
    piece.bytes = piece.run;
    check_pointers(source, destination);
    if (source.where == destination.where) check_overlap(form_of(piece));
  } else {
    normal_form const form = checked_form(source, destination, piece.way);
    piece.source = form.source;
    piece.destination = form.destination;
    piece.run = form.run;
    piece.bytes = form.bytes();
    piece.rank = static_cast<std::uint32_t>(form.rank);
    axes.insert(axes.end(), form.axes.begin(),
                form.axes.begin() + static_cast<std::ptrdiff_t>(form.rank));
  }
  pieces.push_back(piece);
  bytes += piece.bytes;
}

normal_form batch_contents::form_of(batch_piece const& piece) const noexcept {
  normal_form form;
  form.source = piece.source;
  form.destination = piece.destination;
  form.run = piece.run;
  form.rank = piece.rank;
  std::copy_n(axes.begin() + static_cast<std::ptrdiff_t>(piece.first_axis), piece.rank,
              form.axes.begin());
  return form;
}

memory::range batch_contents::range_of(batch_piece const& piece, side which) const noexcept {
  if (piece.rank != 0) return bytes_of(form_of(piece), which);
  void const* const data =
      which == side::source ? piece.source : static_cast<std::byte const*>(piece.destination);
  return memory::range::of(data, piece.bytes);
}

}  // namespace roc::transfer
