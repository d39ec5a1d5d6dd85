// SPDX-License-Identifier: MIT
// The arguments of the strided copy kernel and the work for one index; the same on the device and
// on the CPU.
#pragma once

#include <cstddef>
#include <cstdint>

#include <roc/config.hpp>

#include "kernels/fast_divmod.hpp"
#include "kernels/unroll.hpp"
#include "kernels/vector_word.hpp"

namespace roc::kernels {

/// The addresses of one word on both sides.
struct word_addresses {
  std::uintptr_t from;
  std::uintptr_t to;
};

/// The axes of a canonical layout, and one for the words of a run.
inline constexpr std::size_t max_job_axes = 17;

/// The arguments of a strided copy of `count` words, from linear index `first` on. Axes are in
/// order from the outermost to the innermost. Steps are in bytes.
///
/// Indices have 32 bits: a device divides 64-bit numbers several times slower. Longer copies are
/// several jobs (first_part). Addresses are integers, because the address of linear index 0 may be
/// before the allocation: packed memory begins at the word `first`.
struct strided_job {
  std::uintptr_t source = 0;       // of linear index 0
  std::uintptr_t destination = 0;  // of linear index 0
  std::uint32_t first = 0;
  std::size_t count = 0;
  unsigned rank = 0;
  unsigned reversed_bytes = 0;  // bytes of the elements to reverse within each word; 0: none
  fast_divmod extents[max_job_axes] = {};
  std::ptrdiff_t source_steps[max_job_axes] = {};
  std::ptrdiff_t destination_steps[max_job_axes] = {};

  /// Returns the addresses of word `i`, counted from `first`.
  ROCARRAY_HOST_DEVICE word_addresses locate(std::size_t i) const {
    std::uint32_t rest = first + static_cast<std::uint32_t>(i);
    word_addresses result{source, destination};
    // The outermost axis needs no division: the remainder is its index.
    for (unsigned axis = rank; axis-- > 1;) {
      std::uint32_t const whole = extents[axis].quotient(rest);
      advance(result, rest - whole * extents[axis].divisor, axis);
      rest = whole;
    }
    if (rank != 0) advance(result, rest, 0);
    return result;
  }
  /// Computes the addresses of the words `i`, `i + step` and so on, for all of them axis by axis.
  /// The results for words beyond `count` are not valid addresses.
  template <unsigned Count>
  ROCARRAY_HOST_DEVICE void locate(std::size_t i, std::size_t step,
                                   word_addresses (&result)[Count]) const {
    std::uint32_t rest[Count];
    ROCARRAY_UNROLL
    for (unsigned k = 0; k < Count; ++k) {
      rest[k] = first + static_cast<std::uint32_t>(i + k * step);
      result[k] = {source, destination};
    }
    for (unsigned axis = rank; axis-- > 1;) {
      ROCARRAY_UNROLL
      for (unsigned k = 0; k < Count; ++k) {
        std::uint32_t const whole = extents[axis].quotient(rest[k]);
        advance(result[k], rest[k] - whole * extents[axis].divisor, axis);
        rest[k] = whole;
      }
    }
    if (rank == 0) return;
    ROCARRAY_UNROLL
    for (unsigned k = 0; k < Count; ++k) advance(result[k], rest[k], 0);
  }

 private:
  ROCARRAY_HOST_DEVICE void advance(word_addresses& addresses, std::uint32_t index,
                                    unsigned axis) const {
    auto const steps = static_cast<std::ptrdiff_t>(index);
    addresses.from += static_cast<std::uintptr_t>(steps * source_steps[axis]);
    addresses.to += static_cast<std::uintptr_t>(steps * destination_steps[axis]);
  }
};

/// Copies word `i` of the job.
template <class Word>
struct copy_word {
  strided_job job;

  ROCARRAY_HOST_DEVICE void operator()(std::size_t i) const {
    word_addresses const addresses = locate(i);
    write(addresses, word_at<Word const>(addresses.from));
  }

  /// Writes a word that was read, with its elements reversed if the job asks for it.
  ROCARRAY_HOST_DEVICE void write(word_addresses const& addresses,
                                  word_register<Word> const& word) const {
    auto& destination = word_at<Word>(addresses.to);
    if (job.reversed_bytes == 0) {
      copy_word_to(destination, word);
    } else {
      copy_word_to(destination, reversed(static_cast<Word>(word), job.reversed_bytes));
    }
  }

  ROCARRAY_HOST_DEVICE word_addresses locate(std::size_t i) const { return job.locate(i); }
};

}  // namespace roc::kernels
