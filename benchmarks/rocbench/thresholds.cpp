// SPDX-License-Identifier: MIT
#include "thresholds.hpp"

#include <cmath>
#include <optional>
#include <sstream>

#include <fmt/format.h>
#include <fnmatch.h>

#include "format.hpp"
#include "text_file.hpp"

namespace rocbench {
namespace {

std::optional<threshold_unit> unit_of(std::string const& text) {
  if (text == "GB/s") return threshold_unit::rate;
  if (text == "% of limit") return threshold_unit::of_limit;
  if (text == "% of before") return threshold_unit::of_before;
  return std::nullopt;
}

threshold parse_line(std::string const& line, std::string const& location) {
  std::istringstream stream(line);
  threshold result{{}, 0, threshold_unit::rate, line};
  std::string unit;
  stream >> result.cases >> result.minimum >> std::ws;
  bool const has_number = static_cast<bool>(stream) || stream.eof();
  std::getline(stream, unit);
  while (!unit.empty() && std::isspace(static_cast<unsigned char>(unit.back())) != 0)
    unit.pop_back();
  auto const known_unit = unit_of(unit);
  if (!has_number || !known_unit || !std::isfinite(result.minimum) || result.minimum <= 0) {
    throw input_error(fmt::format(
        "{}: '{}' is not a threshold; write a case, a number, and GB/s, % of limit or % of before",
        location, line));
  }
  result.unit = *known_unit;
  result.minimum *= result.unit == threshold_unit::rate ? 1e9 : 0.01;
  return result;
}

// Returns the value that the threshold applies to; empty if it is unknown.
std::optional<double> value_of(compared_case const& compared, threshold_unit unit) {
  if (compared.verdict == change::not_measured) return std::nullopt;
  switch (unit) {
    case threshold_unit::rate: return compared.after->measured.reported_rate();
    case threshold_unit::of_limit: return compared.after->efficiency();
    case threshold_unit::of_before: return compared.speed;
  }
  return std::nullopt;
}

std::string format_value(double value, threshold_unit unit) {
  return unit == threshold_unit::rate ? format_rate(value) + " GB/s"
                                      : fmt::format("{:.1f} %", 100 * value);
}

}  // namespace

std::vector<threshold> parse_thresholds(std::string_view text, std::string const& name) {
  std::vector<threshold> result;
  std::istringstream lines{std::string(text)};
  std::size_t line_number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++line_number;
    std::size_t const begin = line.find_first_not_of(" \t\r");
    if (begin == std::string::npos || line[begin] == '#') continue;
    result.push_back(parse_line(line.substr(begin), fmt::format("{}:{}", name, line_number)));
  }
  return result;
}

std::vector<threshold> read_thresholds(std::string const& path) {
  return parse_thresholds(read_text_file(path), path);
}

threshold_results check_thresholds(std::vector<threshold> const& thresholds,
                                   comparison const& runs) {
  threshold_results result;
  for (threshold const& entry : thresholds) {
    bool applies = false;
    for (compared_case const& compared : runs.cases) {
      if (fnmatch(entry.cases.c_str(), compared.after->name.c_str(), 0) != 0) continue;
      auto const value = value_of(compared, entry.unit);
      if (!value) continue;
      applies = true;
      if (*value >= entry.minimum) continue;
      result.below.push_back(fmt::format("{} at {} reaches only {}; the threshold is: {}",
                                         compared.after->name,
                                         format_size(static_cast<double>(compared.after->bytes)),
                                         format_value(*value, entry.unit), entry.line));
    }
    if (!applies) {
      result.unchecked.push_back(entry.line + ": no case matches, or its value is unknown");
    }
  }
  return result;
}

}  // namespace rocbench
