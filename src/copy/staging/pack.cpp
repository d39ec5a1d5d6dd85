// SPDX-License-Identifier: MIT
#include "copy/staging/pack.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "copy/staging/nontemporal_copy.hpp"
#include "layout/for_each_row.hpp"

namespace roc::transfer {
namespace {

// The side that is no staging memory: the processor does not see far enough ahead in rows there.
enum class far : unsigned char { source, destination };

// Lines a distance ahead are on their way to the cache, as many as the memory takes at once: a row
// after a gap is a line of its own to the processor, which looks ahead within a page at most. By
// measurement on 16 cores rows of 4 bytes at twice the pitch are packed half as fast again.
struct look_ahead {
  static constexpr std::size_t line = 64;
  static constexpr std::size_t bytes = 4096;
  static constexpr std::size_t least_rows = 8;
  static constexpr std::size_t longest_run = 512;  // from there on the processor does it alone

  std::size_t rows;      // that share a line
  std::size_t distance;  // in rows, a multiple of those

  explicit look_ahead(std::ptrdiff_t step) noexcept {
    auto const size = std::max<std::size_t>(static_cast<std::size_t>(std::abs(step)), 1);
    rows = std::max<std::size_t>(line / size, 1);
    distance = std::max(bytes / size / rows, least_rows) * rows;
  }

  static void at(std::byte const* row, std::size_t run) noexcept {
    constexpr int for_reading = 0;  // a line that no other core has is written as fast
    constexpr int second_level = 2;
    for (std::size_t byte = 0; byte < run; byte += line) {
      __builtin_prefetch(row + byte, for_reading, second_level);
    }
  }
};

constexpr std::size_t any_run = 0;

// memcpy of a length known at compile time is one or two instructions.
template <std::size_t Run>
void copy_runs(std::byte*& to, std::ptrdiff_t to_step, std::byte const*& from,
               std::ptrdiff_t from_step, std::size_t count, std::size_t run) noexcept {
  for (std::size_t i = 0; i < count; ++i) {
    std::memcpy(to, from, Run == any_run ? run : Run);
    to += to_step;
    from += from_step;
  }
}

template <std::size_t Run>
void copy_runs_ahead(std::byte* to, std::ptrdiff_t to_step, std::byte const* from,
                     std::ptrdiff_t from_step, layout::rows each, far which) noexcept {
  std::size_t done = 0;
  if (each.count > look_ahead::least_rows && each.run <= look_ahead::longest_run) {
    std::ptrdiff_t const step = which == far::source ? from_step : to_step;
    look_ahead const ahead(step);
    std::ptrdiff_t const distance = static_cast<std::ptrdiff_t>(ahead.distance) * step;
    for (; done + ahead.distance + ahead.rows <= each.count; done += ahead.rows) {
      look_ahead::at((which == far::source ? from : to) + distance, each.run);
      copy_runs<Run>(to, to_step, from, from_step, ahead.rows, each.run);
    }
  }
  copy_runs<Run>(to, to_step, from, from_step, each.count - done, each.run);
}

void copy_rows(std::byte* to, std::ptrdiff_t to_step, std::byte const* from,
               std::ptrdiff_t from_step, layout::rows each, far which) noexcept {
  switch (each.run) {
    case 1: return copy_runs_ahead<1>(to, to_step, from, from_step, each, which);
    case 2: return copy_runs_ahead<2>(to, to_step, from, from_step, each, which);
    case 4: return copy_runs_ahead<4>(to, to_step, from, from_step, each, which);
    case 8: return copy_runs_ahead<8>(to, to_step, from, from_step, each, which);
    case 12: return copy_runs_ahead<12>(to, to_step, from, from_step, each, which);
    case 16: return copy_runs_ahead<16>(to, to_step, from, from_step, each, which);
    case 32: return copy_runs_ahead<32>(to, to_step, from, from_step, each, which);
    case 64: return copy_runs_ahead<64>(to, to_step, from, from_step, each, which);
    case 128: return copy_runs_ahead<128>(to, to_step, from, from_step, each, which);
    default: return copy_runs_ahead<any_run>(to, to_step, from, from_step, each, which);
  }
}

void copy_rows_past_cache(std::byte* to, std::ptrdiff_t to_step, std::byte const* from,
                          std::ptrdiff_t from_step, layout::rows each) noexcept {
  for (std::size_t i = 0; i < each.count; ++i) {
    nontemporal_copy(to, from, each.run);
    to += to_step;
    from += from_step;
  }
  nontemporal_fence();
}

}  // namespace

void pack(layout::canonical_layout const& form, layout::packed_range part, std::byte* packed) noexcept {
  std::ptrdiff_t const step = layout::inner_step(form, layout::side::source);
  bool const past_cache =
      form.run >= min_nontemporal_run_bytes && form.bytes() <= max_nontemporal_pack_bytes;
  layout::for_each_row(form, part, [&](std::ptrdiff_t source, std::ptrdiff_t, std::size_t at, layout::rows each) {
    auto const run = static_cast<std::ptrdiff_t>(each.run);
    if (past_cache) {
      copy_rows_past_cache(packed + at, run, form.source + source, step, each);
    } else {
      copy_rows(packed + at, run, form.source + source, step, each, far::source);
    }
  });
}

void unpack(layout::canonical_layout const& form, layout::packed_range part, std::byte const* packed) noexcept {
  std::ptrdiff_t const step = layout::inner_step(form, layout::side::destination);
  bool const past_cache =
      form.run >= min_nontemporal_run_bytes && form.bytes() >= min_nontemporal_unpack_bytes;
  layout::for_each_row(form, part, [&](std::ptrdiff_t, std::ptrdiff_t destination, std::size_t at, layout::rows each) {
    auto const run = static_cast<std::ptrdiff_t>(each.run);
    if (past_cache) {
      copy_rows_past_cache(form.destination + destination, step, packed + at, run, each);
    } else {
      copy_rows(form.destination + destination, step, packed + at, run, each, far::destination);
    }
  });
}

void copy_on_host(layout::canonical_layout const& form) noexcept {
  std::ptrdiff_t const from_step = layout::inner_step(form, layout::side::source);
  std::ptrdiff_t const to_step = layout::inner_step(form, layout::side::destination);
  layout::for_each_row(form, {0, form.bytes()},
       [&](std::ptrdiff_t source, std::ptrdiff_t destination, std::size_t, layout::rows each) {
         copy_rows(form.destination + destination, to_step, form.source + source, from_step, each,
                   far::source);
       });
}

void fill_on_host(layout::canonical_layout const& form, std::byte const* pattern,
                  std::size_t pattern_bytes) noexcept {
  std::ptrdiff_t const step = layout::inner_step(form, layout::side::destination);
  layout::for_each_row(form, {0, form.bytes()},
       [&](std::ptrdiff_t, std::ptrdiff_t destination, std::size_t, layout::rows each) {
         std::byte* to = form.destination + destination;
         for (std::size_t i = 0; i < each.count; ++i, to += step) {
           if (pattern_bytes == 1) {
             std::memset(to, std::to_integer<int>(*pattern), each.run);
             continue;
           }
           copy_rows(to, static_cast<std::ptrdiff_t>(pattern_bytes), pattern, 0,
                     {each.run / pattern_bytes, pattern_bytes}, far::destination);
         }
       });
}

}  // namespace roc::transfer
