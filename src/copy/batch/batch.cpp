// SPDX-License-Identifier: MIT
#include "copy/batch/batch.hpp"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <new>
#include <utility>

#include "copy/validate.hpp"

namespace roc::transfer {
namespace {

using base::byte_range;

// How many elements two regions of one shape have that are both compact in C order; 0 for all
// others, and for nothing.
std::size_t compact_elements(detail::region const& a, detail::region const& b) noexcept {
  if (a.rank != b.rank) return 0;
  std::size_t elements = 1;
  for (std::size_t i = a.rank; i-- != 0;) {
    std::size_t const extent = a.shape[i];
    auto const step = static_cast<std::ptrdiff_t>(elements);
    if (extent != b.shape[i]) return 0;
    if (extent != 1 && (a.strides[i] != step || b.strides[i] != step)) return 0;
    elements *= extent;
  }
  return elements;
}

// Memory of a batch that is gone, for the next one: most programs make one after the other, and
// fresh memory for thousands of copies takes longer than writing them down.
std::atomic<std::vector<batch_copy>*> spare_pieces = nullptr;
constexpr std::size_t most_spare = std::size_t{1} << 14;

std::vector<batch_copy> take_spare() noexcept {
  std::unique_ptr<std::vector<batch_copy>> const spare(spare_pieces.exchange(nullptr));
  return spare == nullptr ? std::vector<batch_copy>() : std::move(*spare);
}

void give_spare(std::vector<batch_copy> pieces) noexcept {
  if (pieces.capacity() == 0 || pieces.capacity() > most_spare) return;
  pieces.clear();
  try {
    auto spare = std::make_unique<std::vector<batch_copy>>(std::move(pieces));
    spare.reset(spare_pieces.exchange(spare.release()));
  } catch (std::bad_alloc const&) {
    // The next one takes memory of its own.
  }
}

}  // namespace

bool side_bounds::overlap(side_bounds const& other) const noexcept {
  return std::any_of(where_.begin(), where_.end(), [&](base::byte_range mine) {
    return mine.overlaps(other.where_[0]) || mine.overlaps(other.where_[1]);
  });
}

batch::batch() noexcept : pieces(take_spare()) {}

batch::~batch() { give_spare(std::move(pieces)); }

void batch::add(detail::region const& source, detail::region const& destination) {
  batch_copy piece;
  piece.source_device = source.device;
  piece.destination_device = destination.device;
  piece.first_axis = 0;
  piece.rank = 0;
  piece.way_number = static_cast<std::uint8_t>(direction_of(source, destination));
  std::size_t const elements = compact_elements(source, destination);
  if (elements == 0) [[unlikely]] return add_strided(source, destination, piece);
  // What most pieces are; the long way would find the same.
  piece.source = static_cast<std::byte const*>(source.data);
  piece.destination = static_cast<std::byte*>(destination.data);
  piece.bytes = piece.run = elements * source.element_size;
  if (piece.source == nullptr || piece.destination == nullptr) {
    check_pointers(source, destination);
  }
  if (source.where == destination.where &&
      range_of(piece, layout::side::source).overlaps(range_of(piece, layout::side::destination))) {
    check_overlap(form_of(piece));
  }
  append(piece, source.where, destination.where);
}

void batch::add_strided(detail::region const& source, detail::region const& destination,
                                 batch_copy piece) {
  check_shapes(source, destination);
  if (is_empty(source)) return;
  layout::canonical_layout const form = validate_and_canonicalize(source, destination, piece.way());
  piece.source = form.source;
  piece.destination = form.destination;
  piece.run = form.run;
  piece.bytes = form.bytes();
  piece.first_axis = axes.size() & ((std::uint64_t{1} << 48) - 1);
  piece.rank = static_cast<std::uint8_t>(form.rank);
  axes.insert(axes.end(), form.axes.begin(),
              form.axes.begin() + static_cast<std::ptrdiff_t>(form.rank));
  append(piece, source.where, destination.where);
}

inline void batch::append(batch_copy const& piece, detail::place from,
                                   detail::place to) {
  pieces.push_back(piece);
  bytes += piece.bytes;
  sources.add(range_of(piece, layout::side::source), from);
  destinations.add(range_of(piece, layout::side::destination), to);
}

layout::canonical_layout batch::form_of(batch_copy const& piece) const noexcept {
  layout::canonical_layout form;
  form.source = piece.source;
  form.destination = piece.destination;
  form.run = piece.run;
  form.rank = piece.rank;
  std::copy_n(axes.begin() + static_cast<std::ptrdiff_t>(piece.first_axis), form.rank,
              form.axes.begin());
  return form;
}

base::byte_range batch::strided_range_of(batch_copy const& piece,
                                       layout::side which) const noexcept {
  return layout::bytes_of(form_of(piece), which);
}

}  // namespace roc::transfer
