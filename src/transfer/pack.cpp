// SPDX-License-Identifier: MIT
#include "transfer/pack.hpp"

#include <cstring>

#include "transfer/walk.hpp"

namespace roc::transfer {
namespace {

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
