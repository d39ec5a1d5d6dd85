// SPDX-License-Identifier: MIT
#include "csv_writer.hpp"

#include <cmath>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace rocbench {
namespace {

std::string quoted(std::string const& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string result = "\"";
  for (char const each : text) {
    if (each == '"') result += '"';
    result += each;
  }
  return result + '"';
}

std::string number(double value) { return std::isfinite(value) ? fmt::format("{}", value) : ""; }

std::string verdict(case_result const& of) {
  switch (of.ended) {
    case outcome::measured: return of.measured.mismatch ? "no" : "yes";
    case outcome::skipped: return "skipped";
    case outcome::failed: return "failed";
  }
  return "";
}

}  // namespace

std::string to_csv(document const& of) {
  std::string text =
      "case,bytes,counted,path,median_rate,p5_rate,p95_rate,median_rate_low,median_rate_high,"
      "median_seconds,cpu_seconds,"
      "least_seconds,greatest_seconds,mean_seconds,least_time_rate,samples,batch,noisy,limit_rate,"
      "limit_origin,verified,problem\r\n";
  for (case_result const& each : of.results) {
    measurement const& m = each.measured;
    bool const any = each.ended == outcome::measured;
    auto const known = [&](double value) { return any ? number(value) : ""; };
    auto const of_loop = [&](double value) { return m.loop ? number(value) : ""; };
    std::vector<std::string> const fields = {quoted(each.name),
                                             fmt::format("{}", each.bytes),
                                             to_string(each.counted),
                                             quoted(each.path),
                                             known(m.rate.median),
                                             known(m.rate.p5),
                                             known(m.rate.p95),
                                             known(m.rate.median_interval.low),
                                             known(m.rate.median_interval.high),
                                             known(m.seconds.median),
                                             known(m.cpu_seconds),
                                             of_loop(m.loop ? m.loop->least : 0),
                                             of_loop(m.loop ? m.loop->greatest : 0),
                                             of_loop(m.loop ? m.loop->mean : 0),
                                             of_loop(m.loop_rate),
                                             any ? fmt::format("{}", m.seconds.count) : "",
                                             any ? fmt::format("{}", m.batch) : "",
                                             any ? (m.noisy ? "yes" : "no") : "",
                                             each.physical.rate ? number(*each.physical.rate) : "",
                                             quoted(each.physical.origin),
                                             verdict(each),
                                             quoted(m.mismatch.value_or(each.problem))};
    text += fmt::format("{}\r\n", fmt::join(fields, ","));
  }
  return text;
}

}  // namespace rocbench
