// SPDX-License-Identifier: MIT
#include "json_reader.hpp"

#include <limits>

#include "json_node.hpp"
#include "text_file.hpp"

namespace rocbench {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

rate_limit limit_from(json_node const& node) {
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
    node.fail("has a median outside its confidence interval");
  }
  return result;
}

outcome outcome_from(json_node const& node) {
  std::string const text = node.text();
  if (text == "measured") return outcome::measured;
  if (text == "skipped") return outcome::skipped;
  if (text == "failed") return outcome::failed;
  node.fail("is not \"measured\", \"skipped\" or \"failed\"");
}

accounting accounting_from(json_node const& node) {
  std::string const text = node.text();
  for (accounting const value : {accounting::payload, accounting::traffic, accounting::time}) {
    if (text == to_string(value)) return value;
  }
  node.fail("is not \"payload\", \"traffic\" or \"time\"");
}

case_result result_from(json_node const& benchmark) {
  json_node const extension = benchmark.member("rocbench");
  case_result result;
  result.name = extension.member("case").text();
  result.bytes = extension.member("bytes").count();
  result.counted = accounting_from(extension.member("counted"));
  result.physical_limit = limit_from(extension.member("limit"));
  result.status = outcome_from(extension.member("outcome"));
  if (result.status != outcome::measured) {
    result.reason = extension.member("problem").text();
    return result;
  }
  result.path = extension.member("path").text();
  measurement& measured = result.measured;
  std::size_t const count = extension.member("samples").count();
  measured.batch = extension.member("batch").count();
  measured.noisy = extension.member("noisy").flag();
  measured.elapsed = extension.member("spent_seconds").positive();
  measured.rate = summary_from(extension.member("rate"), count);
  measured.seconds = summary_from(extension.member("seconds"), count);
  if (auto const loop = extension.optional_member("loop")) {
    measured.loop = {loop->member("least_seconds").positive(),
                     loop->member("greatest_seconds").positive(),
                     loop->member("mean_seconds").positive()};
    measured.loop_rate = loop->member("bytes_per_second").positive();
  }
  measured.executions = benchmark.member("iterations").count();
  if (!extension.member("verified").flag()) measured.mismatch = extension.member("mismatch").text();
  return result;
}

benchmark_run run_from(json_node const& root) {
  json_node const context = root.member("context");
  json_node const extension = context.member("rocbench");
  benchmark_run result;
  run_environment& environment = result.environment;
  environment.date = context.member("date").text();
  environment.host_name = context.member("host_name").text();
  environment.version = extension.member("version").text();
  environment.platform = extension.member("platform").text();
  environment.ordinal = extension.member("device").integer();
  environment.device_name = extension.member("device_name").text();
  environment.pci_bus_id = extension.member("pci_bus_id").text();
  environment.on_gpu = extension.member("on_gpu").flag();
  environment.is_fake_runtime = extension.member("is_fake_runtime").flag();
  environment.runtime_version = extension.member("runtime_version").integer();
  environment.driver_version = extension.member("driver_version").integer();
  json_node const limits = extension.member("limits");
  result.limits.link = limit_from(limits.member("link"));
  result.limits.device_memory = limit_from(limits.member("device_memory"));
  result.limits.host_copy = limit_from(limits.member("host_copy"));
  json_node const benchmarks = root.member("benchmarks");
  for (std::size_t i = 0; i < benchmarks.size(); ++i) {
    result.results.push_back(result_from(benchmarks.element(i)));
  }
  return result;
}

}  // namespace

benchmark_run parse_run(std::string_view text, std::string const& name) {
  auto const document = parse_json(text, name);
  return run_from(json_node(document, name));
}

benchmark_run read_run(std::string const& path) { return parse_run(read_text_file(path), path); }

}  // namespace rocbench
