// SPDX-License-Identifier: MIT
// Copies of every second byte to contiguous rows: the arguments of the kernel and the work of one
// thread.
#pragma once

#include <cstddef>
#include <cstdint>

#include <roc/config.hpp>

#include "kernels/dword.hpp"
#include "kernels/row_division.hpp"
#include "kernels/strided_copy_job.hpp"
#include "kernels/unroll.hpp"

namespace roc::kernels {

/// Copies rows of `extent` bytes, which are contiguous in the destination and two bytes apart in
/// the source. A thread writes dwords at multiples of four bytes, from two or three dwords of the
/// source, and single bytes where a row has only a part of a dword. It reads the bytes between
/// those of a row, but none before its first or after its last byte. GB/s on one H200: 2838, by
/// word_row_job 1896.
struct half_row_job {
  static constexpr unsigned dwords_per_thread = 4;
  static constexpr unsigned dword_bytes = 4;

  strided_job rows;          // each of its words is a row
  std::uint32_t extent = 0;  // at most max_extent
  row_division division;     // into dwords of the destination

  static constexpr std::size_t max_extent = UINT32_MAX / 2;
  /// Returns the number of dwords of a row of `extent` bytes, wherever it begins.
  static constexpr std::size_t max_dwords(std::size_t extent) {
    return (extent + 2 * (dword_bytes - 1)) / dword_bytes;
  }

  /// Copies the dwords of thread i.
  ROCARRAY_HOST_DEVICE void operator()(std::size_t i) const {
    row_units const units = division.units_of(i, dwords_per_thread);
    row_place const row = place_of(units.row);
    // A dword of the destination needs two dwords of the source, or three if its first byte is in
    // the second half of a dword.
    unsigned const shift = static_cast<unsigned>(row.from % dword_bytes);
    bool const has_third = shift >= 2;
    unsigned const read_bytes = (has_third ? 3 : 2) * dword_bytes;
    // The dwords [low, high) are read and written as a whole. Positions in the source are counted
    // from row.from - shift on.
    auto const low = static_cast<std::uint32_t>((2 * row.begin + shift + 2 * dword_bytes - 1) /
                                                (2 * dword_bytes));
    std::uint64_t const source_end = 2 * row.end - 1 + shift;
    std::uint64_t const readable =
        source_end < read_bytes ? 0 : (source_end - read_bytes) / (2 * dword_bytes) + 1;
    std::uint64_t const writable = row.end / dword_bytes;
    auto const high = static_cast<std::uint32_t>(readable < writable ? readable : writable);

    std::uint32_t words[dwords_per_thread][3] = {};
    ROCARRAY_UNROLL
    for (unsigned k = 0; k < dwords_per_thread; ++k) {
      std::uint32_t const index = units.first + k * units.step;
      if (index < low || index >= high) continue;
      std::uintptr_t const at = row.from - shift + std::size_t{index} * (2 * dword_bytes);
      words[k][0] = word_at<std::uint32_t const>(at);
      words[k][1] = word_at<std::uint32_t const>(at + dword_bytes);
      if (has_third) words[k][2] = word_at<std::uint32_t const>(at + 2 * dword_bytes);
    }
    ROCARRAY_UNROLL
    for (unsigned k = 0; k < dwords_per_thread; ++k) {
      std::uint32_t const index = units.first + k * units.step;
      if (index < low || index >= high) continue;
      word_at<std::uint32_t>(row.to + std::size_t{index} * dword_bytes) = select_bytes<0x6420>(
          shifted(words[k][0], words[k][1], shift), shifted(words[k][1], words[k][2], shift));
    }
    for (unsigned k = 0; k < dwords_per_thread; ++k) {
      std::uint32_t const index = units.first + k * units.step;
      if (index < low || index >= high) copy_bytes(row, index);
    }
  }

  /// Does the same byte by byte. The CPU must not read the bytes between those of a row, because
  /// other threads may write them.
  void copy_by_bytes(std::size_t i) const {
    row_units const units = division.units_of(i, dwords_per_thread);
    row_place const row = place_of(units.row);
    for (unsigned k = 0; k < dwords_per_thread; ++k) {
      copy_bytes(row, units.first + k * units.step);
    }
  }

 private:
  /// A row, from the first dword of the destination that has one of its bytes.
  struct row_place {
    std::uintptr_t from;  // of the byte that the first byte of this dword would have
    std::uintptr_t to;    // a multiple of four bytes
    std::uint64_t begin;  // of the row, in bytes after `to`
    std::uint64_t end;
  };
  ROCARRAY_HOST_DEVICE row_place place_of(std::uint32_t row) const {
    word_addresses const first = rows.locate(row);
    std::uintptr_t const before = first.to % dword_bytes;
    return {first.from - 2 * before, first.to - before, before, before + extent};
  }

  // Copies those bytes of a dword that belong to the row.
  ROCARRAY_HOST_DEVICE static void copy_bytes(row_place const& row, std::uint32_t dword) {
    for (unsigned byte = 0; byte < dword_bytes; ++byte) {
      std::uint64_t const position = std::uint64_t{dword} * dword_bytes + byte;
      if (position < row.begin || position >= row.end) continue;
      word_at<std::uint8_t>(row.to + position) =
          word_at<std::uint8_t const>(row.from + 2 * position);
    }
  }
};

/// The form of the job for the CPU.
struct copy_half_row_bytes {
  half_row_job job;

  void operator()(std::size_t i) const { job.copy_by_bytes(i); }
};

}  // namespace roc::kernels
