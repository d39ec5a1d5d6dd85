// SPDX-License-Identifier: MIT
// rocbench's result files, whose contents are not trusted: any text, and files that rocbench wrote
// with some values replaced. A file is read or refused with a file_error; what is read is written
// and read again unchanged, and can be compared with any other run.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "campaigns/fuzz_input.hpp"
#include "rocbench/benchmark_run.hpp"
#include "rocbench/comparison.hpp"
#include "rocbench/example_run.hpp"
#include "rocbench/result_file.hpp"

namespace {

using nlohmann::json;
using roc::fuzz::input;
using roc::fuzz::require;

std::string const& example_file() {
  static std::string const text = rocbench::to_json(rocbench::example_run());
  return text;
}

// All places of values in a document, outermost first.
void add_places(json const& value, json::json_pointer const& place,
                std::vector<json::json_pointer>& places) {
  places.push_back(place);
  if (value.is_object()) {
    for (auto const& [key, member] : value.items()) add_places(member, place / key, places);
  } else if (value.is_array()) {
    for (std::size_t i = 0; i < value.size(); ++i) add_places(value[i], place / i, places);
  }
}

// Text of JSON that replaces a value.
std::string take_value(input& in) {
  constexpr char const* values[] = {"null",
                                    "true",
                                    "false",
                                    "0",
                                    "-1",
                                    "1",
                                    "2",
                                    "3",
                                    "1e308",
                                    "-1e308",
                                    "1e-320",
                                    "18446744073709551615",
                                    "9223372036854775808",
                                    "-9223372036854775808",
                                    "2147483648",
                                    "0.5",
                                    "\"\"",
                                    "\"payload\"",
                                    "\"measured\"",
                                    "\"skipped\"",
                                    "\"failed\"",
                                    "\"unknown\"",
                                    "[]",
                                    "{}",
                                    "[1]",
                                    "[null]",
                                    "{\"low\":null,\"high\":null}",
                                    "\"\\u0000\\u001b[31m\\u007f\"",
                                    "\"\\ud800\\udc00\"",
                                    "\"raw/h2d/pinned\"",
                                    "\"h2d/pinned\""};
  std::size_t const which = in.below(std::size(values) + 3);
  if (which < std::size(values)) return values[which];
  if (which == std::size(values)) return std::to_string(in.hostile());
  if (which == std::size(values) + 1) {
    return json(in.text(40)).dump(-1, ' ', false, json::error_handler_t::replace);
  }
  // Nested deeper than a recursive function could follow.
  std::size_t const depth = std::size_t{1} << in.below(18);
  return std::string(depth, '[') + std::string(depth, ']');
}

// The example with up to seven values replaced or removed.
std::string take_file(input& in) {
  static json const example = json::parse(example_file());
  static std::vector<json::json_pointer> const places = [] {
    std::vector<json::json_pointer> result;
    add_places(example, json::json_pointer(), result);
    return result;
  }();
  json document = example;
  std::vector<std::pair<std::string, std::string>> values;
  for (std::size_t changes = in.below(8); changes != 0; --changes) {
    auto const& place = places[in.take<std::uint16_t>() % places.size()];
    if (place.empty() || !document.contains(place)) continue;
    json& parent = document.at(place.parent_pointer());
    std::size_t const action = in.below(4);
    if (action == 0 && parent.is_object()) {
      parent.erase(place.back());
    } else if (action == 1 && parent.is_array()) {
      parent.push_back(document.at(place));
    } else {
      // A mark, because some values can only be written as text.
      std::string const mark = "@" + std::to_string(values.size()) + "@";
      document.at(place) = mark;
      values.emplace_back('"' + mark + '"', take_value(in));
    }
  }
  std::string text = document.dump();
  for (auto const& [mark, value] : values) {
    for (auto at = text.find(mark); at != std::string::npos; at = text.find(mark, at)) {
      text.replace(at, mark.size(), value);
      at += value.size();
    }
  }
  return text;
}

// Reads a run; returns false if it is refused.
bool read(std::string_view text, rocbench::benchmark_run& run) {
  try {
    run = rocbench::parse_run(text, "file");
    return true;
  } catch (rocbench::file_error const& e) {
    std::string_view const message = e.what();
    require(message.starts_with("file: ") && message.find("; use ") != message.npos,
            "the message of a refused file: %.200s", e.what());
    return false;
  }
}

void check_round_trip(rocbench::benchmark_run const& run) {
  std::string const written = rocbench::to_json(run);
  rocbench::benchmark_run again;
  require(read(written, again), "a written file is refused");
  // The rest of the context is that of the machine now.
  auto const own_part = [](std::string const& text) {
    json document = json::parse(text);
    document["context"] = document["context"]["rocbench"];
    return document.dump(-1, ' ', false, json::error_handler_t::replace);
  };
  require(own_part(rocbench::to_json(again)) == own_part(written),
          "a file changes when it is read and written");
  std::string const table = rocbench::to_csv(run);
  require(std::count(table.begin(), table.end(), '\n') >
              static_cast<std::ptrdiff_t>(run.results.size()),
          "the lines of the CSV file");
}

void check_comparison(rocbench::benchmark_run const& before, rocbench::benchmark_run const& after,
                      double tolerance) {
  rocbench::comparison const result = rocbench::compare(before, after, tolerance);
  require(result.cases.size() + result.only_after.size() == after.results.size(),
          "a case is neither compared nor new");
  std::size_t total = 0;
  for (std::size_t i = 0; i < std::size(rocbench::change_names); ++i) {
    total += result.count(static_cast<rocbench::change>(i));
  }
  require(total == result.cases.size(), "a case without a verdict");
  for (auto const& compared : result.cases) {
    require(compared.before->name == compared.after->name &&
                compared.before->bytes == compared.after->bytes,
            "two different cases are compared");
    if (compared.verdict == rocbench::change::faster) {
      require(compared.range.low > 1 + tolerance, "a faster case whose range is not");
    }
    if (compared.verdict == rocbench::change::slower) {
      require(compared.range.high < 1 - tolerance, "a slower case whose range is not");
    }
    bool const is_measured = compared.before->status == rocbench::outcome::measured &&
                             compared.after->status == rocbench::outcome::measured;
    require(is_measured != (compared.verdict == rocbench::change::not_measured),
            "the verdict on a case that was not measured");
  }
  if (!result.cases.empty()) {
    require(!rocbench::verdict_line(result, tolerance).empty(), "an empty verdict");
  }
}

void check_thresholds(input& in, rocbench::benchmark_run const& run) {
  std::string text = in.text(80);
  constexpr char const* units[] = {"GB/s", "% of limit", "% of before", "MB/s"};
  if (in.one_in(2)) text += " " + std::to_string(in.hostile()) + " " + units[in.below(4)];
  try {
    auto const thresholds = rocbench::parse_thresholds(text, "file");
    for (auto const& entry : thresholds) {
      require(entry.minimum > 0 && std::isfinite(entry.minimum) && !entry.cases.empty(),
              "a threshold of: %s", text.c_str());
    }
    auto const runs = rocbench::compare(run, run, 0.02);
    auto const checked = rocbench::check_thresholds(thresholds, runs);
    require(checked.unchecked.size() <= thresholds.size(), "the thresholds that do not apply");
  } catch (rocbench::file_error const& e) {
    require(std::string_view(e.what()).starts_with("file:"), "the message: %s", e.what());
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  input in(data, size);
  rocbench::benchmark_run run;
  switch (in.below(4)) {
    case 0:
      if (read(in.rest(), run)) check_round_trip(run);
      break;
    case 1:
      if (read(take_file(in), run)) check_round_trip(run);
      break;
    case 2: {
      rocbench::benchmark_run other;
      double const tolerance = static_cast<double>(in.below(101)) / 100;
      if (read(take_file(in), run) && read(take_file(in), other)) {
        check_comparison(run, other, tolerance);
      }
      break;
    }
    default: check_thresholds(in, rocbench::example_run());
  }
  return 0;
}
