// SPDX-License-Identifier: MIT
#include "json_reader.hpp"

#include <limits>

#include "json_node.hpp"
#include "text_file.hpp"

namespace rocbench {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

limit limit_from(json_node const& node) {
  return {node.member("bytes_per_second").optional_positive(), node.member("origin").text()};
}

summary summary_from(json_node const& node, std::size_t count) {
  summary result;
  result.count = count;
  result.median = node.member("median").positive();
  result.p5 = node.member("p5").positive();
  result.p95 = node.member("p95").positive();
  result.median_interval = {node.member("median_low").optional_positive().value_or(-infinity),
                            node.member("median_high").optional_positive().value_or(infinity)};
  if (!(result.median_interval.low <= result.median &&
        result.median <= result.median_interval.high)) {
    node.refuse("has a median outside of its own interval");
  }
  return result;
}

outcome outcome_from(json_node const& node) {
  std::string const text = node.text();
  if (text == "measured") return outcome::measured;
  if (text == "skipped") return outcome::skipped;
  if (text == "failed") return outcome::failed;
  node.refuse("is neither measured, skipped nor failed");
}

accounting accounting_from(json_node const& node) {
  std::string const text = node.text();
  for (accounting const each : {accounting::payload, accounting::traffic, accounting::time}) {
    if (text == to_string(each)) return each;
  }
  node.refuse("is no way to count bytes");
}

case_result result_from(json_node const& benchmark) {
  json_node const own = benchmark.member("rocbench");
  case_result result;
  result.name = own.member("case").text();
  result.bytes = own.member("bytes").count();
  result.counted = accounting_from(own.member("counted"));
  result.physical = limit_from(own.member("limit"));
  result.ended = outcome_from(own.member("outcome"));
  if (result.ended != outcome::measured) {
    result.problem = own.member("problem").text();
    return result;
  }
  result.path = own.member("path").text();
  measurement& measured = result.measured;
  std::size_t const samples = own.member("samples").count();
  measured.batch = own.member("batch").count();
  measured.noisy = own.member("noisy").flag();
  measured.spent = own.member("spent_seconds").positive();
  measured.rate = summary_from(own.member("rate"), samples);
  measured.seconds = summary_from(own.member("seconds"), samples);
  if (auto const loop = own.optional_member("loop")) {
    measured.loop = {loop->member("least_seconds").positive(),
                     loop->member("greatest_seconds").positive(),
                     loop->member("mean_seconds").positive()};
    measured.loop_rate = loop->member("bytes_per_second").positive();
  }
  measured.executions = benchmark.member("iterations").count();
  if (!own.member("verified").flag()) measured.mismatch = own.member("mismatch").text();
  return result;
}

document document_from(json_node const& root) {
  json_node const context = root.member("context");
  json_node const own = context.member("rocbench");
  document result;
  environment& where = result.where;
  where.date = context.member("date").text();
  where.host_name = context.member("host_name").text();
  where.version = own.member("version").text();
  where.platform = own.member("platform").text();
  where.ordinal = own.member("device").integer();
  where.device_name = own.member("device_name").text();
  where.pci_bus_id = own.member("pci_bus_id").text();
  where.on_gpu = own.member("on_gpu").flag();
  where.is_fake_runtime = own.member("is_fake_runtime").flag();
  where.runtime_version = own.member("runtime_version").integer();
  where.driver_version = own.member("driver_version").integer();
  json_node const known = own.member("limits");
  result.known.link = limit_from(known.member("link"));
  result.known.device_memory = limit_from(known.member("device_memory"));
  result.known.host_copy = limit_from(known.member("host_copy"));
  json_node const benchmarks = root.member("benchmarks");
  for (std::size_t i = 0; i < benchmarks.size(); ++i) {
    result.results.push_back(result_from(benchmarks.element(i)));
  }
  return result;
}

}  // namespace

document parse_document(std::string_view text, std::string const& name) {
  auto const whole = parse_json(text, name);
  return document_from(json_node(whole, name));
}

document read_document(std::string const& path) {
  return parse_document(read_text_file(path), path);
}

}  // namespace rocbench
