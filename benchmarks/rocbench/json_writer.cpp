// SPDX-License-Identifier: MIT
#include "json_writer.hpp"

#include <nlohmann/json.hpp>

#include "host_info.hpp"

namespace rocbench {
namespace {

using json = nlohmann::ordered_json;

#ifdef NDEBUG
constexpr char const* build_type = "release";
#else
constexpr char const* build_type = "debug";
#endif

json optional_to_json(std::optional<double> const& value) { return value ? json(*value) : json(); }

json limit_to_json(rate_limit const& limit) {
  return {{"bytes_per_second", optional_to_json(limit.rate)}, {"origin", limit.origin}};
}

// With too few samples the interval is infinite; JSON writes infinity as null.
json summary_to_json(summary const& statistics) {
  return {{"median", statistics.median},
          {"p5", statistics.p5},
          {"p95", statistics.p95},
          {"median_low", statistics.median_interval.low},
          {"median_high", statistics.median_interval.high}};
}

json context_to_json(benchmark_run const& run) {
  host_info const host = query_host_info();
  json caches = json::array();
  for (cpu_cache const& cache : host.caches) {
    caches.push_back({{"type", cache.type},
                      {"level", cache.level},
                      {"size", cache.size},
                      {"num_sharing", cache.num_sharing}});
  }
  run_environment const& environment = run.environment;
  return {{"date", environment.date},
          {"host_name", environment.host_name},
          {"executable", "rocbench"},
          {"num_cpus", host.num_cpus},
          {"mhz_per_cpu", host.mhz_per_cpu},
          {"cpu_scaling_enabled", host.cpu_scaling_enabled},
          {"caches", caches},
          {"load_avg", host.load_avg},
          {"library_build_type", build_type},
          {"json_schema_version", 1},
          {"rocbench",
           {{"version", environment.version},
            {"platform", environment.platform},
            {"device", environment.ordinal},
            {"device_name", environment.device_name},
            {"pci_bus_id", environment.pci_bus_id},
            {"on_gpu", environment.on_gpu},
            {"is_fake_runtime", environment.is_fake_runtime},
            {"runtime_version", environment.runtime_version},
            {"driver_version", environment.driver_version},
            {"limits",
             {{"link", limit_to_json(run.limits.link)},
              {"device_memory", limit_to_json(run.limits.device_memory)},
              {"host_copy", limit_to_json(run.limits.host_copy)}}}}}};
}

char const* to_string(outcome status) {
  switch (status) {
    case outcome::measured: return "measured";
    case outcome::skipped: return "skipped";
    case outcome::failed: return "failed";
  }
  return "";
}

json extension_to_json(case_result const& result) {
  json object = {{"case", result.name},
                 {"bytes", result.bytes},
                 {"counted", to_string(result.counted)},
                 {"outcome", to_string(result.status)},
                 {"limit", limit_to_json(result.physical_limit)}};
  if (result.status != outcome::measured) {
    object["problem"] = result.reason;
    return object;
  }
  measurement const& measured = result.measured;
  object["path"] = result.path;
  object["verified"] = !measured.mismatch;
  if (measured.mismatch) object["mismatch"] = *measured.mismatch;
  object["efficiency"] = optional_to_json(result.efficiency());
  object["samples"] = measured.seconds.count;
  object["batch"] = measured.batch;
  object["noisy"] = measured.noisy;
  object["spent_seconds"] = measured.elapsed;
  object["rate"] = summary_to_json(measured.rate);
  object["seconds"] = summary_to_json(measured.seconds);
  if (measured.loop) {
    object["loop"] = {{"least_seconds", measured.loop->min},
                      {"greatest_seconds", measured.loop->max},
                      {"mean_seconds", measured.loop->mean},
                      {"bytes_per_second", measured.loop_rate}};
  }
  return object;
}

json result_to_json(case_result const& result, std::size_t family, std::size_t instance) {
  std::string const name = result.name + "/" + std::to_string(result.bytes);
  bool const has_error = result.status != outcome::measured || result.measured.mismatch;
  measurement const& measured = result.measured;
  json object = {{"name", name},
                 {"family_index", family},
                 {"per_family_instance_index", instance},
                 {"run_name", name},
                 {"run_type", "iteration"},
                 {"repetitions", 1},
                 {"repetition_index", 0},
                 {"threads", 1}};
  if (has_error) {
    object["error_occurred"] = true;
    object["error_message"] = measured.mismatch.value_or(result.reason);
  }
  object["iterations"] = measured.executions;
  object["real_time"] = measured.reported_seconds() * 1e9;
  object["cpu_time"] = measured.cpu_seconds * 1e9;
  object["time_unit"] = "ns";
  object["bytes_per_second"] = measured.reported_rate();
  if (!result.path.empty()) object["label"] = result.path;
  object["rocbench"] = extension_to_json(result);
  return object;
}

}  // namespace

std::string to_json(benchmark_run const& run) {
  json benchmarks = json::array();
  std::size_t family = 0;
  std::size_t instance = 0;
  for (std::size_t i = 0; i < run.results.size(); ++i) {
    bool const same_case = i != 0 && run.results[i].name == run.results[i - 1].name;
    instance = same_case ? instance + 1 : 0;
    if (!same_case && i != 0) ++family;
    benchmarks.push_back(result_to_json(run.results[i], family, instance));
  }
  json const document = {{"context", context_to_json(run)}, {"benchmarks", benchmarks}};
  // Names of devices and hosts may not be valid UTF-8.
  return document.dump(2, ' ', false, json::error_handler_t::replace) + "\n";
}

}  // namespace rocbench
