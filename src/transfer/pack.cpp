// SPDX-License-Identifier: MIT
#include "transfer/pack.hpp"

#include <algorithm>
#include <array>
#include <cstring>

namespace roc::transfer {
namespace {

// Equal runs, one after the other at a step.
struct rows {
  std::size_t count;
  std::size_t run;
};

// Calls visit(source offset, destination offset, packed offset, rows) for a piece: whole rows of the
// innermost axis at a time, and parts of a run where the piece cuts one.
template <class Visit>
void walk(normal_form const& form, piece part, Visit visit) noexcept {
  std::size_t const inner = form.rank == 0 ? 0 : form.rank - 1;
  std::array<std::size_t, max_axes> index{};
  std::ptrdiff_t source = 0;
  std::ptrdiff_t destination = 0;
  std::size_t rest = part.begin / form.run;
  for (std::size_t i = form.rank; i-- != 0;) {
    axis const& a = form.axes[i];
    index[i] = rest % a.extent;
    rest /= a.extent;
    source += static_cast<std::ptrdiff_t>(index[i]) * a.source;
    destination += static_cast<std::ptrdiff_t>(index[i]) * a.destination;
  }
  // `done` more runs of the innermost axis, and where that is full, of those around it.
  auto const advance = [&](std::size_t done) {
    for (std::size_t i = form.rank; i-- != 0; done = 1) {
      axis const& a = form.axes[i];
      source += static_cast<std::ptrdiff_t>(done) * a.source;
      destination += static_cast<std::ptrdiff_t>(done) * a.destination;
      index[i] += done;
      if (index[i] != a.extent) return;
      source -= static_cast<std::ptrdiff_t>(a.extent) * a.source;
      destination -= static_cast<std::ptrdiff_t>(a.extent) * a.destination;
      index[i] = 0;
    }
  };
  std::size_t within = part.begin % form.run;
  for (std::size_t at = part.begin; at < part.end;) {
    std::size_t const left = part.end - at;
    std::size_t const packed = at - part.begin;
    if (within != 0 || left < form.run) {
      std::size_t const bytes = std::min(form.run - within, left);
      auto const offset = static_cast<std::ptrdiff_t>(within);
      visit(source + offset, destination + offset, packed, rows{1, bytes});
      at += bytes;
      within = 0;
      advance(1);
      continue;
    }
    std::size_t const along = form.rank == 0 ? 1 : form.axes[inner].extent - index[inner];
    std::size_t const count = std::min(along, left / form.run);
    visit(source, destination, packed, rows{count, form.run});
    at += count * form.run;
    advance(count);
  }
}

// memcpy of a length known at compile time is one or two instructions.
template <std::size_t Run>
void copy_runs(std::byte* to, std::ptrdiff_t to_step, std::byte const* from,
               std::ptrdiff_t from_step, std::size_t count) noexcept {
  for (std::size_t i = 0; i < count; ++i) {
    std::memcpy(to, from, Run);
    to += to_step;
    from += from_step;
  }
}

void copy_rows(std::byte* to, std::ptrdiff_t to_step, std::byte const* from,
               std::ptrdiff_t from_step, rows each) noexcept {
  switch (each.run) {
    case 1: return copy_runs<1>(to, to_step, from, from_step, each.count);
    case 2: return copy_runs<2>(to, to_step, from, from_step, each.count);
    case 4: return copy_runs<4>(to, to_step, from, from_step, each.count);
    case 8: return copy_runs<8>(to, to_step, from, from_step, each.count);
    case 12: return copy_runs<12>(to, to_step, from, from_step, each.count);
    case 16: return copy_runs<16>(to, to_step, from, from_step, each.count);
    case 32: return copy_runs<32>(to, to_step, from, from_step, each.count);
    case 64: return copy_runs<64>(to, to_step, from, from_step, each.count);
    case 128: return copy_runs<128>(to, to_step, from, from_step, each.count);
    default: break;
  }
  for (std::size_t i = 0; i < each.count; ++i) {
    std::memcpy(to, from, each.run);
    to += to_step;
    from += from_step;
  }
}

std::ptrdiff_t inner_step(normal_form const& form, side which) noexcept {
  if (form.rank == 0) return 0;
  axis const& inner = form.axes[form.rank - 1];
  return which == side::source ? inner.source : inner.destination;
}

}  // namespace

void pack(normal_form const& form, piece part, std::byte* packed) noexcept {
  std::ptrdiff_t const step = inner_step(form, side::source);
  walk(form, part, [&](std::ptrdiff_t source, std::ptrdiff_t, std::size_t at, rows each) {
    copy_rows(packed + at, static_cast<std::ptrdiff_t>(each.run), form.source + source, step, each);
  });
}

void unpack(normal_form const& form, piece part, std::byte const* packed) noexcept {
  std::ptrdiff_t const step = inner_step(form, side::destination);
  walk(form, part, [&](std::ptrdiff_t, std::ptrdiff_t destination, std::size_t at, rows each) {
    copy_rows(form.destination + destination, step, packed + at,
              static_cast<std::ptrdiff_t>(each.run), each);
  });
}

void copy_on_host(normal_form const& form) noexcept {
  std::ptrdiff_t const from_step = inner_step(form, side::source);
  std::ptrdiff_t const to_step = inner_step(form, side::destination);
  walk(form, {0, form.bytes()},
       [&](std::ptrdiff_t source, std::ptrdiff_t destination, std::size_t, rows each) {
         copy_rows(form.destination + destination, to_step, form.source + source, from_step, each);
       });
}

void fill_on_host(normal_form const& form, std::byte const* pattern,
                  std::size_t pattern_bytes) noexcept {
  std::ptrdiff_t const step = inner_step(form, side::destination);
  walk(form, {0, form.bytes()},
       [&](std::ptrdiff_t, std::ptrdiff_t destination, std::size_t, rows each) {
         std::byte* to = form.destination + destination;
         for (std::size_t i = 0; i < each.count; ++i, to += step) {
           if (pattern_bytes == 1) {
             std::memset(to, std::to_integer<int>(*pattern), each.run);
             continue;
           }
           copy_rows(to, static_cast<std::ptrdiff_t>(pattern_bytes), pattern, 0,
                     {each.run / pattern_bytes, pattern_bytes});
         }
       });
}

}  // namespace roc::transfer
