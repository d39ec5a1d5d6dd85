// SPDX-License-Identifier: MIT
// A small part of a batch of copies, done by a few threads; the same on the device and on the CPU.
#pragma once

#include <cstddef>
#include <cstdint>

#include <roc/config.hpp>

#include "kernels/vector_word.hpp"
#include "kernels/unroll.hpp"

namespace roc::kernels {

/// `rows` runs of `run` bytes, each a step behind the one before, on both sides. The steps do not
/// matter to a single row.
struct batch_item {
  std::uintptr_t source;
  std::uintptr_t destination;
  std::ptrdiff_t source_step;
  std::ptrdiff_t destination_step;
  std::uint32_t run;
  std::uint32_t rows;
};

/// Threads that share an item. They need not be one wavefront: they share nothing else.
inline constexpr unsigned item_threads = 32;

/// The share of thread `lane` out of `lanes`: every lanes-th unit.
template <class Unit>
ROCARRAY_HOST_DEVICE void copy_item_units(batch_item const& item, unsigned lane, unsigned lanes) {
  auto const in_run = static_cast<std::uint32_t>(item.run / sizeof(Unit));
  std::uint32_t const count = in_run * item.rows;
  auto const offset = [&](std::uint32_t i, std::ptrdiff_t step) {
    if (item.rows == 1) return static_cast<std::uintptr_t>(i) * sizeof(Unit);
    std::uint32_t const row = i / in_run;
    return static_cast<std::uintptr_t>(static_cast<std::ptrdiff_t>(row) * step) +
           (i - row * in_run) * sizeof(Unit);
  };
  // Several units on their way at once: what is read may lie behind the link.
  constexpr unsigned at_once = 4;
  for (std::uint32_t first = lane; first < count; first += at_once * lanes) {
    Unit units[at_once] = {};
    ROCARRAY_UNROLL
    for (unsigned k = 0; k < at_once; ++k) {
      std::uint32_t const i = first + k * lanes;
      if (i >= count) break;
      units[k] = *reinterpret_cast<Unit const*>(item.source + offset(i, item.source_step));
    }
    ROCARRAY_UNROLL
    for (unsigned k = 0; k < at_once; ++k) {
      std::uint32_t const i = first + k * lanes;
      if (i >= count) break;
      *reinterpret_cast<Unit*>(item.destination + offset(i, item.destination_step)) = units[k];
    }
  }
}

/// By the widest unit that everything about the item allows.
ROCARRAY_HOST_DEVICE inline void copy_item(batch_item const& item, unsigned lane, unsigned lanes) {
  std::uintptr_t bits = item.source | item.destination | item.run;
  if (item.rows != 1) {
    bits |= static_cast<std::uintptr_t>(item.source_step) |
            static_cast<std::uintptr_t>(item.destination_step);
  }
  if (bits % 16 == 0) return copy_item_units<unit16>(item, lane, lanes);
  if (bits % 8 == 0) return copy_item_units<std::uint64_t>(item, lane, lanes);
  if (bits % 4 == 0) return copy_item_units<std::uint32_t>(item, lane, lanes);
  if (bits % 2 == 0) return copy_item_units<std::uint16_t>(item, lane, lanes);
  copy_item_units<std::uint8_t>(item, lane, lanes);
}

/// A whole item by one thread: what the CPU does.
struct copy_whole_item {
  batch_item const* items;

  void operator()(std::size_t i) const { copy_item(items[i], 0, 1); }
};

}  // namespace roc::kernels
