// SPDX-License-Identifier: MIT
#include "copy/batch/batch.hpp"

#include <algorithm>
#include <atomic>
#include <memory>
#include <new>
#include <utility>

#include "copy/validate.hpp"

namespace roc::transfer {
namespace {

// Returns the number of elements if both regions have the same shape and are compact in C order;
// returns 0 for all other regions, and for regions of no elements.
std::size_t compact_elements(detail::strided_region const& a,
                             detail::strided_region const& b) noexcept {
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

// The memory of a destroyed batch, kept for the next one: most programs make one batch after the
// other, and allocating memory for thousands of copies takes longer than writing them. Null or
// owned.
std::atomic<std::vector<batch_copy>*> spare_copies = nullptr;
constexpr std::size_t max_spare_copies = std::size_t{1} << 14;

// Returns the spare memory as an empty vector; a new vector if there is none. Lock-free.
std::vector<batch_copy> take_spare() noexcept {
  std::unique_ptr<std::vector<batch_copy>> const spare(spare_copies.exchange(nullptr));
  return spare == nullptr ? std::vector<batch_copy>() : std::move(*spare);
}

// Stores the memory of `copies` as the spare memory, in place of the previous one. Lock-free.
void keep_spare(std::vector<batch_copy> copies) noexcept {
  if (copies.capacity() == 0 || copies.capacity() > max_spare_copies) return;
  copies.clear();
  try {
    auto spare = std::make_unique<std::vector<batch_copy>>(std::move(copies));
    spare.reset(spare_copies.exchange(spare.release()));
  } catch (std::bad_alloc const&) {
    // The next batch allocates its own memory.
  }
}

}  // namespace

bool side_bounds::overlap(side_bounds const& other) const noexcept {
  return std::any_of(bounds_.begin(), bounds_.end(), [&](base::byte_range range) {
    return range.overlaps(other.bounds_[0]) || range.overlaps(other.bounds_[1]);
  });
}

batch::batch() noexcept : copies(take_spare()) {}

batch::~batch() { keep_spare(std::move(copies)); }

void batch::add(detail::strided_region const& source, detail::strided_region const& destination) {
  batch_copy copy;
  copy.source_device = source.device;
  copy.destination_device = destination.device;
  copy.first_axis = 0;
  copy.rank = 0;
  copy.kind_value = static_cast<std::uint64_t>(copy_kind_of(source, destination)) & 0xF;
  copy.is_source_untracked = source.is_untracked;
  copy.is_source_partly_pinned = source.is_partly_pinned;
  copy.is_destination_untracked = destination.is_untracked;
  copy.is_destination_partly_pinned = destination.is_partly_pinned;
  std::size_t const elements = compact_elements(source, destination);
  if (elements == 0) [[unlikely]]
    return add_strided(source, destination, copy);
  // Most copies are compact. validate_and_canonicalize would give the same result, but slower.
  copy.source = static_cast<std::byte const*>(source.data);
  copy.destination = static_cast<std::byte*>(destination.data);
  copy.bytes = copy.run = elements * source.element_size;
  if (copy.source == nullptr || copy.destination == nullptr) {
    check_pointers(source, destination);
  }
  if (source.space == destination.space &&
      range_of(copy, layout::side::source).overlaps(range_of(copy, layout::side::destination))) {
    check_overlap(layout_of(copy));
  }
  append(copy, source.space, destination.space);
}

void batch::add_strided(detail::strided_region const& source,
                        detail::strided_region const& destination, batch_copy copy) {
  check_shapes(source, destination);
  if (is_empty(source)) return;
  layout::canonical_layout const canonical =
      validate_and_canonicalize(source, destination, copy.kind());
  copy.source = canonical.source;
  copy.destination = canonical.destination;
  copy.run = canonical.run;
  copy.bytes = canonical.bytes();
  copy.first_axis = axes.size() & ((std::uint64_t{1} << 48) - 1);
  copy.rank = static_cast<std::uint8_t>(canonical.rank);
  axes.insert(axes.end(), canonical.axes.begin(),
              canonical.axes.begin() + static_cast<std::ptrdiff_t>(canonical.rank));
  append(copy, source.space, destination.space);
}

inline void batch::append(batch_copy const& copy, detail::memory_space from,
                          detail::memory_space to) {
  copies.push_back(copy);
  bytes += copy.bytes;
  sources.add(range_of(copy, layout::side::source), from);
  destinations.add(range_of(copy, layout::side::destination), to);
}

layout::canonical_layout batch::layout_of(batch_copy const& copy) const noexcept {
  layout::canonical_layout canonical;
  canonical.source = copy.source;
  canonical.destination = copy.destination;
  canonical.run = copy.run;
  canonical.rank = copy.rank;
  std::copy_n(axes.begin() + static_cast<std::ptrdiff_t>(copy.first_axis), canonical.rank,
              canonical.axes.begin());
  return canonical;
}

base::byte_range batch::strided_range_of(batch_copy const& copy, layout::side side) const noexcept {
  return layout::byte_range_of(layout_of(copy), side);
}

}  // namespace roc::transfer
