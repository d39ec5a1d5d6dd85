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

template <class Unit, class Index>
void launch_units(canonical_layout const& form, std::byte const* pattern, std::size_t pattern_bytes,
                  hipStream_t stream) {
  constexpr std::size_t unit = sizeof(Unit);
  using job_type = fill_unit<Unit, Index>;
  auto const extent = [](std::size_t n) {
    return typename job_type::extent(static_cast<Index>(n));
  };
  job_type job;
  job.destination = reinterpret_cast<std::uintptr_t>(form.destination);
  job.count = form.bytes() / unit;
  std::size_t const repeats = std::lcm(pattern_bytes, unit);
  job.period = extent(repeats / unit);
  auto* const bytes = reinterpret_cast<std::byte*>(job.pattern);
  for (std::size_t at = 0; at < repeats; at += pattern_bytes) {
    std::memcpy(bytes + at, pattern, pattern_bytes);
  }
  for (std::size_t i = 0; i < form.rank; ++i) {
    job.extents[i] = extent(form.axes[i].extent);
    job.steps[i] = form.axes[i].destination;
  }
  job.extents[form.rank] = extent(form.run / unit);
  job.steps[form.rank] = static_cast<std::ptrdiff_t>(unit);
  job.rank = static_cast<unsigned>(form.rank) + 1;
  platform::check_launch("fill kernel", launch_fill(job, stream));
}

template <class Unit>
void launch(canonical_layout const& form, std::byte const* pattern, std::size_t pattern_bytes,
            hipStream_t stream) {
  if (form.bytes() / sizeof(Unit) <= std::numeric_limits<std::uint32_t>::max()) {
    launch_units<Unit, std::uint32_t>(form, pattern, pattern_bytes, stream);
  } else {
    launch_units<Unit, std::size_t>(form, pattern, pattern_bytes, stream);
  }
}

// Units as wide as addresses, steps and run allow.
void fill_evenly(canonical_layout const& form, std::byte const* pattern, std::size_t pattern_bytes,
                 hipStream_t stream) {
  std::uintptr_t bits = reinterpret_cast<std::uintptr_t>(form.destination) | form.run;
  for (std::size_t i = 0; i < form.rank; ++i) {
    bits |= static_cast<std::uintptr_t>(form.axes[i].destination);
  }
  switch (widest_unit(bits)) {
    case 1: return launch<std::uint8_t>(form, pattern, pattern_bytes, stream);
    case 2: return launch<std::uint16_t>(form, pattern, pattern_bytes, stream);
    case 4: return launch<std::uint32_t>(form, pattern, pattern_bytes, stream);
    case 8: return launch<std::uint64_t>(form, pattern, pattern_bytes, stream);
    default: return launch<unit16>(form, pattern, pattern_bytes, stream);
  }
}

// Bytes [begin, end) of every run.
void fill_part(canonical_layout form, std::size_t begin, std::size_t end, std::byte const* pattern,
               std::size_t pattern_bytes, hipStream_t stream) {
  if (begin == end) return;
  form.destination += begin;
  form.run = end - begin;
  std::array<std::byte, 16> turned{};
  for (std::size_t i = 0; i < pattern_bytes; ++i) {
    turned[i] = pattern[(begin + i) % pattern_bytes];
  }
  fill_evenly(form, turned.data(), pattern_bytes, stream);
}

// Runs shorter than this are one launch, in narrower units.
constexpr std::size_t shortest_to_divide = 4096;

}  // namespace

void fill(canonical_layout const& form, std::byte const* pattern, std::size_t pattern_bytes,
          hipStream_t stream) {
  constexpr std::size_t widest = sizeof(unit16);
  bool alike = form.run >= shortest_to_divide;  // all runs begin at one place of a unit
  for (std::size_t i = 0; i < form.rank; ++i) {
    alike = alike && form.axes[i].destination % static_cast<std::ptrdiff_t>(widest) == 0;
  }
  if (!alike) return fill_evenly(form, pattern, pattern_bytes, stream);
  // The middle in the widest units, what is before and behind in narrower ones.
  std::size_t const off = reinterpret_cast<std::uintptr_t>(form.destination) % widest;
  std::size_t const head = (widest - off) % widest;
  std::size_t const tail = head + (form.run - head) / widest * widest;
  fill_part(form, 0, head, pattern, pattern_bytes, stream);
  fill_part(form, head, tail, pattern, pattern_bytes, stream);
  fill_part(form, tail, form.run, pattern, pattern_bytes, stream);
}

}  // namespace roc::kernels
