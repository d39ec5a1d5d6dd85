// SPDX-License-Identifier: MIT
#include "host_image.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>

namespace rocbench {
namespace {

constexpr std::uint64_t word = sizeof(std::uint64_t);

// Calls f(offset, segment) for all segments in [begin, end); the first and the last are cut off
// there.
template <class F>
void for_each_segment(image const& contents, std::uint64_t begin, std::uint64_t end, F const& f) {
  for (std::uint64_t offset = begin; offset < end;) {
    segment part = segment_at(contents, offset);
    part.length = std::min(part.length, end - offset);
    f(offset, part);
    offset += part.length;
  }
}

// Calls f(i, bytes, value) for consecutive parts of a payload segment: single bytes up to the next
// multiple of 8, whole words, then single bytes.
template <class F>
void for_each_word(image const& contents, segment const& run, F const& f) {
  std::uint64_t const head = std::min((word - run.index % word) % word, run.length);
  std::uint64_t const end = run.length - (run.length - head) % word;
  for (std::uint64_t i = 0; i < head; ++i) f(i, 1, payload_byte(contents, run.index + i));
  if (contents.repeats) {
    for (std::uint64_t i = head; i < end; i += word) f(i, word, contents.value);
  } else {
    // The numbers are computed by addition, which compilers vectorize.
    std::uint64_t number = pattern_number((run.index + head) / word, contents.sample);
    for (std::uint64_t i = head; i < end; i += word, number += pattern_step) {
      f(i, word, spread_bits(number));
    }
  }
  for (std::uint64_t i = end; i < run.length; ++i) f(i, 1, payload_byte(contents, run.index + i));
}

void write_payload(std::byte* memory, image const& contents, segment const& run) {
  for_each_word(contents, run, [&](std::uint64_t i, std::uint64_t bytes, std::uint64_t value) {
    std::memcpy(memory + i, &value, bytes);
  });
}

bool matches_payload(std::byte const* data, image const& contents, segment const& run) {
  std::uint64_t differences = 0;
  for_each_word(contents, run, [&](std::uint64_t i, std::uint64_t bytes, std::uint64_t value) {
    std::uint64_t actual = 0;
    std::memcpy(&actual, data + i, bytes);
    differences |= actual ^ value;
  });
  return differences == 0;
}

bool matches_value(std::byte const* data, std::uint64_t bytes, std::uint8_t value) {
  unsigned differences = 0;
  for (std::uint64_t i = 0; i < bytes; ++i) {
    differences |= std::to_integer<unsigned>(data[i]) ^ value;
  }
  return differences == 0;
}

bool matches(std::byte const* data, image const& contents, segment const& part) {
  return part.is_payload ? matches_payload(data, contents, part)
                         : matches_value(data, part.length, contents.poison);
}

// Calls f(begin, end) for ranges that cover [0, bytes) and start at multiples of the page size, in
// parallel.
template <class F>
void parallel_for_pages(std::uint64_t bytes, F const& f) {
  constexpr std::uint64_t page = 4096;
  parallel_for((bytes + page - 1) / page, page, [&](std::uint64_t begin, std::uint64_t end) {
    f(begin * page, std::min(end * page, bytes));
  });
}

}  // namespace

void write_image_range(std::byte* memory, image const& contents, std::uint64_t begin,
                       std::uint64_t end) {
  for_each_segment(contents, begin, end, [&](std::uint64_t offset, segment const& part) {
    if (part.is_payload) return write_payload(memory + offset, contents, part);
    std::memset(memory + offset, contents.poison, part.length);
  });
}

std::uint64_t first_mismatch_in_range(std::byte const* memory, image const& contents,
                                      std::uint64_t begin, std::uint64_t end) {
  std::uint64_t first = end;
  for_each_segment(contents, begin, end, [&](std::uint64_t offset, segment const& part) {
    if (first != end || matches(memory + offset, contents, part)) return;
    first = offset;
    while (std::to_integer<std::uint8_t>(memory[first]) == image_byte(contents, first)) ++first;
  });
  return first;
}

void write_image(std::byte* memory, image const& contents) {
  parallel_for_pages(contents.size(), [&](std::uint64_t begin, std::uint64_t end) {
    write_image_range(memory, contents, begin, end);
  });
}

std::optional<std::uint64_t> find_first_mismatch(std::byte const* memory, image const& contents) {
  std::atomic<std::uint64_t> first{contents.size()};
  parallel_for_pages(contents.size(), [&](std::uint64_t begin, std::uint64_t end) {
    std::uint64_t const offset = first_mismatch_in_range(memory, contents, begin, end);
    if (offset == end) return;
    for (auto current = first.load();
         offset < current && !first.compare_exchange_weak(current, offset);) {
    }
  });
  if (first == contents.size()) return std::nullopt;
  return first;
}

void fill_bytes(std::byte* memory, std::size_t bytes, std::uint8_t value) {
  parallel_for_pages(bytes, [&](std::uint64_t begin, std::uint64_t end) {
    std::memset(memory + begin, value, end - begin);
  });
}

}  // namespace rocbench
