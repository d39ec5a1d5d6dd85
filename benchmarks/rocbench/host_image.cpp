// SPDX-License-Identifier: MIT
#include "host_image.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>

#include "pieces.hpp"

namespace rocbench {
namespace {

constexpr std::uint64_t word = sizeof(std::uint64_t);

// Calls f(offset, segment) for all of [begin, end), segments cut off there.
template <class F>
void for_each_segment(image const& of, std::uint64_t begin, std::uint64_t end, F const& f) {
  for (std::uint64_t at = begin; at < end;) {
    segment here = segment_at(of, at);
    here.length = std::min(here.length, end - at);
    f(at, here);
    at += here.length;
  }
}

// Calls f(i, bytes, value) for the parts of a run of payload: whole words, and single bytes before
// and behind them.
template <class F>
void for_each_word(image const& of, segment const& run, F const& f) {
  std::uint64_t const head = std::min((word - run.index % word) % word, run.length);
  std::uint64_t const end = run.length - (run.length - head) % word;
  for (std::uint64_t i = 0; i < head; ++i) f(i, 1, payload_byte(of, run.index + i));
  if (of.repeats) {
    for (std::uint64_t i = head; i < end; i += word) f(i, word, of.value);
  } else {
    // Numbers by addition: a loop that compilers turn into vectors.
    std::uint64_t number = pattern_number((run.index + head) / word, of.sample);
    for (std::uint64_t i = head; i < end; i += word, number += pattern_step) {
      f(i, word, spread_bits(number));
    }
  }
  for (std::uint64_t i = end; i < run.length; ++i) f(i, 1, payload_byte(of, run.index + i));
}

void write_run(std::byte* to, image const& of, segment const& run) {
  for_each_word(of, run, [&](std::uint64_t i, std::uint64_t bytes, std::uint64_t value) {
    std::memcpy(to + i, &value, bytes);
  });
}

bool holds_run(std::byte const* data, image const& of, segment const& run) {
  std::uint64_t differences = 0;
  for_each_word(of, run, [&](std::uint64_t i, std::uint64_t bytes, std::uint64_t value) {
    std::uint64_t found = 0;
    std::memcpy(&found, data + i, bytes);
    differences |= found ^ value;
  });
  return differences == 0;
}

bool holds_value(std::byte const* data, std::uint64_t bytes, std::uint8_t value) {
  unsigned differences = 0;
  for (std::uint64_t i = 0; i < bytes; ++i) {
    differences |= std::to_integer<unsigned>(data[i]) ^ value;
  }
  return differences == 0;
}

bool holds(std::byte const* data, image const& of, segment const& part) {
  return part.is_payload ? holds_run(data, of, part) : holds_value(data, part.length, of.poison);
}

// Calls f(begin, end) for pieces of [0, bytes) that begin at whole pages, each in a thread.
template <class F>
void in_parts(std::uint64_t bytes, F const& f) {
  constexpr std::uint64_t page = 4096;
  in_pieces((bytes + page - 1) / page, page, [&](std::uint64_t begin, std::uint64_t end) {
    f(begin * page, std::min(end * page, bytes));
  });
}

}  // namespace

void write_image_part(std::byte* whole, image const& of, std::uint64_t begin, std::uint64_t end) {
  for_each_segment(of, begin, end, [&](std::uint64_t at, segment const& part) {
    if (part.is_payload) return write_run(whole + at, of, part);
    std::memset(whole + at, of.poison, part.length);
  });
}

std::uint64_t first_wrong_byte(std::byte const* whole, image const& of, std::uint64_t begin,
                               std::uint64_t end) {
  std::uint64_t wrong = end;
  for_each_segment(of, begin, end, [&](std::uint64_t at, segment const& part) {
    if (wrong != end || holds(whole + at, of, part)) return;
    wrong = at;
    while (std::to_integer<std::uint8_t>(whole[wrong]) == image_byte(of, wrong)) ++wrong;
  });
  return wrong;
}

void write_image(std::byte* whole, image const& of) {
  in_parts(of.whole(), [&](std::uint64_t begin, std::uint64_t end) {
    write_image_part(whole, of, begin, end);
  });
}

std::optional<std::uint64_t> find_wrong_byte(std::byte const* whole, image const& of) {
  std::atomic<std::uint64_t> first{of.whole()};
  in_parts(of.whole(), [&](std::uint64_t begin, std::uint64_t end) {
    std::uint64_t const wrong = first_wrong_byte(whole, of, begin, end);
    if (wrong == end) return;
    for (auto known = first.load(); wrong < known && !first.compare_exchange_weak(known, wrong);) {
    }
  });
  if (first == of.whole()) return std::nullopt;
  return first;
}

void fill_bytes(std::byte* data, std::size_t bytes, std::byte value) {
  in_parts(bytes, [&](std::uint64_t begin, std::uint64_t end) {
    std::memset(data + begin, std::to_integer<int>(value), end - begin);
  });
}

}  // namespace rocbench
