// SPDX-License-Identifier: MIT
#include "kernels/fill.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <numeric>

#include "kernels/launch.hpp"
#include "kernels/vector_word.hpp"
#include "platform/call.hpp"

namespace roc::kernels {
namespace {

using layout::canonical_layout;

// Fills in one launch, in words of type Word.
template <class Word, class Index>
void launch_words(canonical_layout const& layout, std::byte const* pattern,
                  std::size_t pattern_bytes, hipStream_t stream) {
  constexpr std::size_t word_bytes = sizeof(Word);
  using job_type = fill_word<Word, Index>;
  auto const extent = [](std::size_t n) {
    return typename job_type::extent(static_cast<Index>(n));
  };
  job_type job;
  job.destination = reinterpret_cast<std::uintptr_t>(layout.destination);
  job.count = layout.bytes() / word_bytes;
  std::size_t const period = std::lcm(pattern_bytes, word_bytes);
  job.period = extent(period / word_bytes);
  auto* const bytes = reinterpret_cast<std::byte*>(job.pattern);
  for (std::size_t offset = 0; offset < period; offset += pattern_bytes) {
    std::memcpy(bytes + offset, pattern, pattern_bytes);
  }
  for (std::size_t i = 0; i < layout.rank; ++i) {
    job.extents[i] = extent(layout.axes[i].extent);
    job.steps[i] = layout.axes[i].destination;
  }
  job.extents[layout.rank] = extent(layout.run / word_bytes);
  job.steps[layout.rank] = static_cast<std::ptrdiff_t>(word_bytes);
  job.rank = static_cast<unsigned>(layout.rank) + 1;
  platform::check_launch("fill kernel", launch_fill(job, stream));
}

// Chooses the index type.
template <class Word>
void launch(canonical_layout const& layout, std::byte const* pattern, std::size_t pattern_bytes,
            hipStream_t stream) {
  if (layout.bytes() / sizeof(Word) <= std::numeric_limits<std::uint32_t>::max()) {
    launch_words<Word, std::uint32_t>(layout, pattern, pattern_bytes, stream);
  } else {
    launch_words<Word, std::size_t>(layout, pattern, pattern_bytes, stream);
  }
}

// Fills in one launch, in the widest words that fit the address, the steps and the run.
void fill_in_widest_words(canonical_layout const& layout, std::byte const* pattern,
                          std::size_t pattern_bytes, hipStream_t stream) {
  std::uintptr_t bits = reinterpret_cast<std::uintptr_t>(layout.destination) | layout.run;
  for (std::size_t i = 0; i < layout.rank; ++i) {
    bits |= static_cast<std::uintptr_t>(layout.axes[i].destination);
  }
  switch (widest_word_bytes(bits)) {
    case 1: return launch<std::uint8_t>(layout, pattern, pattern_bytes, stream);
    case 2: return launch<std::uint16_t>(layout, pattern, pattern_bytes, stream);
    case 4: return launch<std::uint32_t>(layout, pattern, pattern_bytes, stream);
    case 8: return launch<std::uint64_t>(layout, pattern, pattern_bytes, stream);
    default: return launch<vector_word>(layout, pattern, pattern_bytes, stream);
  }
}

// Fills bytes [begin, end) of every run in one launch.
void fill_part(canonical_layout layout, std::size_t begin, std::size_t end,
               std::byte const* pattern, std::size_t pattern_bytes, hipStream_t stream) {
  if (begin == end) return;
  layout.destination += begin;
  layout.run = end - begin;
  std::array<std::byte, 16> rotated{};
  for (std::size_t i = 0; i < pattern_bytes; ++i) {
    rotated[i] = pattern[(begin + i) % pattern_bytes];
  }
  fill_in_widest_words(layout, rotated.data(), pattern_bytes, stream);
}

// Shorter runs are filled in one launch, even if only narrow words fit. An estimate, not measured:
// splitting costs up to two more launches, and narrow words cost more accesses.
constexpr std::size_t min_run_to_split = 4096;

}  // namespace

void fill(canonical_layout const& layout, std::byte const* pattern, std::size_t pattern_bytes,
          hipStream_t stream) {
  constexpr std::size_t widest = sizeof(vector_word);
  // Splitting needs runs that all begin at the same offset from a multiple of the widest word.
  bool splits = layout.run >= min_run_to_split;
  for (std::size_t i = 0; i < layout.rank; ++i) {
    splits = splits && layout.axes[i].destination % static_cast<std::ptrdiff_t>(widest) == 0;
  }
  if (!splits) return fill_in_widest_words(layout, pattern, pattern_bytes, stream);
  // Fills the aligned middle of the runs in the widest words, the bytes before and after it in
  // narrower words.
  std::size_t const misalignment = reinterpret_cast<std::uintptr_t>(layout.destination) % widest;
  std::size_t const head = (widest - misalignment) % widest;
  std::size_t const tail = head + (layout.run - head) / widest * widest;
  fill_part(layout, 0, head, pattern, pattern_bytes, stream);
  fill_part(layout, head, tail, pattern, pattern_bytes, stream);
  fill_part(layout, tail, layout.run, pattern, pattern_bytes, stream);
}

}  // namespace roc::kernels
