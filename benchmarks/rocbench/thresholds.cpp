// SPDX-License-Identifier: MIT
#include "thresholds.hpp"

#include <cmath>
#include <optional>
#include <sstream>

#include <fmt/format.h>
#include <fnmatch.h>

#include "format.hpp"
#include "json_reader.hpp"
#include "text_file.hpp"

namespace rocbench {
namespace {

std::optional<threshold_unit> unit_of(std::string const& words) {
  if (words == "GB/s") return threshold_unit::rate;
  if (words == "% of limit") return threshold_unit::of_limit;
  if (words == "% of before") return threshold_unit::of_before;
  return std::nullopt;
}

threshold parse_line(std::string const& line, std::string const& place) {
  std::istringstream words(line);
  threshold result{{}, 0, threshold_unit::rate, line};
  std::string unit;
  words >> result.cases >> result.least >> std::ws;
  bool const number = static_cast<bool>(words) || words.eof();
  std::getline(words, unit);
  while (!unit.empty() && std::isspace(static_cast<unsigned char>(unit.back())) != 0)
    unit.pop_back();
  auto const known = unit_of(unit);
  if (!number || !known || !std::isfinite(result.least) || result.least <= 0) {
    throw input_error(fmt::format(
        "{}: '{}' is no threshold: write a case, a number, and GB/s, % of limit or % of before",
        place, line));
  }
  result.unit = *known;
  result.least *= result.unit == threshold_unit::rate ? 1e9 : 0.01;
  return result;
}

// What the threshold is held against; nothing where that is not known.
std::optional<double> value_of(compared_case const& of, threshold_unit unit) {
  if (of.what == change::not_measured) return std::nullopt;
  switch (unit) {
    case threshold_unit::rate: return of.after->measured.shown_rate();
    case threshold_unit::of_limit: return of.after->efficiency();
    case threshold_unit::of_before: return of.speed;
  }
  return std::nullopt;
}

std::string words(double value, threshold_unit unit) {
  return unit == threshold_unit::rate ? format_rate(value) + " GB/s"
                                      : fmt::format("{:.1f} %", 100 * value);
}

}  // namespace

std::vector<threshold> parse_thresholds(std::string_view text, std::string const& name) {
  std::vector<threshold> result;
  std::istringstream lines{std::string(text)};
  std::size_t number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    std::size_t const begin = line.find_first_not_of(" \t\r");
    if (begin == std::string::npos || line[begin] == '#') continue;
    result.push_back(parse_line(line.substr(begin), fmt::format("{}:{}", name, number)));
  }
  return result;
}

std::vector<threshold> read_thresholds(std::string const& path) {
  return parse_thresholds(read_text_file(path), path);
}

threshold_verdict check_thresholds(std::vector<threshold> const& all, comparison const& runs) {
  threshold_verdict result;
  for (threshold const& each : all) {
    bool any = false;
    for (compared_case const& of : runs.cases) {
      if (fnmatch(each.cases.c_str(), of.after->name.c_str(), 0) != 0) continue;
      auto const value = value_of(of, each.unit);
      if (!value) continue;
      any = true;
      if (*value >= each.least) continue;
      result.below.push_back(fmt::format("{} at {} reaches {}: {}", of.after->name,
                                         format_size(static_cast<double>(of.after->bytes)),
                                         words(*value, each.unit), each.line));
    }
    if (!any) {
      result.unchecked.push_back(each.line +
                                 ": no case of that name, or nothing to hold it against");
    }
  }
  return result;
}

}  // namespace rocbench
