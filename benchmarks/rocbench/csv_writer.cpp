// SPDX-License-Identifier: MIT
#include "csv_writer.hpp"

#include <cmath>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace rocbench {
namespace {

std::string quote(std::string const& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (char const character : text) {
    if (character == '"') quoted += '"';
    quoted += character;
  }
  return quoted + '"';
}

std::string format_number(double value) {
  return std::isfinite(value) ? fmt::format("{}", value) : "";
}

std::string verified_field(case_result const& result) {
  switch (result.status) {
    case outcome::measured: return result.measured.mismatch ? "no" : "yes";
    case outcome::skipped: return "skipped";
    case outcome::failed: return "failed";
  }
  return "";
}

}  // namespace

std::string to_csv(benchmark_run const& run) {
  std::string text =
      "case,bytes,counted,path,median_rate,p5_rate,p95_rate,median_rate_low,median_rate_high,"
      "median_seconds,cpu_seconds,"
      "least_seconds,greatest_seconds,mean_seconds,least_time_rate,samples,batch,noisy,limit_rate,"
      "limit_origin,verified,problem\r\n";
  for (case_result const& result : run.results) {
    measurement const& measured = result.measured;
    bool const is_measured = result.status == outcome::measured;
    auto const if_measured = [&](double value) { return is_measured ? format_number(value) : ""; };
    auto const if_loop = [&](double value) { return measured.loop ? format_number(value) : ""; };
    std::vector<std::string> const fields = {
        quote(result.name),
        fmt::format("{}", result.bytes),
        to_string(result.counted),
        quote(result.path),
        if_measured(measured.rate.median),
        if_measured(measured.rate.p5),
        if_measured(measured.rate.p95),
        if_measured(measured.rate.median_interval.low),
        if_measured(measured.rate.median_interval.high),
        if_measured(measured.seconds.median),
        if_measured(measured.cpu_seconds),
        if_loop(measured.loop ? measured.loop->min : 0),
        if_loop(measured.loop ? measured.loop->max : 0),
        if_loop(measured.loop ? measured.loop->mean : 0),
        if_loop(measured.loop_rate),
        is_measured ? fmt::format("{}", measured.seconds.count) : "",
        is_measured ? fmt::format("{}", measured.batch) : "",
        is_measured ? (measured.noisy ? "yes" : "no") : "",
        result.physical_limit.rate ? format_number(*result.physical_limit.rate) : "",
        quote(result.physical_limit.origin),
        verified_field(result),
        quote(measured.mismatch.value_or(result.reason))};
    text += fmt::format("{}\r\n", fmt::join(fields, ","));
  }
  return text;
}

}  // namespace rocbench
