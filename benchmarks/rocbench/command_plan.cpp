// SPDX-License-Identifier: MIT
#include "command_plan.hpp"

#include <algorithm>
#include <bit>

namespace rocbench {
namespace {

constexpr std::uint64_t kibi = 1024;
constexpr std::uint64_t mebi = kibi * 1024;

std::vector<std::uint64_t> sizes_of(command what, std::uint64_t largest) {
  switch (what) {
    case command::latency: return {4, 4 * kibi, 64 * kibi};
    case command::alloc: return {4 * kibi, mebi, 64 * mebi};
    // Around words and pages, and more than one piece of a staged copy.
    case command::check: return {1, 4097, mebi + 3, 9 * mebi + 5};
    case command::sweep: {
      std::vector<std::uint64_t> sizes;
      for (std::uint64_t bytes = 4 * kibi; bytes <= largest; bytes *= 4) sizes.push_back(bytes);
      return sizes;
    }
    default: return {largest};
  }
}

measure_options measuring_of(command what) {
  switch (what) {
    case command::sweep: return {0.1, 0.5, 2};
    case command::latency:
    case command::alloc: return {0.2, 1, 2};
    case command::check: return {0, 0, 1};
    // 27 cases that are all noisy take half a minute, with what they need to get ready. What is left
    // of it goes to those that need it, in short turns: a machine that drifts is met more often.
    default: return {.min_time = 0.2, .max_time = 0.9, .rounds = 2, .further = {{0.3, 8, 27}}};
  }
}

}  // namespace

std::vector<benchmark_case> planned_cases(options const& chosen) {
  if (!chosen.cases.empty()) return matching_cases(chosen.cases);
  if (chosen.like == like_tool::nvbandwidth) {
    return matching_cases({"?2?/pinned", "raw/?2?/pinned"});
  }
  if (chosen.like == like_tool::babelstream) return matching_cases({"stream/*", "raw/stream/*"});
  switch (chosen.what) {
    case command::sweep:
      return matching_cases({"?2?/pinned", "?2?/pageable", "d2d/copy", "raw/?2?/pinned",
                             "raw/?2?/pageable", "raw/d2d/copy"});
    case command::latency: return matching_cases({"latency/*", "raw/latency/*"});
    case command::alloc: return matching_cases({"alloc/*", "raw/alloc/*"});
    case command::check:
    case command::list: return all_cases();
    default: return default_cases();
  }
}

std::vector<std::uint64_t> planned_sizes(options const& chosen, std::uint64_t largest,
                                         std::uint64_t fitting) {
  if (!chosen.sizes.empty()) return chosen.sizes;
  if (chosen.like == like_tool::nvbandwidth) return {512 * mebi};
  if (chosen.like == like_tool::babelstream) {
    return {std::min(babelstream_bytes, std::bit_floor(std::max(fitting, std::uint64_t{1})))};
  }
  auto sizes = sizes_of(chosen.what, largest);
  std::erase_if(sizes, [&](std::uint64_t bytes) { return bytes > largest; });
  return sizes;
}

measure_options planned_measuring(options const& chosen) {
  measure_options result = measuring_of(chosen.what);
  result.min_time = chosen.min_time.value_or(result.min_time);
  result.max_time = std::max(chosen.max_time.value_or(result.max_time), result.min_time);
  if (chosen.max_time) result.further.reset();  // it is the most
  // Who asks for less than the usual least time asks for less altogether.
  if (chosen.max_time && !chosen.min_time) {
    result.min_time = std::min(result.min_time, *chosen.max_time);
    result.max_time = *chosen.max_time;
  }
  result.rounds = chosen.rounds.value_or(result.rounds);
  if (chosen.like == like_tool::nvbandwidth) result.fixed = {4, 16, 3};
  if (chosen.like == like_tool::babelstream) result.fixed = {0, 1, 100, true, true};
  if (result.fixed) {
    result.rounds = 1;
    result.further.reset();
  }
  result.inject = chosen.inject;
  return result;
}

}  // namespace rocbench
