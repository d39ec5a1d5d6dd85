// SPDX-License-Identifier: MIT
#include "command_plan.hpp"

#include <algorithm>
#include <bit>

#include "case_list.hpp"

namespace rocbench {
namespace {

constexpr std::uint64_t kibi = 1024;
constexpr std::uint64_t mebi = kibi * 1024;

std::vector<std::uint64_t> default_sizes(command_kind command, std::uint64_t largest) {
  switch (command) {
    case command_kind::latency: return {4, 4 * kibi, 64 * kibi};
    case command_kind::alloc: return {4 * kibi, mebi, 64 * mebi};
    // Sizes around words and pages, and sizes of several chunks of a staged copy.
    case command_kind::check: return {1, 4097, mebi + 3, 9 * mebi + 5};
    case command_kind::sweep: {
      std::vector<std::uint64_t> sizes;
      for (std::uint64_t bytes = 4 * kibi; bytes <= largest; bytes *= 4) sizes.push_back(bytes);
      return sizes;
    }
    default: return {largest};
  }
}

measure_options default_measuring(command_kind command) {
  switch (command) {
    case command_kind::sweep: return {0.1, 0.5, 2};
    case command_kind::latency:
    case command_kind::alloc: return {0.2, 1, 2};
    case command_kind::check: return {0, 0, 1};
    // If all 27 cases are noisy, this takes half a minute including preparation. The remaining time
    // is spent on noisy cases in short rounds, which see more of a machine's drift than one long
    // round.
    default: return {.min_time = 0.2, .max_time = 0.9, .rounds = 2, .extra = {{0.3, 8, 27}}};
  }
}

}  // namespace

std::vector<benchmark_case> planned_cases(command_line const& options) {
  if (!options.cases.empty()) return matching_cases(options.cases);
  if (options.like == like_tool::nvbandwidth) {
    return matching_cases({"?2?/pinned", "raw/?2?/pinned"});
  }
  if (options.like == like_tool::babelstream) return matching_cases({"stream/*", "raw/stream/*"});
  switch (options.command) {
    case command_kind::sweep:
      return matching_cases({"?2?/pinned", "?2?/pageable", "d2d/copy", "raw/?2?/pinned",
                             "raw/?2?/pageable", "raw/d2d/copy"});
    case command_kind::latency: return matching_cases({"latency/*", "raw/latency/*"});
    case command_kind::alloc: return matching_cases({"alloc/*", "raw/alloc/*"});
    case command_kind::check:
    case command_kind::list: return all_cases();
    default: return default_cases();
  }
}

std::vector<std::uint64_t> planned_sizes(command_line const& options, std::uint64_t largest,
                                         std::uint64_t largest_array) {
  if (!options.sizes.empty()) return options.sizes;
  if (options.like == like_tool::nvbandwidth) return {512 * mebi};
  if (options.like == like_tool::babelstream) {
    return {std::min(babelstream_bytes, std::bit_floor(std::max(largest_array, std::uint64_t{1})))};
  }
  auto sizes = default_sizes(options.command, largest);
  std::erase_if(sizes, [&](std::uint64_t bytes) { return bytes > largest; });
  return sizes;
}

measure_options planned_measuring(command_line const& options) {
  measure_options result = default_measuring(options.command);
  result.min_time = options.min_time.value_or(result.min_time);
  result.max_time = std::max(options.max_time.value_or(result.max_time), result.min_time);
  if (options.max_time) result.extra.reset();  // the given time is the limit
  // A --max-time below the default minimum also lowers the minimum.
  if (options.max_time && !options.min_time) {
    result.min_time = std::min(result.min_time, *options.max_time);
    result.max_time = *options.max_time;
  }
  result.rounds = options.rounds.value_or(result.rounds);
  if (options.like == like_tool::nvbandwidth) result.fixed = {4, 16, 3};
  if (options.like == like_tool::babelstream) result.fixed = {0, 1, 100, true, true};
  if (result.fixed) {
    result.rounds = 1;
    result.extra.reset();
  }
  result.inject = options.inject;
  return result;
}

}  // namespace rocbench
