// SPDX-License-Identifier: MIT
#include "transfer/pack.hpp"

#include <algorithm>
#include <array>
#include <cstring>

namespace roc::transfer {
namespace {

// Calls visit(source offset, destination offset, packed offset, bytes) for every contiguous part.
template <class Visit>
void walk(normal_form const& form, piece part, Visit visit) noexcept {
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
  std::size_t within = part.begin % form.run;
  for (std::size_t at = part.begin; at < part.end;) {
    std::size_t const bytes = std::min(form.run - within, part.end - at);
    auto const offset = static_cast<std::ptrdiff_t>(within);
    visit(source + offset, destination + offset, at - part.begin, bytes);
    at += bytes;
    within = 0;
    for (std::size_t i = form.rank; i-- != 0;) {
      axis const& a = form.axes[i];
      source += a.source;
      destination += a.destination;
      if (++index[i] != a.extent) break;
      source -= static_cast<std::ptrdiff_t>(a.extent) * a.source;
      destination -= static_cast<std::ptrdiff_t>(a.extent) * a.destination;
      index[i] = 0;
    }
  }
}

// memcpy of a length known at compile time is one or two instructions.
void copy_bytes(std::byte* to, std::byte const* from, std::size_t bytes) noexcept {
  switch (bytes) {
    case 1: *to = *from; return;
    case 2: std::memcpy(to, from, 2); return;
    case 4: std::memcpy(to, from, 4); return;
    case 8: std::memcpy(to, from, 8); return;
    case 16: std::memcpy(to, from, 16); return;
    default: std::memcpy(to, from, bytes);
  }
}

}  // namespace

void pack(normal_form const& form, piece part, std::byte* packed) noexcept {
  walk(form, part, [&](std::ptrdiff_t source, std::ptrdiff_t, std::size_t at, std::size_t bytes) {
    copy_bytes(packed + at, form.source + source, bytes);
  });
}

void unpack(normal_form const& form, piece part, std::byte const* packed) noexcept {
  walk(form, part,
       [&](std::ptrdiff_t, std::ptrdiff_t destination, std::size_t at, std::size_t bytes) {
         copy_bytes(form.destination + destination, packed + at, bytes);
       });
}

void copy_on_host(normal_form const& form) noexcept {
  walk(form, {0, form.bytes()},
       [&](std::ptrdiff_t source, std::ptrdiff_t destination, std::size_t, std::size_t bytes) {
         copy_bytes(form.destination + destination, form.source + source, bytes);
       });
}

void fill_on_host(normal_form const& form, std::byte const* pattern,
                  std::size_t pattern_bytes) noexcept {
  walk(form, {0, form.bytes()},
       [&](std::ptrdiff_t, std::ptrdiff_t destination, std::size_t, std::size_t bytes) {
         std::byte* const to = form.destination + destination;
         if (pattern_bytes == 1) {
           std::memset(to, std::to_integer<int>(*pattern), bytes);
           return;
         }
         for (std::size_t at = 0; at < bytes; at += pattern_bytes) {
           copy_bytes(to + at, pattern, pattern_bytes);
         }
       });
}

}  // namespace roc::transfer
